"""Shared cache of cloud records: one list call per kind, cluster and interval serves all objects.

One poller per cluster in use lists all records of a kind. It lists fast while an object is pending, slowly otherwise, and at
once when an object needs a newer listing. The inventory wakes an object only when the object's own record changed. A listing
that failed, that is incomplete, or that lacks too many records at once never makes a record absent. Clusters without objects
are listed, too, while an object looks for its resource in them.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import structlog

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud.cluster_records import (
    CAUSES,
    ClusterRecords,
    Listed,
    ListingMeter,
    by_identity,
    differing,
    find,
    is_implausible,
    lacks,
    shared,
)
from gpucloud.engine.cloud.listed_clusters import ListedClusters
from gpucloud.engine.runtime.supervisor import Supervisor, being_cancelled
from gpucloud.engine.runtime.workqueue import EARLY_SECONDS
from gpucloud.reconcile.facts import ListingPace, Unknown, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable

    from gpucloud.cloud.models import Listing
    from gpucloud.engine.cloud.listing_spacing import Intervals
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.naming import Identity

R = TypeVar("R")
log = structlog.get_logger("gpucloud.inventory")

LONGEST_BACKOFF_SECONDS = 30.0
INCOMPLETE = "the listing is incomplete"
REJECTED_BACKOFF_SECONDS = 300.0  # for an unknown cluster: one wrong spec must not use up the shared request budget


class Inventory(ListedClusters[R]):
    """All records of one kind that one credential can see, by cluster."""

    def __init__(  # noqa: PLR0913 - wiring
        self,
        fetch: Callable[[str], Awaitable[Listing[R]]],
        identify: Callable[[R, str], Identity | None],
        *,
        clock: Clock,
        intervals: Intervals,
        meter: ListingMeter,
        tasks: Supervisor | None = None,
        wake: Callable[[str], None] = lambda _uid: None,
        served: Callable[[str], None] | None = None,
        expected: Callable[[str, Collection[Identity]], Collection[Identity]] = lambda _cluster, _shown: (),
        host: str = "",
    ) -> None:
        """``wake`` is called when an object's own record changed, ``served`` when the listing of ``refresh_after`` came.

        ``expected`` returns what a listing of a cluster should contain; of what it has shown, what any object stands for, too.
        ``host`` is the cloud's, for the log.
        """
        super().__init__(clock)
        self._tasks = tasks or Supervisor()
        self._fetch = fetch
        self._identify = identify
        self._intervals = intervals
        self._meter, self._host = meter, host
        self._pollers: dict[str, asyncio.Task[None]] = {}
        self._watched: dict[str, Identity] = {}  # by uid
        self._sought: dict[str, frozenset[str]] = {}  # by uid: clusters that are listed for the object beside its own
        self._pending: set[str] = set()
        self._wake, self._served, self._expected = wake, served or wake, expected
        self._going: set[str] = set()  # until their next reconcile, only the end of their records matters

    def watch(self, uid: str, identity: Identity) -> None:
        """List the object's cluster from now on, and wake the object when its own record changes."""
        known = self._watched.get(uid)
        if known == identity:
            return
        self._watched[uid] = identity
        if known is not None and known.cluster != identity.cluster:
            self._retire(known.cluster)
        elif known is not None and find(self._cached[identity.cluster].records, identity):
            self._wake(uid)  # the identity changed, and the last listing already shows a record of the new one
        self._open(identity.cluster)

    def unwatch(self, uid: str) -> None:
        """Stop watching for this object; stop listing its cluster if no other object watches it."""
        identity = self._watched.pop(uid, None)
        self._pending.discard(uid)
        self._going.discard(uid)
        if identity is not None:
            self._cached[identity.cluster].waiting.pop(uid, None)
            self._retire(identity.cluster)

    def seek(self, uid: str, clusters: frozenset[str]) -> None:
        """List these clusters, too, as long as the object looks for its resource in them; none: it looks no longer."""
        before = self._sought.get(uid, frozenset())
        for cluster in sorted(clusters - before):
            self._open(cluster).seekers.add(uid)
        self._sought[uid] = clusters
        if not clusters:
            del self._sought[uid]
        own = self._watched.get(uid)
        for cluster in before - clusters:
            cached = self._cached[cluster]
            cached.seekers.discard(uid)
            if own is None or own.cluster != cluster:
                cached.waiting.pop(uid, None)
            self._retire(cluster)

    def list_until_known(self, uid: str, cluster: str, name: str, not_before: float) -> None:
        """List a cluster that is listed for this object until ``locations_since`` knows, and wake the object then.

        So does the end of a failure or of a doubt.
        """
        cached = self._cached[cluster]
        if not cached.has_listed_since(not_before):
            cached.waiting[uid] = not_before
        elif cached.is_unproven(name, not_before):
            cached.waiting[uid] = self._clock.mono()
        else:
            return
        cached.trigger.set()

    def _open(self, cluster: str) -> ClusterRecords[R]:
        """Return the records of a cluster, which is listed from now on."""
        if cluster not in self._pollers:
            cached: ClusterRecords[R] = ClusterRecords(self._clock.mono())
            self._cached[cluster] = cached
            self._pollers[cluster] = self._tasks.spawn("poll", partial(self._poll, cluster, cached), cluster=cluster)
        return self._cached[cluster]

    def _retire(self, cluster: str) -> None:
        if self._cached[cluster].seekers or any(identity.cluster == cluster for identity in self._watched.values()):
            return
        self._pollers.pop(cluster).cancel()
        del self._cached[cluster]

    async def listing(self, cluster: str, not_before: float = -math.inf) -> Listed[R] | Unknown:
        """Return all records of any cluster from a listing that began at ``not_before`` (mono) or later.

        Uses the cached listing if it is recent enough, else lists the cluster. Such a listing does not change the cache.
        """
        latest = self._latest(cluster)
        if isinstance(latest, Unknown) or (latest is not None and latest.as_of >= not_before):
            return latest
        began = self._clock.mono()
        try:
            answer = await self._fetch(cluster)
        except CloudError as error:
            return Unknown(began, CAUSES.get(error.kind, UnknownReason.UNREACHABLE), error.message)
        if not answer.complete:
            return Unknown(began, UnknownReason.UNREACHABLE, answer.flaw or INCOMPLETE)
        records, latest = by_identity(answer.items, cluster, self._identify), self._latest(cluster)
        cached = self._cached.get(cluster)
        if isinstance(latest, Unknown):
            return latest
        if cached is not None and is_implausible(*self._vanished(cached, cluster, records)):
            return Unknown(began, UnknownReason.IMPLAUSIBLE)
        return Listed(records, began + answer.delay)

    def awaits_listing(self, uid: str, not_before: float) -> bool:
        """Whether the listing of the object's cluster that began at ``not_before`` (mono) or later is about to come."""
        identity = self._watched.get(uid)
        if identity is None or self.has_listed_since(uid, not_before):
            return False
        return self._cached[identity.cluster].failures == 0

    def pace(self, cluster: str) -> ListingPace:
        """Return how long the last two listings took, each at most the longest backoff: a process may have been suspended."""
        cached = self._cached.get(cluster)
        if cached is None:
            return ListingPace()
        took = sorted(min(seconds, LONGEST_BACKOFF_SECONDS) for seconds in (cached.duration, cached.duration_before))
        return ListingPace(*took)

    def has_listed_since(self, uid: str, not_before: float) -> bool:
        """Whether the cache holds a successful listing of the object's cluster that began at ``not_before`` (mono) or later."""
        identity = self._watched.get(uid)
        if identity is None:
            return True
        return self._cached[identity.cluster].has_listed_since(not_before)

    def refresh_after(self, uid: str, not_before: float) -> None:
        """Wake the object after a listing that began at ``not_before`` (mono) or later; list at once if there is none."""
        identity = self._watched.get(uid)
        if identity is None:
            return
        if self.has_listed_since(uid, not_before):
            self._served(uid)
            return
        cached = self._cached[identity.cluster]
        cached.waiting[uid] = not_before
        cached.trigger.set()

    def list_after(self, uid: str, not_before: float) -> None:
        """List the object's cluster at once if no listing began at ``not_before`` (mono) or later. Wakes nobody for it."""
        identity = self._watched.get(uid)
        if identity is None or self.has_listed_since(uid, not_before):
            return
        cached = self._cached[identity.cluster]
        cached.wanted_from = max(not_before, cached.wanted_from or not_before)
        cached.trigger.set()

    def expect_change(self, uid: str, pending: bool) -> None:
        """Set whether this object is pending. A cluster is polled fast while any object in it is pending."""
        self._going.discard(uid)
        identity = self._watched.get(uid)
        if identity is None or pending == (uid in self._pending):
            return
        if not pending:
            self._pending.discard(uid)
            return
        first = not self._is_pending(identity.cluster)
        self._pending.add(uid)
        if first:
            self._cached[identity.cluster].trigger.set()

    def expect_end(self, uid: str) -> None:
        """Until the object is reconciled next, wake it only when it is away, or a listing shows another record.

        The records are to go, and only two listings prove that they are gone. After the first one, the second follows at once.
        """
        if uid in self._watched:
            self._going.add(uid)

    async def aclose(self) -> None:
        """Stop polling."""
        for task in self._pollers.values():
            task.cancel()
        await asyncio.gather(*self._pollers.values(), return_exceptions=True)

    def _is_pending(self, cluster: str) -> bool:
        return any(self._watched[uid].cluster == cluster for uid in self._pending)

    async def _poll(self, cluster: str, cached: ClusterRecords[R]) -> None:
        """List the cluster until cancelled. If the poller fails, the cluster's records are unknown until the next listing."""
        while True:
            began = self._clock.mono()
            cached.trigger.clear()
            try:
                changed = await self._list(cluster, cached, began)
                cached.duration_before, cached.duration = cached.duration, self._clock.mono() - began
                self._wake_all(cached, changed)
                await self._rest(cluster, cached, began)
            except (Exception, asyncio.CancelledError) as error:
                if being_cancelled():
                    raise
                message = f"the poller of this cluster died ({type(error).__name__}) and is restarted"
                self._wake_all(cached, self._mark_unknown(cluster, cached, began, CloudError(ErrorKind.MALFORMED, message)))
                raise

    def _wake_all(self, cached: ClusterRecords[R], changed: Iterable[str]) -> None:
        """Call ``wake`` for the changed objects and ``served`` for those that waited for this listing.

        Raises:
            Exception: the last error of a callback, after all callbacks were called.
        """
        failure, changed = None, dict.fromkeys(changed)
        calls = [(self._wake, uid) for uid in changed] + [(self._served, uid) for uid in cached.served if uid not in changed]
        cached.served = []
        for callback, uid in calls:
            try:
                callback(uid)
            except Exception as error:  # noqa: BLE001 - the other objects must be woken first
                failure = error
        if failure is not None:
            raise failure

    async def _rest(self, cluster: str, cached: ClusterRecords[R], began: float) -> None:
        """Wait until the next listing is due or an object needs one, but at least the least spacing."""
        duration = min(cached.duration, LONGEST_BACKOFF_SECONDS)  # the process may have been suspended meanwhile
        await asyncio.sleep(cached.spacing.rest(duration, self._clock.mono()))
        while True:
            remaining = began + self._interval(cluster, cached) - self._clock.mono()
            wanted = cached.waiting.values() if cached.wanted_from is None else (cached.wanted_from, *cached.waiting.values())
            due = any(at <= self._clock.mono() for at in wanted)
            if remaining <= EARLY_SECONDS or (cached.failures == 0 and due):
                return
            cached.trigger.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(remaining):
                    await cached.trigger.wait()

    def _interval(self, cluster: str, cached: ClusterRecords[R]) -> float:
        if cached.failures:
            longest = REJECTED_BACKOFF_SECONDS if cached.rejected else LONGEST_BACKOFF_SECONDS
            return min(self._intervals.pending * 2.0 ** min(cached.failures, 10), longest)
        fast = self._is_pending(cluster) or cached.waiting or cached.doubted_since is not None
        return self._intervals.pending if fast else self._intervals.steady

    async def _list(self, cluster: str, cached: ClusterRecords[R], began: float) -> Iterable[str]:
        """List the cluster once; return the UIDs of the objects to wake."""
        try:
            listing = await self._fetch(cluster)
        except CloudError as error:
            self._meter.failed(cluster, error.kind)
            log.warning("listing failed", cluster=cluster, kind=error.kind, error=str(error), host=self._host)
            return self._mark_unknown(cluster, cached, began, error)
        except Exception as error:
            self._meter.failed(cluster, type(error).__name__)
            log.exception("listing failed unexpectedly", cluster=cluster, host=self._host)
            return self._mark_unknown(cluster, cached, began, CloudError(ErrorKind.MALFORMED, type(error).__name__))
        if not listing.complete:
            self._meter.failed(cluster, "Incomplete")
            unreadable = CloudError(ErrorKind.MALFORMED, listing.flaw or INCOMPLETE)
            return self._mark_unknown(cluster, cached, began, unreadable)
        return self._accept(cluster, cached, began + listing.delay, listing.items)

    def _mark_unknown(self, cluster: str, cached: ClusterRecords[R], began: float, error: CloudError) -> Iterable[str]:
        cached.failures += 1
        cached.note_failure()
        cause = CAUSES.get(error.kind, UnknownReason.UNREACHABLE)
        before, cached.unknown = cached.unknown, Unknown(cached.known_until(began), cause, error.message)
        return self._users(cluster, cached) if before is None or before.cause is not cause else ()

    def _accept(self, cluster: str, cached: ClusterRecords[R], began: float, items: Iterable[R]) -> Iterable[str]:
        records = shared(by_identity(items, cluster, self._identify), cached.records)
        was_unknown, was_doubted = cached.unknown is not None, cached.doubted_since is not None
        vanished, expected = self._vanished(cached, cluster, records)
        implausible = is_implausible(vanished, expected)
        doubted = cached.doubts(began, vanished, implausible=implausible, settled_after=self._intervals.steady)
        cached.put(records, began, implausible=implausible)
        watched = dict.fromkeys(self._watched[uid] for uid in self._uids(cluster))
        cached.spacing.listed(max(len(records), len(watched)), self._clock.mono())
        lacked = dict.fromkeys(here for here in watched if lacks(records, here)).keys()
        cached.note_lacked(lacked, watched, doubted=doubted)
        self._meter.listed(cluster, plausible=not doubted)
        if doubted:
            log.error(
                "implausible listing: too much vanished at once", cluster=cluster, vanished=len(vanished), host=self._host
            )
        cached.serve(began)
        if any(cached.presence(self._watched[uid]).times_lacked == 1 for uid in self._going):
            cached.wanted_from = self._clock.mono()
        if was_unknown or was_doubted != doubted:
            return self._users(cluster, cached)
        may_differ = differing(cached.before, records)
        maybe = (uid for uid in self._uids(cluster) if uid in self._going or may_differ(self._watched[uid]))
        return [uid for uid in maybe if self._concerns(uid, cached)]

    def _concerns(self, uid: str, cached: ClusterRecords[R]) -> bool:
        """Whether the change from the listing before to the last one concerns this object."""
        was, now = (find(listed, self._watched[uid]) for listed in (cached.before, cached.records))
        if uid not in self._going:
            return was != now
        return len(was) != len(now) if now else cached.presence(self._watched[uid]).times_lacked == 2

    def _latest(self, cluster: str) -> Listed[R] | Unknown | None:
        """Return the last listing of a cluster in use, or why it is unknown; None before the first listing."""
        cached = self._cached.get(cluster)
        return None if cached is None else cached.latest()

    def _vanished(
        self, cached: ClusterRecords[R], cluster: str, records: dict[Identity, tuple[R, ...]]
    ) -> tuple[set[Identity], set[Identity]]:
        """Return the expected identities that these records lack, and all expected identities.

        What objects of other credentials stand for is asked for only where something has vanished that was shown here.
        """
        shown = cached.believed.keys()
        expected = set(self._expected(cluster, shown if shown - records.keys() else ())) - cached.believed_gone
        return {identity for identity in expected if lacks(records, identity)}, expected

    def _users(self, cluster: str, cached: ClusterRecords[R]) -> list[str]:
        """Return the UIDs of all objects that the listings of this cluster serve."""
        return [*self._uids(cluster), *sorted(cached.seekers)]

    def _uids(self, cluster: str) -> list[str]:
        return [uid for uid, identity in self._watched.items() if identity.cluster == cluster]
