"""The least spacing of the reconciles of one object: what nothing outside causes is not repeated hot.

A watch event, a changed observation and a change of a dependency are causes outside: the next reconcile is made at once, and
the count begins anew. Everything else (a wake-up, a listing that was asked for, the object's own last reconcile) is held back
by a spacing that doubles with each reconcile that changed nothing. Reconciles that change something go at once too, as a
chain of a few steps must, but only so many in a row. This is the one bound on hot loops, whatever a plan asks for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.engine.queue import EARLY_SECONDS

if TYPE_CHECKING:
    from gpucloud.engine.clock import Clock

FIRST_SECONDS = 0.2  # spacing after the first reconcile that changed nothing
LONGEST_CHAIN = 8  # reconciles in a row that change something before these are spaced, too


@dataclass(slots=True)
class _Streak:
    """Reconciles of one object since the last cause outside."""

    ended: float = -math.inf  # the last one, in mono seconds
    idle: int = 0  # since the last that changed something
    changes: int = 0
    owed: bool = False  # the next one goes at once, as a call stands announced
    paid: bool = False  # the last one went at once for that reason

    def due(self, longest: float) -> float:
        """When the next one may begin."""
        steps = self.idle + max(0, self.changes - LONGEST_CHAIN)
        if self.owed or not steps:
            return -math.inf
        return self.ended + min(FIRST_SECONDS * 2.0 ** min(steps - 1, 32), longest)


class Pace:
    """Spacing by UID, in one event loop. ``longest`` is the longest spacing in seconds."""

    def __init__(self, clock: Clock, longest: float) -> None:
        self._clock = clock
        self._longest = longest
        self._streaks: dict[str, _Streak] = {}
        self._caused: set[str] = set()

    def caused(self, uid: str) -> None:
        """Something outside has changed for this object."""
        self._caused.add(uid)

    def begin(self, uid: str) -> float | None:
        """Begin a reconcile, and answer None; or answer the mono time at which it may begin."""
        if uid in self._caused or uid not in self._streaks:
            self._caused.discard(uid)
            self._streaks[uid] = _Streak()
        streak = self._streaks[uid]
        due = streak.due(self._longest)
        if due > self._clock.mono() + EARLY_SECONDS:
            return due
        streak.owed, streak.paid = False, streak.owed
        return None

    def ended(self, uid: str, *, changed: bool, announced: bool = False) -> None:
        """A reconcile is over. ``changed``: what stands in the apiserver or the cloud is another than before.

        ``announced``: the next one sends what this one has announced, and would find its announcement too old if it waited.
        """
        streak = self._streaks.setdefault(uid, _Streak())
        streak.ended = self._clock.mono()
        streak.idle = 0 if changed else streak.idle + 1
        streak.changes += changed
        streak.owed = announced and changed and not streak.paid

    def forget(self, uid: str) -> None:
        """The object is gone."""
        self._streaks.pop(uid, None)
        self._caused.discard(uid)
