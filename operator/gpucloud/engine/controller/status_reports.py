"""Reports what a status write has changed: by Events, metrics and a log line."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.kube.events import adoptions, status_changes
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.kube.event_recorder import EventRecorder
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.workqueue import Key
    from gpucloud.engine.telemetry.metrics import Metrics
    from gpucloud.kinds.common import Status

log = structlog.get_logger("gpucloud.controller")

BEFORE_FIRST_READY = {Reason.PENDING, Reason.CREATING, Reason.WAITING_FOR_CAPACITY}


class StatusReporter:
    """Reports the status writes of one controller."""

    def __init__(self, events: EventRecorder, metrics: Metrics, clock: Clock) -> None:
        self._events, self._metrics, self._clock = events, metrics, clock

    def written(self, key: Key, stored: CachedObject[Any, Any], status: Status, *, announces: bool) -> None:
        """Report a write that replaced the status of ``stored``. ``announces``: it announces a call to the cloud."""
        before, after = stored.status.conditions, status.conditions
        self._metrics.changed(key.kind, before, after)
        taken = adoptions(stored.status, status)
        changed = status_changes(before, after, announces=announces)
        for event in (*taken, *(one for one in changed if not (taken and one.reason == Reason.ADOPTED))):
            self._events.record(key.kind, stored.meta, event)
        self._events.flush(key.uid)
        now, was = find(after, ConditionType.READY), find(before, ConditionType.READY)
        if now is not None and (was is None or (was.status, was.reason) != (now.status, now.reason)):
            if now.status == "True" and (was is None or was.reason in BEFORE_FIRST_READY):
                born = datetime.fromisoformat(stored.raw_meta["creationTimestamp"])
                self._metrics.time_to_ready.labels(key.kind).observe((self._clock.wall() - born).total_seconds())
            log.info("verdict", ready=now.status, reason=now.reason, message=now.message, **names(key))

    def undone(self, key: Key, status: Status, shown: Status, times: int) -> None:
        """Count a write that somebody undid, or that had no effect; log the first of several in a row."""
        self._metrics.undone_writes.labels(key.kind).inc()
        if times == 1:
            differ = [name for name in type(status).model_fields if getattr(status, name) != getattr(shown, name)]
            log.warning("a status write was undone; it is repeated ever more slowly", fields=differ, **names(key))


def names(key: Key) -> dict[str, str]:
    """Return the fields of a log line that name an object."""
    return {"kind": key.kind, "namespace": key.namespace, "name": key.name, "uid": key.uid}
