"""Decides which status changes are written at once; the others only inform, and are written when they have lasted."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.order import is_urgent

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.kinds.common import Status

# Fields that later decisions read, or that answer a request; not informative ones.
RECORDS = frozenset(
    {
        "observed_generation",
        "tenant",
        "held_secrets",
        "deletion_held_at",
        "final_snapshot",
        "recreations",
        "replacement",
        "connection",
    }
)
IN_PROGRESS = "InProgress"  # outcome of an operation
ANSWERS = "last_handled_"  # how the fields begin that answer a request
OUR_CONDITIONS = frozenset(map(str, ConditionType))


def urgent(before: Status, after: Status, uid: str, announces: bool) -> bool:
    """Whether a record or one of our conditions changes. The removal of another writer's condition only informs.

    ``uid`` is the object's. ``announces``: the status announces a call, which is recorded before it is sent.
    """
    stood, stands = vars(before), vars(after)
    if any(stood.get(name) != stands.get(name) for name in _records(type(after))):
        return True
    if is_urgent(stood.get("order"), stands.get("order"), uid) or _cluster_in_hand(before) != _cluster_in_hand(after):
        return True
    if _is_new(_in_progress, before, after) or _is_new(_waits_since, before, after):
        return True
    if announces and _calls_recorded(before) != _calls_recorded(after):
        return True
    was, now = [item for item in before.conditions if item.type in OUR_CONDITIONS], after.conditions
    if {(item.type, item.status) for item in was} != {(item.type, item.status) for item in now}:
        return True
    ready_was, ready_now = find(was, ConditionType.READY), find(now, ConditionType.READY)
    return announces and ready_was is not None and ready_now is not None and ready_was.reason != ready_now.reason


@cache
def _records(model: type[Status]) -> tuple[str, ...]:
    return tuple(name for name in model.model_fields if name in RECORDS or name.startswith(ANSWERS))


def _calls_recorded(status: Status) -> tuple[object, ...]:
    """What a new process must find of a call that was sent: the order's state and last destroying call, and the operation."""
    fields = vars(status)
    order = fields.get("order")
    return getattr(order, "state", None), getattr(order, "destroying_call", None), fields.get("operation")


def _is_new(question: Callable[[Status], object], before: Status, after: Status) -> bool:
    return bool(question(after)) and not question(before)


def _in_progress(status: Status) -> bool:
    """Whether a listing showed an operation's effect; a later one may not."""
    return getattr(vars(status).get("operation"), "outcome", None) == IN_PROGRESS


def _waits_since(status: Status) -> object:
    """Since when it waits for capacity: its place in the line."""
    return getattr(vars(status).get("placement"), "waiting_since", None)


def _cluster_in_hand(status: Status) -> object:
    """In which cluster it is looked for, and ordered next."""
    return getattr(vars(status).get("placement"), "cluster", None)
