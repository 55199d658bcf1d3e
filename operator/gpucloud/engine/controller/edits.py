"""When an edit of an object begins and when it is settled, for traces. Without a tracer nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from gpucloud.engine.telemetry.tracing import Edit
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.telemetry.tracing import Tracer
    from gpucloud.kinds.common import Status


@dataclass(slots=True)
class Traced:
    """The newest edit of an object that a reconcile has seen; a part of its entry."""

    generation: int = 0
    since: datetime | None = None
    settled: bool = False


class EditTraces:
    """Tells the tracer of the edits of one kind's objects."""

    def __init__(self, tracer: Tracer | None, entries: Entries, clock: Clock, kind: str) -> None:
        self._tracer, self._entries, self._clock, self._kind = tracer, entries, clock, kind

    def began(self, stored: CachedObject[Any, Any]) -> None:
        """Note the first reconcile of a generation. The first generation began when the object was created."""
        if self._tracer is None:
            return
        known = self._entries.part(stored.meta.uid, Traced)
        if known.generation == stored.meta.generation:
            return
        known.generation, known.settled = stored.meta.generation, _was_settled(stored)
        first = stored.meta.generation == 1
        known.since = stored.meta.deleted_at or (_created(stored) if first else None) or self._clock.wall()

    def written(self, stored: CachedObject[Any, Any], status: Status) -> None:
        """Record a status that was written, if it changes Ready; Ready=True settles the edit."""
        if self._tracer is None:
            return
        was, now = find(stored.status.conditions, ConditionType.READY), find(status.conditions, ConditionType.READY)
        if now is None or (was is not None and (was.status, was.reason) == (now.status, now.reason)):
            return
        stalled = find(status.conditions, ConditionType.STALLED) is not None
        self._tracer.status(self._edit(stored), now.reason, now.message, failed=stalled)
        if now.status == "True" and now.observed_generation == stored.meta.generation:
            self._settle(stored, now.reason)

    def released(self, stored: CachedObject[Any, Any]) -> None:
        """Record the end of a deletion. The object's entry may be gone by now: its DELETED event may come first."""
        if self._tracer is not None and stored.meta.deleted_at is not None:
            self._tracer.settled(self._edit(stored), stored.meta.deleted_at, Reason.GONE)

    def _settle(self, stored: CachedObject[Any, Any], reason: str) -> None:
        known = self._entries.find(stored.meta.uid, Traced)
        if self._tracer is None or known is None or known.since is None or known.settled:
            return
        known.settled = True
        self._tracer.settled(self._edit(stored), known.since, reason)

    def _edit(self, stored: CachedObject[Any, Any]) -> Edit:
        meta = stored.meta
        traceparent = meta.annotations.get(Annotation.TRACEPARENT, "")
        return Edit(self._kind, meta.namespace, meta.name, meta.uid, meta.generation, traceparent)


def _was_settled(stored: CachedObject[Any, Any]) -> bool:
    """Whether the status tells that another process has settled this generation: the edit's root span is recorded."""
    ready, generation = find(stored.status.conditions, ConditionType.READY), stored.meta.generation
    is_ready = ready is not None and ready.status == "True" and ready.observed_generation == generation
    return is_ready or getattr(stored.status, "settled_generation", None) == generation


def _created(stored: CachedObject[Any, Any]) -> datetime | None:
    created = stored.raw_meta.get("creationTimestamp")
    return None if created is None else datetime.fromisoformat(created)
