"""One credential at one endpoint: its client, what it sees, and what it has learned about itself.

Accounts with the same credential share a session, so that one listing and one request budget serve them all. A session never
changes its credential: another one is another session, which begins knowing nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from gpucloud.cloud.client import CloudClient
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.cloud import listings, precondition
from gpucloud.engine.cloud.catalogue import Catalogue
from gpucloud.engine.cloud.inventory import Intervals, Inventory
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.tenancy import tenant_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from datetime import datetime

    import httpx

    from gpucloud.cloud.models import Listing, SnapshotRecord, VmRecord, VpcRecord
    from gpucloud.cloud.options import ApiKey, CallReport, ClientOptions, Login
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.telemetry.metrics import Metrics
    from gpucloud.reconcile.naming import Identity

log = structlog.get_logger("gpucloud.session")

EVIDENCE_SECONDS = 60.0  # between two attempts to learn whose the credential is
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
    """A record that says whose it is."""

    @property
    def tenancy_name(self) -> str | None:
        """The tenant's name."""


R = TypeVar("R", bound=Tenanted)


@dataclass(frozen=True, slots=True)
class SessionDeps:
    """What every session works with."""

    options: ClientOptions
    intervals: Intervals
    metrics: Metrics
    clock: Clock
    may_change: Callable[[], bool] = lambda: True  # asked right before a call that changes the cloud is sent
    tasks: Supervisor = field(default_factory=Supervisor)
    transport: Callable[[], httpx.AsyncBaseTransport] | None = None  # makes what carries a client's requests; None: the network


@dataclass(slots=True)
class Learned:
    """What the cloud's answers have told about a credential. Nothing is tried out only to learn it."""

    tenants: frozenset[str] = frozenset()  # that its records name; nearly always one
    clusters: tuple[str, ...] = ()
    allowed: set[str] = field(default_factory=set)
    forbidden: dict[str, str] = field(default_factory=dict)
    contact: datetime | None = None
    trouble: Unknown | None = None

    @property
    def tenant(self) -> str | None:
        """The tenant that the credential belongs to, when its records name just one."""
        return next(iter(self.tenants)) if len(self.tenants) == 1 else None


