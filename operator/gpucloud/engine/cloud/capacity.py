"""The waiting lines of one credential: one query of the availability for each cluster in which a GpuVM waits for capacity."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import structlog

from gpucloud.cloud.errors import CloudError
from gpucloud.reconcile.gpuvm.waiting_line import room_of, turns

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.cloud.reader import CloudReader
    from gpucloud.engine.runtime.supervisor import Supervisor
    from gpucloud.reconcile.gpuvm.offers import Offer
    from gpucloud.reconcile.gpuvm.waiting_line import Waiter

log = structlog.get_logger("gpucloud.capacity")

LOOK_SECONDS = 10.0  # between two queries of one cluster, however many wait


@dataclass(slots=True)
class _Line:
    """Who waits in one cluster, and what the last answer gave them."""

    waiters: dict[str, Waiter] = field(default_factory=dict)
    turns: dict[str, Offer] = field(default_factory=dict)
    known: bool = False  # whether the last query was answered
    task: asyncio.Task[None] | None = None


class Capacity:
    """Who waits, and whose turn it is. Process memory only: nothing is safe or unsafe by it."""

    def __init__(self, client: CloudReader, tasks: Supervisor, wake: Callable[[str], None]) -> None:
        self._client, self._tasks, self._wake = client, tasks, wake
        self._lines: dict[str, _Line] = {}

    def join(self, cluster: str, waiter: Waiter) -> None:
        """Let a GpuVM wait in this cluster; the cluster is asked as long as somebody does."""
        self.leave(waiter.uid, but=cluster)
        line = self._lines.setdefault(cluster, _Line())
        line.waiters[waiter.uid] = waiter
        if line.task is None:
            line.task = self._tasks.spawn("capacity", partial(self._look, cluster, line), may_end=True)

    def leave(self, uid: str, but: str | None = None) -> None:
        """Remove a GpuVM: it orders, or something else holds it up."""
        for cluster, line in self._lines.items():
            if cluster != but:
                line.waiters.pop(uid, None)
                line.turns.pop(uid, None)

    def is_known(self, uid: str) -> bool:
        """Whether the availability was listed where this GpuVM waits."""
        return any(uid in line.waiters and line.known for line in self._lines.values())

    def turn(self, uid: str) -> Offer | None:
        """Return the offer that this GpuVM may order now."""
        return next((line.turns[uid] for line in self._lines.values() if uid in line.turns), None)

    async def aclose(self) -> None:
        """Stop asking."""
        running = [line.task for line in self._lines.values() if line.task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _look(self, cluster: str, line: _Line) -> None:
        """Ask as long as somebody waits."""
        while line.waiters:
            before = line.known
            try:
                listing = await self._client.get_availability(cluster=cluster)
            except CloudError as error:
                log.info("the availability cannot be listed", cluster=cluster, error=str(error))
                line.known, line.turns = False, {}
            else:
                line.known, line.turns = listing.complete, turns(line.waiters.values(), room_of(listing.items))
            for uid in list(line.turns) if line.known == before else list(line.waiters):
                self._wake(uid)
            await asyncio.sleep(LOOK_SECONDS)
        line.known, line.task = False, None
