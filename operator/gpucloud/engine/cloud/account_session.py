"""A session of one credential at one endpoint: its client, its inventories, and what the cloud's answers say of it.

Accounts with the same credential share a session, hence one list call and one request budget. A session never changes its
credential: a rotated credential gets a new session that knows nothing of the old one.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

import structlog

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import VmRecord, VpcRecord
from gpucloud.engine.cloud import listings
from gpucloud.engine.cloud.capacity import Capacity
from gpucloud.engine.cloud.catalogue import Catalogue
from gpucloud.engine.cloud.cluster_search import ClusterSearch
from gpucloud.engine.cloud.gates import gated
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.cloud.port import Closed, connect
from gpucloud.engine.cloud.seen_names import SeenNames
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.reconcile.facts import ListingPace, Unknown, UnknownReason
from gpucloud.reconcile.tenancy import tenant_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable
    from datetime import datetime

    import httpx

    from gpucloud.cloud.models import Listing, SnapshotRecord
    from gpucloud.cloud.options import ApiKey, CallReport, ClientOptions, Login
    from gpucloud.cloud.reader import CloudReader
    from gpucloud.engine.cloud.gates import GateDeps
    from gpucloud.engine.cloud.listing_spacing import Intervals
    from gpucloud.engine.cloud.port import CloudWrites
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.telemetry.metrics import Metrics
    from gpucloud.reconcile.naming import Identity

log = structlog.get_logger("gpucloud.session")

SEARCHED = ("vms", "snapshots")  # inventories whose records can bear an object's mark
EVIDENCE_SECONDS = 60.0  # between two attempts to learn the credential's tenant, or its clusters
LOGINS = frozenset({"Authenticate", "RefreshToken"})
_REFUSED = frozenset({ErrorKind.UNAUTHORIZED, ErrorKind.LOGIN})
_SILENT = frozenset(
    {
        ErrorKind.NOT_SENT,
        ErrorKind.WITHDRAWN,
        ErrorKind.OUTCOME_UNKNOWN,
        ErrorKind.SERVER,
        ErrorKind.UNAVAILABLE,
        ErrorKind.MALFORMED,
        ErrorKind.REDIRECTED,
    }
)


class Tenanted(Protocol):
    """A record with the name of its tenant."""

    @property
    def tenancy_name(self) -> str | None:
        """Name of the record's tenant."""


R = TypeVar("R", bound=Tenanted)


class SessionListener(Protocol):
    """Receives what a session's listings and answers show."""

    def wake(self, uid: str) -> None:
        """The record of an object changed."""

    def served(self, uid: str) -> None:
        """A listing came that an object waited for."""

    def expected(
        self, session: AccountSession, inventory: str, cluster: str, shown: Collection[Identity] = ()
    ) -> Collection[Identity]:
        """Return the identities that a listing should contain: of ``shown`` also those of objects of other credentials."""

    def learned(self, session: AccountSession) -> None:
        """The status of the accounts that use this session may change."""

    def tenant_learned(self, session: AccountSession) -> None:
        """An attempt to learn the tenant has ended."""

    def prices_learned(self, session: AccountSession) -> None:
        """The catalogue names prices that were not known before."""


class NoListener:
    """Ignores everything: for commands that list once."""

    def wake(self, uid: str) -> None:
        """Do nothing."""

    def served(self, uid: str) -> None:
        """Do nothing."""

    def expected(
        self,
        session: AccountSession,  # noqa: ARG002
        inventory: str,  # noqa: ARG002
        cluster: str,  # noqa: ARG002
        shown: Collection[Identity] = (),  # noqa: ARG002
    ) -> Collection[Identity]:
        """Return nothing: no record is known before the first listing."""
        return ()

    def learned(self, session: AccountSession) -> None:
        """Do nothing."""

    def tenant_learned(self, session: AccountSession) -> None:
        """Do nothing."""

    def prices_learned(self, session: AccountSession) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class SessionDeps:
    """Dependencies of a session."""

    options: ClientOptions
    intervals: Intervals
    metrics: Metrics
    clock: Clock
    gates: GateDeps | None = None  # None: the session only reads
    tasks: Supervisor = field(default_factory=Supervisor)
    listener: SessionListener = field(default_factory=NoListener)
    transport: Callable[[], httpx.AsyncBaseTransport] | None = None  # makes each client's transport; None: the network


