"""When a status may be written again, so that no two writers ever race each other at full speed.

A write that did not bring what was written (a webhook or pruning changed it), or that somebody undid, is repeated with
exponential backoff. Beyond that each object has a budget of writes, which an edit of the object renews.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BACKOFF_SECONDS = (0.2, 60.0)  # first and longest wait after a write that was undone
BURST = 20  # writes of one object at once: more than any life needs
SECONDS_PER_WRITE = 5.0  # beyond the burst
CALM_SECONDS = 600.0  # after so long without a write, what was undone before is forgotten


@dataclass(slots=True)
class _Pace:
    generation: int
    last: Any = None  # what was written, without the times
    undone: int = 0  # writes in a row that did not bring, or did not keep, what was written
    not_before: float = -math.inf
    budget_from: float = -math.inf  # when the budget lets the next write through
    last_at: float = -math.inf


class WritePacer:
    """The pace of status writes by UID. Times are mono seconds."""

    def __init__(self, jitter: Callable[[], float]) -> None:
        """``jitter`` answers numbers from 0 to 1."""
        self._jitter = jitter
        self._paces: dict[str, _Pace] = {}

    def not_before(self, uid: str, generation: int) -> float:
        """The earliest time for the next write of this object."""
        pace = self._paces.get(uid)
        if pace is None:
            return -math.inf
        spent = pace.generation == generation
        return max(pace.not_before, pace.budget_from if spent else -math.inf)

    def spend(self, uid: str, generation: int, now: float) -> None:
        """A write is sent, whatever becomes of it."""
        pace = self._paces.get(uid)
        if pace is None or now - pace.last_at > CALM_SECONDS:
            pace = self._paces[uid] = _Pace(generation)
        if pace.generation != generation:
            pace.generation, pace.budget_from = generation, -math.inf
        pace.budget_from = max(pace.budget_from, now - (BURST - 1) * SECONDS_PER_WRITE) + SECONDS_PER_WRITE
        pace.last_at = now

    def judge(self, uid: str, document: Mapping[str, Any], brought: bool, now: float) -> int:
        """The write was answered; answers how many in a row were undone by now.

        The same document twice running means that somebody undid the first.
        """
        pace, written = self._paces[uid], _without_times(document)
        repeated, pace.last = pace.last == written, written
        if brought and not repeated:
            pace.undone, pace.not_before = 0, -math.inf
            return 0
        pace.undone += 1
        first, longest = BACKOFF_SECONDS
        delay = min(first * 2.0 ** min(pace.undone - 1, 16), longest)
        pace.not_before = now + delay * (0.75 + self._jitter() / 4)
        return pace.undone

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._paces.pop(uid, None)


def _without_times(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without the times of its conditions: those move with every fight over a condition."""
    conditions = [
        {name: value for name, value in item.items() if name != "lastTransitionTime"} for item in document.get("conditions", ())
    ]
    return {**document, "conditions": conditions}
