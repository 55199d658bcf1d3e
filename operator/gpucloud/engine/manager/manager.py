"""Engine: wires the queue, one controller per kind and one session per credential; starts and stops them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.cache.entries import Entries
from gpucloud.engine.cache.references import References
from gpucloud.engine.cache.staleness import WatchStaleness
from gpucloud.engine.cache.tombstones import Tombstones
from gpucloud.engine.cloud.account_session import SessionDeps
from gpucloud.engine.cloud.accounts import Accounts, AccountSessions
from gpucloud.engine.cloud.configuration import budget, client_options, intervals, limits
from gpucloud.engine.cloud.gates import GateDeps
from gpucloud.engine.cloud.operator_account import OwnAccount
from gpucloud.engine.controller.controller import Controller, ControllerDeps
from gpucloud.engine.controller.workers import stop, work
from gpucloud.engine.kinds.default_accounts import DefaultAccounts, Seen
from gpucloud.engine.kinds.deletion_guard import DeletionGuard, rule_of
from gpucloud.engine.kinds.deps import ReconcilerDeps
from gpucloud.engine.kinds.gpucloudaccount import AccountReconcilerDeps, GpuCloudAccountReconciler
from gpucloud.engine.kinds.gpuoffer import OfferPublisher, PublisherDeps
from gpucloud.engine.kinds.quota_usage import QuotaUsage, quotas_of
from gpucloud.engine.kinds.registry import new_listers, observers, owned_reconcilers
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.event_recorder import EventRecorder
from gpucloud.engine.kube.first_list import wait_for_first_list
from gpucloud.engine.kube.leader_election import leader_elector
from gpucloud.engine.kube.namespaces import Namespaces
from gpucloud.engine.kube.waiting import wait_for_apiserver
from gpucloud.engine.manager.console import ConsoleDeps
from gpucloud.engine.manager.ports import Ports
from gpucloud.engine.manager.queries import Queries
from gpucloud.engine.manager.resync import Resync
from gpucloud.engine.manager.wakeups import Wakeups
from gpucloud.engine.orphans.collector import CollectorDeps, OrphanCollector
from gpucloud.engine.orphans.scan import PLURALS
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.engine.runtime.workqueue import Key, Lane, Place, WorkQueue
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.engine.telemetry.requests import MeteredTransport
from gpucloud.kinds import gpucloudaccount
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.reconcile.naming import installation_tag
from gpucloud.reconcile.orphans import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.controller.reconciler import Reconciler
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.engine.kinds.reconciler import ObservedReconciler, OwnedReconciler
    from gpucloud.engine.kube.events import Event
    from gpucloud.engine.kube.transport import Connection, KubeTransport
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
    from gpucloud.reconcile.facts import ObjectFacts
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.engine")


class Engine:
    """The manager of all controllers. The watch passes its events to ``observe``; background tasks do the rest."""

    def __init__(self, settings: Settings, login: Callable[[], Connection], clock: Clock, ports: Ports | None = None) -> None:
        self._settings, ports = settings, ports or Ports()
        self._entropy, self._clock, self._tracer = ports.entropy, clock, ports.tracer
        self.metrics = Metrics()
        self.queue = WorkQueue(clock, self.metrics.queue, settings.workers, self._place_of)
        self.tasks = Supervisor(self.metrics.task_failed, self.die, ports.entropy.jitter)
        leases = KubeClient(login, transport=self._transport(ports))
        self.election = leader_elector(settings, leases, clock, ports.entropy, self.tasks, self._lead, self._lose)
        self.kube = ports.client(login, self.is_leader, self._transport(ports))
        self._controllers: dict[str, Controller[Any, Any, Any]] = {}
        self._reconcilers: dict[str, Reconciler[Any, Any, Any]] = {}  # of all kinds
        self._observed: dict[str, ObservedReconciler[Any, Any, Any]] = {}  # of those that stand for what listings show
        self._owned: dict[str, OwnedReconciler[Any, Any, Any]] = {}  # of those that the operator creates and destroys
        self._wakeups = Wakeups(
            self.queue, self._controllers, self._reconcilers, self._observed, lambda: self.leading, self._users
        )
        self.entries = Entries()
        self.events = EventRecorder(
            self.kube, clock, self.entries, ports.entropy.instance, lambda: bool(self.queue) or self.kube.busy
        )
        self.accounts = Accounts(settings.own_account_namespace, clock.mono)
        options = replace(client_options(settings), jitter=ports.entropy.jitter)
        self._namespaces = Namespaces(self.kube, clock)
        self._deletion_guard = DeletionGuard(rule_of(settings), self._namespaces, clock, self._wakeups.wake)
        self._quota_usage = QuotaUsage(quotas_of(settings))
        gates = GateDeps(self.is_leader, self._deletion_guard, self.metrics.changes, ports.tracer)
        around = SessionDeps(options, intervals(settings), self.metrics, clock, gates, self.tasks, self._wakeups, ports.cloud)
        self.sessions = AccountSessions(around)
        self.references = References()
        self._default_accounts = DefaultAccounts(self.accounts, self.kube, Seen(clock, self.entries), self._take_in_account)
        self._account_reconciler: GpuCloudAccountReconciler | None = None
        self._orphans: OrphanCollector | None = None
        self._resync: Resync | None = None
        self.staleness = WatchStaleness((item.kind for item in DEFINITIONS), clock.mono)
        self._tombstones = Tombstones(clock)
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: list[asyncio.Task[None]] = []
        self._objects: Listers | None = None
        self.synced = False
        self._sync_task: asyncio.Task[None] | None = None
        self.leading = False  # False: watch events only fill the caches
        self.turn = asyncio.Event()  # set when standing by is over: the process leads, or ends
        self.ending = asyncio.Event()  # set when the process is to end
        self.restart_required = False  # only a new process can go on
        self._lost = False  # the Lease is lost: running reconciles are cancelled

    def _place_of(self, key: Key) -> Place:
        observed = self._observed.get(key.kind)
        return Place(key.namespace, "" if observed is None else observed.cluster_of(key.uid))

    async def start(self) -> None:
        """Learn the installation's tag, then lead or stand by. Waits for the apiserver, and for the CRDs."""
        tag = self._settings.install_tag or installation_tag(await wait_for_apiserver(self.kube.cluster_uid))
        self._wire(tag)
        for reconciler in self._reconcilers.values():
            await wait_for_apiserver(partial(self.kube.uids, reconciler.plural, self._settings.namespace))
        log.info("starting", install_tag=tag, observe_only=self._settings.observe_only)
        own = OwnAccount(self._settings, self.accounts, self.sessions, self._clock, self._wakeups.wake_all)
        own.use(self._settings.credentials)
        queries = Queries(self._reconcilers, self._controllers, lambda: self.leading, self._clock, self._quota_usage)
        queries.export(self.metrics, self.sessions, self.accounts)
        self.metrics.export_held(self._deletion_guard.counts)
        self.metrics.export_watch_age(self.staleness.ages)
        if self._orphans is not None:
            self.metrics.export_orphans(self._orphans.counts, self._orphans.refusals)
        self._sync_task = self.tasks.spawn("sync", self._sync, may_end=True)
        self._tasks = [self._sync_task, self.tasks.spawn("own-account", own.follow)]
        if self._resync is not None:
            self._tasks.append(self.tasks.spawn("resync", partial(self._resync.run, self._sync_task)))
        if self._settings.leader_elect:
            self.metrics.export_leadership(self._settings.lease_name, self.is_leader)
        self.election.start()

    def _transport(self, ports: Ports) -> KubeTransport:
        return MeteredTransport(ports.kube(), self.metrics.requests, self._clock.mono)

    def _lead(self) -> None:
        """Start the workers, and queue all cached objects."""
        if self.ending.is_set():
            return
        self.leading = True
        self._workers = [
            self.tasks.spawn("worker", partial(work, self.queue, self._controllers), may_end=True, number=str(number))
            for number in range(self._settings.workers)
        ]
        self._tasks.append(self.tasks.spawn("events", self.events.run))
        if self._deletion_guard.on:
            self._tasks.append(self.tasks.spawn("deletion-guard", self._deletion_guard.watch))
        if self._settings.offer_seconds > 0 and not self._settings.observe_only and self._objects is not None:
            self._tasks.append(self.tasks.spawn("offers", self._offer_publisher(self._objects).run))
        if self._orphans is not None and self._sync_task is not None:
            self._tasks.append(self.tasks.spawn("orphans", partial(self._orphans.run, self._sync_task)))
        elif self._settings.orphan_scan_seconds > 0:
            log.info("not looking for orphans: with --namespace that needs --install-tag, which tells our names from others'")
        for kind, reconciler in reversed(self._reconcilers.items()):  # accounts first: the other objects are observed with them
            for stored in reconciler.store:
                reconciler.on_update(stored)
                self.queue.add(Key(kind, stored.meta.namespace, stored.meta.name, stored.meta.uid))
        self.turn.set()

    def _lose(self) -> None:
        """Cancel all work: another process may lead from now on. Only a new process can go on."""
        self._lost, self.leading = True, False
        for task in (*self._workers, *self._tasks):
            task.cancel()
        self._require_restart()

    def die(self, _task: str) -> None:
        """End this process without finishing anything: an essential task has died."""
        self._lose()

    def is_leader(self) -> bool:
        """Whether this process may act now; checked right before each write and each changing call."""
        return self.election.is_leader()

    def end(self) -> None:
        """End the process."""
        self.ending.set()
        self.turn.set()

    def _wire(self, tag: str) -> None:
        """Make one reconciler per kind over shared caches."""
        objects = new_listers(
            tag,
            self.entries,
            lambda stored: self.accounts.endpoint(stored.meta, stored.spec, stored.status),
            shares_own=self._settings.shares_own_account,
        )
        self._objects = objects
        deps = self._reconciler_deps(objects)
        self._owned |= owned_reconcilers(deps)
        self._observed |= {**self._owned, **observers(deps)}
        self._account_reconciler = GpuCloudAccountReconciler(self._account_deps(objects))
        self._orphans = self._orphan_collector(objects) if self._settings.looks_for_orphans else None
        self._reconcilers |= self._observed
        self._reconcilers[self._account_reconciler.kind] = self._account_reconciler
        around = self._controller_deps()
        self._controllers |= {kind: Controller(reconciler, around) for kind, reconciler in self._reconcilers.items()}
        chosen = self._settings.namespace
        self._resync = Resync(self.kube, self._controllers, chosen, self.staleness, self._require_restart, self._tombstones)

    def _reconciler_deps(self, objects: Listers) -> ReconcilerDeps:
        return ReconcilerDeps(
            accounts=self.accounts,
            default_accounts=self._default_accounts,
            objects=objects,
            references=self.references,
            kube=self.kube,
            namespaces=self._namespaces,
            clock=self._clock,
            limits=limits(self._settings),
            synced=lambda: self.synced,
            wake=self._wakeups.wake,
            queue=self._wakeups.queue,
            entropy=self._entropy,
            deletion_guard=self._deletion_guard,
            quota_usage=self._quota_usage,
        )

    def _account_deps(self, objects: Listers) -> AccountReconcilerDeps:
        return AccountReconcilerDeps(
            accounts=self.accounts,
            sessions=self.sessions,
            objects=objects,
            references=self.references,
            kube=self.kube,
            clock=self._clock,
            limits=limits(self._settings),
            endpoints=self._settings.endpoints,
            budget=budget(self._settings),
            secret_finalizer=not self._settings.no_secret_finalizer,
            synced=lambda: self.synced,
            order_of=lambda kind, stored: self._owned[kind].order_of(stored) if kind in self._owned else None,
            queue=self._wakeups.queue,
            record=self._record,
        )

    def _controller_deps(self) -> ControllerDeps:
        return ControllerDeps(
            queue=self.queue,
            kube=self.kube,
            events=self.events,
            metrics=self.metrics,
            clock=self._clock,
            entropy=self._entropy,
            is_leader=self.is_leader,
            longest_spacing=self._settings.poll_steady_seconds,
            outdated=self._request_resync,
            tracer=self._tracer,
        )

    def _request_resync(self) -> None:
        if self._resync is not None:
            self._resync.relisted()

    def _require_restart(self) -> None:
        self.restart_required = True
        self.end()

    def _orphan_collector(self, objects: Listers) -> OrphanCollector:
        """Return the collector of orphans: cloud records with our mark and without an object."""
        settings = self._settings
        return OrphanCollector(
            CollectorDeps(
                sessions=self.sessions,
                objects=objects,
                kube=self.kube,
                clock=self._clock,
                synced=lambda: self.synced,
                record=partial(self._record_for_session, objects.accounts),
                namespaces=settings.namespace,
                rules=Rules(settings.collect_orphans and not settings.observe_only, settings.orphan_age_seconds),
                interval=settings.orphan_scan_seconds,
            )
        )

    def _offer_publisher(self, objects: Listers) -> OfferPublisher:
        deps = PublisherDeps(
            self.sessions, self.accounts, objects.accounts, self.kube, self._namespaces.terminating, self._record, self._clock
        )
        return OfferPublisher(deps, self._settings.offer_seconds)

    async def stop(self, grace: float) -> None:
        """Finish running reconciles within ``grace`` seconds, close everything, and release the Lease last."""
        await stop(self._workers, self.queue, 0.0 if self._lost else grace)
        try:
            async with asyncio.timeout(0.0 if self._lost else 2.0):
                await self.events.drain()
        except TimeoutError:
            log.info("some Events were not posted")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.sessions.aclose()
        await self.kube.aclose()
        await self.election.stop()
        await self.tasks.aclose()
        if self._tracer is not None:
            await asyncio.to_thread(self._tracer.close)

    def observe(self, kind: str, event: str | None, body: Mapping[str, Any]) -> None:
        """One event of the watch; ``event`` is None for the first list. Cheap: no I/O."""
        reconciler, meta = self._reconcilers[kind], body["metadata"]
        key = Key(kind, meta["namespace"], meta["name"], meta["uid"])
        self.staleness.observed(kind, key.uid)
        if event is None and self.synced:
            self._request_resync()
        if event == "DELETED":
            self._tombstones.add(key.uid)
        elif key.uid in self._tombstones:
            return
        if not self.leading:
            self._remember(reconciler, event, body)
            return
        if event == "DELETED":
            if self._orphans is not None and kind in self._owned:
                self._orphans.on_tombstone(self._owned[kind], body)
            self._controllers[kind].on_delete(key)
            return
        if reconciler.store.put(body):
            self._default_accounts.shown(key.uid)
            self._controllers[kind].on_update(key, Lane.POLLS if event is None else Lane.PEOPLE)

    def _take_in_account(self, body: Mapping[str, Any]) -> None:
        """Take an account that was read as if the watch had shown it; its DELETED event may have come already."""
        meta = body["metadata"]
        key = Key(gpucloudaccount.KIND, meta["namespace"], meta["name"], meta["uid"])
        if key.uid not in self._tombstones and self._reconcilers[key.kind].store.put(body):
            self._controllers[key.kind].on_update(key, Lane.PEOPLE)

    def _users(self, session: AccountSession) -> set[str]:
        return self.sessions.users(session)

    def console_deps(self) -> ConsoleDeps | None:
        """Return the console's dependencies; None before the first sync, and while another process leads."""
        if self._objects is None or not (self.leading and self.synced):
            return None
        return ConsoleDeps(self._objects, self.accounts)

    @staticmethod
    def _remember(reconciler: Reconciler[Any, Any, Any], event: str | None, body: Mapping[str, Any]) -> None:
        """Only cache the object: a standby process claims, watches and calls nothing."""
        if event == "DELETED":
            reconciler.store.drop(body["metadata"]["uid"])
        else:
            reconciler.store.put(body)

    def check_account(self, namespace: str, name: str) -> None:
        """Request a check of an account's credential. Cheap: the call is made in the background."""
        if self._account_reconciler is not None:
            self._account_reconciler.check(namespace, name)

    def _record(self, meta: ObjectFacts, event: Event) -> None:
        self.events.record(gpucloudaccount.KIND, meta, event)

    def _record_for_session(
        self,
        accounts: Store[GpuCloudAccountSpec, GpuCloudAccountStatus],
        session: AccountSession,
        kind: str,
        event: Event,
        lost: Callable[[], None] | None,
    ) -> None:
        """Record an Event on an account that uses the session and is not being deleted, else on the CRD of this kind.

        A namespace that is being deleted takes no Events. The operator's own account has no object.
        """
        for label in sorted(self.sessions.users(session) - {OWN_ACCOUNT}):
            stored = accounts.named(*label.split("/", 1))
            if stored is not None and not stored.meta.deleting:
                self.events.record(gpucloudaccount.KIND, stored.meta, event, lost)
                return
        self.events.record_for_kind(PLURALS[kind], event, lost)

    async def _sync(self) -> None:
        """Wait until the watch has delivered every object of a fresh list; only then are claims complete."""
        await wait_for_first_list(self.kube, self._reconcilers.values(), self._settings.namespace, self._clock)
        self.synced = True
        log.info("synced", objects={kind: len(reconciler.store) for kind, reconciler in self._reconcilers.items()})
        for reconciler in self._reconcilers.values():
            for stored in reconciler.store:
                self._wakeups.wake(stored.meta.uid)
