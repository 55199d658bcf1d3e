"""What all parts of the world share: the knobs in force and the timeline of what is still to happen.

Time is a number that is passed in. Nothing here waits.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.sim.knobs import Knobs


class Timeline:
    """Things that will happen, each at its time. They happen, in order, when somebody says how late it is."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[float], None]]] = []
        self._order = itertools.count()

    def at(self, due: float, action: Callable[[float], None]) -> None:
        """Plan an action; it is called with its own due time."""
        heapq.heappush(self._heap, (due, next(self._order), action))

    def run_until(self, now: float) -> None:
        """Let everything happen that is due, including what those happenings plan."""
        while self._heap and self._heap[0][0] <= now:
            due, _, action = heapq.heappop(self._heap)
            action(due)


@dataclass(slots=True)
class Rules:
    """The knobs may be exchanged at any time; whoever needs them reads them here."""

    knobs: Knobs
    timeline: Timeline = field(default_factory=Timeline)


def digits_of(now: float, number: int) -> str:
    """Return digits for a generated name: the time to the second, then a running number that makes it unique."""
    return f"{datetime.fromtimestamp(now, UTC):%Y%m%d%H%M%S}{number:03d}"
