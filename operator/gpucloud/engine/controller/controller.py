"""Controller: reconciles the objects of one kind. Each reconcile gathers facts, decides, and makes at most one write."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Generic

import structlog

from gpucloud.engine.controller.edits import EditTraces
from gpucloud.engine.controller.pacing import ReconcilePacer, backoff
from gpucloud.engine.controller.reconciled import Reconciled
from gpucloud.engine.controller.reconciler import F, P, Reconciler, S
from gpucloud.engine.controller.status_reports import names
from gpucloud.engine.controller.status_writer import LASTING_SECONDS, StatusWriter, announces, notify_updated
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event, with_cause
from gpucloud.engine.runtime.supervisor import being_cancelled
from gpucloud.engine.runtime.workqueue import Key, Lane
from gpucloud.engine.telemetry.reconciles import ReconcileResult, controller_name
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.controller.deps import ControllerDeps
    from gpucloud.reconcile.plan import Plan, Release

log = structlog.get_logger("gpucloud.controller")

STALE_FACTS_SECONDS = 10.0  # older facts are gathered again before a call: the process may have been suspended
LISTING_SECONDS = 5.0  # a new object is reconciled no later, whether the listing that it needs has come or not
MOST_REFUSALS = 3  # of writes with one cached version, before a resync: the watch should have delivered a newer one


class Outcome(Enum):
    """What one reconcile has changed in the apiserver or the cloud."""

    NOTHING = auto()
    CHANGE = auto()
    ANNOUNCE = auto()  # a call that the next reconcile sends


class Controller(Generic[P, S, F]):
    """Reconciles the objects of one kind."""

    def __init__(self, reconciler: Reconciler[P, S, F], deps: ControllerDeps) -> None:
        self._entries = reconciler.store.entries
        self.pace = ReconcilePacer(deps.clock, deps.longest_spacing, self._entries)
        self._reconciler, self._entropy = reconciler, deps.entropy
        self._queue, self._kube, self._events = deps.queue, deps.kube, deps.events
        self._metrics, self._clock, self._is_leader = deps.metrics, deps.clock, deps.is_leader
        kind, metrics = reconciler.kind, deps.metrics
        self._results = {result: metrics.reconciles.total.labels(controller_name(kind), result) for result in ReconcileResult}
        self._seconds = metrics.reconciles.seconds.labels(controller_name(kind))
        self._edits = EditTraces(deps.tracer, self._entries, deps.clock, kind)
        self._status, self._outdated = StatusWriter(reconciler, deps, self._edits), deps.outdated

    async def reconcile(self, key: Key) -> None:
        """Reconcile one object. Only its own cancellation is raised: an error is counted, logged and retried."""
        began, not_before = self._clock.mono(), self.pace.begin(key.uid)
        if not_before is not None:
            self._queue.requeue_at(key, not_before)
            return
        try:
            outcome = await self._reconcile(key)
            result = ReconcileResult.UNCHANGED if outcome is Outcome.NOTHING else ReconcileResult.SUCCESS
            self.pace.ended(key.uid, changed=outcome is not Outcome.NOTHING, announced=outcome is Outcome.ANNOUNCE)
            self._known(key.uid).failures = 0
        except KubeError as error:
            result = ReconcileResult.REQUEUE if error.conflict or error.gone else ReconcileResult.ERROR
            self._after_kube_error(key, error)
        except (Exception, asyncio.CancelledError):
            if being_cancelled():
                raise
            result = ReconcileResult.ERROR
            log.exception("reconcile failed", **names(key))
            self.retry_later(key)
        if self._reconciler.store.get(key.uid) is None:  # deleted meanwhile: drop what this reconcile has noted
            self.on_delete(key)
        self._results[result].inc()
        if result is ReconcileResult.ERROR:
            self._metrics.reconciles.errors.labels(controller_name(key.kind)).inc()
        self._seconds.observe(self._clock.mono() - began)

    @property
    def plural(self) -> str:
        """The plural, as in URLs."""
        return self._reconciler.plural

    @property
    def store(self) -> Store[P, S]:
        """The cached objects."""
        return self._reconciler.store

    def on_update(self, key: Key, lane: Lane) -> None:
        """Reconcile an object with a newer view in this lane, unless it needs a listing that is about to come and wakes it."""
        stored = self._reconciler.store.get(key.uid)
        if stored is None:
            return
        self._reconciler.on_update(stored)
        if not self._reconciler.needs_finalizer(stored) and self._reconciler.awaits_first_listing(stored):
            self._defer_to_listing(key, stored)
            return
        self.pace.caused(key.uid)
        self._queue.add(key, lane)

    def _defer_to_listing(self, key: Key, stored: CachedObject[P, S]) -> None:
        """Let the listing that a new object needs wake it, or else the time."""
        self._reconciler.defer_to_listing(stored)
        self._queue.requeue_at(key, self._clock.mono() + LISTING_SECONDS)

    def on_delete(self, key: Key) -> None:
        """Drop a deleted object from the indexes and the store, with its entry; cancel its wake-up."""
        self._reconciler.on_delete(key)
        self._reconciler.store.drop(key.uid)
        self._queue.requeue_at(key, None)

    async def _reconcile(self, key: Key) -> Outcome:
        stored = self._reconciler.store.get(key.uid)
        if stored is None or self._known(key.uid).released == stored.raw_meta["resourceVersion"]:
            return Outcome.NOTHING  # deleted, or about to be: wait for the DELETED event
        self._edits.began(stored)
        if self._reconciler.needs_finalizer(stored):
            await self._add_finalizer(key, stored)
            stored = self._reconciler.store.get(key.uid)
            if stored is None:
                return Outcome.CHANGE
            if self._reconciler.awaits_first_listing(stored):
                self._defer_to_listing(key, stored)
                return Outcome.CHANGE
        return await self._carry_on(key, stored)

    async def _carry_on(self, key: Key, stored: CachedObject[P, S]) -> Outcome:
        """Gather facts, decide, and do what the plan says: one write, or one call, or neither."""
        facts = await self._reconciler.gather(stored)
        plan = self._reconciler.decide(facts)
        self._record_withheld(key, plan)
        again = self._reconciler.follow_up(key.uid, plan)
        self._status.note_difference(stored, plan)
        pending = self._status.pending(stored, plan)
        now, write_at = self._clock.mono(), None if pending is None else pending.at
        self._queue.requeue_at(
            key, _earliest(again, plan.requeue_at, _later(write_at, now), _later(plan.refresh_after, facts.now.mono))
        )
        if plan.status is not None and pending is not None and pending.at <= now:
            return await self._write(key, stored, plan.status, plan)
        if pending is not None and pending.first:
            return Outcome.NOTHING  # the write must wait, and the call that it announces waits for the write
        if plan.release is not None:
            await self._release(key, stored, plan.release)
            return Outcome.CHANGE
        if plan.action is not None:
            return await self._act(key, stored, facts, plan)
        return Outcome.NOTHING

    async def _add_finalizer(self, key: Key, stored: CachedObject[P, S]) -> None:
        """Nothing is decided before our finalizer is visible: without it the object could go, and leave a resource behind."""
        answer = await self._kube.add_finalizer(self._reconciler.plural, stored.raw_meta)
        if self._reconciler.store.get(key.uid) is not None and self._reconciler.store.put(answer):  # else its event came first
            notify_updated(self._reconciler, key.uid)

    async def _release(self, key: Key, stored: CachedObject[P, S], release: Release) -> None:
        await self._kube.release(self._reconciler.plural, stored.raw_meta)
        self._known(key.uid).released = stored.raw_meta["resourceVersion"]
        self._edits.released(stored)
        event = Event(release.reason, release.note, "Release", release.warning)
        elsewhere = replace(event, note=f"{key.kind} {key.namespace}/{key.name}: {release.note}")
        # A terminating namespace accepts no Events, and only this Event says that something may still be billed.
        lost = partial(self._events.record_for_kind, self._reconciler.plural, elsewhere) if release.warning else None
        self._events.record(key.kind, stored.meta, event, lost)
        if stored.meta.deleted_at is not None:
            self._metrics.ended(key.kind, self._clock.wall() - stored.meta.deleted_at)
        (log.warning if release.warning else log.info)("released", reason=release.reason, note=release.note, **names(key))

    def _record_withheld(self, key: Key, plan: Plan[S]) -> None:
        """Log each action that --observe-only withholds once, so that people can count them."""
        known = self._known(key.uid)
        if plan.withheld is None:
            if plan.status is not None:  # else the plan only waits for a newer listing
                known.withheld = None
            return
        known.withheld = plan.withheld
        if known.withheld_logged != plan.withheld:
            known.withheld_logged = plan.withheld
            log.info("withheld", would=plan.withheld, **names(key))

    async def _write(self, key: Key, stored: CachedObject[P, S], status: S, plan: Plan[S]) -> Outcome:
        """Write the status; the call that it announces is sent by the next reconcile."""
        written = await self._status.write(key, stored, status, plan)
        if announces(plan):
            self._queue.add(key, Lane.ANNOUNCED)
        if not written:
            return Outcome.NOTHING  # the apiserver shows another status than the written one
        return Outcome.ANNOUNCE if announces(plan) else Outcome.CHANGE

    async def _is_confirmed(self, key: Key, stored: CachedObject[P, S]) -> bool:
        """Whether the apiserver has recently confirmed that the cached object is current; else read the object.

        While a process is suspended, a user may change or delete the object, and its watch events are read late. The answer to
        the write that announces a call confirms the object for some seconds.

        Raises:
            KubeError: the apiserver did not answer, or the object was deleted.
        """
        before = self._clock.mono()
        if before - self._known(key.uid).confirmed < STALE_FACTS_SECONDS:
            return True
        fresh = await self._kube.read(self._reconciler.plural, stored.raw_meta)
        self._known(key.uid).confirmed = before
        if fresh["metadata"]["resourceVersion"] == stored.raw_meta["resourceVersion"]:
            return True
        self._reconciler.store.put(fresh)
        notify_updated(self._reconciler, key.uid)
        return False

    async def _act(self, key: Key, stored: CachedObject[P, S], facts: F, plan: Plan[S]) -> Outcome:
        confirmed = await self._is_confirmed(key, stored) and self._reconciler.store.is_current(stored)
        if not confirmed:
            self.pace.caused(key.uid)
            self._queue.add(key, Lane.ANNOUNCED)
            return Outcome.NOTHING
        if self._clock.mono() - facts.now.mono > STALE_FACTS_SECONDS:
            self._queue.add(key, Lane.PEOPLE)
            return Outcome.NOTHING
        if not self._is_leader():  # the Lease is lost, and this process ends
            return Outcome.NOTHING
        event = await self._reconciler.act(facts, plan)
        if event is None:
            self._queue.add(key, Lane.PEOPLE)
            return Outcome.NOTHING
        event = with_cause(event, find((plan.status or stored.status).conditions, ConditionType.READY))
        (self._events.record_unless_repeated if event.warning else self._events.record)(key.kind, stored.meta, event)
        if not event.warning and plan.action is not None and self._reconciler.has_delayed_effect(stored, plan.action):
            self._known(key.uid).differs_since = self._clock.mono()  # the answer is not recorded yet
            self._queue.requeue_at(key, self._clock.mono() + LASTING_SECONDS)  # a listing may wake it earlier
        else:
            self._queue.add(key, Lane.PEOPLE)
        return Outcome.CHANGE

    def _after_kube_error(self, key: Key, error: KubeError) -> None:
        if error.gone or error.conflict:
            self._note_refusal(key.uid)
        if error.gone:
            log.info("the object is gone", error=str(error), **names(key))
            return  # wait for the DELETED event
        if not error.conflict:
            log.warning("the apiserver did not take it", error=str(error), **names(key))
        self.retry_later(key)

    def withheld(self) -> Iterator[str]:
        """Iterate over the actions that --observe-only withholds now."""
        found = (self._entries.find(stored.meta.uid, Reconciled) for stored in self.store)
        return (known.withheld for known in found if known is not None and known.withheld is not None)

    def _known(self, uid: str) -> Reconciled:
        return self._entries.part(uid, Reconciled)

    def _note_refusal(self, uid: str) -> None:
        """Request a resync when writes with one cached version are refused repeatedly: its watch event is late or lost."""
        stored, known = self._reconciler.store.get(uid), self._known(uid)
        if stored is None:
            return
        version, times = known.refused or (stored.version, 0)
        known.refused = (stored.version, times + 1 if version == stored.version else 1)
        if known.refused[1] >= MOST_REFUSALS:
            self._outdated()

    def retry_later(self, key: Key) -> None:
        """Requeue a failed key with exponential backoff, at most one minute."""
        known = self._known(key.uid)
        known.failures += 1
        again = self._clock.mono() + backoff(known.failures) * (0.5 + self._entropy.jitter() / 2)
        self._metrics.queue.retried()
        self.pace.failed(key.uid, again)
        self._queue.requeue_at(key, again)


def _later(time: float | None, now: float) -> float | None:
    """Return the time if it is in the future: what is due already is handled in this reconcile."""
    return time if time is not None and time > now else None


def _earliest(*times: float | None) -> float | None:
    return min((time for time in times if time is not None), default=None)
