"""Metrics: controller-runtime's names, which existing dashboards use, and a few of this operator's own.

Each engine has its own registry, so that several engines can run in one test process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from gpucloud.engine.runtime.supervisor import TASKS
from gpucloud.engine.telemetry.calls import CallMetrics
from gpucloud.engine.telemetry.changes import ChangeMetrics
from gpucloud.engine.telemetry.collectors import LISTED
from gpucloud.engine.telemetry.queue import QueueMetrics
from gpucloud.engine.telemetry.reconciles import ReconcileMetrics, StatusWriteResult
from gpucloud.engine.telemetry.requests import RequestMetrics
from gpucloud.kinds.definitions import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta

    from prometheus_client.registry import Collector

    from gpucloud.kinds.model import Condition

MINUTES = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)  # buckets, in seconds, of durations that users wait for
LAGS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)  # buckets, in seconds, of the event loop's lag
MOST_CLUSTERS = 100  # cluster names are free text in specs, and each label value is a series for good
OTHER_CLUSTERS = "(other)"


class Metrics:
    """All metrics of one engine."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # process-wide: no second series for each counter
        self.registry = registry = CollectorRegistry()
        self._clusters: set[str] = set()
        self.reconciles = ReconcileMetrics(registry)
        self.queue = QueueMetrics(registry)
        self.calls = CallMetrics(registry)
        self.changes = ChangeMetrics(registry)
        self.requests = RequestMetrics(registry)
        self._listed = Counter(
            "gpucloud_cloud_listings",
            "Listings by account, kind of record, cluster and outcome.",
            [*LISTED, "outcome"],
            registry=registry,
        )
        self.status_writes = Counter(
            "gpucloud_status_writes", "Status writes by their result.", ["kind", "result"], registry=registry
        )
        self.undone_writes = Counter(
            "gpucloud_status_writes_undone",
            "Status writes that had no effect, or that somebody undid.",
            ["kind"],
            registry=registry,
        )
        self._of_kind: dict[str, Histogram] = {}  # by metric name, made on first use
        self.time_to_ready = Histogram(
            "gpucloud_time_to_ready_seconds",
            "From the creation of an object to its first Ready.",
            ["kind"],
            buckets=MINUTES,
            registry=registry,
        )
        self._task_failures = Counter(
            "gpucloud_task_failures", "Background tasks that died; each was restarted.", ["task"], registry=registry
        )
        self.loop_lag = Histogram(
            "gpucloud_event_loop_lag_seconds",
            "How much later than due the event loop runs a task.",
            buckets=LAGS,
            registry=registry,
        )
        self._begin_all()

    def _begin_all(self) -> None:
        for item in DEFINITIONS:
            self._begin(item.kind)
        for task in TASKS:
            self._task_failures.labels(task)

    def _begin(self, kind: str) -> None:
        """Create the series of a kind at 0. ``rate()`` misses the first increment of a series that starts with it."""
        self.time_to_ready.labels(kind)
        self._termination(kind)
        self.reconciles.begin(kind)
        self.undone_writes.labels(kind)
        for outcome in StatusWriteResult:
            self.status_writes.labels(kind, outcome)

    def export(self, *collectors: Collector) -> None:
        """Register these collectors."""
        for collector in collectors:
            self.registry.register(collector)

    def changed(self, kind: str, before: Sequence[Condition], after: Sequence[Condition]) -> None:
        """Observe how long the conditions that a status write changes had their previous status."""
        for condition in after:
            was = next((one for one in before if one.type == condition.type), None)
            if was is None or was.status == condition.status:
                continue
            name = f"operator_{kind.lower()}_status_condition_transition_seconds"
            seconds = self._histogram(name, "How long a condition had its former status.", ["type", "status"])
            stood = (condition.last_transition_time - was.last_transition_time).total_seconds()
            seconds.labels(condition.type, condition.status).observe(max(0.0, stood))

    def ended(self, kind: str, took: timedelta) -> None:
        """Observe the time from the deletion request to the release of the finalizer."""
        self._termination(kind).observe(took.total_seconds())

    def _termination(self, kind: str) -> Histogram:
        name = f"operator_{kind.lower()}_termination_duration_seconds"
        return self._histogram(name, "From the deletion of an object to the release of its finalizer.", [])

    def _histogram(self, name: str, words: str, labels: list[str]) -> Histogram:
        if name not in self._of_kind:
            self._of_kind[name] = Histogram(name, words, labels, buckets=MINUTES, registry=self.registry)
        return self._of_kind[name]

    def task_failed(self, name: str) -> None:
        """A background task died."""
        self._task_failures.labels(name).inc()

    def listings(self, account: str, kind: str) -> ListingMetrics:
        """Metrics of one inventory: the listings of one kind of record by one account."""
        return ListingMetrics(self._listed, (account, kind), self.cluster)

    def cluster(self, name: str) -> str:
        """The label value of this cluster: its name for the first hundred clusters, else ``(other)``."""
        if len(self._clusters) < MOST_CLUSTERS:
            self._clusters.add(name)
        return name if name in self._clusters else OTHER_CLUSTERS


class ListingMetrics:
    """Counters of one inventory's listings."""

    def __init__(self, listed: Counter, labels: tuple[str, str], label: Callable[[str], str]) -> None:
        self._listed, self._labels, self._label = listed, labels, label

    def listed(self, cluster: str, *, plausible: bool) -> None:
        """Count a listing that succeeded."""
        self._listed.labels(*self._labels, self._label(cluster), "plausible" if plausible else "implausible").inc()

    def failed(self, cluster: str, kind: str) -> None:
        """Count a listing that failed."""
        self._listed.labels(*self._labels, self._label(cluster), kind).inc()
