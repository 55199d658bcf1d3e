"""Controller: reconciles the objects of one kind. Each reconcile gathers facts, decides, and makes at most one write."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import structlog

from gpucloud.engine.controller.pacing import ReconcilePacer, WritePacer
from gpucloud.engine.controller.reconciled import Reconciled
from gpucloud.engine.controller.urgency import urgent
from gpucloud.engine.kube.client import KubeClient, KubeError
from gpucloud.engine.kube.events import Event, EventRecorder, status_changes, with_cause
from gpucloud.engine.runtime.workqueue import Key, Lane, WorkQueue
from gpucloud.engine.telemetry.metrics import ReconcileResult, StatusWriteResult
from gpucloud.kinds.common import Status
from gpucloud.kinds.meta import ConditionType, Model, Reason
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.entropy import Entropy
    from gpucloud.engine.telemetry.metrics import Metrics
    from gpucloud.reconcile.facts import Now, Verb
    from gpucloud.reconcile.plan import Plan, Release

P = TypeVar("P", bound=Model)
S = TypeVar("S", bound=Status)
F = TypeVar("F", bound="Facts")
log = structlog.get_logger("gpucloud.loop")

LASTING_SECONDS = 5.0  # a change that is only informative is written once it has stood this long
PENDING_LASTING_SECONDS = 10.0  # the same while a verdict is expected soon, whose write carries the change, too
STALE_FACTS_SECONDS = 10.0  # a process that was stopped in between must look again before it acts
BEFORE_FIRST_READY = {Reason.PENDING, Reason.CREATING, Reason.WAITING_FOR_CAPACITY}
PATIENCE = 3  # refusals of one cached version, until it is looked why the watch brings no younger one
RETRY_SECONDS = (0.2, 60.0)  # first and longest wait after an exception


class Outcome(Enum):
    """What one reconcile has changed in the apiserver or the cloud."""

    NOTHING = auto()
    CHANGE = auto()
    ANNOUNCE = auto()  # a call that the next reconcile sends


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A status write that is due at this mono time. ``first``: no call or release happens before the write."""

    at: float
    first: bool


class Facts(Protocol):
    """What every kind's facts have."""

    @property
    def now(self) -> Now:
        """When they were gathered."""


class Reconciler(Protocol[P, S, F]):
    """Decisions and calls of one kind, used by its controller."""

    @property
    def kind(self) -> str:
        """As in ``kind:`` of a manifest."""

    @property
    def plural(self) -> str:
        """As in URLs."""

    @property
    def store(self) -> Store[P, S]:
        """The objects as last seen."""

    async def gather(self, stored: CachedObject[P, S]) -> F:
        """Everything that the decision needs."""

    def decide(self, facts: F) -> Plan[S]:
        """The pure core's answer."""

    async def act(self, facts: F, plan: Plan[S]) -> Event | None:
        """Send the plan's mutating call, remember how it went, and say what to tell; None: nothing was sent after all."""

    def takes_time(self, stored: CachedObject[P, S], verb: Verb) -> bool:
        """Whether a call that was just accepted leaves nothing to be done, nor recorded, before its effect shows."""

    def recording(self, uid: str, status: S) -> None:
        """This status, with the record of a new order of ours, is about to be written."""

    def requeue_after(self, uid: str, plan: Plan[S]) -> float | None:
        """Tell the inventory what the plan waits for; answers when to decide again at the latest."""

    def on_update(self, stored: CachedObject[P, S]) -> None:
        """A new view of an object."""

    def on_delete(self, key: Key) -> None:
        """The object is gone."""


@dataclass(frozen=True, slots=True)
class ControllerDeps:
    """What every controller works with. ``longest_spacing``: of reconciles that nothing outside causes, in seconds."""

    queue: WorkQueue
    kube: KubeClient
    events: EventRecorder
    metrics: Metrics
    clock: Clock
    entropy: Entropy
    is_leader: Callable[[], bool]  # asked right before a call is announced in the log
    longest_spacing: float
    outdated: Callable[[], None]  # the apiserver's answers show that the cache is behind, and the watch brings nothing