@dataclass(slots=True)
class Learned:
    """What the cloud's answers say of a credential. No call is sent only to test what the credential may do."""

    identity: object = field(default_factory=object, repr=False)  # equal in sessions of one credential at one endpoint
    tenants: frozenset[str] = frozenset()  # tenants that its records name; nearly always one
    clusters: tuple[str, ...] = ()
    pools: SeenNames = field(default_factory=SeenNames)
    images: SeenNames = field(default_factory=SeenNames)
    vpcs: SeenNames = field(default_factory=SeenNames)
    allowed: set[str] = field(default_factory=set)
    forbidden: dict[str, str] = field(default_factory=dict)
    contact: datetime | None = None
    trouble: Unknown | None = None

    @property
    def tenant(self) -> str | None:
        """The credential's tenant, if its records name exactly one."""
        return next(iter(self.tenants)) if len(self.tenants) == 1 else None


class AccountSession:
    """The reading client, the port for changes and the inventories of one credential, and what its answers say of it."""

    def __init__(self, url: str, credential: ApiKey | Login, label: str, deps: SessionDeps) -> None:
        self.url, self._deps = url, deps
        self.host = urlsplit(url).netloc  # for the log; no object shows where the cloud is
        self.began = deps.clock.mono()
        self.learned = Learned(hash((url, credential)))  # of this process alone, and never written to a status
        transport = None if deps.transport is None else deps.transport()
        self.client, door = connect(url, credential, options=deps.options, transport=transport, on_call=self._called)
        self.writes: CloudWrites = Closed() if deps.gates is None else gated(door, deps.gates, self.host)
        self.inventories: dict[str, Inventory[Any]] = {
            name: self._inventory(name, fetch, identify, label, deps) for name, (fetch, identify) in listings.LISTINGS.items()
        }
        self.vms: Inventory[VmRecord] = self.inventories["vms"]
        self.snapshots: Inventory[SnapshotRecord] = self.inventories["snapshots"]
        self.vpcs: Inventory[VpcRecord] = self.inventories["vpcs"]
        self.cluster_searches = {
            name: ClusterSearch(self.client, self.inventories[name], deps.clock, deps.tasks, deps.listener.wake, host=self.host)
            for name in SEARCHED
        }
        self.catalogue = Catalogue(
            self.client, deps.clock, deps.tasks, partial(deps.listener.prices_learned, self), host=self.host
        )
        self.capacity = Capacity(
            self.client, deps.clock, deps.tasks, deps.listener.wake, fast_poll=deps.intervals.pending, host=self.host
        )
        self.proving = False  # whether such an attempt is running
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by name
        self._clusters_due = -math.inf  # when the list of clusters may be requested again (mono)

    def listing_pace(self, cluster: str) -> ListingPace:
        """Return how long listings of this cluster take at present, by the slowest kind."""
        paces = [inventory.pace(cluster) for inventory in self.inventories.values()]
        return ListingPace(max(pace.shorter for pace in paces), max(pace.longer for pace in paces))

    def check(self) -> None:
        """Request the list of clusters in the background: every credential should be allowed to read it."""
        self._spawn("account-check", self._check)

    def learn_clusters(self) -> None:
        """Request the list of clusters unless it is known; if that failed, again after a minute."""
        now = self._deps.clock.mono()
        if not self.learned.clusters and now >= self._clusters_due:
            self._clusters_due = now + EVIDENCE_SECONDS
            self.check()

    def learn_tenant(self) -> None:
        """Learn the credential's tenant in the background; retry each minute until it is known."""
        if not self.learned.tenants and self._spawn("evidence", self._seek_evidence):
            self.proving = True

    def assume_tenant(self, tenant: str) -> None:
        """Take over the tenant that status records: an earlier process saw it with this same credential."""
        self.learned.tenants |= {tenant}

    async def aclose(self) -> None:
        """Stop listing, and close the client."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for inventory in self.inventories.values():
            await inventory.aclose()
        for search in self.cluster_searches.values():
            await search.aclose()
        await self.catalogue.aclose()
        await self.capacity.aclose()
        await self.client.aclose()

    def _inventory(
        self,
        kind: str,
        fetch: Callable[[CloudReader, str], Awaitable[Listing[R]]],
        identify: Callable[[R, str], Identity | None],
        label: str,
        deps: SessionDeps,
    ) -> Inventory[R]:
        async def listed(cluster: str) -> Listing[R]:
            listing = await fetch(self.client, cluster)
            self._learn_tenants(listing.items)
            self._learn_names(cluster, listing.items)
            return listing

        meter = deps.metrics.listings(label, kind)
        return Inventory(
            listed,
            identify,
            clock=deps.clock,
            intervals=deps.intervals,
            meter=meter,
            tasks=deps.tasks,
            wake=deps.listener.wake,
            served=deps.listener.served,
            expected=partial(deps.listener.expected, self, kind),
            host=self.host,
        )

    def _spawn(self, name: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Run ``work`` as a background task; return False if it is already running."""
        current = self._tasks.get(name)
        if current is not None and not current.done():
            return False
        self._tasks[name] = self._deps.tasks.spawn(name, work, may_end=True)
        return True

    async def _check(self) -> None:
        try:
            clusters = await listings.clusters(self.client)
        except CloudError as error:
            log.info("the account's check failed", error=str(error), host=self.host)
        else:
            self.learned.clusters = tuple(sorted(clusters))
        self._deps.listener.learned(self)

    async def _seek_evidence(self) -> None:
        """List VPCs, VMs and snapshots of all clusters, cheapest first, until a record names the tenant."""
        while not self.learned.tenants:
            self.proving = True
            for listing in (self.client.get_vpcs, self.client.get_servers, self.client.get_snapshots):
                try:
                    records = (await listing()).items
                    self._learn_tenants(records)
                    self._learn_vpcs(records)
                except CloudError as error:
                    log.info("no evidence of the tenant", error=str(error), host=self.host)
                if self.learned.tenants:
                    break
            self.proving = False
            self._deps.listener.tenant_learned(self)
            await asyncio.sleep(0 if self.learned.tenants else EVIDENCE_SECONDS)

    def _learn_tenants(self, records: Iterable[Tenanted]) -> None:
        """Add the tenants of these records to the credential's tenants."""
        seen = {tenant for record in records if (tenant := tenant_of(record)) is not None}
        if not seen <= self.learned.tenants:
            self.learned.tenants |= seen
            self._deps.listener.learned(self)
            self._deps.listener.tenant_learned(self)

    def _learn_names(self, cluster: str, records: Collection[object]) -> None:
        """Add the pools, images and VPCs of these VMs and VPCs to the names that the cloud has shown."""
        vms = [record for record in records if isinstance(record, VmRecord)]
        self.learned.pools.add(cluster, (record.rpool for record in vms))
        self.learned.images.add(cluster, (record.image for record in vms))
        self.learned.vpcs.add(cluster, (record.namespace for record in vms))
        self._learn_vpcs(records)

    def _learn_vpcs(self, records: Iterable[object]) -> None:
        """Add the names of these VPCs, of any cluster."""
        for record in records:
            if isinstance(record, VpcRecord) and record.cluster is not None:
                self.learned.vpcs.add(record.cluster, [record.name])

    def _called(self, report: CallReport) -> None:
        """Learn from a call's report: allowed and forbidden operations, and whether the cloud answers."""
        self._deps.metrics.calls.called(report)
        before = self._fingerprint()
        if report.operation in LOGINS:
            if report.kind is not None:
                passing = report.kind in _SILENT | {ErrorKind.THROTTLED}
                self._record_trouble(UnknownReason.UNREACHABLE if passing else UnknownReason.REFUSED, report.message)
        elif report.sent:
            self._answered(report)
        elif report.kind is ErrorKind.NOT_SENT:
            self._record_trouble(UnknownReason.UNREACHABLE, report.message)
        if self._fingerprint() != before:
            self._deps.listener.learned(self)

    def _answered(self, report: CallReport) -> None:
        learned = self.learned
        if report.kind is ErrorKind.FORBIDDEN:
            learned.forbidden[report.operation] = report.message
            learned.allowed.discard(report.operation)
        if report.kind in _REFUSED:
            self._record_trouble(UnknownReason.REFUSED, report.message)
        elif report.kind in _SILENT:
            if report.method == "GET":  # a failed change may only mean a lack of capacity, or a business rule
                self._record_trouble(UnknownReason.UNREACHABLE, report.message)
        else:  # the cloud accepted the credential, though it may refuse this call
            learned.contact, learned.trouble = self._deps.clock.wall(), None
        if report.kind is None:
            learned.allowed.add(report.operation)
            learned.forbidden.pop(report.operation, None)

    def _record_trouble(self, cause: UnknownReason, message: str) -> None:
        current = self.learned.trouble
        if current is None or current.cause is not cause:
            self.learned.trouble = Unknown(self._deps.clock.mono(), cause, message)

    def _fingerprint(self) -> tuple[object, ...]:
        learned = self.learned
        return len(learned.allowed), tuple(learned.forbidden), learned.trouble
