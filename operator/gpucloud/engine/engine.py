"""The engine put together: one queue, one room a kind, one session a credential; started before the watch, drained after."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.accounts import Accounts, Sessions
from gpucloud.engine.brake import Brake, rule_of
from gpucloud.engine.cloudroom import CloudRoom, Tools
from gpucloud.engine.configuration import budget, client_options, intervals, limits
from gpucloud.engine.console import Known
from gpucloud.engine.departed import Departed
from gpucloud.engine.dependencies import Objects
from gpucloud.engine.events import EventRecorder, Happening
from gpucloud.engine.firstlist import shown_by_the_watch
from gpucloud.engine.gauges import Gauges
from gpucloud.engine.gpucloudaccount import AccountTools, GpuCloudAccountRoom
from gpucloud.engine.gpusnapshot import GpuSnapshotRoom
from gpucloud.engine.gpuvm import GpuVMRoom
from gpucloud.engine.gpuvpc import GpuVpcRoom
from gpucloud.engine.kube import KubeClient
from gpucloud.engine.lease import elector
from gpucloud.engine.loop import Loop, stop, work
from gpucloud.engine.metrics import Metrics
from gpucloud.engine.namespaces import Namespaces
from gpucloud.engine.objects import ObjectStore
from gpucloud.engine.orphans import Orphans, OrphanTools
from gpucloud.engine.ownaccount import OwnAccount
from gpucloud.engine.patience import persist
from gpucloud.engine.ports import Ports
from gpucloud.engine.purchases import Purchases, quotas_of
from gpucloud.engine.queue import Key, Lane, WorkQueue
from gpucloud.engine.references import References
from gpucloud.engine.rollcall import RollCall
from gpucloud.engine.session import Surroundings
from gpucloud.engine.supervisor import Supervisor
from gpucloud.engine.survey import PLURALS
from gpucloud.engine.watchlag import WatchLag
from gpucloud.kinds import gpucloudaccount
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus
from gpucloud.reconcile.naming import installation_tag
from gpucloud.reconcile.orphans import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.clock import Clock
    from gpucloud.engine.kubetransport import Connection
    from gpucloud.engine.objects import Stored
    from gpucloud.engine.session import Session
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.facts import ObjectFacts
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.engine")

FROZEN = ("account", "tenancy")  # whose credential, in which tenant: written once


class Engine:
    """Everything between the watch and the cloud. ``observe`` is fed by the watch; the rest runs by itself."""

    def __init__(self, settings: Settings, login: Callable[[], Connection], clock: Clock, ports: Ports | None = None) -> None:
        self._settings, ports = settings, ports or Ports()
        self._entropy = ports.entropy
        self._clock = clock
        self.metrics = Metrics()
        self.queue = WorkQueue(clock, self.metrics)
        self.tasks = Supervisor(self.metrics.task_failed, self.die, ports.entropy.jitter)
        self.election = elector(settings, KubeClient(login, transport=ports.kube()), clock, ports.entropy, self.tasks)
        self.kube = KubeClient(login, self.leads, ports.kube())
        self.events = EventRecorder(self.kube, clock, ports.entropy.instance)
        self.accounts = Accounts(settings.own_account_namespace, clock.mono)
        options = replace(client_options(settings), jitter=ports.entropy.jitter)
        around = Surroundings(options, intervals(settings), self.metrics, clock, self.leads, self.tasks, ports.cloud)
        self.sessions = Sessions(around, self._attach)
        self.references = References()
        self._cloud_rooms: list[CloudRoom[Any, Any, Any]] = []
        self._account_room: GpuCloudAccountRoom | None = None
        self._orphans: Orphans | None = None
        self._loops: dict[str, Loop[Any, Any, Any]] = {}
        self._rooms: dict[str, Any] = {}
        self._roll: RollCall | None = None
        self.lag = WatchLag((item.kind for item in DEFINITIONS), clock.mono)
        self._departed = Departed(clock)
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: list[asyncio.Task[None]] = []
        self._objects: Objects | None = None
        self.synced = False
        self.leading = False  # what the watch shows is worked on; else it is only remembered
        self.turn = asyncio.Event()  # standing by is over: to lead, or to end
        self.ending = asyncio.Event()  # the process is to end
        self.broken = False  # because only a new one can go on
        self._lost = False  # the Lease: nothing may be finished either

    async def start(self) -> None:
        """Learn whose objects are ours, then lead or stand by. Waits for the apiserver, and for the CRDs to be installed."""
        tag = self._settings.install_tag or installation_tag(await persist(self.kube.cluster_uid))
        brake = self._furnish(tag)
        for room in self._rooms.values():
            await persist(partial(self.kube.uids, room.plural, self._settings.namespace))
        log.info("starting", install_tag=tag, observe_only=self._settings.observe_only)
        own = OwnAccount(self._settings, self.accounts, self.sessions, self._clock, self._wake_all)
        own.use(self._settings.credentials)
        Gauges(self._rooms, self._loops, lambda: self.leading, self._clock).export(self.metrics, self.sessions)
        self.metrics.export_held(brake.census)
        self.metrics.export_watch_age(self.lag.ages)
        if self._orphans is not None:
            self.metrics.export_orphans(self._orphans.counts, self._orphans.refusals)
        sync = self.tasks.spawn("sync", self._sync, may_end=True)
        self._tasks = [sync, self.tasks.spawn("own-account", own.follow)]
        if self._roll is not None:
            self._tasks.append(self.tasks.spawn("roll-call", partial(self._roll.run, sync)))
        self.election.on_lead, self.election.on_loss = partial(self._lead, brake, sync), self._lose
        if self._settings.leader_elect:
            self.metrics.export_leadership(self._settings.lease_name, self.leads)
        self.election.start()

    def _lead(self, brake: Brake, sync: asyncio.Task[None]) -> None:
        """Start the workers, and give them what the watch has shown so far."""
        if self.ending.is_set():
            return
        self.leading = True
        self._workers = [
            self.tasks.spawn("worker", partial(work, self.queue, self._loops), may_end=True, number=str(number))
            for number in range(self._settings.workers)
        ]
        self._tasks.append(self.tasks.spawn("events", self.events.run))
        if brake.on:
            self._tasks.append(self.tasks.spawn("brake", brake.watch))
        if self._orphans is not None:
            self._tasks.append(self.tasks.spawn("orphans", partial(self._orphans.run, sync)))
        elif self._settings.orphan_scan_seconds > 0:
            log.info("not looking for orphans: with --namespace that needs --install-tag, which tells our names from others'")
        for kind, room in reversed(self._rooms.items()):  # accounts first: the others are seen through them
            for stored in room.store:
                room.noticed(stored)
                self.queue.add(Key(kind, stored.meta.namespace, stored.meta.name, stored.meta.uid))
        self.turn.set()

    def _lose(self) -> None:
        """Another may lead from now on: whatever is under way is cut off, and only a new process can go on."""
        self._lost, self.leading = True, False
        for task in (*self._workers, *self._tasks):
            task.cancel()
        self._break()

    def die(self, _task: str) -> None:
        """A task has died without which this process is of no use: it ends, and finishes nothing."""
        self._lose()

    def leads(self) -> bool:
        """Whether this process may act at this very moment; asked right before each write and each change of the cloud."""
        return self.election.leads()

    def end(self) -> None:
        """The process is to end."""
        self.ending.set()
        self.turn.set()

    def _furnish(self, tag: str) -> Brake:
        """Make the rooms, one a kind, which share what they see; answers the brake, which spans all accounts."""
        objects = Objects(
            vms=ObjectStore(GpuVMSpec, GpuVMStatus, FROZEN),
            vpcs=ObjectStore(GpuVpcSpec, GpuVpcStatus, FROZEN),
            snapshots=ObjectStore(GpuSnapshotSpec, GpuSnapshotStatus, FROZEN),
            accounts=ObjectStore(GpuCloudAccountSpec, GpuCloudAccountStatus),
            tag=tag,
            endpoint_of=lambda stored: self.accounts.endpoint(stored.meta, stored.spec, stored.status),
            shares_own=self._settings.shares_own_account,
        )
        self._objects = objects
        bounds, namespaces = limits(self._settings), Namespaces(self.kube, self._clock)
        brake = Brake(rule_of(self._settings), namespaces, self._clock, self._wake)
        tools = Tools(
            accounts=self.accounts,
            objects=objects,
            references=self.references,
            kube=self.kube,
            namespaces=namespaces,
            clock=self._clock,
            limits=bounds,
            synced=lambda: self.synced,
            wake=self._wake,
            queue=self._queue,
            entropy=self._entropy,
        )
        self._cloud_rooms = [
            GpuVMRoom(tools, objects.vms, brake, Purchases(quotas_of(self._settings))),
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
                synced=lambda: self.synced,
                order_of=self._order_of,
                queue=self._queue,
                tell=self._tell,
            )
        )
        self._orphans = self._orphanage(objects) if self._settings.looks_for_orphans else None
        self._rooms = {room.kind: room for room in self._cloud_rooms} | {self._account_room.kind: self._account_room}
        shared: dict[str, Any] = {"queue": self.queue, "kube": self.kube, "events": self.events, "metrics": self.metrics}
        shared |= {"clock": self._clock, "entropy": self._entropy, "longest_spacing": self._settings.poll_steady_seconds}
        self._loops = {kind: Loop(room, **shared) for kind, room in self._rooms.items()}
        for loop in self._loops.values():
            loop.may_act = self.leads
        self._roll = RollCall(self.kube, self._loops, self._settings.namespace, self.lag, self._break, self._departed)
        return brake

    def _break(self) -> None:
        self.broken = True
        self.end()

    def _orphanage(self, objects: Objects) -> Orphans:
        """The look for what bears our mark and belongs to nobody."""
        settings = self._settings
        return Orphans(
            OrphanTools(
                sessions=self.sessions,
                objects=objects,
                kube=self.kube,
                clock=self._clock,
                synced=lambda: self.synced,
                tell=self._tell_account,
                namespaces=settings.namespace,
                rules=Rules(settings.collect_orphans and not settings.observe_only, settings.orphan_age_seconds),
                interval=settings.orphan_scan_seconds,
            )
        )

    async def stop(self, grace: float) -> None:
        """Finish what is under way, for at most ``grace`` seconds, close everything, and let the Lease go last."""
        await stop(self._workers, self.queue, 0.0 if self._lost else grace)
        try:
            async with asyncio.timeout(0.0 if self._lost else 2.0):
                await self.events.drain()
        except TimeoutError:
            log.info("events were left untold")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sessions.aclose()
        await self.kube.aclose()
        await self.election.stop()
        await self.tasks.aclose()

    def observe(self, kind: str, event: str | None, body: Mapping[str, Any]) -> None:
        """One event of the watch; ``event`` is None for the first list. Cheap: no I/O."""
        room, meta = self._rooms[kind], body["metadata"]
        key = Key(kind, meta["namespace"], meta["name"], meta["uid"])
        self.lag.brought(kind, key.uid)
        if event is None and self.synced and self._roll is not None:
            self._roll.relisted()
        if event == "DELETED":
            self._departed.add(key.uid)
        elif key.uid in self._departed:
            return
        if not self.leading:
            self._remember(room, event, body)
            return
        if event == "DELETED":
            if self._orphans is not None:
                self._orphans.parted(room, body)
            self._loops[kind].forget(key)
            return
        if not room.store.put(body):
            return
        stored = room.store.get(key.uid)
        if stored is not None:
            room.noticed(stored)
        self._loops[kind].pace.caused(key.uid)
        self.queue.add(key, Lane.POLLS if event is None else Lane.PEOPLE)

    def known(self) -> Known | None:
        """What there is to look things up in, for the console; None while not every object is known, or another leads."""
        if self._objects is None or not (self.leading and self.synced):
            return None
        return Known(self._objects, self.accounts)

    @staticmethod
    def _remember(room: Any, event: str | None, body: Mapping[str, Any]) -> None:
        """While standing by nobody is told, so nothing is looked for, claimed or called."""
        if event == "DELETED":
            room.store.drop(body["metadata"]["uid"])
        else:
            room.store.put(body)

    def check_account(self, namespace: str, name: str) -> None:
        """It is time to see whether an account still works. Cheap: the call is made in the background."""
        if self._account_room is not None:
            self._account_room.check(namespace, name)

    def _queue(self, key: Key) -> None:
        if self.leading:
            self._loops[key.kind].pace.caused(key.uid)
            self.queue.add(key, Lane.PEOPLE)

    def _wake(self, uid: str) -> None:
        """Something outside this object has changed for it."""
        self._look_again(uid, caused=True)

    def _look_again(self, uid: str, *, caused: bool = False) -> None:
        """Put it in the queue; without a cause outside, no sooner than its pace allows."""
        if not self.leading:
            return
        for kind, room in self._rooms.items():
            stored = room.store.get(uid)
            if stored is not None:
                if caused:
                    self._loops[kind].pace.caused(uid)
                self.queue.add(Key(kind, stored.meta.namespace, stored.meta.name, uid))
                return

    def _order_of(self, kind: str, stored: Stored[Any, Any]) -> Order | None:
        """What was ordered for an object, as its room knows it."""
        order: Order | None = self._rooms[kind].order_of(stored)
        return order

    def _tell(self, meta: ObjectFacts, happening: Happening) -> None:
        self.events.tell(gpucloudaccount.KIND, meta, happening)

    def _tell_account(self, label: str, kind: str, happening: Happening) -> None:
        """Tell of an account; the operator's own has no object, so there the definition of the kind concerned must do."""
        if label == OWN_ACCOUNT or self._account_room is None:
            self.events.tell_of_kind(PLURALS[kind], happening)
            return
        stored = self._account_room.store.named(*label.split("/", 1))
        if stored is not None:
            self._tell(stored.meta, happening)

    def _attach(self, session: Session) -> None:
        """A new session: what it sees wakes objects, what it learns wakes the accounts that use it."""
        for inventory in session.inventories.values():
            inventory.wake, inventory.served = self._wake, self._look_again
        for room in self._cloud_rooms:
            room.attach(session)
        session.on_change = lambda: self._learned(session)
        session.on_tenant = lambda: self._proven(session)

    def _learned(self, session: Session) -> None:
        if self._account_room is None:
            return
        for label in sorted(self.sessions.users(session) - {OWN_ACCOUNT}):
            stored = self._account_room.store.named(*label.split("/", 1))
            if stored is not None:
                self._wake(stored.meta.uid)

    def _proven(self, session: Session) -> None:
        """Whose the credential is has become known, or stays unknown: objects may have waited for that."""
        for room in self._cloud_rooms:
            for uid in room.users_of(session):
                self._wake(uid)

    def _wake_all(self) -> None:
        for room in self._cloud_rooms:
            for stored in room.store:
                self._wake(stored.meta.uid)

    async def _sync(self) -> None:
        """Wait until the watch has shown every object that a list of our own names; then claims can be compared."""
        await shown_by_the_watch(self.kube, self._rooms.values(), self._settings.namespace, self._clock)
        self.synced = True
        log.info("synced", objects={kind: len(room.store) for kind, room in self._rooms.items()})
        for room in self._rooms.values():
            for stored in room.store:
                self._wake(stored.meta.uid)
