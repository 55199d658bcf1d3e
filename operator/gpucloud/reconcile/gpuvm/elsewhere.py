"""Steps of a GpuVM that accepts several clusters: which one is in hand, and what the others show under its name.

A VM that is found in one of them is the object's own, as its name proves. It is taken over where no order ties the object to
another cluster; then status names its cluster, and it is observed there like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.gpuvm.clusters import clusters, is_left_behind, spelled
from gpucloud.reconcile.text import suggestion

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan

SOON_SECONDS = 0.2  # from the write that names another cluster until it is looked at
FIELD = "spec.placement.alternatives"


def found_in(f: VmFacts) -> str | None:
    """Return the other cluster of the spec that shows the object's VM, if the object may go there; None if there is none.

    Where several show one, none is chosen: each is named to a person.
    """
    strays = () if isinstance(f.strays, Unknown) else f.strays
    there = strays[0] if len(strays) == 1 and is_left_behind(f.order) else None
    if there is None or there.vpc != f.identity.vpc:
        return None
    return spelled(clusters(f.spec), there.cluster)


def taken_over(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Go to the cluster that shows the object's VM. ``status.placement`` names it from this write on."""
    there = found_in(f)
    if there is None:
        return None
    words = f"The VM {f.identity.name!r} of this object was found in cluster {there!r} of {FIELD}, and is being taken over."
    return plan_status(f, working(Reason.CREATING, words), requeue_at=f.now.mono + SOON_SECONDS)


def unsearched(f: VmFacts, unknown: Unknown) -> Verdict:
    """Return the verdict while another cluster of the spec cannot be listed: nobody knows whether the VM is there."""
    cluster, known = unknown.detail, f.account.clusters
    if unknown.since > f.now.mono:
        words = "The status of this object was lost, so a VM that was ordered just before may still appear in another cluster."
        return working(Reason.CREATING, f"{words} The operator waits some minutes before it orders one.")
    if unknown.cause is UnknownReason.REJECTED and known and spelled(known, cluster) is None:
        words = f"Unknown cluster {cluster!r} in {FIELD}.{suggestion(cluster, known)} Known clusters: {', '.join(known[:20])}."
        return stalled(Reason.INVALID_SPEC, f"{words} Correct it there: until then nothing is ordered in any cluster.")
    held = f"cluster {cluster!r}, so nothing is ordered: the VM may be there"
    if unknown.cause is UnknownReason.FORBIDDEN:
        words = f"The account {f.account.name!r} may not list VMs in {held}."
        return stalled(
            Reason.PERMISSION_DENIED, f"{words} Remove the cluster from {FIELD}, or let the credential list VMs there."
        )
    words = f"The operator cannot list {held} ({unknown.cause}). It keeps trying. To do without this cluster, edit {FIELD}."
    return working(Reason.API_UNAVAILABLE, words, ready="Unknown")
