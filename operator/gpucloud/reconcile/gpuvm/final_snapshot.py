"""spec.deletion.finalSnapshot: Required: nothing of the VM is destroyed before a listing shows its last snapshot ready.

A GpuSnapshot of its own takes it, and is retained. Where none can be made, in a terminating namespace, the operator takes it in
the cloud itself. ``status.finalSnapshot`` is written before either is requested, and again before the cloud is asked once more.
Why: docs/adr/0024.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds import gpusnapshot
from gpucloud.kinds.gpuvm import KIND, DeletionPolicy, FinalSnapshot, FinalSnapshotState
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile import retry, time_annotations
from gpucloud.reconcile.commands import plugin_command
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.absent import await_absence
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.delete import first_way_out, meanwhile
from gpucloud.reconcile.core.destruction import again_from, resend_wait
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm.snapshots import FOR_REPLACEMENT, SnapshotsOfVm, are_fresh, replacement_of
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, reported_state, vm_phase
from gpucloud.reconcile.text import bracketed, followed, quoted

if TYPE_CHECKING:
    from typing import Any

    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.facts import Attempt, Refusal
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.gpuvm.snapshots import FinalSnapshotFacts, Taker
    from gpucloud.reconcile.plan import Plan

WITHOUT = "To destroy the VM without it, set spec.deletion.finalSnapshot: None."
MOST_REQUESTS = 1000  # as the schema allows
LEAST_WAIT_SECONDS = 300.0  # until a snapshot that the cloud was asked for, or may have been, is asked for again
ON_ITS_WAY = frozenset({VmPhase.PROGRESSING, VmPhase.NO_CAPACITY})  # for a VM in any other state the cloud decides
DELETE = "If nobody needs it, delete it in the cloud."


def record(f: VmFacts) -> FinalSnapshot | None:
    """Return the record in status, if it is of this VM and of what destroys it now."""
    found = f.status.final_snapshot
    return found if found is not None and f.order is not None and found.order == _taken_for(f) else None


def _taken_for(f: VmFacts) -> str:
    """Return the VM's order and what destroys it: one that was taken for a plan is too old for another, and for a deletion."""
    order, planned = "" if f.order is None else f.order.id, f.status.replacement
    return order if f.meta.deleting or planned is None else replacement_of(order, planned)


def without_given_up(f: VmFacts, status: GpuVMStatus) -> GpuVMStatus:
    """Return the status; what was requested for a plan to replace the VM is recorded only while that plan stands.

    What was ready when the VM was destroyed stays on record.
    """
    found, planned = status.final_snapshot, status.replacement
    if found is None or found.state is not FinalSnapshotState.REQUESTED or FOR_REPLACEMENT not in found.order:
        return status
    if planned is not None and f.order is not None and found.order == replacement_of(f.order.id, planned):
        return status
    return status.model_copy(update={"final_snapshot": None})


def is_ready(f: VmFacts) -> bool:
    """Whether the VM may be destroyed: a fresh listing shows the snapshot ready. No status proves that."""
    return _ready_id(f) is not None


