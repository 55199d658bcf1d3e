"""Steps for a host that a listing shows: carry out what a person requests, once, and report the host's state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.gpuhost import MAX_OPERATION_MESSAGE, HostOperation, HostOutcome, HostVerb
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import retry
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.gpuhost import host_states, requests
from gpucloud.reconcile.gpuhost.facts import CALLS
from gpucloud.reconcile.gpuhost.operation import changed, followed, shown_from
from gpucloud.reconcile.gpuhost.report import answer, report
from gpucloud.reconcile.plan import Plan, observing
from gpucloud.reconcile.text import printable, quoted

if TYPE_CHECKING:
    from gpucloud.cloud.models import HostRecord
    from gpucloud.kinds.gpuhost import GpuHostStatus
    from gpucloud.reconcile.facts import Attempt, Present
    from gpucloud.reconcile.gpuhost.facts import HostFacts
    from gpucloud.reconcile.gpuhost.requests import Request

SECRET_SECONDS = 5.0  # between two reads of a Secret that cannot be used
_PROGRESS = {
    HostVerb.REBOOT: working(Reason.REBOOTING, "The host is being rebooted, as requested."),
    HostVerb.REPROVISION: working(Reason.REPROVISIONING, "The host is being reprovisioned, as requested."),
}


def alive(f: HostFacts, host: Present[HostRecord]) -> Plan[GpuHostStatus]:
    """Carry out the next request; report the host if there is none."""
    operation = followed(f, host)
    if operation is not None and operation.outcome is HostOutcome.ANNOUNCED:
        operation = _still_wanted(f, operation)
        if operation.outcome is HostOutcome.ANNOUNCED:
            return _send(f, host, operation)
    request = next(iter(requests.unanswered(f)), None)
    if request is None:
        return _rest(f, host, operation)
    if request.superseded:
        return report(f, stalled(Reason.REJECTED, request.trouble), operation=operation)
    return _refuse(f, host, request, operation) if request.trouble else _announce(f, host, request, operation)


def _still_wanted(f: HostFacts, operation: HostOperation) -> HostOperation:
    """Return an announced operation that was not carried out; refused if the person took it back, or it became too old."""
    annotation = requests.ANNOTATIONS[operation.verb]
    if requests.standing(f, operation.verb) != operation.id:
        words = (
            f"The annotation {annotation} was changed or removed before {CALLS[operation.verb]} was sent. Set it to ask again."
        )
        return changed(operation, HostOutcome.REFUSED, words)
    trouble = requests.trouble(f, operation.verb, operation.id)
    return changed(operation, HostOutcome.REFUSED, trouble) if trouble else operation


def _refuse(f: HostFacts, host: Present[HostRecord], request: Request, last: HostOperation | None) -> Plan[GpuHostStatus]:
    """Answer a request that is not carried out, and the last; before the first record of the host all that stand there."""
    refused = changed(_operation(f, request), HostOutcome.REFUSED, request.trouble)
    others = {} if f.seen else {requests.ANSWERS[one.verb]: one.id for one in requests.unanswered(f)}
    return _rest(f, host, refused, **(answer(last) | answer(refused) | others))


def _announce(f: HostFacts, host: Present[HostRecord], request: Request, last: HostOperation | None) -> Plan[GpuHostStatus]:
    """Announce a call in status; this process sends it in its next reconcile."""
    if not f.synced:
        return Plan(pending=True)  # claims are incomplete before the first list is; its end wakes all objects
    held = _not_now(f, host, request.verb, _PROGRESS[request.verb], last)
    if held is not None:
        return held
    answers = answer(last) | {requests.ANNOUNCED[request.verb]: request.id}
    announced = report(f, _PROGRESS[request.verb], operation=_operation(f, request), **answers)
    return replace(announced, action=CALLS[request.verb], targets=(request.id,), records_order=True)


def _send(f: HostFacts, host: Present[HostRecord], operation: HostOperation) -> Plan[GpuHostStatus]:
    """Send what this process has announced; again only what was not carried out for certain."""
    attempt, said = f.attempt(operation.verb, operation.id), _PROGRESS[operation.verb]
    if attempt is not None:
        said, again = _failed(f, attempt), retry.again_at(attempt, f.spread)
        if attempt.asked == f.asked and again is not None and f.now.mono < again:
            return report(f, said, requeue_at=again, operation=operation)
    held = _not_now(f, host, operation.verb, said, operation)
    if held is not None:
        return held
    return replace(report(f, said, operation=operation), action=CALLS[operation.verb], targets=(operation.id,))


def _not_now(
    f: HostFacts, host: Present[HostRecord], verb: HostVerb, said: Verdict, operation: HostOperation | None
) -> Plan[GpuHostStatus] | None:
    """Return the plan of a call that is not sent now: it waits for its Secret, or for a fresh listing; None if it may be."""
    if f.limits.observe_only:
        verdict = working(Reason.OBSERVE_ONLY, observing(f"call {CALLS[verb]}"), ready="Unknown")
        return replace(report(f, verdict, operation=operation), withheld=CALLS[verb])
    init = f.cloud_init if verb is HostVerb.REPROVISION else None
    if init is not None and init.trouble is not None:
        form = working if init.trouble is Reason.SECRET_NOT_FOUND else stalled
        return report(f, form(init.trouble, init.words), requeue_at=f.now.mono + SECRET_SECONDS, operation=operation)
    if host.as_of < f.fresh_from:
        return report(f, said, refresh_after=f.fresh_from, operation=operation)
    return None


def _rest(f: HostFacts, host: Present[HostRecord], operation: HostOperation | None, **changes: Any) -> Plan[GpuHostStatus]:
    """Report the operation as long as it matters: while it is under way, or its request stands; else the host's state."""
    state = host_states.verdict(host.record, f.meta)
    if operation is None or operation.outcome is HostOutcome.DONE or state.reason is Reason.HOST_FAILED:
        return report(f, state, operation=operation, **changes)
    stands = requests.standing(f, operation.verb) == operation.id
    match operation.outcome:
        case HostOutcome.REFUSED:
            said = stalled(Reason.REJECTED, operation.message or "") if stands else state
            return report(f, said, operation=operation, **changes)
        case HostOutcome.UNCLEAR:
            needed = shown_from(f, operation)
            if not stands:
                return report(f, state, operation=operation, **changes)
            if host.as_of < needed:
                said = working(Reason.API_ERROR, operation.message or "")
                return report(f, said, refresh_after=needed, operation=operation, **changes)
            return report(f, stalled(Reason.API_ERROR, operation.message or ""), operation=operation, **changes)
        case _:
            said = _PROGRESS[operation.verb]
            said = replace(said, message=f"{said.message} The cloud reports it as {host_states.described(host.record)}.")
            return report(f, said, refresh_after=_list_from(f, host, operation), operation=operation, **changes)


def _list_from(f: HostFacts, host: Present[HostRecord], operation: HostOperation) -> float | None:
    """Return when a listing must begin to show an accepted operation; None if one did."""
    needed = shown_from(f, operation)
    return needed if operation.outcome is HostOutcome.ACCEPTED and host.as_of < needed else None


def _failed(f: HostFacts, attempt: Attempt) -> Verdict:
    """Return the verdict of a call that did not leave, and is sent again."""
    if attempt.refusal is None:
        raise ValueError("the attempt did not fail")
    why, advice = quoted(attempt.refusal.message, attempt.refusal.kind), retry.advice(attempt, f.account, f.meta.namespace)
    return working(retry.policy(attempt).reason, f"{attempt.verb} failed: {why}. {advice}")


def _operation(f: HostFacts, request: Request) -> HostOperation:
    return HostOperation(
        verb=request.verb,
        generation=f.meta.generation,
        id=request.id,
        at=f.now.wall,
        outcome=HostOutcome.ANNOUNCED,
        message=printable(request.trouble, MAX_OPERATION_MESSAGE) or None,
    )