class AccountSession:
    """Client, inventories and knowledge of one credential."""

    def __init__(self, url: str, credential: ApiKey | Login, label: str, around: SessionDeps) -> None:
        self.url = url
        self.began = around.clock.mono()
        self.learned = Learned()
        self.client = CloudClient(
            url,
            credential,
            options=around.options,
            transport=None if around.transport is None else around.transport(),
            on_call=self._called,
            may_change=self._may_change,
        )
        self.vms: Inventory[VmRecord] = self._inventory("vms", listings.vms, listings.vm_identity, label, around)
        self.snapshots: Inventory[SnapshotRecord] = self._inventory(
            "snapshots", listings.snapshots, listings.snapshot_identity, label, around
        )
        self.vpcs: Inventory[VpcRecord] = self._inventory("vpcs", listings.vpcs, listings.vpc_identity, label, around)
        self.catalogue = Catalogue(self.client, around.clock, around.tasks)
        self.on_change: Callable[[], None] = lambda: None  # something that an account shows is new
        self.on_tenant: Callable[[], None] = lambda: None  # whose it is has become known, or was sought in vain
        self.proving = False  # it is being found out right now whose the credential is
        self._around = around
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by name

    @property
    def inventories(self) -> dict[str, Inventory[VmRecord] | Inventory[SnapshotRecord] | Inventory[VpcRecord]]:
        """By the name of what they hold."""
        return {"vms": self.vms, "snapshots": self.snapshots, "vpcs": self.vpcs}

    def listing_duration(self, cluster: str) -> float:
        """Seconds that the slowest of the last listings of this cluster took."""
        return max(inventory.last_duration(cluster) for inventory in self.inventories.values())

    def check(self) -> None:
        """Ask for the clusters, in the background: the one read that every credential should be allowed."""
        self._spawn("account-check", self._check)

    def learn_clusters(self) -> None:
        """Ask for the clusters unless that was done before."""
        if "account-check" not in self._tasks:
            self.check()

    def prove(self) -> None:
        """Find out whose the credential is, in the background, again each minute until it is known."""
        if not self.learned.tenants and self._spawn("evidence", self._seek_evidence):
            self.proving = True

    def believe(self, tenant: str) -> None:
        """This very credential has shown this tenant before, to another process."""
        self.learned.tenants |= {tenant}

    async def aclose(self) -> None:
        """Stop listing, and close the client."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for inventory in self.inventories.values():
            await inventory.aclose()
        await self.catalogue.aclose()
        await self.client.aclose()

    def _inventory(
        self,
        kind: str,
        fetch: Callable[[CloudClient, str], Awaitable[Listing[R]]],
        identify: Callable[[R, str], Identity | None],
        label: str,
        around: SessionDeps,
    ) -> Inventory[R]:
        async def listed(cluster: str) -> Listing[R]:
            listing = await fetch(self.client, cluster)
            self._noted(listing.items)
            return listing

        meter = around.metrics.listings(label, kind)
        return Inventory(listed, identify, clock=around.clock, intervals=around.intervals, meter=meter, tasks=around.tasks)

    def _spawn(self, name: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Do this in the background until it has succeeded; answers False where it is under way already."""
        standing = self._tasks.get(name)
        if standing is not None and not standing.done():
            return False
        self._tasks[name] = self._around.tasks.spawn(name, work, may_end=True)
        return True

    async def _check(self) -> None:
        try:
            clusters = await self.client.get_all_clusters()
        except CloudError as error:
            log.info("the account's check failed", error=str(error))
        else:
            self.learned.clusters = tuple(sorted(clusters))
        self.on_change()

    async def _seek_evidence(self) -> None:
        """Look at what a credential may see anywhere, the cheapest first, until something names its tenant."""
        while not self.learned.tenants:
            self.proving = True
            for listing in (self.client.get_vpcs, self.client.get_servers, self.client.get_snapshots):
                try:
                    self._noted((await listing()).items)
                except CloudError as error:
                    log.info("no evidence of the tenant", error=str(error))
                if self.learned.tenants:
                    break
            self.proving = False
            self.on_tenant()
            await asyncio.sleep(0 if self.learned.tenants else EVIDENCE_SECONDS)

    def _noted(self, records: Iterable[Tenanted]) -> None:
        """Whose records these are tells whose the credential is."""
        seen = {tenant for record in records if (tenant := tenant_of(record)) is not None}
        if not seen <= self.learned.tenants:
            self.learned.tenants |= seen
            self.on_change()
            self.on_tenant()

    def _may_change(self) -> bool:
        """Whether this process may change the cloud, and the call that is about to leave is still meant."""
        return self._around.may_change() and precondition.holds()

    def _called(self, report: CallReport) -> None:
        """Learn from every answer: what is allowed, what is forbidden, whether the cloud is there."""
        self._around.metrics.called(report)
        before = self._shown()
        if report.operation in LOGINS:
            if report.kind is not None:
                passing = report.kind in _SILENT | {ErrorKind.THROTTLED}
                self._suffer(UnknownReason.UNREACHABLE if passing else UnknownReason.REFUSED, report.message)
        elif report.sent:
            self._answered(report)
        elif report.kind is ErrorKind.NOT_SENT:
            self._suffer(UnknownReason.UNREACHABLE, report.message)
        if self._shown() != before:
            self.on_change()

    def _answered(self, report: CallReport) -> None:
        learned = self.learned
        if report.kind is ErrorKind.FORBIDDEN:
            learned.forbidden[report.operation] = report.message
            learned.allowed.discard(report.operation)
        if report.kind in _REFUSED:
            self._suffer(UnknownReason.REFUSED, report.message)
        elif report.kind in _SILENT:
            if report.method == "GET":  # a change that fails so may only have met a lack of room, or a business rule
                self._suffer(UnknownReason.UNREACHABLE, report.message)
        else:  # the cloud took the credential, whatever it says of this call
            learned.contact, learned.trouble = self._around.clock.wall(), None
        if report.kind is None:
            learned.allowed.add(report.operation)
            learned.forbidden.pop(report.operation, None)

    def _suffer(self, cause: UnknownReason, words: str) -> None:
        standing = self.learned.trouble
        if standing is None or standing.cause is not cause:
            self.learned.trouble = Unknown(self._around.clock.mono(), cause, words)

    def _shown(self) -> tuple[object, ...]:
        learned = self.learned
        return len(learned.allowed), tuple(learned.forbidden), learned.trouble
