"""The calls that a plan needs, as data: each kind describes them, and ``CloudReconciler`` sends them through the port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud.port import Change, Purpose
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.meta import Annotation, ConditionType
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import DESTROYS, Refusal
from gpucloud.reconcile.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cloud.calls import Call
    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.port import CloudWrites, Precondition
    from gpucloud.kinds.meta import Reason
    from gpucloud.reconcile.plan import Plan


@dataclass(frozen=True, slots=True)
class Request:
    """One call for the resource named ``target``, and preconditions beyond those that every call has."""

    call: Call[Any]
    target: str
    preconditions: tuple[Precondition, ...] = ()
    one_of_several: bool = False


def purpose_of(kind: str, stored: CachedObject[Any, Any], plan: Plan[Any], outcomes: tuple[Reason, Reason]) -> Purpose:
    """Return for which object the plan's call is sent, and why. ``outcomes``: reasons of the Event if it succeeds or fails."""
    meta, ready = stored.meta, find((plan.status or stored.status).conditions, ConditionType.READY)
    reason, traceparent = "" if ready is None else ready.reason, meta.annotations.get(Annotation.TRACEPARENT, "")
    return Purpose(Key(kind, meta.namespace, meta.name, meta.uid), *outcomes, reason, meta.generation, traceparent)


def refusal_of(error: BaseException) -> Refusal:
    """Return why a call failed. An error that is not the cloud client's may have come after the call was sent."""
    if isinstance(error, CloudError):
        return Refusal(error.kind, error.message, error.ambiguous, error.retry_after)
    return Refusal(
        ErrorKind.OUTCOME_UNKNOWN, f"the operator itself failed with {type(error).__name__}; its log says more", ambiguous=True
    )


@dataclass(slots=True)
class Gathered:
    """The view and the session that the last facts of an object are from; a part of its entry."""

    stored: CachedObject[Any, Any] | None = None
    session: AccountSession | None = None


def remember(entries: Entries, stored: CachedObject[Any, Any], session: AccountSession | None) -> None:
    """Keep the view and the session with which facts are gathered, until their plan is acted upon."""
    gathered = entries.part(stored.meta.uid, Gathered)
    gathered.stored, gathered.session = stored, session


def forget(entries: Entries, uid: str) -> None:
    """Keep no view beside the store's: nothing will be sent by the last facts of this object."""
    gathered = entries.find(uid, Gathered)
    if gathered is not None:
        gathered.stored = None


async def send(
    writes: CloudWrites, requests: Iterable[Request], purpose: Purpose, common: tuple[Precondition, ...]
) -> Any | None:
    """Send the requests in turn; return the last answer. What is gone already need not be destroyed.

    Raises:
        ValueError: there is none: a kind has no call for what it planned, and nothing was sent.
        CloudError: a call was withdrawn or failed, or its outcome is unknown. Its words name what was destroyed before.
    """
    answer, gone = None, list[str]()
    for request in requests:
        try:
            answer = await writes.send(Change(request.call, purpose, request.target, (*common, *request.preconditions)))
        except CloudError as error:
            if not (request.call.operation in DESTROYS and error.kind is ErrorKind.NOT_FOUND):
                if request.one_of_several:
                    before = listed(tuple(map(repr, gone))) or "none"
                    error.message += f" (of {request.target!r}; deletion requested before: {before})"
                raise
        gone.append(request.target)
    if not gone:
        raise ValueError("a plan's action has no request")
    return answer
