"""A work queue with client-go's contract, for one event loop.

A key is queued once however often it is added; it is never worked on twice at once; added while it is being worked on, it
is queued again afterwards. Three lanes: a call that a status has just announced goes first, so that it is sent while its
announcement is young, however many keys wait; people's edits and deletions go before polls. Within a lane, namespaces take
turns, so that one tenant's thousand objects do not keep another's one waiting. Later times are kept in a heap.
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
EARLY_SECONDS = 1e-6  # a loop's timer may ring this much too early; it must not be set again for the same moment


class Key(NamedTuple):
    """Which object to work on."""

    kind: str
    namespace: str
    name: str
    uid: str


class Lane(IntEnum):
    """Why this is worked on: its call stands announced in its status, a person waits for it, or it is only a poll."""

    ANNOUNCED = 0
    PEOPLE = 1
    POLLS = 2


class QueueMeter(Protocol):
    """What the queue tells about itself; the metrics implement it."""

    def added(self, depth: int) -> None:
        """A key was queued."""

    def taken(self, depth: int, waited: float) -> None:
        """A key was handed to a worker after this many seconds."""

    def finished(self, worked: float) -> None:
        """A worker is done with a key after this many seconds."""


class WorkQueue:
    """Keys to work on, now or later."""

    def __init__(self, clock: Clock, meter: QueueMeter) -> None:
        self._clock = clock
        self._meter = meter
        self._lanes: tuple[OrderedDict[str, OrderedDict[Key, None]], ...] = tuple(OrderedDict() for _ in Lane)  # by namespace
        self._queued: dict[Key, float] = {}  # since when
        self._lane_of: dict[Key, Lane] = {}  # of those that are queued
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
        """Seconds that the longest waiting key has waited, and that the longest running work has run."""
        now = self._clock.mono()
        waiting = now - min(self._queued.values(), default=now)
        return waiting, now - min(self._working.values(), default=now)

    def add(self, key: Key, lane: Lane = Lane.POLLS) -> None:
        """Work on this key as soon as a worker is free."""
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

    def wake_at(self, key: Key, when: float | None) -> None:
        """Work on this key at this mono time; replaces what was set before, None cancels it. A closed queue rings no more."""
        if self._closed:
            return
        if when is None:
            self._wakes.pop(key, None)
            return
        if self._wakes.get(key) == when:
            return
        self._wakes[key] = when
        heapq.heappush(self._heap, (when, next(self._order), key))
        self._schedule()

    def forget(self, key: Key) -> None:
        """The object is gone: no later wake-up."""
        self._wakes.pop(key, None)

    async def take(self) -> Key | None:
        """The next key, when there is one; the caller must call ``done`` with it.

        Once the queue is closed only what is announced is handed out, and after that None.
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
        """The work is over; what was added meanwhile is queued now."""
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
            # Never at once: a pass that finds itself a hair too early, and says so, must not be made again at the same instant.
            delay = max(SHORTEST_SECONDS, self._heap[0][0] - self._clock.mono())
            self._timer = asyncio.get_running_loop().call_later(delay, self._ring)

    def _ring(self) -> None:
        """Queue every key whose time has come. No I/O, so ten thousand timers cost what their changes cost."""
        self._timer = None
        now = self._clock.mono() + EARLY_SECONDS
        try:
            while self._heap and self._heap[0][0] <= now:
                when, _, key = heapq.heappop(self._heap)
                if self._wakes.get(key) == when:
                    del self._wakes[key]
                    self.add(key)
        finally:  # whatever fails: all later times hang on this one timer
            self._schedule()

    def close(self) -> None:
        """Ring no more; workers take only what is announced, which a pass under way may still add to."""
        self._closed = True
        self._available.release()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._heap.clear()
        self._wakes.clear()
