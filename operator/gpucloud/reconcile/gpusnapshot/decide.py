"""The chain of a GpuSnapshot: the first step with a plan wins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import adoption
from gpucloud.reconcile.conditions import settled, stalled, working
from gpucloud.reconcile.core import create, delete, steps
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, reported_state, vm_phase
from gpucloud.reconcile.plan import Plan, first_plan
from gpucloud.reconcile.unseen import RECHECK_SECONDS

if TYPE_CHECKING:
    from gpucloud.kinds.gpusnapshot import GpuSnapshotStatus
    from gpucloud.reconcile.gpusnapshot.facts import SnapshotFacts


ON_ITS_WAY = frozenset({VmPhase.PROGRESSING, VmPhase.NO_CAPACITY})  # for a VM in any other state the cloud decides


def decide(f: SnapshotFacts) -> Plan[GpuSnapshotStatus]:
    """Return the plan for this GpuSnapshot. Total: returns a plan for all facts, and never raises."""
    return first_plan(
        f,
        steps.without_finalizer,
        steps.paused,
        steps.unconfirmed,
        deleting,
        steps.claimed,
        steps.unplaced,
        steps.unobserved,
        steps.duplicate_records,
        steps.unproven_origin,
        steps.not_owned,
        alive,
        lost_beside_vms,
        steps.lost,
        create.rejected,
        create.name_conflict,
        create.outstanding,
        create.overdue,
        steps.dependency_not_ready,
        adoption.missing_required,
        source_missing,
        create.unproven,
        create.terminating,
        create.backing_off,
    ) or create.order(f)


def deleting(f: SnapshotFacts) -> Plan[GpuSnapshotStatus] | None:
    """Return the deletion's next step. Pause, Retain and late answers count during deletion too."""
    return delete.decide(f) if f.meta.deleting else None


def alive(f: SnapshotFacts) -> Plan[GpuSnapshotStatus] | None:
    """Report an existing snapshot: finished when the cloud says that it can be used."""
    if not isinstance(f.found, Present):
        return None
    source, wanted = f.found.record.source_name, f.spec.vm
    if f.adopted and wanted is not None and source is not None and source != wanted.name:
        return adoption.mismatch(f, "spec.vm.name", source, wanted.name)
    if f.found.record.ready_to_use:
        return plan_status(f, settled(Reason.COMPLETED, "The snapshot is taken and can be used."))
    return plan_status(f, working(Reason.CREATING, "The snapshot is being taken."))


def lost_beside_vms(f: SnapshotFacts) -> Plan[GpuSnapshotStatus] | None:
    """Judge a loss as that of the VMs of the cluster is judged: what lacks too many VMs at once proves no snapshot lost.

    Few snapshots are no reason to doubt their own listing. So a loss is reported once VMs have been listed after it, too.
    """
    found, vms = f.found, f.vms_listed
    if not isinstance(found, Absent) or not f.seen or f.recreates or vms is None:
        return None
    again = f.now.mono + RECHECK_SECONDS  # what the listing of VMs shows wakes no snapshot
    if isinstance(vms, Unknown):
        one_loss = vms.cause is UnknownReason.IMPLAUSIBLE and vms.since <= found.since + f.limits.blind_after
        plan = steps.unobserved(replace(f, found=vms)) if one_loss else None
        return None if plan is None else replace(plan, requeue_at=min(plan.requeue_at or again, again))
    if vms >= found.since:
        return None
    return plan_status(f, steps.missing_now(f), requeue_at=again)


def source_missing(f: SnapshotFacts) -> Plan[GpuSnapshotStatus] | None:
    """Wait until the last listing shows the source VM, and the VM's state is not changing."""
    seen = f.source.seen if f.source is not None else None
    if isinstance(seen, Unknown) and seen.cause is UnknownReason.NOT_LISTED:
        return Plan(refresh_after=f.history.first_seen, pending=True)  # the first listing of VMs may not have come yet
    if f.source is None or seen is None or isinstance(seen, Unknown):
        unseen = working(Reason.DEPENDENCY_NOT_READY, "Waiting until the cloud lists the VM of which the snapshot is taken.")
        return plan_status(
            f, unseen, requeue_at=f.now.mono + RECHECK_SECONDS
        )  # a change of the VM in a listing wakes this object
    name = f.source.name
    if isinstance(seen, Absent):
        words = (
            f"There is no VM {name!r} in {f.place} to take a snapshot of. It is taken when there is one. If the "
            f"name is wrong, delete this object{f.deletion_does} and create it again."
        )
        return plan_status(f, stalled(Reason.SOURCE_NOT_FOUND, words))
    if seen.duplicate_records:
        words = (
            f"The cloud lists more than one VM named {name!r}. Destroy all but one in the cloud; the operator then takes a "
            "snapshot of that VM."
        )
        return plan_status(f, working(Reason.DEPENDENCY_NOT_READY, words))
    if vm_phase(seen.record) in ON_ITS_WAY:
        words = f"Waiting until the VM {name!r} is on or off: the cloud reports {reported_state(seen.record)}."
        return plan_status(f, working(Reason.DEPENDENCY_NOT_READY, words))
    return None
