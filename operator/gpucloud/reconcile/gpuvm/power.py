"""Steps for an existing VM: report its state, and start or stop it in the states that allow it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuvm import Cause, Operation, Outcome, PowerState, PowerVerb
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.kinds.recreation import OnLoss
from gpucloud.reconcile import unseen
from gpucloud.reconcile.conditions import Verdict, settled, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm.boot_log import found_words
from gpucloud.reconcile.gpuvm.offers import is_to_start
from gpucloud.reconcile.gpuvm.vm_states import FAILURES, VmPhase, is_replaceable, reported_state, vm_phase
from gpucloud.reconcile.gpuvm.waiting import ordering, queue
from gpucloud.reconcile.placement import placed_message
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.text import bracketed, followed
from gpucloud.reconcile.time_annotations import on_mono

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.facts import Attempt, Present
    from gpucloud.reconcile.gpuvm.facts import VmFacts

LONGEST_RESEND_SECONDS = 300.0  # between two power calls that the cloud accepts and that have no effect
RESTART_STOPS = working(Reason.RESTARTING, "The VM is being restarted: it is stopped first.")
RESTART_STARTS = working(Reason.RESTARTING, "The VM is being restarted: it is being started.")
_OPPOSITE = {Verb.START: Verb.STOP, Verb.STOP: Verb.START}
_SWITCH = {Verb.START: (Reason.STARTING, "started"), Verb.STOP: (Reason.STOPPING, "stopped")}
_KIND = {Verb.START: PowerVerb.START, Verb.STOP: PowerVerb.STOP}
_UNSENT = {_KIND[verb]: said for verb, said in _SWITCH.items()} | {PowerVerb.RESTART: (Reason.RESTARTING, "restarted")}


def decide(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    """Compare the VM's power state with the spec."""
    match vm_phase(vm.record):
        case VmPhase.ON:
            return _online(f, vm)
        case VmPhase.OFF:
            return _offline(f, vm)
        case VmPhase.FAILED:
            return plan_status(f, _failure(f, vm.record))
        case VmPhase.NO_CAPACITY:
            return plan_status(
                f,
                working(
                    Reason.WAITING_FOR_CAPACITY,
                    f"The cloud has no capacity for {f.spec.configuration!r} in {f.identity.cluster!r} yet "
                    "(PENDING_RESOURCES): the VM is waiting in the queue.",
                ),
            )
        case VmPhase.PROGRESSING:
            progress = _progress(f)
            return plan_status(f, replace(progress, message=f"{progress.message}{found_words(f)}"))
        case _:
            return plan_status(
                f,
                working(
                    Reason.UNKNOWN_STATE,
                    f"{_unknown_state(vm.record)}; the operator waits for one that it knows. If it stays so, ask the cloud's "
                    "support.",
                ),
            )


