"""Engine: one controller per kind and one session per credential; starts them, leads or stands by, and stops them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.cache.entries import Entries
from gpucloud.engine.cache.staleness import WatchStaleness
from gpucloud.engine.cache.tombstones import Tombstones
from gpucloud.engine.controller.workers import stop, work
from gpucloud.engine.kinds.registry import PLURALS
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.event_recorder import EventRecorder
from gpucloud.engine.kube.first_list import wait_for_first_list
from gpucloud.engine.kube.leader_election import leader_elector
from gpucloud.engine.kube.waiting import wait_for_apiserver
from gpucloud.engine.manager.console import ConsoleDeps
from gpucloud.engine.manager.ports import Ports
from gpucloud.engine.manager.queries import Queries
from gpucloud.engine.manager.wiring import Base, Parts, wire
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.engine.runtime.workqueue import Flow, Key, Lane, WorkQueue
from gpucloud.engine.telemetry import collectors
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.engine.telemetry.requests import MeteredTransport
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.reconcile.naming import installation_tag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.controller.reconciler import Reconciler
    from gpucloud.engine.kube.transport import Connection, KubeTransport
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.engine")


@dataclass(frozen=True, slots=True)
class _Started:
    """What exists from ``start`` on, complete."""

    parts: Parts
    sync: asyncio.Task[None]  # ends once the caches have every object of a fresh list


class Engine:
    """The manager of all controllers. The watch passes its events to ``on_event``; background tasks do the rest."""

    def __init__(self, settings: Settings, login: Callable[[], Connection], clock: Clock, ports: Ports | None = None) -> None:
        self._settings, self._ports, self._clock = settings, ports or Ports(), clock
        entropy = self._ports.entropy
        self.metrics = Metrics()
        self.queue = WorkQueue(clock, self.metrics.queue, settings.workers, self._flow_of)
        self.tasks = Supervisor(self.metrics.task_failed, self.die, entropy.jitter)
        leases = KubeClient(login, transport=self._transport())
        self.election = leader_elector(settings, leases, clock, entropy, self.tasks, self._lead, self._lose)
        self.kube = self._ports.client(login, self.is_leader, self._transport())
        self.entries = Entries()
        self.events = EventRecorder(
            self.kube, clock, self.entries, entropy.instance, lambda: bool(self.queue) or self.kube.busy
        )
        self.staleness = WatchStaleness((item.kind for item in DEFINITIONS), clock.mono)
        self._tombstones = Tombstones(clock)
        self._started: _Started | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._workers: list[asyncio.Task[None]] = []
        self.synced = False
        self.leading = False  # False: watch events only fill the caches
        self.standby_over = asyncio.Event()  # set when standing by is over: the process leads, or ends
        self.ending = asyncio.Event()  # set when the process is to end
        self.restart_required = False  # only a new process can go on
        self._lost = False  # the Lease is lost: running reconciles are cancelled

    @property
    def parts(self) -> Parts:
        """The parts that need the installation's tag.

        Raises:
            RuntimeError: the engine has not been started.
        """
        if self._started is None:
            raise RuntimeError("the engine has not been started")
        return self._started.parts

    def _flow_of(self, key: Key) -> Flow:
        observed = self.parts.kinds.observed.get(key.kind)
        return Flow(key.namespace, "" if observed is None else observed.cluster_of(key.uid))

    async def start(self) -> None:
        """Learn the installation's tag, then lead or stand by. Waits for the apiserver, and for the CRDs."""
        tag = self._settings.install_tag or installation_tag(await wait_for_apiserver(self.kube.cluster_uid))
        for plural in PLURALS.values():
            await wait_for_apiserver(partial(self.kube.check_listing, plural, self._settings.namespace))
        log.info("starting", install_tag=tag, observe_only=self._settings.observe_only)
        parts = wire(self._base(), tag)
        parts.own.use(self._settings.credentials)
        self._export(parts)
        sync = self.tasks.spawn("sync", self._sync, may_end=True)
        self._started = _Started(parts, sync)
        own, resync = self.tasks.spawn("own-account", parts.own.follow), partial(parts.resync.run, sync)
        self._tasks = [sync, own, self.tasks.spawn("resync", resync)]
        self.election.start()

    def _base(self) -> Base:
        return Base(
            settings=self._settings,
            ports=self._ports,
            clock=self._clock,
            metrics=self.metrics,
            queue=self.queue,
            tasks=self.tasks,
            kube=self.kube,
            entries=self.entries,
            events=self.events,
            staleness=self.staleness,
            tombstones=self._tombstones,
            is_leader=self.is_leader,
            leading=lambda: self.leading,
            synced=lambda: self.synced,
            require_restart=self._require_restart,
        )

    def _export(self, parts: Parts) -> None:
        """Register the collectors that read the parts."""
        shared, kinds = parts.shared, parts.kinds
        queries = Queries(kinds.reconcilers, kinds.controllers, lambda: self.leading, self._clock, shared.quota_usage)
        queries.export(self.metrics, parts.sessions, shared.accounts)
        self.metrics.export(collectors.held(shared.deletion_guard.counts), collectors.watch_ages(self.staleness.ages))
        if parts.orphans is not None:
            self.metrics.export(collectors.Orphans(parts.orphans.counts, parts.orphans.refusals))
        if self._settings.leader_elect:
            self.metrics.export(collectors.leadership(self._settings.lease_name, self.is_leader))

    def _transport(self) -> KubeTransport:
        return MeteredTransport(self._ports.kube(), self.metrics.requests, self._clock.mono)

    def _lead(self) -> None:
        """Start the workers, and queue all cached objects."""
        if self.ending.is_set() or self._started is None:
            return
        self.leading = True
        parts, sync = self._started.parts, self._started.sync
        self._workers = [
            self.tasks.spawn("worker", partial(work, self.queue, parts.kinds.controllers), may_end=True, number=str(number))
            for number in range(self._settings.workers)
        ]
        self._tasks.append(self.tasks.spawn("events", self.events.run))
        if parts.shared.deletion_guard.on:
            self._tasks.append(self.tasks.spawn("deletion-guard", parts.shared.deletion_guard.watch))
        if parts.offers is not None:
            self._tasks.append(self.tasks.spawn("offers", parts.offers.run))
        if parts.orphans is not None:
            self._tasks.append(self.tasks.spawn("orphans", partial(parts.orphans.run, sync)))
        elif self._settings.orphan_scan_seconds > 0:
            log.info("not looking for orphans: with --namespace that needs --install-tag, which tells our names from others'")
        for kind, reconciler in reversed(parts.kinds.reconcilers.items()):  # accounts first: others are observed with them
            for stored in reconciler.store:
                reconciler.on_update(stored)
                self.queue.add(Key(kind, stored.meta.namespace, stored.meta.name, stored.meta.uid))
        self.standby_over.set()

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
        self.standby_over.set()

    def _require_restart(self) -> None:
        self.restart_required = True
        self.end()

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
        if self._started is not None:
            await self._started.parts.sessions.aclose()
        await self.kube.aclose()
        await self.election.stop()
        await self.tasks.aclose()
        if self._ports.tracer is not None:
            await asyncio.to_thread(self._ports.tracer.close)

    def on_event(self, kind: str, event: str | None, body: Mapping[str, Any]) -> None:
        """One event of the watch; ``event`` is None for the first list. Cheap: no I/O."""
        parts, meta = self.parts, body["metadata"]
        reconciler = parts.kinds.reconcilers[kind]
        key = Key(kind, meta["namespace"], meta["name"], meta["uid"])
        self.staleness.observed(kind, key.uid)
        if event is None and self.synced:
            parts.resync.relisted()
        if event == "DELETED":
            self._tombstones.add(key.uid)
        elif key.uid in self._tombstones:
            return
        if not self.leading:
            self._remember(reconciler, event, body)
            return
        if event == "DELETED":
            if parts.orphans is not None and kind in parts.kinds.owned:
                parts.orphans.on_tombstone(parts.kinds.owned[kind], body)
            parts.kinds.controllers[kind].on_delete(key)
            return
        if reconciler.store.put(body):
            parts.shared.default_accounts.shown(key.uid)
            parts.kinds.controllers[kind].on_update(key, Lane.POLLS if event is None else Lane.PEOPLE)

    def console_deps(self) -> ConsoleDeps | None:
        """Return the console's dependencies; None before the first sync, and while another process leads."""
        if self._started is None or not (self.leading and self.synced):
            return None
        shared = self._started.parts.shared
        return ConsoleDeps(shared.objects, shared.accounts)

    @staticmethod
    def _remember(reconciler: Reconciler[Any, Any, Any], event: str | None, body: Mapping[str, Any]) -> None:
        """Only cache the object: a standby process claims, watches and calls nothing."""
        if event == "DELETED":
            reconciler.store.drop(body["metadata"]["uid"])
        else:
            reconciler.store.put(body)

    def check_account(self, namespace: str, name: str) -> None:
        """Request a check of an account's credential. Cheap: the call is made in the background."""
        self.parts.account_reconciler.check(namespace, name)

    async def _sync(self) -> None:
        """Wait until the watch has delivered every object of a fresh list; only then are claims complete."""
        parts = self.parts
        reconcilers = parts.kinds.reconcilers
        await wait_for_first_list(self.kube, reconcilers.values(), self._settings.namespace, self._clock)
        self.synced = True
        log.info("synced", objects={kind: len(reconciler.store) for kind, reconciler in reconcilers.items()})
        for reconciler in reconcilers.values():
            for stored in reconciler.store:
                parts.wakeups.wake(stored.meta.uid)
