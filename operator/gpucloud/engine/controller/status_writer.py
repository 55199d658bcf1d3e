"""Writes the status of the objects of one kind: when it is due, the write itself, and what became of it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from gpucloud.engine.controller import undone
from gpucloud.engine.controller.pacing import WritePacer
from gpucloud.engine.controller.reconciled import Reconciled
from gpucloud.engine.controller.reconciler import F, P, Reconciler, S
from gpucloud.engine.controller.status_reports import StatusReporter
from gpucloud.engine.controller.urgency import urgent
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.runtime.workqueue import Key, Lane
from gpucloud.engine.telemetry.reconciles import StatusWriteResult

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.controller.deps import ControllerDeps
    from gpucloud.engine.controller.edits import EditTraces
    from gpucloud.reconcile.plan import Plan

LASTING_SECONDS = 5.0  # an informative change is written when it has lasted this long
PENDING_LASTING_SECONDS = 10.0  # the same while a change of Ready is expected soon, whose write includes it


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A status write that is due at this mono time. ``first``: no call or release happens before the write."""

    at: float
    first: bool


class StatusWriter(Generic[P, S, F]):
    """Writes the statuses of one controller."""

    def __init__(self, reconciler: Reconciler[P, S, F], deps: ControllerDeps, edits: EditTraces) -> None:
        self._reconciler, self._edits, self._entries = reconciler, edits, reconciler.store.entries
        self._queue, self._kube, self._events, self._clock = deps.queue, deps.kube, deps.events, deps.clock
        self._results = {result: deps.metrics.status_writes.labels(reconciler.kind, result) for result in StatusWriteResult}
        self._reporter = StatusReporter(deps.events, deps.metrics, deps.clock)
        self._pacer, self._outdated = WritePacer(deps.entropy.jitter, self._entries), deps.outdated

    def note_difference(self, stored: CachedObject[P, S], plan: Plan[S]) -> None:
        """Note since when the status is to be written; record the deferred Event if there is nothing to write."""
        known = self._part(stored.meta.uid)
        if not _differs(stored, plan):
            known.differs_since = None
            self._events.flush(stored.meta.uid)  # no Event of Ready repeats the deferred one
        elif known.differs_since is None:
            known.differs_since = self._clock.mono()

    def pending(self, stored: CachedObject[P, S], plan: Plan[S]) -> PendingWrite | None:
        """Return when to write the new status: now if it is urgent, later if it only informs; None if it is unchanged.

        A query: ``note_difference`` has noted since when it differs.
        """
        if plan.status is None or not _differs(stored, plan):
            return None
        uid, since = stored.meta.uid, self._part(stored.meta.uid).differs_since
        since = self._clock.mono() if since is None else since  # deleted meanwhile: nothing could be noted
        first = stored.amended or urgent(stored.status, plan.status, uid, plan.action is not None)
        in_turn = self._pacer.not_before(uid, stored.meta.generation)
        lasting = PENDING_LASTING_SECONDS if plan.pending else LASTING_SECONDS
        return PendingWrite(max(since if first else since + lasting, in_turn), first)

    async def write(self, key: Key, stored: CachedObject[P, S], status: S, plan: Plan[S]) -> bool:
        """Write the status; return whether the cache has it now.

        Raises:
            KubeError: the apiserver did not take it, or did not answer.
        """
        before = self._clock.mono()
        if plan.records_order:  # before the write: its watch event may arrive before its answer
            self._reconciler.before_recording(key.uid, status)
        document = status.model_dump(mode="json", by_alias=True, exclude_none=True)
        if undone.is_told(self._part(key.uid).undone):
            await self._tell_undone(key, stored)
        self._pacer.spend(key.uid, stored.meta.generation, before)
        try:
            answer = await self._kube.replace_status(self._reconciler.plural, self._reconciler.kind, stored.raw_meta, document)
        except (Exception, asyncio.CancelledError) as error:
            self._results[StatusWriteResult.CONFLICT if getattr(error, "conflict", False) else StatusWriteResult.ERROR].inc()
            self._part(key.uid).confirmed = -math.inf  # it may have been written, or somebody else has written
            raise
        self._results[StatusWriteResult.WRITTEN].inc()
        known = self._part(key.uid)
        known.confirmed, known.differs_since = before, None
        if self._reconciler.store.get(key.uid) is not None:  # else the DELETED event came first
            # The watch event of this write will bring nothing new, so dependents are woken now.
            shown = self._reconciler.store.put_written(stored, answer, document, status)
            notify_updated(self._reconciler, key.uid)
            self._judge_write(key, status, document, shown.status)
            if shown.meta != stored.meta:  # another bears the version that this was decided upon: was etcd restored?
                self._outdated()
                self._queue.add(key, Lane.PEOPLE)
        self._edits.written(stored, status)
        self._reporter.written(key, stored, status, announces=announces(plan))
        cached = self._reconciler.store.get(key.uid)
        return cached is None or cached.status == status

    def _judge_write(self, key: Key, status: S, document: dict[str, Any], shown: S) -> None:
        """Slow down the writes if this one had no effect, or if somebody undid the same write before."""
        times = self._part(key.uid).undone = self._pacer.judge(key.uid, document, shown == status, self._clock.mono())
        if times:
            self._reporter.undone(key, status, shown, times)

    async def _tell_undone(self, key: Key, stored: CachedObject[P, S]) -> None:
        """Record an Event that names who undid the last writes. Right before the next one: that takes the fields back."""
        try:
            fresh = await self._kube.read(self._reconciler.plural, stored.raw_meta)
        except KubeError:  # it only informs, so it holds no write up
            return
        self._events.record(key.kind, stored.meta, undone.event(key, fresh["metadata"].get("managedFields") or ()))

    def _part(self, uid: str) -> Reconciled:
        return self._entries.part(uid, Reconciled)


def announces(plan: Plan[Any]) -> bool:
    """Whether the write of the plan's status announces a call."""
    return plan.action is not None or plan.records_order


def notify_updated(reconciler: Reconciler[P, S, F], uid: str) -> None:
    """Pass the view that an answer of the apiserver has shown to the reconciler."""
    if (newer := reconciler.store.get(uid)) is not None:
        reconciler.on_update(newer)


def _differs(stored: CachedObject[Any, S], plan: Plan[S]) -> bool:
    """Whether the plan has a status that is to be written."""
    return plan.status is not None and (plan.status != stored.status or stored.amended)
