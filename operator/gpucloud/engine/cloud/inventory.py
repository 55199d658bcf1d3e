"""What the cloud has, seen by one listing for everybody. No object is ever asked for by itself.

One poller a cluster in use lists all records of a kind: fast while something is pending, slow when nothing is, at once
when somebody needs a younger look. An object is woken only when its own observation changed. A listing that failed, that
holds entries which cannot be read, or that lacks too much at once, never makes anything absent.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

import structlog

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud.cluster_records import ListingMeter, View
from gpucloud.engine.runtime.supervisor import Supervisor, being_cancelled
from gpucloud.engine.runtime.workqueue import EARLY_SECONDS
from gpucloud.engine.telemetry.collectors import ListingStatus
from gpucloud.reconcile.facts import Absent, Observation, Present, Unknown, UnknownReason
from gpucloud.reconcile.naming import Identity

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping

    from gpucloud.cloud.models import Listing
    from gpucloud.engine.runtime.clock import Clock

R = TypeVar("R")
log = structlog.get_logger("gpucloud.inventory")

EVERYTHING = ""  # as a name: all that is in a VPC
ANYWHERE = ""  # as a VPC: in whichever it is
IMPLAUSIBLE_COUNT = 3  # design: at least 3 and over 30 % of the known objects vanish at once
IMPLAUSIBLE_SHARE = 0.3
LEAST_SPACING_SECONDS = 0.2  # between two listings of one cluster, however many ask for a look
LONGEST_BACKOFF_SECONDS = 30.0
INCOMPLETE = "the listing is incomplete"
REJECTED_BACKOFF_SECONDS = 300.0  # the cloud knows no such cluster: a spec's mistake, which must not eat everybody's budget

_CAUSES = {
    ErrorKind.UNAUTHORIZED: UnknownReason.REFUSED,
    ErrorKind.LOGIN: UnknownReason.REFUSED,
    ErrorKind.FORBIDDEN: UnknownReason.FORBIDDEN,
    ErrorKind.INVALID: UnknownReason.REJECTED,
}


@dataclass(frozen=True, slots=True)
class Intervals:
    """Seconds between listings."""

    pending: float
    steady: float


@dataclass(frozen=True, slots=True)
class Listed(Generic[R]):
    """All records of a cluster, by a listing that began at ``as_of`` (mono) and is believed."""

    records: Mapping[Identity, tuple[R, ...]]
    as_of: float


class Inventory(Generic[R]):
    """All records of one kind that one credential can see, by cluster."""

    def __init__(
        self,
        fetch: Callable[[str], Awaitable[Listing[R]]],
        identify: Callable[[R, str], Identity | None],
        *,
        clock: Clock,
        intervals: Intervals,
        meter: ListingMeter,
        tasks: Supervisor | None = None,
    ) -> None:
        self._tasks = tasks or Supervisor()
        self._fetch = fetch
        self._identify = identify
        self._clock = clock
        self._intervals = intervals
        self._meter = meter
        self._views: dict[str, View[R]] = {}
        self._pollers: dict[str, asyncio.Task[None]] = {}
        self._watched: dict[str, Identity] = {}  # by uid
        self._pending: set[str] = set()
        self.wake: Callable[[str], None] = lambda _uid: None  # its own observation has changed
        self.served: Callable[[str], None] | None = None  # the look that it waited for has been had; None: as ``wake``
        self.expected: Callable[[str], Collection[Identity]] = lambda _cluster: ()

    def watch(self, uid: str, identity: Identity) -> None:
        """List this object's cluster from now on, and wake the object when its own observation changes."""
        known = self._watched.get(uid)
        if known == identity:
            return
        self._watched[uid] = identity
        if known is not None and known.cluster != identity.cluster:
            self._retire(known.cluster)
        elif known is not None and _find(self._views[identity.cluster].records, identity):
            self.wake(uid)  # it is looked for elsewhere from now on, and the last listing shows it there
        if identity.cluster not in self._pollers:
            view: View[R] = View(self._clock.mono())
            poll = partial(self._poll, identity.cluster, view)
            self._views[identity.cluster] = view
            self._pollers[identity.cluster] = self._tasks.spawn("poll", poll, cluster=identity.cluster)

    def unwatch(self, uid: str) -> None:
        """The object is gone; a cluster that nobody uses is no longer listed."""
        identity = self._watched.pop(uid, None)
        self._pending.discard(uid)
        if identity is not None:
            self._views[identity.cluster].waiting.pop(uid, None)
            self._retire(identity.cluster)

    def _retire(self, cluster: str) -> None:
        if any(identity.cluster == cluster for identity in self._watched.values()):
            return
        self._pollers.pop(cluster).cancel()
        del self._views[cluster]

    def observe(self, identity: Identity, accepted_until: float = -math.inf) -> Observation[R]:
        """The last look at this object. A person says that what was missing by ``accepted_until`` (mono) is truly gone."""
        view = self._views.get(identity.cluster)
        if view is None or (view.as_of is None and view.blind is None):
            return Unknown(self._clock.mono(), UnknownReason.NOT_LOOKED)
        if view.blind is not None:
            return view.blind
        as_of = view.as_of or 0.0
        found = _find(view.records, identity)
        if found:
            returned, doubtful = view.returned.get(identity), identity in view.doubtful
            present = Present(found[0], as_of, duplicate_records=len(found) > 1, returned=returned, doubtful=doubtful)
            return replace(present, shown_since=view.shown_since.get(identity, as_of))
        missed_since = view.missing_since.get(identity, as_of)
        if view.doubted_since is not None and max(view.doubted_since, missed_since) > accepted_until:
            return Unknown(view.doubted_since, UnknownReason.IMPLAUSIBLE)
        confirmed = None if _find(view.before, identity) else view.before_as_of
        return Absent(as_of, missed_since, confirmed)

    def names(self, cluster: str, vpc: str) -> list[str]:
        """Names of all records in a VPC, for what nobody claims."""
        view = self._views.get(cluster)
        return [] if view is None else [key.name for key in view.records if key.vpc == vpc]

    def shown_now(self) -> Callable[[Identity], bool]:
        """Tells, later too, whether something is shown by the listings that have come until now."""
        records = {cluster: view.records for cluster, view in self._views.items()}
        return lambda identity: bool(_find(records.get(identity.cluster, {}), identity))

    def within(self, cluster: str, vpc: str) -> tuple[tuple[R, ...], float] | Unknown:
        """All records in a VPC, and when the listing that shows them began. A record that names no VPC may be in it."""
        standing = self._standing(cluster)
        if standing is None:
            return Unknown(self._clock.mono(), UnknownReason.NOT_LOOKED)
        if isinstance(standing, Unknown):
            return standing
        return _find(standing.records, Identity(cluster, vpc, EVERYTHING)), standing.as_of

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters in use, which are listed all the time."""
        return frozenset(self._views)

    async def listing(self, cluster: str, not_before: float = -math.inf) -> Listed[R] | Unknown:
        """All records of any cluster, in use or not, by a believed listing that began no earlier than this.

        The last one is taken where it will do. One that is asked for changes nothing of what is known.
        """
        standing = self._standing(cluster)
        if isinstance(standing, Unknown) or (standing is not None and standing.as_of >= not_before):
            return standing
        began = self._clock.mono()
        try:
            answer = await self._fetch(cluster)
        except CloudError as error:
            return Unknown(began, _CAUSES.get(error.kind, UnknownReason.UNREACHABLE), error.message)
        if not answer.complete:
            return Unknown(began, UnknownReason.UNREACHABLE, answer.flaw or INCOMPLETE)
        records, standing, view = self._by_identity(answer.items, cluster), self._standing(cluster), self._views.get(cluster)
        if isinstance(standing, Unknown):
            return standing
        if view is not None and _crossed(*self._vanished(view, cluster, records)):
            return Unknown(began, UnknownReason.IMPLAUSIBLE)
        return Listed(records, began)

    def last_duration(self, cluster: str) -> float:
        """Seconds that the last listing of a cluster in use took; no more than one call may, since we may have been asleep."""
        view = self._views.get(cluster)
        return 0.0 if view is None else min(view.took, LONGEST_BACKOFF_SECONDS)

    def has_looked(self, uid: str, not_before: float) -> bool:
        """Whether a good listing that began at or after this mono time has come for this object."""
        identity = self._watched.get(uid)
        if identity is None:
            return True
        view = self._views[identity.cluster]
        return view.as_of is not None and view.as_of >= not_before and view.blind is None

    def refresh_after(self, uid: str, not_before: float) -> None:
        """Wake the object when a listing that began at or after this mono time has come; list at once if none has."""
        identity = self._watched.get(uid)
        if identity is None:
            return
        if self.has_looked(uid, not_before):
            (self.served or self.wake)(uid)
            return
        view = self._views[identity.cluster]
        view.waiting[uid] = not_before
        view.kick.set()

    def expect_change(self, uid: str, pending: bool) -> None:
        """Poll this object's cluster fast while any object in it is pending."""
        identity = self._watched.get(uid)
        if identity is None or pending == (uid in self._pending):
            return
        if not pending:
            self._pending.discard(uid)
            return
        first = not self._is_pending(identity.cluster)
        self._pending.add(uid)
        if first:
            self._views[identity.cluster].kick.set()

    def listing_statuses(self) -> dict[str, ListingStatus]:
        """Each cluster in use, for metrics; but not what a spec only calls a cluster, or anybody could raise an alarm."""
        return {cluster: self._sight(view) for cluster, view in self._views.items() if not view.rejected}

    def _sight(self, view: View[R]) -> ListingStatus:
        now, doubted = self._clock.mono(), view.doubted_since is not None
        if view.as_of is None:
            return ListingStatus(now - view.opened, None, doubted)
        return ListingStatus(now - view.as_of, len(view.records), doubted)

    async def aclose(self) -> None:
        """Stop polling."""
        for task in self._pollers.values():
            task.cancel()
        await asyncio.gather(*self._pollers.values(), return_exceptions=True)

    def _is_pending(self, cluster: str) -> bool:
        return any(self._watched[uid].cluster == cluster for uid in self._pending)

    async def _poll(self, cluster: str, view: View[R]) -> None:
        """List until cancelled. What kills the poller leaves nothing believed until its next listing has come."""
        while True:
            began = self._clock.mono()
            view.kick.clear()
            try:
                changed = await self._list(cluster, view, began)
                view.took = self._clock.mono() - began
                self._wake_all(view, changed)
                await self._rest(cluster, view, began)
            except (Exception, asyncio.CancelledError) as error:
                if being_cancelled():
                    raise
                words = f"the poller of this cluster died ({type(error).__name__}) and is restarted"
                self._wake_all(view, self._go_blind(cluster, view, began, CloudError(ErrorKind.MALFORMED, words)))
                raise

    def _wake_all(self, view: View[R], changed: Iterable[str]) -> None:
        """Wake those whose observation changed, and those whom this listing served, whatever happens with another.

        Raises:
            Exception: the last of what happened.
        """
        failure, changed, served = None, dict.fromkeys(changed), self.served or self.wake
        calls = [(self.wake, uid) for uid in changed] + [(served, uid) for uid in view.served if uid not in changed]
        view.served = []
        for tell, uid in calls:
            try:
                tell(uid)
            except Exception as error:  # noqa: BLE001 - the others are woken first
                failure = error
        if failure is not None:
            raise failure

    async def _rest(self, cluster: str, view: View[R], began: float) -> None:
        """Until the next listing is due, or somebody needs a look; never less than the least spacing."""
        # A slow cloud is not asked all the time; but a listing that took long may also be one during which we were asleep.
        await asyncio.sleep(max(LEAST_SPACING_SECONDS, min(view.took, LONGEST_BACKOFF_SECONDS)))
        while True:
            remaining = began + self._interval(cluster, view) - self._clock.mono()
            if remaining <= EARLY_SECONDS or (
                view.failures == 0 and any(at <= self._clock.mono() for at in view.waiting.values())
            ):
                return
            view.kick.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(view.kick.wait(), remaining)

    def _interval(self, cluster: str, view: View[R]) -> float:
        if view.failures:
            longest = REJECTED_BACKOFF_SECONDS if view.rejected else LONGEST_BACKOFF_SECONDS
            return min(self._intervals.pending * 2.0 ** min(view.failures, 10), longest)
        hurried = self._is_pending(cluster) or view.waiting or view.doubted_since is not None
        return self._intervals.pending if hurried else self._intervals.steady

    async def _list(self, cluster: str, view: View[R], began: float) -> Iterable[str]:
        """One listing; answers whom to wake."""
        try:
            listing = await self._fetch(cluster)
        except CloudError as error:
            self._meter.failed(cluster, error.kind)
            log.warning("listing failed", cluster=cluster, kind=error.kind, error=str(error))
            return self._go_blind(cluster, view, began, error)
        except Exception as error:
            self._meter.failed(cluster, type(error).__name__)
            log.exception("listing failed unexpectedly", cluster=cluster)
            return self._go_blind(cluster, view, began, CloudError(ErrorKind.MALFORMED, type(error).__name__))
        if not listing.complete:
            self._meter.failed(cluster, "Incomplete")
            unreadable = CloudError(ErrorKind.MALFORMED, listing.flaw or INCOMPLETE)
            return self._go_blind(cluster, view, began, unreadable)
        return self._accept(cluster, view, began, listing.items)

    def _go_blind(self, cluster: str, view: View[R], began: float, error: CloudError) -> Iterable[str]:
        view.failures += 1
        cause = _CAUSES.get(error.kind, UnknownReason.UNREACHABLE)
        since = view.blind.since if view.blind is not None else view.as_of if view.as_of is not None else began
        before, view.blind = view.blind, Unknown(since, cause, error.message)
        return self._in(cluster) if before is None or before.cause is not cause else ()

    def _accept(self, cluster: str, view: View[R], began: float, items: Iterable[R]) -> Iterable[str]:
        records = self._by_identity(items, cluster)
        was_blind, was_doubted, before = view.blind is not None, view.doubted_since is not None, view.records
        vanished, expected = self._vanished(view, cluster, records)
        doubted = view.doubts(began, vanished, crossed=_crossed(vanished, expected), settled_after=self._intervals.steady)
        view.before, view.before_as_of = before, view.as_of
        view.records, view.as_of, view.blind, view.failures = records, began, None, 0
        watched = dict.fromkeys(self._watched[uid] for uid in self._in(cluster))
        missing = [here for here in watched if not _find(records, here)]
        view.note_missing(missing, watched, doubted=doubted)
        self._meter.listed(cluster, plausible=not doubted)
        if doubted:
            log.error("implausible listing: too much vanished at once", cluster=cluster, vanished=len(vanished))
        view.served = [uid for uid, not_before in view.waiting.items() if not_before <= began]
        for uid in view.served:
            del view.waiting[uid]
        if was_blind or was_doubted != doubted:
            return self._in(cluster)
        return [uid for uid in self._in(cluster) if _find(before, self._watched[uid]) != _find(records, self._watched[uid])]

    def _by_identity(self, items: Iterable[R], cluster: str) -> dict[Identity, tuple[R, ...]]:
        records: dict[Identity, tuple[R, ...]] = {}
        for item in items:
            identity = self._identify(item, cluster)
            if identity is not None:
                records[identity] = (*records.get(identity, ()), item)
        return records

    def _standing(self, cluster: str) -> Listed[R] | Unknown | None:
        """What the last listing of a cluster in use showed; None when there was none yet."""
        view = self._views.get(cluster)
        if view is None:
            return None
        if view.blind is not None:
            return view.blind
        if view.doubted_since is not None:
            return Unknown(view.doubted_since, UnknownReason.IMPLAUSIBLE)
        return None if view.as_of is None else Listed(view.records, view.as_of)

    def _vanished(
        self, view: View[R], cluster: str, records: dict[Identity, tuple[R, ...]]
    ) -> tuple[set[Identity], set[Identity]]:
        """What these records lack of what was expected, and all that was expected."""
        expected = set(self.expected(cluster)) - view.believed_gone
        return {identity for identity in expected if not _find(records, identity)}, expected

    def _in(self, cluster: str) -> list[str]:
        return [uid for uid, identity in self._watched.items() if identity.cluster == cluster]


def _crossed(vanished: set[Identity], expected: set[Identity]) -> bool:
    """Whether too much vanished at once to be believed."""
    return len(vanished) >= IMPLAUSIBLE_COUNT and len(vanished) > IMPLAUSIBLE_SHARE * len(expected)


def _find(records: Mapping[Identity, tuple[R, ...]], identity: Identity) -> tuple[R, ...]:
    """The records of one identity; one that names no VPC may be it, since every field of an answer may be null.

    With no name all that is in the VPC is meant; with no VPC, that name in any.
    """
    if identity.name == EVERYTHING:
        return tuple(item for key, found in records.items() if key.vpc in {identity.vpc, ""} for item in found)
    if identity.vpc == ANYWHERE:
        return tuple(item for key, found in records.items() if key.name == identity.name for item in found)
    return records.get(identity, ()) + records.get(Identity(identity.cluster, "", identity.name), ())
