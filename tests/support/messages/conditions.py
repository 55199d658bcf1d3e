"""Messages of conditions, and of the Events at an object's end: what the tables of decisions bring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gpucloud.kinds.common import Status
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile import unreadable
from gpucloud.reconcile.unreadable import Unreadable
from support.builders import NOW, a_reading, an_object
from support.decisions.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROGRESS = (ConditionType.STALLED, ConditionType.RECONCILING)


@dataclass(frozen=True, order=True)
class Said:
    """A message of an object of this kind. ``condition``: "Ready False, Stalled", or "Event"."""

    kind: str
    reason: str
    condition: str
    words: str


@cache
def said() -> tuple[Said, ...]:
    """Every message that some row of the tables brings, once, by kind and reason."""
    decided = {message for kind, table in TABLES.items() for row in table.rows.values() for message in _of(kind, table, row)}
    return sorted(decided.union(*map(_unreadable, TABLES)))


def _unreadable(kind) -> set[Said]:
    """What is said of an object of any kind whose spec cannot be read, and of its deletion."""
    both = (an_object(), an_object(deleting=True))
    given = (Unreadable(a_reading(NOW), kind, meta, Status(), "{what is wrong}") for meta in both)
    return {message for facts in given for message in _told(kind, facts, unreadable.decide(facts))}


def _of(kind, table, row) -> Iterator[Said]:
    facts = table.facts(**row.given)
    yield from _told(kind, facts, table.decide(facts))


def _told(kind, facts, plan) -> Iterator[Said]:
    if plan.release is not None:
        yield Said(kind, plan.release.reason, "Warning Event" if plan.release.warning else "Event", plan.release.note)
    if plan.status is None:
        return
    made_up = {item.message for item in facts.status.conditions}  # what stood before
    standing = {item.type: item for item in plan.status.conditions}
    progress = next((f", {name}" for name in _PROGRESS if name in standing), "")
    for item in standing.values():
        if item.type in _PROGRESS or item.message in made_up:
            continue
        yield Said(kind, item.reason, f"{item.type} {item.status}{progress if item.type == 'Ready' else ''}", item.message)
    before, operation = (getattr(status, "operation", None) for status in (facts.status, plan.status))
    words = getattr(operation, "message", None)  # of a GpuHost
    if words and words != getattr(before, "message", None) and all(words not in item.message for item in standing.values()):
        yield Said(kind, operation.outcome, "status.operation", words)
