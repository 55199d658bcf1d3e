"""The engine put together: one queue, one room a kind, one inventory a credential; started before the watch, drained after."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from gpucloud.cloud.client import CloudClient
from gpucloud.cloud.options import ApiKey, ClientOptions, Login
from gpucloud.engine.catalogue import Catalogue
from gpucloud.engine.events import EventRecorder
from gpucloud.engine.gpuvm import GpuVMRoom, Tools, identify
from gpucloud.engine.inventory import Intervals, Inventory
from gpucloud.engine.kube import KubeClient, KubeError
from gpucloud.engine.loop import Loop, stop, work
from gpucloud.engine.metrics import Metrics
from gpucloud.engine.namespaces import Namespaces
from gpucloud.engine.queue import Key, Lane, WorkQueue
from gpucloud.kinds.gpuvm import PLURAL
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Limits
from gpucloud.reconcile.naming import installation_tag

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from gpucloud.cloud.models import VmRecord
    from gpucloud.engine.clock import Clock
    from gpucloud.engine.kube import Connection
    from gpucloud.settings import Settings

T = TypeVar("T")
log = structlog.get_logger("gpucloud.engine")

SYNC_CHECK_SECONDS = 0.2
SYNC_RELIST_SECONDS = 10.0
START_RETRY_SECONDS = 2.0


class Engine:
    """Everything between the watch and the cloud. ``observe`` is fed by the watch; the rest runs by itself."""

    def __init__(self, settings: Settings, login: Callable[[], Connection], clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self.metrics = Metrics()
        self.queue = WorkQueue(clock, self.metrics)
        self.kube = KubeClient(login)
        self.events = EventRecorder(self.kube, clock)
        self.client = cloud_client(settings, self.metrics)
        self.inventory: Inventory[VmRecord] = Inventory(
            lambda cluster: self.client.get_servers(cluster=cluster),
            identify,
            clock=clock,
            intervals=Intervals(settings.poll_pending_seconds, settings.poll_steady_seconds),
            meter=self.metrics,
        )
        self._catalogue = Catalogue(self.client, clock)
        self._rooms: dict[str, GpuVMRoom] = {}
        self._loops: dict[str, Loop[Any, Any, Any]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: list[asyncio.Task[None]] = []
        self.synced = False

    async def start(self) -> None:
        """Learn whose VMs are ours, then start the workers. Waits for the apiserver, and for the CRDs to be installed."""
        tag = self._settings.install_tag or installation_tag(await self._persist(self.kube.cluster_uid))
        await self._persist(lambda: self.kube.uids(PLURAL, self._settings.namespace))
        log.info("starting", install_tag=tag, observe_only=self._settings.observe_only)
        tools = Tools(self.client, self.inventory, self._catalogue, self.kube, Namespaces(self.kube, self._clock), self._clock)
        room = GpuVMRoom(tools, tag=tag, limits=limits(self._settings), synced=lambda: self.synced)
        self._rooms = {room.kind: room}
        self._loops = {
            room.kind: Loop(room, queue=self.queue, kube=self.kube, events=self.events, metrics=self.metrics, clock=self._clock)
        }
        self.inventory.wake = lambda uid: self._wake(room, uid)
        self.metrics.export_objects(self._census)
        self.metrics.export_staleness(self.inventory.staleness)
        self._workers = [
            asyncio.create_task(work(self.queue, self._loops), name=f"worker-{number}")
            for number in range(self._settings.workers)
        ]
        self._tasks = [
            asyncio.create_task(self.events.run(), name="events"),
            asyncio.create_task(self._sync(), name="sync"),
        ]

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
        await self.inventory.aclose()
        await self._catalogue.aclose()
        await self.client.aclose()
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

    def _wake(self, room: GpuVMRoom, uid: str) -> None:
        stored = room.store.get(uid)
        if stored is not None:
            self.queue.add(Key(room.kind, stored.meta.namespace, stored.meta.name, uid))

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
                self._wake(room, stored.meta.uid)

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


def cloud_client(settings: Settings, metrics: Metrics) -> CloudClient:
    """The client of the operator's own account."""
    account = settings.credentials
    credential = ApiKey(account.api_key) if account.api_key else Login(account.username or "", account.password or "")
    options = ClientOptions(
        qps=settings.cloud_qps,
        burst=settings.cloud_burst,
        total_deadline_seconds=settings.cloud_timeout_seconds,
        ca_file=settings.ca_file or None,
        proxy=settings.proxy or None,
    )
    return CloudClient(settings.own_endpoint, credential, options=options, on_call=metrics.called)
