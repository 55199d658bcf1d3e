"""``version``: of the plugin, of the apiserver, and of the operators that the user may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gpucloud
from gpucloud.cli.plugin.cluster import versions
from gpucloud.cli.plugin.errors import ExitCode
from gpucloud.cli.plugin.targets import cluster
from gpucloud.cli.terminal import printing
from gpucloud.cli.terminal.printing import Output

if TYPE_CHECKING:
    from gpucloud.cli.plugin.kube.access import At


def version(at: At, *, client: bool, output: Output, operator_namespace: str) -> int:
    """Print them."""
    found: dict[str, Any] = {"plugin": gpucloud.__version__}
    if client:
        told = ""
    else:
        here = cluster(at)
        seen = versions.seen(here, operator_namespace)
        found |= versions.document(here, seen)
        told = versions.in_words(seen, operator_namespace)
    if output is not Output.TEXT:
        printing.document(found, output)
        return ExitCode.OK
    print(f"Plugin: {found['plugin']}")
    if not client:
        print(f"Kubernetes: {found['kubernetes'] or 'the apiserver does not say'}")
        print(f"Operator: {told}")
    return ExitCode.OK
