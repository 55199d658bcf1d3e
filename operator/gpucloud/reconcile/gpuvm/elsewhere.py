"""Steps of a GpuVM that accepts several clusters: which one is in hand, and what the others show under its name.

A VM that is found in one of them is the object's own, as its name proves. It is taken over where no order ties the object to
another cluster; then status names its cluster, and it is observed there like any other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import naming
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.gpuvm import buy_anyway
from gpucloud.reconcile.gpuvm.clusters import clusters, is_left_behind, spelled
from gpucloud.reconcile.text import cloud_names
from gpucloud.reconcile.unseen import RECHECK_SECONDS
from gpucloud.spelling import suggestion

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
    own = naming.same_cluster(cluster, f.spec.cluster)
    if unknown.cause is UnknownReason.REJECTED and known and spelled(known, cluster) is None:
        field = "spec.cluster" if own else FIELD
        way_out = "Create another object; deleting this one destroys its VM" if own else "Correct it there"
        near, shown = suggestion(cluster, known), cloud_names(known[:20])
        words = f"Unknown cluster {cluster!r} in {field}.{near} Known clusters: {shown}."
        return stalled(Reason.INVALID_SPEC, f"{words} {way_out}. Until then nothing is ordered.")
    held = f"cluster {cluster!r}, where the VM may be, so nothing is ordered"
    if unknown.cause is UnknownReason.FORBIDDEN:
        words = f"The account {f.account.name!r} may not list VMs in {held}."
        way_out = "Let the credential list VMs there" + ("." if own else f", or remove the cluster from {FIELD}.")
        return stalled(Reason.PERMISSION_DENIED, f"{words} {way_out}")
    without = "" if own else f" To do without this cluster, edit {FIELD}."
    words = f"The operator cannot list {held} ({unknown.cause}). It keeps trying.{without}"
    return working(Reason.API_UNAVAILABLE, words, ready="Unknown")


def held_by_other_clusters(f: VmFacts, what: str) -> Plan[GpuVMStatus] | None:
    """Keep a VM that is to be replaced until every cluster of the spec is listed and shows no other VM of its name.

    Otherwise nothing could be ordered afterwards. ``what`` says what it is replaced for.
    """
    if not f.strays or buy_anyway.beside_own(f):
        return None
    if not isinstance(f.strays, Unknown):
        there = f.strays[0]
        words = f"another VM {there.name!r} shows in VPC {there.vpc!r} of cluster {there.cluster!r}, beside the one in cluster"
        way_out = "Only you know which one to keep: destroy the other one in the cloud."
        said = stalled(Reason.POSSIBLE_DUPLICATE, f"Nothing is destroyed: {words} {f.identity.cluster!r}. {way_out}")
    elif f.strays.cause is UnknownReason.NOT_LISTED:
        words = f"{what} It is destroyed as soon as cluster {f.strays.detail!r} is listed: another VM of its name may be there."
        said = working(Reason.REPLACING, words)
    else:
        held = unsearched(f, f.strays)
        said = replace(held, ready="False", message=f"The VM is not replaced yet. {held.message}")
    return plan_status(f, said, requeue_at=f.now.mono + RECHECK_SECONDS)