def before_destruction(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Return the step that must come before the VM is destroyed; None if it may be destroyed now.

    A VM that listings lack cannot be copied: no destroying call is sent for it, and its absence is awaited.
    """
    if not f.needs_final_snapshot or is_ready(f):
        return None
    if isinstance(f.found, Absent):
        return await_absence(f, f.found)
    if not isinstance(f.found, Present) or f.final is None:
        return _unlisted(f)
    if not isinstance(f.snapshots, SnapshotsOfVm) or not are_fresh(f, f.snapshots):
        return _unlisted(f)
    return _awaited(f, f.final, f.snapshots) or _taken(f, f.final, f.found, f.snapshots)


def recorded(f: VmFacts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan of a deletion; what is destroyed is recorded with the snapshot that was ready, and a release names it."""
    ready = _ready_id(f) if f.needs_final_snapshot else None
    if plan.action is Verb.DESTROY and plan.status is not None and ready is not None:
        taker = None if f.final is None or ready == f.final.unattended_id else f.final.name
        done = _record(f, gpu_snapshot=taker, snapshot_id=ready, state=FinalSnapshotState.READY)
        return replace(plan, status=plan.status.model_copy(update={"final_snapshot": done}))
    return plan if plan.release is None else _released(f, plan)


def _released(f: VmFacts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan; the Event of its release says what remains that no object stands for, or that was not made."""
    known, release = f.status.final_snapshot, plan.release
    if release is None or f.final is None:
        return plan
    taken = known.snapshot_id if known is not None else None
    stands = f.final.taker is not None and f.final.taker.made_for_vm and not f.final.taker.deleting
    if taken is not None and not stands:
        words = f"Its final snapshot {taken!r} stays in the cloud, and is billed. No GpuSnapshot stands for it. {DELETE}"
    elif taken is None and f.policy is DeletionPolicy.DELETE and f.seen:
        look = f"kubectl get gpusnapshots --namespace={f.meta.namespace}"
        words = f"No final snapshot was taken of it. Look for an earlier one: {look}"
    else:
        return plan
    return replace(plan, release=replace(release, note=f"{release.note} {words}", warning=True))


def _ready_id(f: VmFacts) -> str | None:
    """Return the id of a final snapshot of this VM that a fresh listing shows ready."""
    if not isinstance(f.snapshots, SnapshotsOfVm) or not are_fresh(f, f.snapshots):
        return None
    return next((item.name for item in f.snapshots.items if item.ready and item.name in _ids(f)), None)


def _ids(f: VmFacts) -> set[str]:
    """Return the ids under which a snapshot counts as the final one of this VM."""
    known, final = record(f), f.final
    taker = None if final is None or final.taker is None or not final.taker.made_for_vm else final.taker
    ids = (
        None if known is None else known.snapshot_id,
        None if final is None else final.unattended_id,
        None if taker is None else taker.snapshot_id,
    )
    return {one for one in ids if one is not None}


def _awaited(f: VmFacts, final: FinalSnapshotFacts, seen: SnapshotsOfVm) -> Plan[GpuVMStatus] | None:
    """Wait for the snapshot that is being taken; None if nothing takes one."""
    taker, shown = final.taker, next((item.name for item in seen.items if item.name in _ids(f)), None)
    if taker is not None and not taker.made_for_vm:
        retain = plugin_command("retain", gpusnapshot.KIND, f.meta.namespace, final.name)
        words = (
            f"GpuSnapshot {final.name!r} was not made for the final snapshot, whose name it has. Delete it; to keep its "
            f"snapshot in the cloud, first: {retain}"
        )
        return plan_status(f, stalled(Reason.DELETION_BLOCKED, followed(words, WITHOUT)))
    if taker is not None and not taker.deleting:
        plan = plan_status(f, _taking(final.name, taker), final_snapshot=_record(f, final.name, taker.snapshot_id))
        return replace(plan, pending=False)  # the GpuSnapshot has the listings that it needs made fast, and wakes this object
    if shown is not None:
        words = f"The final snapshot {shown!r} is being taken. The VM is destroyed when the snapshot is ready. {WITHOUT}"
        kept = None if shown == final.unattended_id else final.name
        return plan_status(f, working(Reason.TAKING_FINAL_SNAPSHOT, words), final_snapshot=_record(f, kept, shown))
    if taker is not None:
        words = (
            f"The final snapshot is requested again when GpuSnapshot {final.name!r}, which is being deleted, is gone. {WITHOUT}"
        )
        return plan_status(f, working(Reason.TAKING_FINAL_SNAPSHOT, words))
    return None


def _taking(name: str, taker: Taker) -> Verdict:
    if taker.stalled:
        words = (
            f"GpuSnapshot {name!r}, which takes the final snapshot, is Stalled. Do as it says, or delete it to try again. "
            f"{WITHOUT} The GpuSnapshot says: {taker.stalled}"
        )
        return stalled(Reason.DELETION_BLOCKED, words)
    words = f"GpuSnapshot {name!r} takes the final snapshot. The VM is destroyed when the snapshot is ready. {WITHOUT}"
    return working(Reason.TAKING_FINAL_SNAPSHOT, words)


def _taken(f: VmFacts, final: FinalSnapshotFacts, vm: Present[VmRecord], seen: SnapshotsOfVm) -> Plan[GpuVMStatus]:
    """Have a final snapshot taken: by a GpuSnapshot, or in the cloud itself where none can be made."""
    if not final.terminating:
        return _request(f, final, vm)
    said = working(
        Reason.TAKING_FINAL_SNAPSHOT,
        f"The final snapshot {final.unattended_id!r} is taken without a GpuSnapshot, as the namespace is being deleted. The VM "
        f"is destroyed when it is ready. {WITHOUT}",
    )
    known, attempt = _record(f, None, final.unattended_id), f.attempt(Verb.CREATE_SNAPSHOT)
    if vm_phase(vm.record) in ON_ITS_WAY:
        words = f"Waiting until the VM is on or off to take its final snapshot: the cloud reports {reported_state(vm.record)}."
        return plan_status(f, working(Reason.TAKING_FINAL_SNAPSHOT, f"{words} {WITHOUT}"))
    if attempt is not None and attempt.refusal is not None:
        said = _refused(f, attempt, attempt.refusal)
        if failed.in_backoff(f, attempt):
            return plan_status(f, said, requeue_at=failed.again_at(f, attempt), final_snapshot=known)
    if not _is_unsent(known, final, attempt):
        again = _again_from(f, known, final, attempt)
        if seen.as_of < again:
            asked_at = final.requests.seen_at if attempt is None else attempt.at
            return plan_status(f, said, refresh_after=asked_at if seen.as_of < asked_at else again, final_snapshot=known)
        number = min(known.requests + 1, MOST_REQUESTS)
        known = known.model_copy(update={"requests": number, "requested_at": f.now.wall})
    plan = plan_action(f, Verb.CREATE_SNAPSHOT, said, targets=(final.unattended_id,), final_snapshot=known)
    return replace(plan, records_order=plan.action is not None and known != f.status.final_snapshot)


def _refused(f: VmFacts, attempt: Attempt, refusal: Refusal) -> Verdict:
    """Return the verdict of a snapshot that the cloud refuses to take: what can be done about it comes first."""
    policy = retry.policy(attempt)
    advice = retry.advice(attempt, f.account, f.meta.namespace, brief=True)
    if retry.is_final(attempt.verb, refusal):
        again = time_annotations.command(KIND, f.meta.namespace, f.meta.name, Annotation.RECONCILE_REQUESTED_AT)
        advice = f"The operator does not ask again by itself. To ask again: {again}"
    elif refusal.kind is ErrorKind.NOT_FOUND:  # this object is being deleted already
        advice = "The operator tries again every few minutes."
    words = f"No final snapshot: {attempt.verb} failed{policy.often}: {quoted(refusal.message, refusal.kind)}. {advice}"
    return (stalled if policy.stalled else working)(Reason.DELETION_BLOCKED, followed(words, WITHOUT))


def _is_unsent(known: FinalSnapshot, final: FinalSnapshotFacts, attempt: Attempt | None) -> bool:
    """Whether this process announced the last request, and sent no call for it that may have taken a snapshot.

    A call that the cloud has refused for certain is sent again under the same announcement.
    """
    if not known.requests or known.requests != final.requests.announced:
        return False
    refused = attempt is not None and attempt.refusal is not None and not attempt.refusal.ambiguous
    return attempt is None or attempt.at < final.requests.announced_at or refused


def _again_from(f: VmFacts, known: FinalSnapshot, final: FinalSnapshotFacts, attempt: Attempt | None) -> float:
    """Return the mono time from which a listing without the snapshot leads to a further request.

    What another process has announced, it may have sent right before its end: the wait begins anew when this one takes over.
    """
    wait = max(LEAST_WAIT_SECONDS, resend_wait(known.requests, f.limits.grace))
    if attempt is None:
        return final.requests.seen_at + wait if known.requests else -math.inf
    if attempt.refusal is None and attempt.asked == f.asked:
        return attempt.at + wait
    return again_from(f, attempt)


def _request(f: VmFacts, final: FinalSnapshotFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    """Request a GpuSnapshot; one that the watch does not show yet is not requested again for a grace."""
    known, attempt = _record(f, final.name, None), f.attempt(Verb.REQUEST_SNAPSHOT)
    said = working(
        Reason.TAKING_FINAL_SNAPSHOT,
        f"The final snapshot is requested as GpuSnapshot {final.name!r}. The VM is destroyed when the snapshot is ready. "
        f"{WITHOUT}",
    )
    if attempt is not None and attempt.asked == f.asked:
        again = attempt.at + f.limits.grace
        if attempt.refusal is not None:
            words = f"The VM is not destroyed without its final snapshot. {attempt.refusal.message} {WITHOUT}"
            said = stalled(Reason.DELETION_BLOCKED, words)
            again = failed.again_at(f, attempt) or again
        if f.now.mono < again:
            return plan_status(f, said, requeue_at=again, final_snapshot=known)
    if vm.as_of < f.fresh_from:
        return plan_status(f, said, refresh_after=f.fresh_from, final_snapshot=f.status.final_snapshot)
    return plan_action(f, Verb.REQUEST_SNAPSHOT, said, targets=(final.name,), final_snapshot=known)


def _unlisted(f: VmFacts) -> Plan[GpuVMStatus]:
    """Wait for a listing of the snapshots; say so if it fails."""
    unseen = f.snapshots if isinstance(f.snapshots, Unknown) else None
    if unseen is None or unseen.cause is UnknownReason.NOT_LISTED:
        words = f"Looking for the final snapshot of the VM before the VM is destroyed. {WITHOUT}"
        return meanwhile(f, working(Reason.TAKING_FINAL_SNAPSHOT, words), refresh_after=f.now.mono)
    words = f"The final snapshot cannot be seen: {unseen.cause}{bracketed(unseen.detail)}."
    words = followed(f"{words} {first_way_out(f, unseen.cause)}".strip(), WITHOUT)
    again = f.now.mono + 3 * f.limits.pending_interval
    return plan_status(f, stalled(Reason.DELETION_BLOCKED, words), requeue_at=again)


def _record(
    f: VmFacts,
    gpu_snapshot: str | None,
    snapshot_id: str | None,
    state: FinalSnapshotState = FinalSnapshotState.REQUESTED,
) -> FinalSnapshot:
    """Return the record to write. The id of a snapshot that may exist is kept until another is known."""
    known = record(f)
    fields: dict[str, Any] = {"state": state, "order": _taken_for(f), "gpu_snapshot": gpu_snapshot}
    since = f.now.wall if known is None or known.gpu_snapshot != gpu_snapshot else known.requested_at
    kept = None if known is None else known.snapshot_id
    requests = 0 if known is None else known.requests
    return FinalSnapshot(**fields, snapshot_id=snapshot_id or kept, requests=requests, requested_at=since)
