"""The two bounds on hot loops, by UID: when an object may be reconciled again, and when its status may be written again.

Reconciles: a watch event, a changed observation and a change of a dependency are causes outside: the next reconcile is made at
once, and the count begins anew. Everything else (a wake-up, a listing that was asked for, the object's own last reconcile) is
held back by a spacing that doubles with each reconcile that changed nothing. Reconciles that change something go at once too,
as a chain of a few steps must, but only so many in a row.

Writes: who undoes a write is a cause outside, so the first bound does not hold there. A write that did not bring what was
written (a webhook or pruning changed it), or that somebody undid, is repeated with exponential backoff. Beyond that each object
has a budget of writes, which an edit of the object renews.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.engine.runtime.workqueue import EARLY_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.runtime.clock import Clock

FIRST_SECONDS = 0.2  # spacing after the first reconcile that changed nothing
LONGEST_CHAIN = 8  # reconciles in a row that change something before these are spaced, too

BACKOFF_SECONDS = (0.2, 60.0)  # first and longest wait after a write that was undone
BURST = 20  # writes of one object at once: more than any life needs
SECONDS_PER_WRITE = 5.0  # beyond the burst
CALM_SECONDS = 600.0  # after so long without a write, what was undone before is forgotten


@dataclass(slots=True)
class _Streak:
    """Reconciles of one object since the last cause outside."""

    ended: float = -math.inf  # the last one, in mono seconds
    idle: int = 0  # since the last that changed something
    changes: int = 0
    owed: bool = False  # the next one goes at once, as a call stands announced, or a listing has come
    paid: bool = False  # the last one went at once for that reason
    caused: bool = False  # something outside has changed for the object since the last reconcile began

    def restart(self) -> None:
        """Begin the count anew: there is a cause outside."""
        self.ended, self.idle, self.changes = -math.inf, 0, 0
        self.owed = self.paid = self.caused = False

    def due(self, longest: float) -> float:
        """When the next one may begin."""
        steps = self.idle + max(0, self.changes - LONGEST_CHAIN)
        if self.owed or not steps:
            return -math.inf
        return self.ended + min(FIRST_SECONDS * 2.0 ** min(steps - 1, 32), longest)


class ReconcilePacer:
    """The spacing of reconciles by UID, in one event loop. ``longest`` is the longest spacing in seconds."""

    def __init__(self, clock: Clock, longest: float, entries: Entries) -> None:
        self._clock = clock
        self._longest = longest
        self._entries = entries

    def caused(self, uid: str) -> None:
        """Something outside has changed for this object."""
        self._streak(uid).caused = True

    def served(self, uid: str) -> None:
        """The listing that the last reconcile waited for has come: once a cause outside, the next one goes at once."""
        streak = self._streak(uid)
        if streak.idle == 1:
            streak.owed = True

    def begin(self, uid: str) -> float | None:
        """Begin a reconcile, and answer None; or answer the mono time at which it may begin."""
        streak = self._streak(uid)
        if streak.caused:
            streak.restart()
        due = streak.due(self._longest)
        if due > self._clock.mono() + EARLY_SECONDS:
            return due
        streak.owed, streak.paid = False, streak.owed
        return None

    def ended(self, uid: str, *, changed: bool, announced: bool = False) -> None:
        """A reconcile is over. ``changed``: what stands in the apiserver or the cloud is another than before.

        ``announced``: the next one sends what this one has announced, and would find its announcement too old if it waited.
        """
        streak = self._streak(uid)
        streak.ended = self._clock.mono()
        streak.idle = 0 if changed else streak.idle + 1
        streak.changes += changed
        streak.owed = announced and changed and not streak.paid

    def _streak(self, uid: str) -> _Streak:
        return self._entries.part(uid, _Streak)


@dataclass(slots=True)
class _Writes:
    """Of one object."""

    generation: int = 0
    last: Any = None  # what was written, without the times
    undone: int = 0  # writes in a row that did not bring, or did not keep, what was written
    not_before: float = -math.inf
    budget_from: float = -math.inf  # when the budget lets the next write through
    last_at: float = -math.inf

    def restart(self, generation: int) -> None:
        """Forget what was undone before: nothing has been written for a while."""
        self.generation, self.last, self.undone = generation, None, 0
        self.not_before = self.budget_from = self.last_at = -math.inf


class WritePacer:
    """The pace of status writes by UID. Times are mono seconds."""

    def __init__(self, jitter: Callable[[], float], entries: Entries) -> None:
        """``jitter`` answers a number in [0, 1)."""
        self._jitter = jitter
        self._entries = entries

    def not_before(self, uid: str, generation: int) -> float:
        """The earliest time for the next write of this object."""
        pace = self._entries.part(uid, _Writes)
        spent = pace.generation == generation
        return max(pace.not_before, pace.budget_from if spent else -math.inf)

    def spend(self, uid: str, generation: int, now: float) -> None:
        """A write is sent, whatever becomes of it."""
        pace = self._entries.part(uid, _Writes)
        if now - pace.last_at > CALM_SECONDS:
            pace.restart(generation)
        if pace.generation != generation:
            pace.generation, pace.budget_from = generation, -math.inf
        pace.budget_from = max(pace.budget_from, now - (BURST - 1) * SECONDS_PER_WRITE) + SECONDS_PER_WRITE
        pace.last_at = now

    def judge(self, uid: str, document: Mapping[str, Any], brought: bool, now: float) -> int:
        """The write was answered; answers how many in a row were undone by now.

        The same document twice running means that somebody undid the first.
        """
        pace, written = self._entries.part(uid, _Writes), _without_times(document)
        repeated, pace.last = pace.last == written, written
        if brought and not repeated:
            pace.undone, pace.not_before = 0, -math.inf
            return 0
        pace.undone += 1
        first, longest = BACKOFF_SECONDS
        delay = min(first * 2.0 ** min(pace.undone - 1, 16), longest)
        pace.not_before = now + delay * (1 - self._jitter() / 4)
        return pace.undone


def _without_times(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document without the times of its conditions: those move with every fight over a condition."""
    conditions = [
        {name: value for name, value in item.items() if name != "lastTransitionTime"} for item in document.get("conditions", ())
    ]
    return {**document, "conditions": conditions}
