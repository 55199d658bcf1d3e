"""Kubernetes Events (events.k8s.io/v1): each change of Ready and of Paused, and each call with its outcome.

Events are for people and may be lost; nothing depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.kinds.common import CloudStatus, DeletionPolicy, Origin
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpucloud.kinds.common import Order
    from gpucloud.kinds.model import Condition

CAUSES: Mapping[str, str] = {  # of a call, by the reason under which it was announced
    Reason.CREATING: "the cloud lists none for this object",
    Reason.STARTING: "spec.powerState is Running",
    Reason.STOPPING: "spec.powerState is Stopped",
    Reason.RESTARTING: "a restart was requested",
    Reason.DRIFTED: "it was switched outside Kubernetes, against spec.powerState",
    Reason.DELETING: "this object is being deleted",
    Reason.REPLACING: "it was not made as the spec says now, and spec.replacePolicy is Recreate",
}


@dataclass(frozen=True, slots=True)
class Event:
    """An Event to record about an object."""

    reason: str
    note: str
    action: str
    warning: bool = False
    always: bool = False  # never a repeat: each successful call is an Event of its own


def status_changes(before: Iterable[Condition], after: Iterable[Condition], *, announces: bool = False) -> tuple[Event, ...]:
    """Return the Events of a status write, in order: Paused was added, changed or removed; Ready changed its status or reason.

    If the write announces a call, the Event of that call replaces the one of Ready, unless that is a warning or the object has
    become Ready.
    """
    pause, now = tuple(_pause_changes(before, after)), find(after, ConditionType.READY)
    covered_by_call = announces and (now is None or now.status != "True")
    ready = tuple(one for one in _ready_changes(before, after) if one.warning or not covered_by_call)
    return (*pause, *(one for one in ready if one.reason != Reason.PAUSED))  # Paused beside it has an Event of the same words


def adoptions(before: object, after: object) -> tuple[Event, ...]:
    """Return the Event of the first status that shows an adoption, with what was adopted; none for any other."""
    order = _adopted(after)
    if order is None or _adopted(before) is not None:
        return ()
    stays = getattr(after, "deletion_policy", None) is not DeletionPolicy.DELETE
    place = f"{order.name!r} in cluster {order.cluster!r}{f' (id {order.cloud_id!r})' if order.cloud_id else ''}"
    end = "it stays in the cloud" if stays else "it is destroyed"
    return (Event(Reason.ADOPTED, f"Adopted {place}, which existed already. When this object is deleted, {end}.", "Adopt"),)


def _adopted(status: object) -> Order | None:
    """Return the record of what was adopted; None for what the operator created, and for kinds that order nothing."""
    order = status.order if isinstance(status, CloudStatus) else None
    return order if order is not None and order.origin is Origin.ADOPTED else None


def _pause_changes(before: Iterable[Condition], after: Iterable[Condition]) -> Iterator[Event]:
    held, holds = find(before, ConditionType.PAUSED), find(after, ConditionType.PAUSED)
    if holds is not None and (held is None or held.message != holds.message):
        yield Event(Reason.PAUSED, holds.message, "Pause")
    if held is not None and holds is None:
        yield Event(Reason.RESUMED, "The pause has ended.", "Resume")


def _ready_changes(before: Iterable[Condition], after: Iterable[Condition]) -> Iterator[Event]:
    was, now = find(before, ConditionType.READY), find(after, ConditionType.READY)
    if now is not None and (was is None or (was.status, was.reason) != (now.status, now.reason)):
        corrected = was is not None and was.reason == Reason.DRIFTED and now.status == "True"
        note = f"Drift corrected: {now.message}" if corrected else now.message
        yield Event(now.reason, note, "Reconcile", warning=_warns(now, after))


def with_cause(event: Event, announced: Condition | None) -> Event:
    """Return the Event of an accepted call with the cause of the call added; of a recreation, which Ready tells best."""
    if announced is None or event.warning:
        return event
    if announced.reason == Reason.RECREATING:
        return replace(event, note=f"{event.note.rstrip('.')}. {announced.message}")
    cause = CAUSES.get(announced.reason)
    if cause is None:
        return event
    return replace(event, note=f"{event.note.rstrip('.')}: {cause}.")


def _warns(ready: Condition, conditions: Iterable[Condition]) -> bool:
    """Whether the Event is a warning: the object is Stalled, cannot be observed, or somebody acted against its spec."""
    if find(conditions, ConditionType.STALLED) is not None or ready.reason in {Reason.DRIFTED, Reason.SECRET_DELETING}:
        return True
    return ready.status == "Unknown" and ready.reason not in {Reason.PENDING, Reason.PAUSED, Reason.OBSERVE_ONLY}
