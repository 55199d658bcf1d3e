"""Two rate limits per object, against hot loops: one of reconciles, one of status writes.

Reconciles: a watch event, a changed observation and a changed dependency are causes outside; the next reconcile starts at once,
and the count restarts. Reconciles with another cause (a wake-up, a requested listing, the object's own last reconcile) are
spaced, and the spacing doubles with each reconcile that changed nothing. Each of them may be followed at once by two more, for
the listings that it asked for: later these would be too old to act upon. A reconcile after one that changed something starts at
once, but only a few times in a row. One that failed is repeated when its backoff is over, whatever wakes the object meanwhile.

Writes: a write that somebody undoes has a cause outside, so the first limit does not apply. A write without effect (a webhook
or pruning changed it), or one that somebody undid, is repeated with exponential backoff. Besides, each object has a budget of
writes, which an edit of the object refills.
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
MOST_LISTINGS = 2  # reconciles in a row that each start at once with a listing: two of them prove what one may not show
LONGEST_CHAIN = 8  # reconciles in a row that may change something before they are spaced, too

BACKOFF_SECONDS = (0.2, 60.0)  # first and longest wait after a reconcile that failed, and after a write that was undone
BURST = 20  # writes of one object at once: more than the life of any object needs
SECONDS_PER_WRITE = 5.0  # beyond the burst
CALM_SECONDS = 600.0  # without a write for this long, earlier undone writes no longer count


def backoff(failures: int) -> float:
    """Return the wait in seconds after so many failures in a row."""
    first, longest = BACKOFF_SECONDS
    return min(first * 2.0 ** min(failures - 1, 16), longest)


@dataclass(slots=True)
class _Streak:
    """Reconciles of one object since the last cause outside."""

    ended: float = -math.inf  # the last one, in mono seconds
    idle: int = 0  # reconciles without a change since the last one with a change
    changes: int = 0
    changed_at: float = -math.inf  # when the last of them ended
    at_once: bool = False  # the next one starts at once: it sends an announced call, or a listing has come
    listings: int = 0  # reconciles that started at once since the last one that did not
    was_at_once: bool = False  # the last one started at once for that reason
    caused: bool = False  # something outside has changed for the object since the last reconcile began
    retry_at: float = -math.inf  # when the reconcile that failed last is repeated

    def restart(self) -> None:
        """Restart the count: there is a cause outside."""
        self.ended, self.idle, self.changes, self.retry_at = -math.inf, 0, 0, -math.inf
        self.at_once = self.was_at_once = self.caused = False
        self.listings = 0

    def due(self, longest: float) -> float:
        """When the next one may begin."""
        steps = self.idle + max(0, self.changes - LONGEST_CHAIN)
        if self.at_once or not steps:
            return self.retry_at
        return max(self.retry_at, self.ended + min(FIRST_SECONDS * 2.0 ** min(steps - 1, 32), longest))


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
        """The listing that the last reconcile waited for has come: the next one starts at once, unless too many just did.

        Else listings would grow old, or be asked for all the while, until the spacing allows a reconcile to act upon them.
        """
        streak = self._streak(uid)
        if streak.listings < MOST_LISTINGS:
            streak.at_once = True

    def begin(self, uid: str) -> float | None:
        """Begin a reconcile and return None, or return the mono time at which it may begin."""
        streak = self._streak(uid)
        if streak.caused:
            streak.restart()
        if self._clock.mono() - streak.changed_at > self._longest:  # a retry every few minutes is no hot loop
            streak.changes = 0
        due = streak.due(self._longest)
        if due > self._clock.mono() + EARLY_SECONDS:
            return due
        streak.listings = streak.listings + 1 if streak.at_once else 0
        streak.at_once, streak.was_at_once = False, streak.at_once
        return None

    def ended(self, uid: str, *, changed: bool, announced: bool = False) -> None:
        """End a reconcile. ``changed``: it changed something in the apiserver or the cloud.

        ``announced``: the next one sends the announced call, and must not wait until the announcement is too old.
        """
        streak = self._streak(uid)
        streak.ended = self._clock.mono()
        streak.idle = 0 if changed else max(1, streak.idle + (not streak.listings))  # that of a listing goes on with the last
        streak.changes += changed
        streak.changed_at = streak.ended if changed else streak.changed_at
        streak.at_once = announced and changed and not streak.was_at_once

    def failed(self, uid: str, retry_at: float) -> None:
        """A reconcile failed, and is repeated at this mono time: what wakes the object before that waits, too."""
        self._streak(uid).retry_at = retry_at

    def _streak(self, uid: str) -> _Streak:
        return self._entries.part(uid, _Streak)


@dataclass(slots=True)
class _Writes:
    """The status writes of one object."""

    generation: int = 0
    last: Any = None  # the last written document, without times
    undone: int = 0  # writes in a row that had no effect or were undone
    not_before: float = -math.inf
    budget_from: float = -math.inf  # when the budget allows the next write
    last_at: float = -math.inf

    def restart(self, generation: int) -> None:
        """Restart the count: nothing has been written for a while."""
        self.generation, self.last, self.undone = generation, None, 0
        self.not_before = self.budget_from = self.last_at = -math.inf


class WritePacer:
    """The rate limit of status writes, by UID. Times are mono seconds."""

    def __init__(self, jitter: Callable[[], float], entries: Entries) -> None:
        """``jitter`` returns a number in [0, 1)."""
        self._jitter = jitter
        self._entries = entries

    def not_before(self, uid: str, generation: int) -> float:
        """Return the earliest time of the next write of this object."""
        pace = self._entries.part(uid, _Writes)
        spent = pace.generation == generation
        return max(pace.not_before, pace.budget_from if spent else -math.inf)

    def spend(self, uid: str, generation: int, now: float) -> None:
        """Count a write before it is sent."""
        pace = self._entries.part(uid, _Writes)
        if now - pace.last_at > CALM_SECONDS:
            pace.restart(generation)
        if pace.generation != generation:
            pace.generation, pace.budget_from = generation, -math.inf
        pace.budget_from = max(pace.budget_from, now - (BURST - 1) * SECONDS_PER_WRITE) + SECONDS_PER_WRITE
        pace.last_at = now

    def judge(self, uid: str, document: Mapping[str, Any], effective: bool, now: float) -> int:
        """Judge an answered write; return how many writes in a row were undone or had no effect.

        If the same document is written twice in a row, somebody undid the first write.
        """
        pace, written = self._entries.part(uid, _Writes), _without_times(document)
        repeated, pace.last = pace.last == written, written
        if effective and not repeated:
            pace.undone, pace.not_before = 0, -math.inf
            return 0
        pace.undone += 1
        pace.not_before = now + backoff(pace.undone) * (1 - self._jitter() / 4)
        return pace.undone


def _without_times(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without the transition times, which change whenever two writers fight over a condition."""
    conditions = [
        {name: value for name, value in item.items() if name != "lastTransitionTime"} for item in document.get("conditions", ())
    ]
    return {**document, "conditions": conditions}