def unsent(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Say of an announced power call that has not left, while the cloud does not answer, that it is still to come."""
    operation, found = f.operation, f.found
    if operation is None or not isinstance(found, Unknown) or found.cause is not UnknownReason.UNREACHABLE:
        return None
    until = unseen.stands_until(f, found)
    if operation.outcome is not Outcome.ANNOUNCED or operation.generation != f.meta.generation or f.now.mono >= until:
        return None
    announced = on_mono(operation.at, f.now)
    calls = [f.attempt(verb) for verb in (Verb.START, Verb.STOP)]
    if f.history.first_seen > announced or any(call is not None and call.at >= announced for call in calls):
        return None  # it has left, or another process may have sent it
    reason, participle = _UNSENT[operation.verb]
    words = f"The VM is to be {participle}: the cloud does not answer{bracketed(found.detail)}. The operator keeps trying."
    return plan_status(f, working(reason, words), requeue_at=until)


def _unknown_state(record: VmRecord) -> str:
    state = reported_state(record)
    return f"The cloud reports the state {state!r}, which this version does not know" if state else "The cloud reports no state"


def _online(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    request = _restart_request(f)
    if f.spec.power_state is PowerState.STOPPED:
        return _switch(f, vm, Verb.STOP, **_handled(request))
    if request is not None:
        return _restart(f, vm, Verb.STOP, request)
    return _under_way(f, vm, Verb.STOP) or _settle(f, settled(Reason.RUNNING, "The VM is running."))


def _offline(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    request = _restart_request(f)
    if f.spec.power_state is PowerState.STOPPED:
        off = settled(Reason.POWERED_OFF, "The VM is powered off, as asked. Its disk is still billed.")
        return _under_way(f, vm, Verb.START) or _settle(f, off, **_handled(request))
    under_way = f.operation
    if request is None and under_way is not None and under_way.verb is PowerVerb.RESTART:
        request = under_way.id if under_way.outcome is not Outcome.DONE else None
    return _switch(f, vm, Verb.START) if request is None else _restart(f, vm, Verb.START, request)


def _settle(f: VmFacts, verdict: Verdict, **changes: Any) -> Plan[GpuVMStatus]:
    """Report a VM in the wanted power state."""
    done = f.operation if f.operation is None else f.operation.model_copy(update={"outcome": Outcome.DONE})
    return plan_status(f, verdict, operation=done, settled_generation=f.meta.generation, **changes)


def _restart_request(f: VmFacts) -> str | None:
    """The restart that is asked for and not yet answered.

    One that stood there when the status was lost is taken for answered: nobody can know, and restarting twice loses work.
    """
    request = f.meta.annotations.get(Annotation.RESTART_REQUESTED_AT)
    return request if request and request != f.status.last_handled_restart_at and f.status.order is not None else None


def _handled(request: str | None) -> dict[str, Any]:
    return {} if request is None else {"last_handled_restart_at": request}


def _restart(f: VmFacts, vm: Present[VmRecord], verb: Verb, request: str) -> Plan[GpuVMStatus]:
    """Return one call of a restart: stop, then start. The restart is answered when its start is announced in status."""
    said, handled = (RESTART_STOPS, {}) if verb is Verb.STOP else (RESTART_STARTS, _handled(request))
    current = f.operation
    if current is None or (current.verb, current.id) != (PowerVerb.RESTART, request):
        current = Operation(verb=PowerVerb.RESTART, generation=f.meta.generation, id=request, at=f.now.wall)
    return _send(f, vm, verb, said, current, **handled)


def _switch(f: VmFacts, vm: Present[VmRecord], verb: Verb, **changes: Any) -> Plan[GpuVMStatus]:
    """Bring the VM to the power state in spec."""
    operation = _operation(f, verb)
    return _send(f, vm, verb, _announcement(operation, verb), operation, **changes)


def _send(
    f: VmFacts, vm: Present[VmRecord], verb: Verb, said: Verdict, operation: Operation, **changes: Any
) -> Plan[GpuVMStatus]:
    """Send a power call if the observation is fresh, the last call has had time to show, and the VM is provably ours."""
    if not f.ours:
        return plan_status(f, _unprovable(f, verb))
    attempt = _last_attempt(f, verb)
    delayed = None if attempt is None else _backing_off(f, attempt, operation, **changes)
    if delayed is not None and not _may_queue(f, attempt):
        return delayed
    needed = max(f.fresh_from, _again_from(f, attempt, operation)) if attempt is not None else f.fresh_from
    if vm.as_of < needed and attempt is None and operation.verb is PowerVerb.RESTART:
        return Plan(refresh_after=needed, pending=True)  # unknown yet whether the VM must be stopped first
    if verb is Verb.START:
        waits = _wait_to_start(f, vm, attempt, delayed, needed, **_unannounced(attempt, operation, changes))
        if waits is not None:
            return waits
    changes["operation"] = operation.model_copy(update={"outcome": Outcome.ANNOUNCED})
    if attempt is None or attempt.refusal is not None:
        said = ordering(f) or said
    if attempt is not None and attempt.refusal is not None and attempt.asked == f.asked and not _may_queue(f, attempt):
        said = failed.verdict(f, attempt)  # which stands until the call succeeds: Ready does not change to and fro
    if attempt is not None and operation.verb is not PowerVerb.RESTART and _unanswered_for(f, attempt, operation) > 0:
        said = replace(said, message=followed(said.message, _without_effect(verb, vm.record)))
    if vm.as_of < needed:
        return plan_status(f, said, refresh_after=needed, **changes)
    return plan_action(f, verb, said, **changes)


def _backing_off(f: VmFacts, attempt: Attempt, operation: Operation, **changes: Any) -> Plan[GpuVMStatus] | None:
    """Wait while the last call failed and its backoff is not over."""
    if not failed.in_backoff(f, attempt):
        return None
    # The next announcement would undo this record, and must stand before its call: a status that says Announced all the
    # while makes the next process only more careful, and further tries of a call that is refused for good cost no write.
    repeats = attempt.failures > 1 and operation.outcome is Outcome.ANNOUNCED
    refused = operation if repeats else operation.model_copy(update={"outcome": _outcome(attempt)})
    return plan_status(f, failed.verdict(f, attempt), requeue_at=failed.again_at(f, attempt), operation=refused, **changes)


def _wait_to_start(
    f: VmFacts,
    vm: Present[VmRecord],
    attempt: Attempt | None,
    delayed: Plan[GpuVMStatus] | None,
    needed: float,
    **changes: Any,
) -> Plan[GpuVMStatus] | None:
    """Wait for capacity: after a 503 until a listing shows that the VM is off all the same, then for its turn in the line."""
    if vm.as_of >= needed:
        return queue(f, attempt, lambda: delayed, **changes)
    if attempt is None or not _may_queue(f, attempt):
        return None
    return plan_status(f, failed.verdict(f, attempt), refresh_after=needed, **changes)


def _may_queue(f: VmFacts, attempt: Attempt | None) -> bool:
    """Whether the waiting line decides when the call is sent again, and no backoff: there was no capacity for a start."""
    refusal = None if attempt is None or attempt.verb is not Verb.START else attempt.refusal
    return refusal is not None and refusal.kind is ErrorKind.UNAVAILABLE and is_to_start(f)


def _unannounced(attempt: Attempt | None, operation: Operation, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes of the status while a start waits in line: its call is not announced, or no longer.

    One that the cloud accepted stands as it was announced: its effect may yet show.
    """
    if attempt is None or attempt.refusal is None:
        return {}
    return {"operation": operation.model_copy(update={"outcome": _outcome(attempt)}), **changes}


def _unprovable(f: VmFacts, verb: Verb) -> Verdict:
    """Call a person where only the record, which people can edit, says that the VM is this object's."""
    way = "on" if verb is Verb.START else "off"
    return stalled(
        Reason.AMBIGUOUS,
        f"The cloud chose the id of VM {f.identity.name!r}, and since the operator's restart nothing proves that it is this "
        f"object's: the VM is not switched {way}. Do that in the cloud.",
    )


def _again_from(f: VmFacts, attempt: Attempt, operation: Operation) -> float:
    """A listing that began at or after this mono time may lead to the same call once more.

    What the cloud accepts without effect is sent again ever more rarely: each wait is as long as all before it together.
    """
    waited = min(_unanswered_for(f, attempt, operation), LONGEST_RESEND_SECONDS)
    return max(_shown_from(f, attempt), attempt.at + waited)


def _unanswered_for(f: VmFacts, attempt: Attempt, operation: Operation) -> float:
    """How many seconds of the operation had gone by, without effect, when the cloud accepted its last call."""
    if attempt.refusal is not None:
        return 0.0
    before = (f.now.wall - operation.at).total_seconds() - (f.now.mono - attempt.at)
    return before if before >= f.limits.grace else 0.0


def _without_effect(verb: Verb, record: VmRecord) -> str:
    return (
        f"The cloud accepts {verb} and still reports {reported_state(record)}: the operator repeats the call. If this goes on, "
        "ask the cloud's support."
    )


def _outcome(attempt: Attempt) -> Outcome:
    unclear = attempt.refusal is not None and attempt.refusal.ambiguous
    return Outcome.UNCLEAR if unclear else Outcome.REFUSED


def _under_way(f: VmFacts, vm: Present[VmRecord], verb: Verb) -> Plan[GpuVMStatus] | None:
    """Report a VM in the wanted power state that an earlier power call may still change: it is not settled."""
    attempt, recorded = _last_attempt(f, verb), f.operation
    if attempt is not None:
        needed = _shown_from(f, attempt)
        verdict = _announcement(_operation(f, _OPPOSITE[verb]), _OPPOSITE[verb])
    elif recorded is not None and f.attempt(_OPPOSITE[verb]) is None and _may_be_under_way(recorded, verb):
        # the process that recorded the call may have sent it right before its end
        needed, verdict = f.history.first_seen + f.limits.grace, _announcement(recorded, verb)
    else:
        return None
    return plan_status(f, verdict, refresh_after=needed) if vm.as_of < needed else None


def _may_be_under_way(recorded: Operation, verb: Verb) -> bool:
    """Whether a recorded operation may have sent this call, and its effect may still show."""
    if recorded.outcome in {Outcome.DONE, Outcome.REFUSED}:
        return False
    return recorded.verb in {_KIND[verb], PowerVerb.RESTART}


def _shown_from(f: VmFacts, attempt: Attempt) -> float:
    """Return the mono time at or after which a listing must begin to show the effect of a power call."""
    settling = attempt.refusal is None or attempt.refusal.ambiguous
    return attempt.at + (f.limits.grace if settling else 0.0)


def _last_attempt(f: VmFacts, verb: Verb) -> Attempt | None:
    """Return the last call of this verb; None if the opposite call was sent since, which proves that this one worked."""
    attempt, opposite = f.attempt(verb), f.attempt(_OPPOSITE[verb])
    return None if attempt is not None and opposite is not None and opposite.at > attempt.at else attempt


def _operation(f: VmFacts, verb: Verb) -> Operation:
    """The record of a switch: the one that stands while it serves the same wish, else a new one."""
    current, generation = f.operation, f.meta.generation
    same = current is not None and (current.verb, current.generation) == (_KIND[verb], generation)
    if current is not None and same and current.outcome is not Outcome.DONE:
        return current
    drift = f.status.settled_generation == generation
    cause = Cause.DRIFT if drift else Cause.REQUESTED
    return Operation(verb=_KIND[verb], cause=cause, generation=generation, id=f.nonce, at=f.now.wall)


def _announcement(operation: Operation, verb: Verb) -> Verdict:
    """Return why the VM is switched: its state changed outside, the spec asks for it, or a restart."""
    if operation.verb is PowerVerb.RESTART:
        return RESTART_STOPS if verb is Verb.STOP else RESTART_STARTS
    reason, participle = _SWITCH[verb]
    if operation.cause is Cause.DRIFT:
        opposite = "stopped" if verb is Verb.START else "started"
        words = f"The VM was {opposite} outside Kubernetes; it is being {participle} as spec.powerState asks."
        return working(Reason.DRIFTED, words)
    return working(reason, f"The VM is being {participle}.")


def _progress(f: VmFacts) -> Verdict:
    """Report a VM that an earlier operation is still changing."""
    operation = f.operation
    if operation is not None and operation.outcome is not Outcome.DONE:
        verb = Verb.STOP if operation.verb is PowerVerb.STOP else Verb.START
        return _announcement(operation, verb)
    if f.status.settled_generation is None and not f.adopted:
        return working(Reason.CREATING, "The VM is being created.")
    return working(Reason.PROVISIONING, "The cloud is changing the VM; the operator waits for its next state.")


def _failure(f: VmFacts, record: VmRecord) -> Verdict:
    price = f.status.price_per_hour or f.price_per_hour
    cost = f"may still cost {price} dollars an hour" if price else "may still be billed"
    words = f"The cloud reports the state {reported_state(record)}. The VM {cost}. {_way_on(f, record)}"
    return stalled(FAILURES[reported_state(record)], words)


def _way_on(f: VmFacts, record: VmRecord) -> str:
    """Return what to do about a failed VM, or what happens next."""
    replaceable = is_replaceable(record) and not f.adopted and f.spec.on_loss is OnLoss.RECREATE
    if replaceable and f.replaces_failed:
        return "If it stays so, it is destroyed and recreated. To keep it, set spec.onLoss: Fail."
    placed = placed_message(f.order)
    if replaceable and placed is not None:
        return f"{placed}, so it is not recreated. Ask the cloud's support, or delete this object{f.deletion_does}."
    if replaceable:
        return "To have it recreated, set spec.powerState: Running, deletion.policy: Delete and deletion.finalSnapshot: None."
    return (
        f"Ask the cloud's support, delete this object{f.deletion_does}, or read the boot log: "
        f"kubectl gpucloud logs {f.meta.name} -n {f.meta.namespace}"
    )
