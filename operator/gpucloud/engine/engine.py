"""The engine put together: one queue, one room a kind, one session a credential; started before the watch, drained after."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from gpucloud.cloud.options import ApiKey, ClientOptions, Login
from gpucloud.engine.accounts import Account, Accounts, Sessions
from gpucloud.engine.cloudroom import CloudRoom, Tools
from gpucloud.engine.dependencies import Objects
from gpucloud.engine.events import EventRecorder, Happening
from gpucloud.engine.gpucloudaccount import AccountTools, GpuCloudAccountRoom
from gpucloud.engine.gpusnapshot import GpuSnapshotRoom
from gpucloud.engine.gpuvm import GpuVMRoom
from gpucloud.engine.gpuvpc import GpuVpcRoom
from gpucloud.engine.inventory import Intervals
from gpucloud.engine.kube import KubeClient, KubeError
from gpucloud.engine.loop import Loop, stop, work
from gpucloud.engine.metrics import Metrics
from gpucloud.engine.namespaces import Namespaces
from gpucloud.engine.objects import ObjectStore
from gpucloud.engine.queue import Key, Lane, WorkQueue
from gpucloud.engine.references import References
from gpucloud.engine.session import Surroundings
from gpucloud.kinds import gpucloudaccount
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus, RequestBudget
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Limits
from gpucloud.reconcile.naming import installation_tag
from gpucloud.settings import Credentials, SettingsError, read_credentials

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from gpucloud.engine.clock import Clock
    from gpucloud.engine.kube import Connection
    from gpucloud.engine.session import Session
    from gpucloud.reconcile.facts import ObjectFacts
    from gpucloud.settings import Settings

T = TypeVar("T")
log = structlog.get_logger("gpucloud.engine")

FROZEN = ("account", "tenancy")  # whose credential, in which tenant: written once
SYNC_CHECK_SECONDS = 0.2
SYNC_RELIST_SECONDS = 10.0
START_RETRY_SECONDS = 2.0
CREDENTIALS_SECONDS = 30.0  # between two looks at the operator's own credential


class Engine:
    """Everything between the watch and the cloud. ``observe`` is fed by the watch; the rest runs by itself."""

    def __init__(self, settings: Settings, login: Callable[[], Connection], clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self.metrics = Metrics()
        self.queue = WorkQueue(clock, self.metrics)
        self.kube = KubeClient(login)
        self.events = EventRecorder(self.kube, clock)
        self.accounts = Accounts(settings.own_account_namespace, clock.mono)
        around = Surroundings(client_options(settings), intervals(settings), self.metrics, clock)
        self.sessions = Sessions(around, self._attach)
        self.references = References()
        self._cloud_rooms: list[CloudRoom[Any, Any, Any]] = []
        self._account_room: GpuCloudAccountRoom | None = None
        self._loops: dict[str, Loop[Any, Any, Any]] = {}
        self._rooms: dict[str, Any] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: list[asyncio.Task[None]] = []
        self.synced = False

    async def start(self) -> None:
        """Learn whose objects are ours, then start the workers. Waits for the apiserver, and for the CRDs to be installed."""
        tag = self._settings.install_tag or installation_tag(await self._persist(self.kube.cluster_uid))
        self._furnish(tag)
        for room in self._rooms.values():
            await self._persist(partial(self.kube.uids, room.plural, self._settings.namespace))
        log.info("starting", install_tag=tag, observe_only=self._settings.observe_only)
        self._use_own(self._settings.credentials)
        self.metrics.export_objects(self._census)
        self.metrics.export_staleness(self._staleness)
        self._workers = [
            asyncio.create_task(work(self.queue, self._loops), name=f"worker-{number}")
            for number in range(self._settings.workers)
        ]
        self._tasks = [
            asyncio.create_task(self.events.run(), name="events"),
            asyncio.create_task(self._sync(), name="sync"),
            asyncio.create_task(self._follow_own(), name="own-account"),
        ]

    def _furnish(self, tag: str) -> None:
        """Make the rooms, one a kind, which share what they see."""
        objects = Objects(
            vms=ObjectStore(GpuVMSpec, GpuVMStatus, FROZEN),
            vpcs=ObjectStore(GpuVpcSpec, GpuVpcStatus, FROZEN),
            snapshots=ObjectStore(GpuSnapshotSpec, GpuSnapshotStatus, FROZEN),
            accounts=ObjectStore(GpuCloudAccountSpec, GpuCloudAccountStatus),
            tag=tag,
            endpoint_of=lambda stored: self.accounts.endpoint(stored.meta, stored.spec, stored.status),
        )
        bounds = limits(self._settings)
        tools = Tools(
            accounts=self.accounts,
            objects=objects,
            references=self.references,
            kube=self.kube,
            namespaces=Namespaces(self.kube, self._clock),
            clock=self._clock,
            limits=bounds,
            synced=lambda: self.synced,
            wake=self._wake,
            queue=self._queue,
        )
        self._cloud_rooms = [
            GpuVMRoom(tools, objects.vms),
            GpuVpcRoom(tools, objects.vpcs),
            GpuSnapshotRoom(tools, objects.snapshots),
        ]
        self._account_room = GpuCloudAccountRoom(
            AccountTools(
                accounts=self.accounts,
                sessions=self.sessions,
                objects=objects,
                references=self.references,
                kube=self.kube,
                clock=self._clock,
                limits=bounds,
                endpoints=self._settings.endpoints,
                budget=budget(self._settings),
                hold_secrets=not self._settings.no_secret_finalizer,
                queue=self._queue,
                tell=self._tell,
            )
        )
        self._rooms = {room.kind: room for room in self._cloud_rooms} | {self._account_room.kind: self._account_room}
        self._loops = {
            kind: Loop(room, queue=self.queue, kube=self.kube, events=self.events, metrics=self.metrics, clock=self._clock)
            for kind, room in self._rooms.items()
        }

    async def _persist(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until answered: an operator that starts before its apiserver or its CRDs just waits, and says for what."""
        while True:
            try:
                return await ask()
            except KubeError as error:
                hint = (
                    "are the CRDs installed (kubectl apply -f crds/)?"
                    if error.gone
                    else "is the apiserver up, and may we read?"
                )
                log.warning("cannot start yet", error=str(error), hint=hint)
                await asyncio.sleep(START_RETRY_SECONDS)

    async def stop(self, grace: float) -> None:
        """Finish what is under way, for at most ``grace`` seconds, and close everything."""
        await stop(self._workers, self.queue, grace)
        try:
            async with asyncio.timeout(2.0):
                await self.events.drain()
        except TimeoutError:
            log.info("events were left untold")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sessions.aclose()
        await self.kube.aclose()

    def observe(self, kind: str, event: str | None, body: Mapping[str, Any]) -> None:
        """One event of the watch; ``event`` is None for the first list. Cheap: no I/O."""
        room, meta = self._rooms[kind], body["metadata"]
        key = Key(kind, meta["namespace"], meta["name"], meta["uid"])
        if event == "DELETED":
            self._loops[kind].forget(key)
            return
        if not room.store.put(body):
            return
        stored = room.store.get(key.uid)
        if stored is not None:
            room.noticed(stored)
        self.queue.add(key, Lane.POLLS if event is None else Lane.PEOPLE)

    def check_account(self, namespace: str, name: str) -> None:
        """It is time to see whether an account still works. Cheap: the call is made in the background."""
        if self._account_room is not None:
            self._account_room.check(namespace, name)

    def _queue(self, key: Key) -> None:
        self.queue.add(key, Lane.PEOPLE)

    def _wake(self, uid: str) -> None:
        for kind, room in self._rooms.items():
            stored = room.store.get(uid)
            if stored is not None:
                self.queue.add(Key(kind, stored.meta.namespace, stored.meta.name, uid))
                return

    def _tell(self, meta: ObjectFacts, happening: Happening) -> None:
        self.events.tell(gpucloudaccount.KIND, meta, happening)

    def _attach(self, session: Session) -> None:
        """A new session: what it sees wakes objects, what it learns wakes the accounts that use it."""
        for inventory in session.inventories.values():
            inventory.wake = self._wake
        for room in self._cloud_rooms:
            room.attach(session)
        session.on_change = lambda: self._learned(session)
        session.on_tenant = lambda: self._proven(session)

    def _learned(self, session: Session) -> None:
        if self._account_room is None:
            return
        for label in self.sessions.users(session) - {OWN_ACCOUNT}:
            stored = self._account_room.store.named(*label.split("/", 1))
            if stored is not None:
                self._wake(stored.meta.uid)

    def _proven(self, session: Session) -> None:
        """Whose the credential is has become known, or stays unknown: objects may have waited for that."""
        for room in self._cloud_rooms:
            for uid in room.users_of(session):
                self._wake(uid)

    def _use_own(self, credentials: Credentials) -> None:
        """The operator's own account, or none."""
        found = credential(credentials)
        before = self.accounts.own
        if found is None:
            return
        session = self.sessions.open(self._settings.own_endpoint, found, OWN_ACCOUNT)
        if before is not None and before.session is session:
            return
        self.accounts.own = Account(OWN_ACCOUNT, session)
        if before is not None and before.session is not None:
            self.sessions.leave(before.session, OWN_ACCOUNT)
            log.info("the operator's own credential has changed")
        for room in self._cloud_rooms:
            for stored in room.store:
                self._wake(stored.meta.uid)

    async def _follow_own(self) -> None:
        """Take up the operator's own credential when its files change: a mounted Secret is rotated without a restart."""
        known = self._settings.credentials
        while True:
            await asyncio.sleep(CREDENTIALS_SECONDS)
            try:
                found = read_credentials()
                if found not in (known, Credentials()):
                    self._use_own(found)
                    known = found
            except SettingsError as error:
                log.warning("the operator's own credential cannot be used; the last one stays in use", error=str(error))

    async def _sync(self) -> None:
        """Wait until the watch has shown every object that a list of our own names; then claims can be compared."""
        while not self.synced:
            try:
                missing = {
                    kind: await self.kube.uids(room.plural, self._settings.namespace) for kind, room in self._rooms.items()
                }
            except KubeError as error:
                log.warning("the first list failed", error=str(error))
                await asyncio.sleep(1.0)
                continue
            deadline = self._clock.mono() + SYNC_RELIST_SECONDS  # an object may vanish in between: list again
            while self._clock.mono() < deadline and not self.synced:
                self.synced = all(self._rooms[kind].store.has_all(uids) for kind, uids in missing.items())
                await asyncio.sleep(0 if self.synced else SYNC_CHECK_SECONDS)
        log.info("synced", objects={kind: len(room.store) for kind, room in self._rooms.items()})
        for room in self._rooms.values():
            for stored in room.store:
                self._wake(stored.meta.uid)

    def _staleness(self) -> dict[tuple[str, str, str], float]:
        return {
            (label, kind, cluster): seconds
            for label, session in self.sessions
            for kind, inventory in session.inventories.items()
            for cluster, seconds in inventory.staleness().items()
        }

    def _census(self) -> Iterator[tuple[str, str, str]]:
        for kind, room in self._rooms.items():
            for stored in room.store:
                ready = find(stored.status.conditions, ConditionType.READY)
                yield (kind, ready.status, ready.reason) if ready is not None else (kind, "Unknown", "Pending")


