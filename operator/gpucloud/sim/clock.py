"""The simulator's clocks: real time as the event loop counts it, and time that stands still until a caller moves it.

These are the only readers of time in the simulated cloud; the world gets the time as an argument.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from typing import Protocol

MANUAL_EPOCH = 1_767_225_600.0  # 2026-01-01T00:00:00Z: a round beginning that reads well in records


class Clock(Protocol):
    """Seconds since 1970 and a way to wait for them to pass."""

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when this clock has moved on by so many seconds."""
        ...


class LoopClock:
    """The running event loop's time, shifted so that the first reading is ``epoch``; follows a test's fast loop too."""

    def __init__(self, epoch: float = MANUAL_EPOCH) -> None:
        self._epoch = epoch
        self._started: float | None = None

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        ticks = asyncio.get_running_loop().time()
        if self._started is None:
            self._started = ticks
        return self._epoch + ticks - self._started

    async def sleep(self, seconds: float) -> None:
        """Wait in the event loop."""
        await asyncio.sleep(seconds)


class ManualClock:
    """Time that moves only by ``advance``; sleepers wake in the order of their times."""

    def __init__(self, epoch: float = MANUAL_EPOCH) -> None:
        self._now = epoch
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until ``advance`` has passed the time; no time at all is not waited for."""
        if seconds <= 0:
            return
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), future))
        await future

    def advance(self, seconds: float) -> None:
        """Move time forward; raises ValueError for a step backwards."""
        if seconds < 0:
            raise ValueError("a clock is only advanced by zero or more seconds")
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            future = heapq.heappop(self._sleepers)[2]
            if not future.done():
                future.set_result(None)
