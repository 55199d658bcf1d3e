"""Wiring: builds the parts of the engine that need the installation's tag, all at once and each by its constructor.

``Base`` has what exists before the apiserver was asked for the tag; ``wire`` makes ``Parts`` of it. Parts refer to each other
in circles, since a reconciler wakes objects of other kinds. It finds those in ``Kinds``, which ``wire`` fills and returns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.references import References
from gpucloud.engine.cloud.account_session import SessionDeps
from gpucloud.engine.cloud.accounts import Accounts, AccountSessions
from gpucloud.engine.cloud.configuration import budget, client_options, intervals, limits
from gpucloud.engine.cloud.gates import GateDeps
from gpucloud.engine.cloud.operator_account import OwnAccount
from gpucloud.engine.controller.controller import Controller
from gpucloud.engine.controller.deps import ControllerDeps
from gpucloud.engine.kinds.default_accounts import DefaultAccounts, Seen
from gpucloud.engine.kinds.deletion_guard import DeletionGuard, rule_of
from gpucloud.engine.kinds.deps import ReconcilerDeps
from gpucloud.engine.kinds.gpucloudaccount import AccountReconcilerDeps, GpuCloudAccountReconciler
from gpucloud.engine.kinds.gpuoffer import OfferPublisher, PublisherDeps
from gpucloud.engine.kinds.quota_usage import QuotaUsage, quotas_of
from gpucloud.engine.kinds.registry import new_listers, observers, owned_reconcilers
from gpucloud.engine.kube.namespaces import Namespaces
from gpucloud.engine.manager.account_events import AccountEvents
from gpucloud.engine.manager.kinds import Kinds
from gpucloud.engine.manager.resync import Resync
from gpucloud.engine.manager.wakeups import Wakeups
from gpucloud.engine.orphans.collector import CollectorDeps, OrphanCollector
from gpucloud.engine.runtime.workqueue import Key, Lane
from gpucloud.kinds import gpucloudaccount
from gpucloud.reconcile.orphans import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cache.staleness import WatchStaleness
    from gpucloud.engine.cache.tombstones import Tombstones
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.kube.event_recorder import EventRecorder
    from gpucloud.engine.manager.ports import Ports
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.supervisor import Supervisor
    from gpucloud.engine.runtime.workqueue import WorkQueue
    from gpucloud.engine.telemetry.metrics import Metrics
    from gpucloud.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What exists before the installation's tag is known."""

    settings: Settings
    ports: Ports
    clock: Clock
    metrics: Metrics
    queue: WorkQueue
    tasks: Supervisor
    kube: KubeClient
    entries: Entries
    events: EventRecorder
    staleness: WatchStaleness
    tombstones: Tombstones
    is_leader: Callable[[], bool]  # checked right before a write or a changing call
    leading: Callable[[], bool]  # whether this process handles what the watch shows
    synced: Callable[[], bool]
    require_restart: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of an engine, complete."""

    shared: ReconcilerDeps
    sessions: AccountSessions
    kinds: Kinds
    wakeups: Wakeups
    account_reconciler: GpuCloudAccountReconciler
    own: OwnAccount
    resync: Resync
    orphans: OrphanCollector | None  # None: nothing looks for orphans
    offers: OfferPublisher | None  # None: no offers are published


def wire(base: Base, tag: str) -> Parts:
    """Return the parts over shared caches, with one reconciler and one controller per kind."""
    settings, kinds = base.settings, Kinds()
    wakeups = Wakeups(base.queue, kinds, base.leading, lambda session: sessions.users(session))  # noqa: PLW0108 - made below
    shared = _reconciler_deps(base, tag, kinds, wakeups)
    sessions = AccountSessions(_session_deps(base, shared.deletion_guard, wakeups))
    events = AccountEvents(base.events, sessions, shared.objects.accounts)
    resync = Resync(base.kube, kinds.controllers, settings.namespace, base.staleness, base.require_restart, base.tombstones)
    kinds.owned.update(owned_reconcilers(shared))
    kinds.observed.update({**kinds.owned, **observers(shared)})
    account_reconciler = GpuCloudAccountReconciler(_account_deps(base, shared, sessions, kinds, events))
    kinds.reconcilers.update({**kinds.observed, account_reconciler.kind: account_reconciler})
    around = _controller_deps(base, resync)
    kinds.controllers.update({kind: Controller(reconciler, around) for kind, reconciler in kinds.reconcilers.items()})
    return Parts(
        shared=shared,
        sessions=sessions,
        kinds=kinds,
        wakeups=wakeups,
        account_reconciler=account_reconciler,
        own=OwnAccount(settings, shared.accounts, sessions, base.clock, wakeups.wake_all),
        resync=resync,
        orphans=OrphanCollector(_collector_deps(base, shared, sessions, events)) if settings.looks_for_orphans else None,
        offers=_offer_publisher(base, shared, sessions, events) if settings.publishes_offers else None,
    )


def _reconciler_deps(base: Base, tag: str, kinds: Kinds, wakeups: Wakeups) -> ReconcilerDeps:
    settings = base.settings
    accounts = Accounts(settings.own_account_namespace, base.clock.mono)
    namespaces = Namespaces(base.kube, base.clock)
    seen = Seen(base.clock, base.entries)
    return ReconcilerDeps(
        accounts=accounts,
        default_accounts=DefaultAccounts(accounts, base.kube, seen, partial(_take_in_account, base.tombstones, kinds)),
        objects=new_listers(
            tag,
            base.entries,
            lambda stored: accounts.endpoint(stored.meta, stored.spec, stored.status),
            shares_own=settings.shares_own_account,
        ),
        references=References(),
        kube=base.kube,
        namespaces=namespaces,
        clock=base.clock,
        limits=limits(settings),
        synced=base.synced,
        wake=wakeups.wake,
        queue=wakeups.queue,
        entropy=base.ports.entropy,
        deletion_guard=DeletionGuard(rule_of(settings), namespaces, base.clock, wakeups.wake),
        quota_usage=QuotaUsage(quotas_of(settings)),
    )


def _session_deps(base: Base, deletion_guard: DeletionGuard, wakeups: Wakeups) -> SessionDeps:
    options = replace(client_options(base.settings), jitter=base.ports.entropy.jitter)
    gates = GateDeps(base.is_leader, deletion_guard, base.metrics.changes, base.ports.tracer)
    pace = intervals(base.settings)
    return SessionDeps(options, pace, base.metrics, base.clock, gates, base.tasks, wakeups, base.ports.cloud)


def _account_deps(
    base: Base, shared: ReconcilerDeps, sessions: AccountSessions, kinds: Kinds, events: AccountEvents
) -> AccountReconcilerDeps:
    settings = base.settings
    return AccountReconcilerDeps(
        accounts=shared.accounts,
        sessions=sessions,
        objects=shared.objects,
        references=shared.references,
        kube=base.kube,
        clock=base.clock,
        limits=shared.limits,
        endpoints=settings.endpoints,
        budget=budget(settings),
        secret_finalizer=not settings.no_secret_finalizer,
        synced=base.synced,
        order_of=lambda kind, stored: kinds.owned[kind].order_of(stored) if kind in kinds.owned else None,
        queue=shared.queue,
        record=events.record,
    )


def _controller_deps(base: Base, resync: Resync) -> ControllerDeps:
    return ControllerDeps(
        queue=base.queue,
        kube=base.kube,
        events=base.events,
        metrics=base.metrics,
        clock=base.clock,
        entropy=base.ports.entropy,
        is_leader=base.is_leader,
        longest_spacing=base.settings.poll_steady_seconds,
        outdated=resync.relisted,
        tracer=base.ports.tracer,
    )


def _collector_deps(base: Base, shared: ReconcilerDeps, sessions: AccountSessions, events: AccountEvents) -> CollectorDeps:
    settings = base.settings
    return CollectorDeps(
        sessions=sessions,
        objects=shared.objects,
        kube=base.kube,
        clock=base.clock,
        synced=base.synced,
        record=events.record_for_session,
        namespaces=settings.namespace,
        rules=Rules(settings.collect_orphans and not settings.observe_only, settings.orphan_age_seconds),
        interval=settings.orphan_scan_seconds,
    )


def _offer_publisher(base: Base, shared: ReconcilerDeps, sessions: AccountSessions, events: AccountEvents) -> OfferPublisher:
    terminating, clock = shared.namespaces.terminating, base.clock
    deps = PublisherDeps(sessions, shared.accounts, shared.objects.accounts, base.kube, terminating, events.record, clock)
    return OfferPublisher(deps, base.settings.offer_seconds)


def _take_in_account(tombstones: Tombstones, kinds: Kinds, body: Mapping[str, Any]) -> None:
    """Take an account that was read as if the watch had shown it; its DELETED event may have come already."""
    meta = body["metadata"]
    key = Key(gpucloudaccount.KIND, meta["namespace"], meta["name"], meta["uid"])
    if key.uid not in tombstones and kinds.reconcilers[key.kind].store.put(body):
        kinds.controllers[key.kind].on_update(key, Lane.PEOPLE)
