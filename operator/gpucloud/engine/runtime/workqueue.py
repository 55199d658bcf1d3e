"""A work queue with client-go's contract, for one event loop.

A key that is added several times is queued once. No two workers process one key at the same time. A key that is added while a
worker processes it is queued again afterwards. The queue has three lanes: announced calls; user edits and deletions, and
objects that have no status yet; polls. Announced calls go first, so that a call is sent while its announcement is recent.
Within a lane, namespaces take turns, so that one tenant's thousand objects do not delay another tenant's only object. And no
flow takes more workers than it leaves: where a cluster answers nothing, each call for it holds a worker until its deadline.
A heap holds the keys with a later due time.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gpucloud.engine.runtime.fair_lane import FairLane, Flow, Key, Lane

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.runtime.clock import Clock

__all__ = ["Flow", "Key", "Lane", "QueueMeter", "WorkQueue"]


SHORTEST_SECONDS = 0.001
EARLY_SECONDS = 1e-6  # an event loop timer may fire this early; it must not be set again for the same moment


class QueueMeter(Protocol):
    """Receives the queue's measurements; ``QueueMetrics`` implements it."""

    def added(self, depth: int) -> None:
        """A key was queued."""

    def taken(self, depth: int, waited: float) -> None:
        """A worker took a key that had waited this many seconds."""

    def finished(self, worked: float) -> None:
        """A worker processed a key in this many seconds."""


class _Queued(NamedTuple):
    """Where a key is queued, and since when (mono)."""

    lane: Lane
    flow: Flow
    since: float


class _Working(NamedTuple):
    """The flow of a key that a worker has, and since when (mono)."""

    flow: Flow
    since: float


class WorkQueue:
    """Keys that are due now or later. ``workers``: how many take keys; ``flow_of`` returns the flow of a key."""

    def __init__(self, clock: Clock, meter: QueueMeter, workers: int, flow_of: Callable[[Key], Flow]) -> None:
        self._clock, self._meter = clock, meter
        self._workers, self._flow_of = workers, flow_of
        self._lanes = tuple(FairLane() for _ in Lane)
        self._queued: dict[Key, _Queued] = {}
        self._working: dict[Key, _Working] = {}
        self._workers_of: Counter[Flow] = Counter()
        self._again: dict[Key, Lane] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._wakes: dict[Key, float] = {}
        self._order = itertools.count()
        self._idle: deque[asyncio.Future[None]] = deque()  # workers that wait for a key
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._queued)

    def oldest(self) -> tuple[float, float]:
        """The longest current wait and the longest current processing time, in seconds."""
        now = self._clock.mono()
        waiting = now - min((one.since for one in self._queued.values()), default=now)
        return waiting, now - min((one.since for one in self._working.values()), default=now)

    def add(self, key: Key, lane: Lane = Lane.POLLS) -> None:
        """Queue this key for the next free worker."""
        if key in self._working:
            self._again[key] = min(lane, self._again.get(key, lane))
            return
        before = self._queued.get(key)
        if before is not None:
            if lane < before.lane:
                self._lanes[before.lane].remove(key, before.flow)
                self._append(key, before._replace(lane=lane))
            return
        self._append(key, _Queued(lane, self._flow_of(key), self._clock.mono()))
        self._meter.added(len(self._queued))
        self._wake()

    def requeue_at(self, key: Key, when: float | None) -> None:
        """Queue this key at this mono time, in place of an earlier setting; None cancels. No effect on a closed queue."""
        if self._closed:
            return
        if when is None:
            self._wakes.pop(key, None)
            return
        if self._wakes.get(key) == when:
            return
        self._wakes[key] = when
        entry = (when, next(self._order), key)
        heapq.heappush(self._heap, entry)
        if self._heap[0] is entry:
            self._schedule()

    async def take(self) -> Key | None:
        """Wait for the next key; the caller must call ``done`` with it.

        A closed queue returns only the keys of announced calls, then None.
        """
        while (key := self._next()) is None:
            if self._closed and not self._lanes[Lane.ANNOUNCED]:
                return None
            waiter = asyncio.get_running_loop().create_future()
            self._idle.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()  # it was this worker's turn: another must take the key
                raise
        return key

    def done(self, key: Key) -> None:
        """Finish a key; queue it again if it was added meanwhile."""
        flow, since = self._working.pop(key)
        self._meter.finished(self._clock.mono() - since)
        self._workers_of[flow] -= 1
        if not self._workers_of[flow]:
            del self._workers_of[flow]
        lane = self._again.pop(key, None)
        if lane is not None:
            self.add(key, lane)
        elif self._queued:
            self._wake()  # its flow may have been saturated

    def _next(self) -> Key | None:
        """Return a key for a worker; None if none is queued, or those that are must leave a worker to other flows."""
        found = next(filter(None, (lane.first(self._is_saturated) for lane in self._open_lanes())), None)
        if found is None:
            return None
        (key, flow), now = found, self._clock.mono()
        queued = self._queued.pop(key)
        self._lanes[queued.lane].remove(key, flow)
        self._working[key] = _Working(flow, now)
        self._workers_of[flow] += 1
        self._meter.taken(len(self._queued), now - queued.since)
        return key

    def _open_lanes(self) -> tuple[FairLane, ...]:
        return self._lanes[:1] if self._closed else self._lanes

    def _is_saturated(self, flow: Flow) -> bool:
        """Whether a flow has as many workers as are free: another one of them is for other flows."""
        here = self._workers_of[flow]
        return not self._closed and here > 0 and here >= self._workers - len(self._working)

    def _append(self, key: Key, where: _Queued) -> None:
        self._queued[key] = where
        self._lanes[where.lane].append(key, where.flow)

    def _wake(self) -> None:
        """Let one worker that waits look for a key."""
        while self._idle:
            waiter = self._idle.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            # Never at once: a reconcile that starts too early by rounding must not repeat at the same instant.
            delay = max(SHORTEST_SECONDS, self._heap[0][0] - self._clock.mono())
            self._timer = asyncio.get_running_loop().call_later(delay, self._ring)

    def _ring(self) -> None:
        """Queue every key that is due. One timer serves all keys."""
        self._timer = None
        now = self._clock.mono() + EARLY_SECONDS
        try:
            while self._heap and self._heap[0][0] <= now:
                when, _, key = heapq.heappop(self._heap)
                if self._wakes.get(key) == when:
                    del self._wakes[key]
                    self.add(key)
        finally:  # also after an error: all later keys depend on this timer
            self._schedule()

    def close(self) -> None:
        """Cancel all wake-ups. Workers take only announced calls, which a running reconcile may still add."""
        self._closed = True
        for waiter in self._idle:
            if not waiter.done():
                waiter.set_result(None)
        self._idle.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()
        self._wakes.clear()
