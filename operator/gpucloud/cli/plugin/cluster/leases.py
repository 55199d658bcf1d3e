"""The Leases of operators: who leads, since when nothing was heard of it, and whether it is a pod of the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

from gpucloud.cli.plugin.model.objects import moment
from gpucloud.cli.terminal.text import ago, clean
from gpucloud.kinds.meta import PART_OF, VERSION_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from gpucloud.cli.plugin.cluster import Cluster

OLD_NAMES = "gpucloud"  # beginning of the usual names, for a Lease that an operator of before the label has left
SILENCE = timedelta(minutes=1)  # of the holder of a Lease, whatever our clock's error


@dataclass(frozen=True, slots=True)
class Lease:
    """Who leads, and when that was last renewed."""

    name: str
    holder: str
    renewed: datetime | None
    version: str = ""  # of the operator that wrote it last; empty if that is an older one, which does not say


def leases(here: Cluster, namespace: str) -> tuple[Lease, ...] | None:
    """The Leases of operators of ours in that namespace; None when they may not be seen."""
    listed = here.listed("Leases", f"/apis/coordination.k8s.io/v1/namespaces/{quote(namespace, safe='')}/leases")
    if listed is None:
        return None
    found = []
    for item in listed:
        meta, spec = item["metadata"], item.get("spec") or {}
        label, ours = PART_OF
        name = str(meta.get("name", ""))
        if (meta.get("labels") or {}).get(label) == ours or name.startswith(OLD_NAMES):
            holder, version = (clean(str(text or "")) for text in (spec.get("holderIdentity"), _version(meta)))
            found.append(Lease(name, holder, moment(spec.get("renewTime")), version))
    return tuple(found)


def _version(meta: dict[str, object]) -> object:
    noted = meta.get("annotations")
    return noted.get(VERSION_MARK) if isinstance(noted, dict) else None


def is_silent(lease: Lease, now: datetime) -> bool:
    """Whether its holder has not renewed it lately."""
    return lease.renewed is None or now - lease.renewed > SILENCE


def is_led(lease: Lease, now: datetime) -> bool:
    """Whether an operator holds it, and lives."""
    return bool(lease.holder) and not is_silent(lease, now)


def is_a_pod(lease: Lease, pods: Iterable[str]) -> bool:
    """Whether one of these pods holds it: a holder's name begins with that of its host, which is the pod's."""
    return any(lease.holder == pod or lease.holder.startswith(f"{pod}_") for pod in pods)


def words(lease: Lease, now: datetime) -> str:
    """Who holds it, and the last sign of life; without a full stop."""
    renewed = f", renewed {ago(now - lease.renewed)} ago" if lease.holder and lease.renewed is not None else ""
    return f"the Lease {lease.name} is held by {lease.holder or 'nobody'}{renewed}"
