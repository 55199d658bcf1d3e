"""Steps of a GpuVM's deletion: destroy the VM, and its snapshots too if the spec asks for that.

``DeleteSnapshots=true`` deletes every snapshot of the VM. So it is sent only if two fresh listings in a row show that all of
them are deletable: one may be partial. Otherwise the deletable snapshots are deleted one by one before the VM.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gpucloud.kinds.gpuvm import SnapshotPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import deletion_guard
from gpucloud.reconcile.conditions import stalled, working
from gpucloud.reconcile.core import delete, destruction, failed
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import final_snapshot
from gpucloud.reconcile.gpuvm.snapshots import SnapshotsOfVm, are_fresh
from gpucloud.reconcile.text import bracketed, followed, listed

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.facts import Attempt
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan

SNAPSHOTS_FIRST = working(Reason.DELETING, "The VM's snapshots are deleted before the VM, as spec.deletion.snapshots asks.")
KEEP_SNAPSHOTS = "To keep the snapshots, set spec.deletion.snapshots: Keep."


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """Return the next step of a requested deletion."""
    plan = final_snapshot.recorded(f, delete.decide(f, prepare=partial(_before_destruction, f)))
    if plan.action is None or plan.status is None:
        return plan
    return replace(plan, status=plan.status.model_copy(update={"deletion_held_at": None}))  # the deletion guard admits it


def _before_destruction(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Return what must come before the VM is destroyed, and destroys nothing that a later step would need."""
    return held_by_guard(f) or final_snapshot.before_destruction(f) or _snapshots(f)


def held_by_guard(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait while the deletion guard holds the destruction.

    Status records the hold in a field of its own: the condition's reason may change to another one before a restart.
    """
    if f.hold is None:
        return None
    verdict = stalled(Reason.DELETION_HELD, deletion_guard.message(f.hold, f.meta.namespace, f.meta.name))
    return plan_status(f, verdict, deletion_held_at=f.status.deletion_held_at or f.now.wall)


def with_snapshots(f: VmFacts) -> bool:
    """Whether the destroying call may delete the VM's snapshots too: two fresh listings show that each one is deletable."""
    asked = f.meta.deleting and f.spec.deletion.snapshots is SnapshotPolicy.DELETE
    if not asked or not isinstance(f.snapshots, SnapshotsOfVm) or f.snapshots.confirmed is None:
        return False
    confirmed = f.snapshots.confirmed >= max(f.confirmed_from, f.deletion_seen)
    return confirmed and are_fresh(f, f.snapshots) and _all_may_go(f.snapshots)


def _all_may_go(seen: SnapshotsOfVm) -> bool:
    """Whether there are snapshots of the VM, and each one that this listing shows is deletable."""
    return bool(seen.items) and all(item.deletable for item in seen.items)


def _snapshots(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Delete the VM's snapshots before the VM is destroyed, if the spec asks for that."""
    if f.spec.deletion.snapshots is not SnapshotPolicy.DELETE:
        return None
    if not isinstance(f.snapshots, SnapshotsOfVm):
        return _snapshots_unknown(f)
    surplus = tuple(item.name for item in f.snapshots.items if item.deletable)
    if are_fresh(f, f.snapshots) and (not surplus or with_snapshots(f)):
        return None
    attempt = f.attempt(Verb.DELETE_SNAPSHOT)
    if attempt is None and are_fresh(f, f.snapshots) and _all_may_go(f.snapshots):
        return delete.meanwhile(f, SNAPSHOTS_FIRST, refresh_after=f.now.mono)  # until a second listing agrees
    if attempt is not None and failed.in_backoff(f, attempt):
        said = destruction.refused(f, failed.verdict(f, attempt), KEEP_SNAPSHOTS)
        return plan_status(f, said, requeue_at=failed.again_at(f, attempt))
    return _one_by_one(f, f.snapshots, attempt, surplus)


def _one_by_one(f: VmFacts, seen: SnapshotsOfVm, attempt: Attempt | None, surplus: tuple[str, ...]) -> Plan[GpuVMStatus]:
    """Delete these snapshots if the listing is fresh, and if what was sent for them has had time to show."""
    said = SNAPSHOTS_FIRST
    if attempt is not None and surplus and set(surplus) <= set(attempt.targets):
        what = f"the VM's snapshots {listed(tuple(map(repr, surplus)))}"
        said = destruction.repeated(f, attempt, what, KEEP_SNAPSHOTS) or said
        again = destruction.again_from(f, attempt)
        if seen.as_of < again and f.now.mono < again:
            return plan_status(f, said, refresh_after=_next_listing(f, seen, attempt, again))
    if not are_fresh(f, seen):
        return delete.meanwhile(f, said, refresh_after=f.now.mono)
    return plan_action(f, Verb.DELETE_SNAPSHOT, said, targets=surplus)


def _next_listing(f: VmFacts, seen: SnapshotsOfVm, attempt: Attempt, again: float) -> float:
    """Return from when a listing is asked for while deleted snapshots are still listed; a slow deletion is asked rarely."""
    if seen.as_of < attempt.at:
        return attempt.at
    return min(again, f.now.mono + f.limits.pending_interval) if attempt.unrefused < 2 else again


def _snapshots_unknown(f: VmFacts) -> Plan[GpuVMStatus]:
    unknown = f.snapshots if isinstance(f.snapshots, Unknown) else None
    if unknown is None or unknown.cause is UnknownReason.NOT_LISTED:
        return delete.meanwhile(f, SNAPSHOTS_FIRST, refresh_after=f.now.mono)
    words = f"The VM's snapshots cannot be listed: {unknown.cause}{bracketed(unknown.detail)}."
    words = followed(f"{words} {delete.first_way_out(f, unknown.cause)}".strip(), KEEP_SNAPSHOTS)
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, words), requeue_at=f.now.mono + 3 * f.limits.pending_interval)
