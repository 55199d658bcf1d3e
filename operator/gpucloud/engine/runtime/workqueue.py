"""A work queue with client-go's contract, for one event loop.

A key that is added several times is queued once. No two workers process one key at the same time. A key that is added while a
worker processes it is queued again afterwards. The queue has three lanes: announced calls; user edits and deletions, and
objects that have no status yet; polls. Announced calls go first, so that a call is sent while its announcement is recent.
Within a lane, namespaces take turns, so that one tenant's thousand objects do not delay another tenant's only object. A heap
holds the keys with a later due time.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import OrderedDict
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from gpucloud.engine.runtime.clock import Clock


SHORTEST_SECONDS = 0.001
EARLY_SECONDS = 1e-6  # an event loop timer may fire this early; it must not be set again for the same moment


class Key(NamedTuple):
    """The object to reconcile."""

    kind: str
    namespace: str
    name: str
    uid: str


class Lane(IntEnum):
    """Priority of a key: its status announces a call, a user edited it or waits for its first status, or it is only polled."""

    ANNOUNCED = 0
    PEOPLE = 1
    POLLS = 2


class QueueMeter(Protocol):
    """Receives the queue's measurements; ``QueueMetrics`` implements it."""

    def added(self, depth: int) -> None:
        """A key was queued."""

    def taken(self, depth: int, waited: float) -> None:
        """A worker took a key that had waited this many seconds."""

    def finished(self, worked: float) -> None:
        """A worker processed a key in this many seconds."""


class WorkQueue:
    """Keys that are due now or later."""

    def __init__(self, clock: Clock, meter: QueueMeter) -> None:
        self._clock = clock
        self._meter = meter
        self._lanes: tuple[OrderedDict[str, OrderedDict[Key, None]], ...] = tuple(OrderedDict() for _ in Lane)  # by namespace
        self._queued: dict[Key, float] = {}  # since this mono time
        self._lane_of: dict[Key, Lane] = {}  # of queued keys
        self._working: dict[Key, float] = {}
        self._again: dict[Key, Lane] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._wakes: dict[Key, float] = {}
        self._order = itertools.count()
        self._available = asyncio.Semaphore(0)  # one permit a queued key
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._queued)

    def oldest(self) -> tuple[float, float]:
        """The longest current wait and the longest current processing time, in seconds."""
        now = self._clock.mono()
        waiting = now - min(self._queued.values(), default=now)
        return waiting, now - min(self._working.values(), default=now)

    def add(self, key: Key, lane: Lane = Lane.POLLS) -> None:
        """Queue this key for the next free worker."""
        if key in self._working:
            self._again[key] = min(lane, self._again.get(key, lane))
            return
        if key in self._queued:
            if lane < self._lane_of[key]:
                self._remove(key)
                self._append(key, lane)
            return
        self._queued[key] = self._clock.mono()
        self._append(key, lane)
        self._meter.added(len(self._queued))
        self._available.release()

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
        await self._available.acquire()
        if self._closed and not self._lanes[Lane.ANNOUNCED]:
            self._available.release()  # for the next worker that waits
            return None
        key = self._pop()
        now = self._clock.mono()
        waited = now - self._queued.pop(key)
        self._working[key] = now
        self._meter.taken(len(self._queued), waited)
        return key

    def done(self, key: Key) -> None:
        """Finish a key; queue it again if it was added meanwhile."""
        self._meter.finished(self._clock.mono() - self._working.pop(key))
        lane = self._again.pop(key, None)
        if lane is not None:
            self.add(key, lane)

    def _pop(self) -> Key:
        for lane in self._lanes:
            if lane:
                namespace, keys = next(iter(lane.items()))
                key = next(iter(keys))
                lane.move_to_end(namespace)
                self._remove(key)
                return key
        raise LookupError("nothing is queued")

    def _append(self, key: Key, lane: Lane) -> None:
        self._lane_of[key] = lane
        self._lanes[lane].setdefault(key.namespace, OrderedDict())[key] = None

    def _remove(self, key: Key) -> None:
        lane = self._lanes[self._lane_of.pop(key)]
        del lane[key.namespace][key]
        if not lane[key.namespace]:
            del lane[key.namespace]

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
        self._available.release()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()
        self._wakes.clear()
