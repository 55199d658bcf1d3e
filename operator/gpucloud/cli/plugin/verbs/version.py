"""``version``: of the plugin, of the apiserver, and of the operators that the user may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import gpucloud
from gpucloud.cli.plugin import leases, show
from gpucloud.cli.plugin.errors import ExitCode
from gpucloud.cli.plugin.show import Output
from gpucloud.cli.plugin.text import clean
from gpucloud.cli.plugin.verbs.shared import cluster
from gpucloud.kinds.meta import VERSION_MARK

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.doctoring import Lease
    from gpucloud.cli.plugin.kube.access import At


def version(at: At, *, client: bool, output: Output, operator_namespace: str) -> int:
    """Print them."""
    found: dict[str, Any] = {"plugin": gpucloud.__version__}
    if client:
        told = ""
    else:
        here = cluster(at)
        seen = _seen(here, operator_namespace)
        found |= _document(here, seen)
        told = _told(seen, operator_namespace)
    if output is not Output.TEXT:
        show.document(found, output)
        return ExitCode.OK
    print(f"Plugin: {found['plugin']}")
    if not client:
        print(f"Kubernetes: {found['kubernetes'] or 'the apiserver does not say'}")
        print(f"Operator: {told}")
    return ExitCode.OK


@dataclass(frozen=True, slots=True)
class _Seen:
    """What shows operators: the versions on their pods, and the Leases that others than these pods hold."""

    on_pods: frozenset[str]
    elsewhere: tuple[Lease, ...]


def _seen(here: Cluster, operator_namespace: str) -> _Seen:
    pods = [pod.get("metadata") or {} for pod in here.operator_pods(operator_namespace) or ()]
    labels = [meta.get("labels") or {} for meta in pods]
    names, now = [str(meta.get("name", "")) for meta in pods], datetime.now(UTC)
    led = [lease for lease in leases.leases(here, operator_namespace) or () if leases.is_led(lease, now)]
    return _Seen(
        frozenset(clean(str(one[VERSION_MARK])) for one in labels if VERSION_MARK in one),
        tuple(lease for lease in led if not leases.is_a_pod(lease, names)),
    )


def _told(seen: _Seen, operator_namespace: str) -> str:
    """The operators for people."""
    now = datetime.now(UTC)
    held = [f"{lease.version or 'of unknown version'} ({leases.words(lease, now)})" for lease in seen.elsewhere]
    return ", ".join([*sorted(seen.on_pods), *held]) or (
        f"no pod and no Lease of an operator is visible in namespace {operator_namespace!r}; name another with "
        "--operator-namespace. One that runs outside of the cluster is seen by its Lease, which it has with --leader-elect"
    )


def of_cluster(here: Cluster, operator_namespace: str) -> dict[str, Any]:
    """The versions that the cluster shows: the apiserver's, and those of operators, on their pods and Leases."""
    return _document(here, _seen(here, operator_namespace))


def _document(here: Cluster, seen: _Seen) -> dict[str, Any]:
    server = here.read("/version") or {}
    return {
        "kubernetes": clean(str(server.get("gitVersion") or "")) or None,
        "operators": sorted(seen.on_pods | {lease.version for lease in seen.elsewhere if lease.version}),
    }