def limits(settings: Settings) -> Limits:
    """The settings that decisions depend on."""
    return Limits(
        grace=settings.create_grace_seconds,
        blind_after=max(settings.blind_after_seconds, 3 * settings.poll_steady_seconds),
        pending_interval=settings.poll_pending_seconds,
        observe_only=settings.observe_only,
    )


def intervals(settings: Settings) -> Intervals:
    """How often is listed."""
    return Intervals(settings.poll_pending_seconds, settings.poll_steady_seconds)


def budget(settings: Settings) -> RequestBudget:
    """How many requests one credential may cost, as an account shows it."""
    return RequestBudget(requests_per_second=f"{settings.cloud_qps:g}", burst=settings.cloud_burst)


def credential(found: Credentials) -> ApiKey | Login | None:
    """What the client needs of the operator's own account; None when it has none.

    Raises:
        SettingsError: the key cannot be sent in a header.
    """
    if found.api_key:
        try:
            return ApiKey(found.api_key)
        except ValueError as error:
            raise SettingsError(f"GPUCLOUD_API_KEY: {error}") from None
    return Login(found.username, found.password) if found.username and found.password else None


def client_options(settings: Settings) -> ClientOptions:
    """How every client behaves."""
    return ClientOptions(
        qps=settings.cloud_qps,
        burst=settings.cloud_burst,
        total_deadline_seconds=settings.cloud_timeout_seconds,
        ca_file=settings.ca_file or None,
        proxy=settings.proxy or None,
    )
