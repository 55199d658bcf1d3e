"""A VM that is there: report it, and switch it on or off as its owner asks, in the states in which each is legal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.gpuvm import PowerState
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import Verdict, find, settled, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.act import propose
from gpucloud.reconcile.core.report import report
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.gpuvm.words import FAILURES, Meaning, meaning, word

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.facts import Attempt, Present
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan

IN_PROGRESS = frozenset({Reason.CREATING, Reason.STARTING, Reason.STOPPING, Reason.RESTARTING, Reason.DRIFTED})
RESTART_STOPS = working(Reason.RESTARTING, "The VM is being restarted: it is stopped first.")
RESTART_STARTS = working(Reason.RESTARTING, "The VM is being restarted: it is started again.")
_OPPOSITE = {Verb.START: Verb.STOP, Verb.STOP: Verb.START}
_SWITCH = {Verb.START: (Reason.STARTING, "started"), Verb.STOP: (Reason.STOPPING, "stopped")}


def decide(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    """Compare what is with what is asked."""
    match meaning(vm.record):
        case Meaning.ON:
            return _online(f, vm)
        case Meaning.OFF:
            return _offline(f, vm)
        case Meaning.FAILED:
            return report(f, _failure(f, vm.record))
        case Meaning.NO_ROOM:
            return report(
                f,
                working(
                    Reason.WAITING_FOR_CAPACITY,
                    f"The cloud has no room for {f.spec.configuration!r} in {f.identity.cluster!r} yet (PENDING_RESOURCES): "
                    "the VM waits its turn.",
                ),
            )
        case Meaning.PROGRESSING:
            return report(f, _progress(f))
        case _:
            return report(
                f,
                working(
                    Reason.UNKNOWN_STATE,
                    f"The cloud reports the state {word(vm.record) or 'nothing'!r}, unknown here; it waits for one that is.",
                ),
            )


def _online(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    request = _restart_request(f)
    if f.spec.power_state is PowerState.STOPPED:
        return _switch(f, vm, Verb.STOP, **_answered(request))
    if request is not None:
        return _switch(f, vm, Verb.STOP, announcement=RESTART_STOPS, restarting=request)
    running = settled(Reason.RUNNING, "The VM is running.")
    return _under_way(f, vm, Verb.STOP) or report(f, running, restarting=None)


def _offline(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus]:
    request = _restart_request(f)
    if f.spec.power_state is PowerState.STOPPED:
        off = settled(Reason.POWERED_OFF, "The VM is powered off, as asked. Its disk is still billed.")
        return _under_way(f, vm, Verb.START) or report(f, off, **_answered(request))
    if f.status.restarting is not None or request is not None:
        return _switch(f, vm, Verb.START, announcement=RESTART_STARTS, **_answered(request or f.status.restarting))
    return _switch(f, vm, Verb.START)


def _restart_request(f: VmFacts) -> str | None:
    """The restart that is asked for and not yet answered."""
    request = f.meta.annotations.get(Annotation.RESTART_REQUESTED_AT)
    return request if request and request != f.status.last_handled_restart_at else None


def _answered(request: str | None) -> dict[str, Any]:
    return {"restarting": None} | ({"last_handled_restart_at": request} if request is not None else {})


def _switch(
    f: VmFacts, vm: Present[VmRecord], verb: Verb, *, announcement: Verdict | None = None, **changes: Any
) -> Plan[GpuVMStatus]:
    """Send a power call when the last look is fresh, and again only after the last one has had time to show."""
    verdict = announcement or _announcement(f, verb)
    attempt = _standing(f, verb)
    if attempt is not None and failed.holds(f, attempt):
        return report(f, failed.verdict(attempt), wake_at=failed.again_at(f, attempt), **changes)
    needed = max(f.fresh_from, _shown_from(f, attempt)) if attempt is not None else f.fresh_from
    if vm.as_of < needed:
        return report(f, verdict, look_after=needed, **changes)
    return propose(f, verb, verdict, **changes)


def _under_way(f: VmFacts, vm: Present[VmRecord], verb: Verb) -> Plan[GpuVMStatus] | None:
    """The VM is as its owner wants it, but a call that changes that may not have shown yet: it is not settled."""
    attempt, ready = _standing(f, verb), find(f.status.conditions, ConditionType.READY)
    if attempt is not None:
        needed, verdict = _shown_from(f, attempt), _announcement(f, _OPPOSITE[verb])
    elif f.attempt(_OPPOSITE[verb]) is None and ready is not None and ready.reason == _SWITCH[verb][0]:
        # Whoever announced it may have sent it just before its end. The words stand, since they are all that tells.
        needed, verdict = f.memory.first_seen + f.limits.grace, working(Reason(ready.reason), ready.message)
    else:
        return None
    return report(f, verdict, look_after=needed) if vm.as_of < needed else None


def _shown_from(f: VmFacts, attempt: Attempt) -> float:
    """A listing that began at or after this mono time shows what came of a power call."""
    settling = attempt.refusal is None or attempt.refusal.ambiguous
    return attempt.at + (f.limits.grace if settling else 0.0)


def _standing(f: VmFacts, verb: Verb) -> Attempt | None:
    """The last call of this verb, unless the opposite was sent since: then it has been seen to work."""
    attempt, opposite = f.attempt(verb), f.attempt(_OPPOSITE[verb])
    return None if attempt is not None and opposite is not None and opposite.at > attempt.at else attempt


def _announcement(f: VmFacts, verb: Verb) -> Verdict:
    """Why we switch: somebody else did the opposite (drift), or the owner asked, or a new VM is to be off."""
    reason, participle = _SWITCH[verb]
    ready = find(f.status.conditions, ConditionType.READY)
    same_wish = f.status.observed_generation == f.meta.generation
    if ready is not None and same_wish and ready.reason == Reason.RESTARTING and verb is Verb.START:
        return RESTART_STARTS
    before = Reason.RUNNING if verb is Verb.START else Reason.POWERED_OFF
    if ready is not None and same_wish and ready.reason in {before, Reason.DRIFTED}:
        opposite = "stopped" if verb is Verb.START else "started"
        return working(Reason.DRIFTED, f"The VM was {opposite} from outside; it is being {participle} as spec.powerState asks.")
    return working(reason, f"The VM is being {participle}.")


def _progress(f: VmFacts) -> Verdict:
    """The VM is on its way: keep the word for what was begun, so that one piece of work has one reason."""
    ready = find(f.status.conditions, ConditionType.READY)
    if ready is not None and ready.reason in IN_PROGRESS:
        return working(Reason(ready.reason), ready.message)
    if ready is None or ready.reason in {Reason.PENDING, Reason.WAITING_FOR_CAPACITY, Reason.API_UNAVAILABLE}:
        return working(Reason.CREATING, "The VM is being created.")
    return working(Reason.PROVISIONING, "The cloud is at work on the VM.")


def _failure(f: VmFacts, record: VmRecord) -> Verdict:
    price = f.status.price_per_hour or f.price_per_hour
    cost = f" It may still cost {price} dollars an hour." if price else " It may still be billed."
    return stalled(
        FAILURES[word(record)],
        f"The cloud reports the state {word(record)}.{cost} It is not destroyed unasked: look at its boot log, ask the "
        "cloud's support, or delete this object.",
    )
