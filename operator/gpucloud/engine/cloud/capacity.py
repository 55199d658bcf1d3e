"""The waiting lines of one credential: one query of the availability serves all GpuVMs that wait for capacity in a cluster.

Process memory only: who waits, and since when, stands in status; whether anything may be ordered, in the order records. What
was refused a short time ago a restart forgets: that costs one refused order for each offer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import structlog

from gpucloud.cloud.errors import CloudError
from gpucloud.reconcile.waiting_line import Line, Refusal, exhausted, nodes_of, query_seconds, room_of, turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from gpucloud.cloud.reader import CloudReader
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.supervisor import Supervisor
    from gpucloud.reconcile.waiting_line import Offer, Waiter

log = structlog.get_logger("gpucloud.capacity")

PATIENCE = 3  # queries in a row that fail, until those that wait do without them
MOST_DOUBLINGS = 5  # of the time between two queries, when they do


@dataclass(slots=True)
class _Line:
    """Who waits in one cluster, and what the last query gave them."""

    cluster: str
    waiters: dict[str, Waiter] = field(default_factory=dict)
    room: dict[Offer, int] = field(default_factory=dict)
    nodes: dict[Offer, frozenset[str]] = field(default_factory=dict)  # the free ones, where they are named
    turns: dict[str, Offer] = field(default_factory=dict)
    shown_full: dict[Offer, datetime] = field(default_factory=dict)  # begin of the last query that showed no room
    queried: bool = False  # a query was answered, or too many have failed
    failures: int = 0  # of queries, in a row
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # somebody joined, left, or can order now
    task: asyncio.Task[None] | None = None


class Capacity:
    """Knows who waits in which cluster, and whose turn it is."""

    def __init__(
        self,
        client: CloudReader,
        clock: Clock,
        tasks: Supervisor,
        wake: Callable[[str], None],
        *,
        fast_poll: float,
        host: str = "",
    ) -> None:
        """``fast_poll``: seconds between two listings where something changes. ``host``: the cloud's, for the log."""
        self._client, self._clock, self._tasks, self._wake = client, clock, tasks, wake
        self._fast_poll, self._host = fast_poll, host
        self._lines: dict[str, _Line] = {}
        self._refused: dict[str, dict[Offer, Refusal]] = {}  # the last refusal of each offer, by cluster

    def line(self, cluster: str, waiter: Waiter) -> Line:
        """Return what the line of the cluster says of this GpuVM, also of one that is not in it."""
        line = self._lines.get(cluster.casefold()) or _Line(cluster)  # it joins as soon as it says that it waits
        listed = frozenset(offer for offer in waiter.offers if waiter.is_shown_room(offer, line.room, line.nodes))
        taken, refused = self._exhausted(line), self._refused.get(cluster.casefold(), {})
        known = {offer: offer.in_pool(waiter.default_pool) for offer in waiter.offers}
        turn = line.turns.get(waiter.uid)
        return Line(
            looking=not line.queried,
            listed=listed,
            turn=None if turn is None or known.get(turn) in taken else turn,
            taken={one: taken[at] for one, at in known.items() if at in taken and refused[at].uid != waiter.uid},
        )

    def refused(self, cluster: str, offer: Offer, uid: str) -> None:
        """Remember for a short time that the cloud had no capacity for an offer, so that nobody else orders it meanwhile."""
        self._refused.setdefault(cluster.casefold(), {})[offer] = Refusal(self._clock.wall(), uid)

    def accepted(self, cluster: str, offer: Offer) -> None:
        """Forget that an offer was refused: the cloud has just had capacity for it."""
        self._refused.get(cluster.casefold(), {}).pop(offer, None)

    def join(self, cluster: str, waiter: Waiter) -> None:
        """Let a GpuVM wait, or go on waiting, in this cluster. The first query comes a while after the first that waits.

        Until then those that waited already before a restart have joined again.
        """
        line = self._lines.setdefault(cluster.casefold(), _Line(cluster))
        line.waiters[waiter.uid] = waiter
        line.changed.set()
        if line.task is None:
            line.task = self._tasks.spawn("capacity", partial(self._run, line), may_end=True)

    def leave(self, cluster: str, uid: str) -> None:
        """Remove a GpuVM that waits no more."""
        line = self._lines.get(cluster.casefold())
        if line is None:
            return
        line.waiters.pop(uid, None)
        line.turns.pop(uid, None)
        line.changed.set()

    async def aclose(self) -> None:
        """Stop asking."""
        running = [line.task for line in self._lines.values() if line.task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, line: _Line) -> None:
        """Ask as long as somebody waits who could order now; ever less often while the queries fail."""
        await asyncio.sleep(query_seconds(self._fast_poll))
        while line.waiters:
            if any(waiter.ready for waiter in line.waiters.values()):
                await self._query(line)
                await asyncio.sleep(query_seconds(self._fast_poll) * 2 ** min(max(0, line.failures - PATIENCE), MOST_DOUBLINGS))
            else:
                line.turns = {}
                line.changed.clear()
                await line.changed.wait()
        del self._lines[line.cluster.casefold()]

    async def _query(self, line: _Line) -> None:
        """Ask what is free, and give it to those who wait. Wake who has a turn; everyone if something else is listed now.

        One failure says nothing: if it ended the wait, all would order at once, whoever waits longest.
        """
        before, began = line.room.keys() if line.queried else None, self._clock.wall()
        try:
            listing = await self._client.get_availability(cluster=line.cluster)
        except CloudError as error:
            log.info("the availability cannot be listed", cluster=line.cluster, error=str(error), host=self._host)
            line.failures, line.turns = line.failures + 1, {}
            if line.failures < PATIENCE:
                return
            line.room, line.nodes = {}, {}
        else:
            line.room, line.failures = room_of(line.cluster, listing.items), 0
            line.nodes = nodes_of(line.cluster, listing.items)
        line.queried = True
        line.turns = turns(line.waiters.values(), line.room, self._exhausted(line), line.nodes)
        line.shown_full |= dict.fromkeys((offer for offer, count in line.room.items() if count == 0), began)
        for uid in list(line.turns) if line.room.keys() == before else list(line.waiters):
            self._wake(uid)

    def _exhausted(self, line: _Line) -> dict[Offer, datetime]:
        """Return the offers that count as taken in this cluster, and until when."""
        refused = self._refused.get(line.cluster.casefold(), {})
        return exhausted(refused, line.room, self._clock.wall(), self._fast_poll, line.shown_full)
