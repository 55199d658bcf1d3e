"""What became of the last requested operation: it follows the answer of the cloud, and what listings show of the host.

An operation is sent at most once. Only the process that announced it may send it; a process that finds an announcement of
another one cannot know whether that was sent, and looks at the host instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuhost import MAX_OPERATION_MESSAGE, HostOperation, HostOutcome, HostVerb
from gpucloud.reconcile import retry
from gpucloud.reconcile.gpuhost import host_states, requests
from gpucloud.reconcile.gpuhost.facts import CALLS, is_certainly_undone, without_secrets
from gpucloud.reconcile.text import followed as in_a_row
from gpucloud.reconcile.text import printable, quoted

if TYPE_CHECKING:
    from gpucloud.cloud.models import HostRecord
    from gpucloud.reconcile.facts import Attempt, Present
    from gpucloud.reconcile.gpuhost.facts import HostFacts

SENT = frozenset({HostOutcome.ACCEPTED, HostOutcome.UNCLEAR})  # the host may show it
_UNCLEAR = {
    ErrorKind.UNAVAILABLE: "The cloud was out of service",
    ErrorKind.SERVER: "The cloud failed",
}


def followed(f: HostFacts, host: Present[HostRecord]) -> HostOperation | None:
    """Return the operation as it is known now; None if there is none."""
    operation = f.status.operation
    if operation is None:
        return None
    if operation.outcome is HostOutcome.ANNOUNCED:
        operation = answered(f, operation, host.record)
    if operation.outcome in SENT and _is_shown(f, operation, host):
        operation = changed(operation, HostOutcome.IN_PROGRESS)
    ready = host_states.is_ready(host.record)
    if operation.outcome is HostOutcome.IN_PROGRESS and ready:
        return changed(operation, HostOutcome.DONE)
    if operation.outcome is HostOutcome.ACCEPTED and ready and host.as_of >= shown_from(f, operation):
        return changed(operation, HostOutcome.DONE)  # too quick for any listing
    return operation


def answered(f: HostFacts, operation: HostOperation, record: HostRecord) -> HostOperation:
    """Return an announced operation after the answer to its call."""
    attempt = f.attempt(operation.verb, operation.id)
    if attempt is None:
        if f.is_own(operation):
            return operation
        words = "The operator was restarted before it recorded an answer"
        return changed(operation, HostOutcome.UNCLEAR, f"{words}: {_look(f, operation.verb)}")
    if attempt.refusal is None:
        return changed(operation, HostOutcome.ACCEPTED)
    if is_certainly_undone(attempt.refusal):
        return operation
    said = quoted(attempt.refusal.message, attempt.refusal.kind)
    if attempt.refusal.ambiguous:
        words = f"{_UNCLEAR.get(attempt.refusal.kind, 'The cloud gave no clear answer')} ({said})"
        return changed(operation, HostOutcome.UNCLEAR, f"{words}: {_look(f, operation.verb)}")
    return changed(operation, HostOutcome.REFUSED, _refused(f, operation.verb, attempt, said, record))


def changed(operation: HostOperation, outcome: HostOutcome, message: str | None = None) -> HostOperation:
    """Return the operation with this outcome."""
    words = None if message is None else printable(message, MAX_OPERATION_MESSAGE)
    return operation.model_copy(update={"outcome": outcome, "message": words})


def shown_from(f: HostFacts, operation: HostOperation) -> float:
    """Return the mono time at or after which a listing must begin to show what was sent."""
    attempt = f.attempt(operation.verb, operation.id)
    return (f.history.first_seen if attempt is None else attempt.at) + f.limits.grace


def _is_shown(f: HostFacts, operation: HostOperation, host: Present[HostRecord]) -> bool:
    """Whether a listing that began after the announcement shows that the operation is carried out."""
    if host.as_of < f.mono_of(operation.at):
        return False
    image = without_secrets(host.record.image)
    other_image = f.status.image is not None and image is not None and image != f.status.image
    return host_states.is_at_work(host.record) or (operation.verb is HostVerb.REPROVISION and other_image)


def _refused(f: HostFacts, verb: HostVerb, attempt: Attempt, said: str, record: HostRecord) -> str:
    """Return why the cloud refused: the state of the host, which is what 422 speaks of, and the cloud's words."""
    if attempt.refusal is not None and attempt.refusal.kind in {ErrorKind.INVALID, ErrorKind.CONFLICT}:
        words = f"The cloud refuses {CALLS[verb]} of this host, which it reports as {host_states.described(record)}: {said}."
    else:
        words = f"{CALLS[verb]} failed: {said}. {retry.advice(attempt, f.account, f.meta.namespace, repeated=False)}"
    return in_a_row(words, requests.again(f, verb))


def _look(f: HostFacts, verb: HostVerb) -> str:
    return f"{CALLS[verb]} may have been carried out, and is not sent again. {requests.again(f, verb, unsure=True)}"
