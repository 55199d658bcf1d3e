"""Versions that the cluster shows: the apiserver's, and those of the operators that the user may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.cluster import leases
from gpucloud.cli.terminal.text import clean
from gpucloud.kinds.meta import VERSION_MARK

if TYPE_CHECKING:
    from gpucloud.cli.plugin.cluster import Cluster
    from gpucloud.cli.plugin.cluster.leases import Lease


@dataclass(frozen=True, slots=True)
class Seen:
    """What shows operators: the versions on their pods, and the Leases that others than these pods hold."""

    on_pods: frozenset[str]
    elsewhere: tuple[Lease, ...]


def seen(here: Cluster, operator_namespace: str) -> Seen:
    """Look at the pods and the Leases of an operator's namespace."""
    pods = [pod.get("metadata") or {} for pod in here.operator_pods(operator_namespace) or ()]
    labels = [meta.get("labels") or {} for meta in pods]
    names, now = [str(meta.get("name", "")) for meta in pods], datetime.now(UTC)
    led = [lease for lease in leases.leases(here, operator_namespace) or () if leases.is_led(lease, now)]
    return Seen(
        frozenset(clean(str(one[VERSION_MARK])) for one in labels if VERSION_MARK in one),
        tuple(lease for lease in led if not leases.is_a_pod(lease, names)),
    )


def in_words(found: Seen, operator_namespace: str) -> str:
    """The operators for people."""
    now = datetime.now(UTC)
    held = [f"{lease.version or 'of unknown version'} ({leases.words(lease, now)})" for lease in found.elsewhere]
    return ", ".join([*sorted(found.on_pods), *held]) or (
        f"no pod and no Lease of an operator is visible in namespace {operator_namespace!r}; name another with "
        "--operator-namespace. One that runs outside of the cluster is seen by its Lease, which it has with --leader-elect"
    )


def of_cluster(here: Cluster, operator_namespace: str) -> dict[str, Any]:
    """The versions that the cluster shows: the apiserver's, and those of operators, on their pods and Leases."""
    return document(here, seen(here, operator_namespace))


def document(here: Cluster, found: Seen) -> dict[str, Any]:
    """The versions that the apiserver and what was seen show, for programs."""
    server = here.read("/version") or {}
    return {
        "kubernetes": clean(str(server.get("gitVersion") or "")) or None,
        "operators": sorted(found.on_pods | {lease.version for lease in found.elsewhere if lease.version}),
    }
