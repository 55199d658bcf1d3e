"""Messages of conditions, and of the Events at an object's end: what the tables of decisions bring."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import ConditionType
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
    return sorted(
        {message for kind, table in TABLES.items() for row in table.rows.values() for message in _of(kind, table, row)}
    )


def _of(kind, table, row) -> Iterator[Said]:
    facts = table.facts(**row.given)
    plan = table.decide(facts)
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