class Controller(Generic[P, S, F]):
    """Reconciles the objects of one kind."""

    def __init__(self, reconciler: Reconciler[P, S, F], deps: ControllerDeps) -> None:
        self._entries = reconciler.store.entries
        self.pace = ReconcilePacer(deps.clock, deps.longest_spacing, self._entries)
        self._reconciler, self._entropy = reconciler, deps.entropy
        self._queue, self._kube, self._events = deps.queue, deps.kube, deps.events
        self._metrics, self._clock, self._is_leader = deps.metrics, deps.clock, deps.is_leader
        kind, metrics = reconciler.kind, deps.metrics
        self._passes = {result: metrics.reconciles.labels(kind, result) for result in ReconcileResult}
        self._pass_seconds = metrics.reconcile_seconds.labels(kind)
        self._writes = {result: metrics.status_writes.labels(kind, result) for result in StatusWriteResult}
        self._pacer = WritePacer(deps.entropy.jitter, self._entries)
        self._outdated = deps.outdated

    async def reconcile(self, key: Key) -> None:
        """Reconcile one object. Never raises: an error is counted, logged and retried."""
        began, not_before = self._clock.mono(), self.pace.begin(key.uid)
        if not_before is not None:
            self._queue.wake_at(key, not_before)
            return
        try:
            outcome = await self._reconcile(key)
            result = ReconcileResult.UNCHANGED if outcome is Outcome.NOTHING else ReconcileResult.SUCCESS
            self.pace.ended(key.uid, changed=outcome is not Outcome.NOTHING, announced=outcome is Outcome.ANNOUNCE)
            self._known(key.uid).failures = 0
        except KubeError as error:
            result = ReconcileResult.REQUEUE if error.conflict or error.gone else ReconcileResult.ERROR
            self._after_kube_error(key, error)
        except Exception:
            result = ReconcileResult.ERROR
            log.exception("pass failed", **_names(key))
            self.retry_later(key)
        if self._reconciler.store.get(key.uid) is None:  # it went meanwhile; what this pass noted of it goes too
            self.on_delete(key)
        self._passes[result].inc()
        if result is ReconcileResult.ERROR:
            self._metrics.reconcile_errors.labels(key.kind).inc()
        self._pass_seconds.observe(self._clock.mono() - began)

    @property
    def plural(self) -> str:
        """As in URLs."""
        return self._reconciler.plural

    @property
    def store(self) -> Store[P, S]:
        """The objects as last seen."""
        return self._reconciler.store

    def on_delete(self, key: Key) -> None:
        """Drop a deleted object from the indexes and the store, with its entry; cancel its wake-up."""
        self._reconciler.on_delete(key)
        self._reconciler.store.drop(key.uid)
        self._queue.wake_at(key, None)

    async def _reconcile(self, key: Key) -> Outcome:
        stored = self._reconciler.store.get(key.uid)
        if stored is None or self._known(key.uid).released == stored.raw_meta["resourceVersion"]:
            return Outcome.NOTHING  # gone, or about to be: the watch tells
        facts = await self._reconciler.gather(stored)
        plan = self._reconciler.decide(facts)
        self._record_withheld(key, plan)
        again = self._reconciler.requeue_after(key.uid, plan)
        pending = self._pending_write(stored, plan)
        now = self._clock.mono()
        write_at = None if pending is None else pending.at
        self._queue.wake_at(key, _earliest(again, plan.wake_at, _later(write_at, now), _later(plan.look_after, facts.now.mono)))
        if plan.status is not None and pending is not None and pending.at <= now:
            return await self._write(key, stored, plan.status, plan)
        if pending is not None and pending.first:
            return Outcome.NOTHING  # the write waits for its turn, and whatever it announces waits for the write
        if plan.release is not None:
            await self._release(key, stored, plan.release)
            return Outcome.CHANGE
        if plan.action is not None:
            return await self._act(key, stored, facts, plan)
        return Outcome.NOTHING

    async def _release(self, key: Key, stored: CachedObject[P, S], release: Release) -> None:
        await self._kube.release(self._reconciler.plural, stored.raw_meta)
        self._known(key.uid).released = stored.raw_meta["resourceVersion"]
        event = Event(release.reason, release.note, "Release", release.warning)
        elsewhere = replace(event, note=f"{key.kind} {key.namespace}/{key.name}: {release.note}")
        # A namespace that is being deleted takes no Events, and nothing else tells people that something may be billed.
        lost = partial(self._events.record_for_kind, self._reconciler.plural, elsewhere) if release.warning else None
        self._events.record(key.kind, stored.meta, event, lost)
        if stored.meta.deleted_at is not None:
            self._metrics.ended(key.kind, self._clock.wall() - stored.meta.deleted_at)
        level = log.warning if release.warning else log.info
        level("released", reason=release.reason, note=release.note, **_names(key))

    def _record_withheld(self, key: Key, plan: Plan[S]) -> None:
        """Each action that is kept back is one line in the log, so that they can be counted before anything is done."""
        known = self._known(key.uid)
        if plan.withheld is None:
            if plan.status is not None:  # else it says nothing new: it only waits for a younger look
                known.withheld = None
            return
        known.withheld = plan.withheld
        if known.withheld_logged != plan.withheld:
            known.withheld_logged = plan.withheld
            log.info("withheld", would=plan.withheld, **_names(key))

    def _pending_write(self, stored: CachedObject[P, S], plan: Plan[S]) -> PendingWrite | None:
        """When the new status must be written: now for a verdict, later for what only informs, None when nothing differs."""
        uid, known = stored.meta.uid, self._known(stored.meta.uid)
        if plan.status is None or (plan.status == stored.status and not stored.amended):
            known.differs_since = None
            self._events.flush(uid)  # no change of Ready tells of a call that failed
            return None
        since = known.differs_since = self._clock.mono() if known.differs_since is None else known.differs_since
        first = stored.amended or urgent(stored.status, plan.status, uid, plan.action is not None)
        in_turn = self._pacer.not_before(uid, stored.meta.generation)
        lasting = PENDING_LASTING_SECONDS if plan.pending else LASTING_SECONDS
        return PendingWrite(max(since if first else since + lasting, in_turn), first)

    async def _write(self, key: Key, stored: CachedObject[P, S], status: S, plan: Plan[S]) -> Outcome:
        before = self._clock.mono()
        if plan.records_order:  # before the write: the watch may show it to us before its answer does
            self._reconciler.recording(key.uid, status)
        document = status.model_dump(mode="json", by_alias=True, exclude_none=True)
        self._pacer.spend(key.uid, stored.meta.generation, before)
        try:
            answer = await self._kube.replace_status(self._reconciler.plural, self._reconciler.kind, stored.raw_meta, document)
        except KubeError as error:
            failed = StatusWriteResult.CONFLICT if error.conflict else StatusWriteResult.ERROR
            self._writes[failed].inc()
            self._known(key.uid).confirmed = -math.inf  # it may have been written all the same, or somebody else has written
            raise
        self._writes[StatusWriteResult.WRITTEN].inc()
        known = self._known(key.uid)
        known.confirmed, known.differs_since = before, None
        if self._reconciler.store.get(key.uid) is not None:  # else the watch has told us meanwhile that it is gone
            # The watch will tell us nothing new; those who wait for this are woken now.
            shown = self._reconciler.store.put_written(stored, answer, document, status)
            self._tell_stored(key.uid)
            self._judge_write(key, status, document, shown.status)
            if shown.meta != stored.meta:  # another bears the version that this was decided upon: was etcd restored?
                self._outdated()
                self._queue.add(key, Lane.PEOPLE)
        announces = plan.action is not None or plan.records_order
        self._report(key, stored, status, announces=announces)
        if announces:
            self._queue.add(key, Lane.ANNOUNCED)
        if (stands := self._reconciler.store.get(key.uid)) is not None and stands.status != status:
            return Outcome.NOTHING  # the apiserver shows something else than what was written
        return Outcome.ANNOUNCE if announces else Outcome.CHANGE

    def _judge_write(self, key: Key, status: S, document: dict[str, Any], stands: S) -> None:
        """Slow down where the write did not bring the status, or where somebody has undone the same write before."""
        undone = self._pacer.judge(key.uid, document, stands == status, self._clock.mono())
        if not undone:
            return
        self._metrics.undone_writes.labels(key.kind).inc()
        if undone == 1:
            differ = [name for name in type(status).model_fields if getattr(status, name) != getattr(stands, name)]
            log.warning("a status write was undone; it is repeated ever more slowly", fields=differ, **_names(key))

    def _report(self, key: Key, stored: CachedObject[P, S], status: S, *, announces: bool) -> None:
        before, after = stored.status.conditions, status.conditions
        self._metrics.changed(key.kind, before, after)
        for event in status_changes(before, after, announces=announces):
            self._events.record(key.kind, stored.meta, event)
        self._events.flush(key.uid)
        now, was = find(after, ConditionType.READY), find(before, ConditionType.READY)
        if now is not None and (was is None or (was.status, was.reason) != (now.status, now.reason)):
            if now.status == "True" and (was is None or was.reason in BEFORE_FIRST_READY):
                born = datetime.fromisoformat(stored.raw_meta["creationTimestamp"])
                self._metrics.time_to_ready.labels(key.kind).observe((self._clock.wall() - born).total_seconds())
            log.info("verdict", ready=now.status, reason=now.reason, message=now.message, **_names(key))

    async def _is_confirmed(self, key: Key, stored: CachedObject[P, S]) -> bool:
        """Whether the apiserver has shown us lately that the object is still as we know it.

        A process that was asleep knows what it knew; its owner may have taken the object back since, and the watch tells that
        only when it is read. The write that announces a call is such a proof, while it is young; else one is asked for.

        Raises:
            KubeError: the apiserver did not answer, or the object is gone.
        """
        before = self._clock.mono()
        if before - self._known(key.uid).confirmed < STALE_FACTS_SECONDS:
            return True
        fresh = await self._kube.read(self._reconciler.plural, stored.raw_meta)
        self._known(key.uid).confirmed = before
        if fresh["metadata"]["resourceVersion"] == stored.raw_meta["resourceVersion"]:
            return True
        self._reconciler.store.put(fresh)
        self._tell_stored(key.uid)
        return False

    def _tell_stored(self, uid: str) -> None:
        """An answer of the apiserver has shown the object."""
        if (newer := self._reconciler.store.get(uid)) is not None:
            self._reconciler.on_update(newer)

    async def _act(self, key: Key, stored: CachedObject[P, S], facts: F, plan: Plan[S]) -> Outcome:
        confirmed = await self._is_confirmed(key, stored) and self._reconciler.store.is_current(stored)
        if not confirmed:
            self.pace.caused(key.uid)
            self._queue.add(key, Lane.ANNOUNCED)
            return Outcome.NOTHING
        if self._clock.mono() - facts.now.mono > STALE_FACTS_SECONDS:
            self._queue.add(key, Lane.PEOPLE)
            return Outcome.NOTHING
        if not self._is_leader():  # the Lease is lost, and this process about to end
            return Outcome.NOTHING
        event = await self._reconciler.act(facts, plan)
        if event is None:
            self._queue.add(key, Lane.PEOPLE)
            return Outcome.NOTHING
        event = with_cause(event, find((plan.status or stored.status).conditions, ConditionType.READY))
        (self._events.record_unless_repeated if event.warning else self._events.record)(key.kind, stored.meta, event)
        if not event.warning and plan.action is not None and self._reconciler.takes_time(stored, plan.action):
            self._known(key.uid).differs_since = self._clock.mono()  # the answer is not recorded yet
            self._queue.wake_at(key, self._clock.mono() + LASTING_SECONDS)  # a listing wakes it, too
        else:
            self._queue.add(key, Lane.PEOPLE)
        return Outcome.CHANGE

    def _after_kube_error(self, key: Key, error: KubeError) -> None:
        if error.gone or error.conflict:
            self._note_refusal(key.uid)
        if error.gone:
            log.info("the object is gone", error=str(error), **_names(key))
            return  # the watch tells the rest
        if not error.conflict:
            log.warning("the apiserver did not take it", error=str(error), **_names(key))
        self.retry_later(key)

    def withheld(self) -> Iterator[str]:
        """Iterate over what --observe-only keeps back now, of every object."""
        found = (self._entries.find(stored.meta.uid, Reconciled) for stored in self.store)
        return (known.withheld for known in found if known is not None and known.withheld is not None)

    def _known(self, uid: str) -> Reconciled:
        return self._entries.part(uid, Reconciled)

    def _note_refusal(self, uid: str) -> None:
        """Report a cached version that is refused again and again: the event that would replace it is late, or never comes."""
        stored, known = self._reconciler.store.get(uid), self._known(uid)
        if stored is None:
            return
        version, times = known.refused or (stored.version, 0)
        known.refused = (stored.version, times + 1 if version == stored.version else 1)
        if known.refused[1] >= PATIENCE:
            self._outdated()

    def retry_later(self, key: Key) -> None:
        """Requeue a failed key with exponential backoff, at most one minute."""
        known = self._known(key.uid)
        failures = known.failures = known.failures + 1
        first, longest = RETRY_SECONDS
        delay = min(first * 2.0 ** min(failures - 1, 16), longest)
        self._metrics.retries.inc()
        self._queue.wake_at(key, self._clock.mono() + delay * (0.5 + self._entropy.jitter() / 2))


def _later(time: float | None, now: float) -> float | None:
    """A time to wake up at; what is due already is dealt with in this pass."""
    return time if time is not None and time > now else None


def _earliest(*times: float | None) -> float | None:
    return min((time for time in times if time is not None), default=None)


def _names(key: Key) -> dict[str, str]:
    return {"kind": key.kind, "namespace": key.namespace, "name": key.name, "uid": key.uid}
