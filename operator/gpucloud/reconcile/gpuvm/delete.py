"""Steps of a GpuVM's deletion: destroy the VM, and its snapshots too if the spec asks for that.

``DeleteSnapshots=true`` deletes every snapshot of the VM. So it is sent only if a fresh listing shows that all of them are
deletable. Otherwise the deletable snapshots are deleted one by one before the VM.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.gpuvm import SnapshotPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import deletion_guard
from gpucloud.reconcile.conditions import stalled
from gpucloud.reconcile.core import delete, destruction, failed
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm.facts import SnapshotsOfVm

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan

KEEP_SNAPSHOTS = "To destroy the VM and keep its snapshots, set spec.deletion.snapshots: Keep."


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """Return the next step of a requested deletion."""
    plan = delete.decide(f, prepare=lambda: held_by_guard(f) or _snapshots(f))
    if plan.action is None or plan.status is None:
        return plan
    return replace(plan, status=plan.status.model_copy(update={"deletion_held_at": None}))  # the deletion guard admits it


def held_by_guard(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait while the deletion guard holds the destruction.

    Status records the hold in a field of its own: the condition's reason may change to another one before a restart.
    """
    if f.hold is None:
        return None
    verdict = stalled(Reason.DELETION_HELD, deletion_guard.message(f.hold, f.meta.namespace, f.meta.name))
    return plan_status(f, verdict, deletion_held_at=f.status.deletion_held_at or f.now.wall)


def with_snapshots(f: VmFacts) -> bool:
    """Whether the destroying call may delete the VM's snapshots too: a fresh listing shows that each one is deletable."""
    if f.spec.deletion.snapshots is not SnapshotPolicy.DELETE or not isinstance(f.snapshots, SnapshotsOfVm):
        return False
    items = f.snapshots.items
    return f.snapshots.as_of >= f.fresh_from and bool(items) and all(item.deletable for item in items)


def _snapshots(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Delete the VM's snapshots before the VM is destroyed, if the spec asks for that."""
    if f.spec.deletion.snapshots is not SnapshotPolicy.DELETE:
        return None
    if not isinstance(f.snapshots, SnapshotsOfVm) or f.snapshots.as_of < f.fresh_from:
        return _snapshots_unknown(f)
    surplus = tuple(item.name for item in f.snapshots.items if item.deletable)
    if not surplus or with_snapshots(f):
        return None
    attempt = f.attempt(Verb.DELETE_SNAPSHOT)
    if attempt is not None and failed.in_backoff(f, attempt):
        said = destruction.refused(f, failed.verdict(attempt), KEEP_SNAPSHOTS)
        return plan_status(f, said, requeue_at=failed.again_at(f, attempt))
    if attempt is not None and f.snapshots.as_of < attempt.at + (0.0 if attempt.refusal is not None else f.limits.grace):
        again = f.now.mono + f.limits.pending_interval if f.snapshots.as_of >= attempt.at else attempt.at
        return plan_status(f, destruction.deleting(f), refresh_after=again)
    return plan_action(f, Verb.DELETE_SNAPSHOT, destruction.deleting(f), targets=surplus)


def _snapshots_unknown(f: VmFacts) -> Plan[GpuVMStatus]:
    unknown = f.snapshots if isinstance(f.snapshots, Unknown) else None
    if unknown is None or unknown.cause is UnknownReason.NOT_LISTED:
        return plan_status(f, destruction.deleting(f), refresh_after=f.now.mono)
    detail = f" ({unknown.detail})" if unknown.detail else ""
    words = (
        f"The VM's snapshots cannot be listed: {unknown.cause}{detail}. spec.deletion.snapshots: Delete needs that. "
        f"{KEEP_SNAPSHOTS}"
    )
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, words), requeue_at=f.now.mono + 3 * f.limits.pending_interval)
