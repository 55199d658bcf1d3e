"""``version``: of the plugin, of the apiserver, and of the operators that the user may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gpucloud
from gpucloud.cli.plugin import show
from gpucloud.cli.plugin.errors import ExitCode
from gpucloud.cli.plugin.show import Output
from gpucloud.cli.plugin.text import clean
from gpucloud.cli.plugin.verbs.shared import cluster

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.kube.access import At

VERSION_LABEL = "app.kubernetes.io/version"


def version(at: At, *, client: bool, output: Output, operator_namespace: str) -> int:
    """Print them."""
    found: dict[str, Any] = {"plugin": gpucloud.__version__}
    if not client:
        found |= of_cluster(cluster(at), operator_namespace)
    if output is not Output.TEXT:
        show.document(found, output)
        return ExitCode.OK
    print(f"Plugin: {found['plugin']}")
    if not client:
        nowhere = (
            f"no pod of an operator is visible in namespace {operator_namespace!r}; name another with --operator-namespace"
        )
        print(f"Kubernetes: {found['kubernetes'] or 'the apiserver does not say'}")
        print(f"Operator: {', '.join(found['operators']) or nowhere}")
    return ExitCode.OK


def of_cluster(here: Cluster, operator_namespace: str) -> dict[str, Any]:
    """The versions that the cluster shows: the apiserver's, and those on the pods of operators."""
    server = here.read("/version") or {}
    labels = [(pod.get("metadata") or {}).get("labels") or {} for pod in here.operator_pods(operator_namespace) or ()]
    return {
        "kubernetes": clean(str(server.get("gitVersion") or "")) or None,
        "operators": sorted({clean(str(one[VERSION_LABEL])) for one in labels if VERSION_LABEL in one}),
    }
