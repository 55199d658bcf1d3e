"""Finds the records of a name in every cluster that a credential knows, whether or not an object uses that cluster.

The inventory lists the clusters, once for all objects that look. The list of the clusters themselves is asked for here.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.cloud.errors import CloudError
from gpucloud.engine.cloud import listings
from gpucloud.engine.cloud.cluster_records import CAUSES
from gpucloud.engine.cloud.inventory import LONGEST_BACKOFF_SECONDS
from gpucloud.reconcile.facts import Unknown, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.cloud.reader import CloudReader
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.supervisor import Supervisor
    from gpucloud.reconcile.naming import Identity

log = structlog.get_logger("gpucloud.cluster_search")


class ClusterSearch:
    """The searches of all objects of one credential. Process memory only: it delays no call that a record allows."""

    def __init__(
        self,
        client: CloudReader,
        inventory: Inventory[Any],
        clock: Clock,
        tasks: Supervisor,
        wake: Callable[[str], None],
        *,
        host: str = "",
    ) -> None:
        """``wake`` is called when more is known of what an object looks for. ``host`` is the cloud's, for the log."""
        self._host = host
        self._client, self._inventory, self._clock, self._tasks, self._wake = client, inventory, clock, tasks, wake
        self._clusters: frozenset[str] = frozenset()
        self._as_of = -math.inf  # begin of the call that named the clusters (mono)
        self._trouble: Unknown | None = None  # why they cannot be listed now
        self._waiting: dict[str, float] = {}  # by UID: the object waits for a list of clusters that was asked for then or later
        self._task: asyncio.Task[None] | None = None

    def search(
        self, uid: str, name: str, not_before: float, named: frozenset[str] = frozenset(), *, only_named: bool = False
    ) -> None:
        """Have listed what ``locations_of`` needs; wake the object whenever more becomes known, until its search is ended."""
        if only_named:
            self._waiting.pop(uid, None)
        elif self._as_of < not_before:
            self._waiting[uid] = not_before
            self._ask()
            return
        clusters = self._in_question(named, only_named=only_named)
        self._inventory.seek(uid, frozenset(clusters))
        for listed_as in sorted(clusters):
            self._inventory.list_until_known(uid, listed_as, name, not_before)

    def locations_of(
        self, name: str, not_before: float, named: frozenset[str] = frozenset(), *, only_named: bool = False
    ) -> tuple[tuple[Identity, ...], Unknown | None]:
        """Return where records of this name are, by listings that began at ``not_before`` (mono) or later.

        ``named``: clusters that are looked into, whether or not the credential knows them; with ``only_named`` no other one is.

        Also why other places are unknown: there may be more in the cluster that ``detail`` names, or in any if it names none.
        A query: ``search`` asks for the listings.
        """
        if not only_named and self._as_of < not_before:
            return (), self._trouble or Unknown(self._clock.mono(), UnknownReason.NOT_LISTED)
        found: list[Identity] = []
        unknown: list[Unknown] = []
        for listed_as, cluster in sorted(self._in_question(named, only_named=only_named).items()):
            listed = self._inventory.locations_since(listed_as, name, not_before)
            if isinstance(listed, Unknown):
                unknown.append(Unknown(listed.since, listed.cause, cluster))
            else:
                found += (there._replace(cluster=cluster) for there in listed)
        failed = (one for one in unknown if one.cause is not UnknownReason.NOT_LISTED)
        return tuple(found), next(failed, unknown[0] if unknown else None)

    def _in_question(self, named: frozenset[str], *, only_named: bool) -> dict[str, str]:
        """Return the clusters that are looked into: how each is listed, and how it is called in what is returned."""
        told = {} if only_named else {self._inventory.spelling(one): one for one in self._clusters}
        return told | {one: one for one in named}

    def end_search(self, uid: str) -> None:
        """List no cluster for this object any more."""
        self._waiting.pop(uid, None)
        self._inventory.seek(uid, frozenset())

    async def aclose(self) -> None:
        """Stop asking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _ask(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._tasks.spawn("account-check", self._learn_clusters, may_end=True)

    async def _learn_clusters(self) -> None:
        """Ask for the list of clusters until all that wait for it have one; ever less often while it fails."""
        failures = 0
        while self._waiting:
            began = self._clock.mono()
            try:
                clusters = await listings.clusters(self._client)
            except CloudError as error:
                log.info("the list of clusters cannot be read", error=str(error), host=self._host)
                failures += 1
                self._note_trouble(Unknown(began, CAUSES.get(error.kind, UnknownReason.UNREACHABLE)))
                await asyncio.sleep(min(2.0**failures, LONGEST_BACKOFF_SECONDS))
            else:
                self._clusters, self._as_of, self._trouble, failures = clusters, began, None, 0
                for uid in [uid for uid, not_before in self._waiting.items() if not_before <= began]:
                    del self._waiting[uid]
                    self._wake(uid)

    def _note_trouble(self, trouble: Unknown) -> None:
        before, self._trouble = self._trouble, trouble
        if before is None or before.cause is not trouble.cause:
            for uid in list(self._waiting):
                self._wake(uid)
