"""Metrics of the work queue, under client-go's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

QUEUE = "gpucloud"  # the queue's label value


class QueueMetrics:
    """Depth, waits and retries of the one queue; implements ``QueueMeter``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._depth = Gauge("workqueue_depth", "Objects that wait for a worker.", ["name"], registry=registry).labels(QUEUE)
        self._adds = Counter("workqueue_adds", "Objects queued.", ["name"], registry=registry).labels(QUEUE)
        self._waited = Histogram(
            "workqueue_queue_duration_seconds", "Time of an object in the queue.", ["name"], registry=registry
        ).labels(QUEUE)
        self._worked = Histogram(
            "workqueue_work_duration_seconds", "Time of an object with a worker.", ["name"], registry=registry
        ).labels(QUEUE)
        self._retries = Counter(
            "workqueue_retries", "Objects queued again after an exception.", ["name"], registry=registry
        ).labels(QUEUE)

    def added(self, depth: int) -> None:
        """A key was queued."""
        self._adds.inc()
        self._depth.set(depth)

    def taken(self, depth: int, waited: float) -> None:
        """A worker took a key."""
        self._depth.set(depth)
        self._waited.observe(waited)

    def finished(self, worked: float) -> None:
        """A worker finished a key."""
        self._worked.observe(worked)

    def retried(self) -> None:
        """A key was queued again after an exception."""
        self._retries.inc()
