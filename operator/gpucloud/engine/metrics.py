"""Metrics, under the names that people's dashboards know (controller-runtime's), and a few of our own.

One registry an operator, so that several can live in one test process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from gpucloud.cloud.options import CallReport

LISTED = ("account", "kind", "cluster")  # whose credential lists which kind of record where


class Metrics:
    """Everything that is counted; also the meter of the queue."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.reconciles = Counter(
            "controller_runtime_reconcile", "Passes over one object.", ["controller", "result"], registry=registry
        )
        self.reconcile_errors = Counter(
            "controller_runtime_reconcile_errors",
            "Passes that ended with an exception.",
            ["controller"],
            registry=registry,
        )
        self.reconcile_seconds = Histogram(
            "controller_runtime_reconcile_time_seconds", "Length of a pass.", ["controller"], registry=registry
        )
        self._depth = Gauge("workqueue_depth", "Keys that wait for a worker.", ["name"], registry=registry).labels("gpucloud")
        self._adds = Counter("workqueue_adds", "Keys queued.", ["name"], registry=registry).labels("gpucloud")
        self._waited = Histogram(
            "workqueue_queue_duration_seconds", "How long a key waited.", ["name"], registry=registry
        ).labels("gpucloud")
        self._worked = Histogram(
            "workqueue_work_duration_seconds", "How long a key was worked on.", ["name"], registry=registry
        ).labels("gpucloud")
        self.retries = Counter("workqueue_retries", "Keys queued again after an exception.", ["name"], registry=registry)
        self._calls = Counter("gpucloud_cloud_requests", "Requests to the cloud.", ["operation", "code"], registry=registry)
        self._call_seconds = Histogram(
            "gpucloud_cloud_request_duration_seconds",
            "Length of a request to the cloud.",
            ["operation"],
            registry=registry,
        )
        self._listed = Counter(
            "gpucloud_cloud_listings",
            "Listings by account, kind of record, cluster and outcome.",
            [*LISTED, "outcome"],
            registry=registry,
        )
        self._count = Gauge("gpucloud_cloud_objects", "Records in the last listing.", LISTED, registry=registry)
        self._implausible = Gauge(
            "gpucloud_cloud_listing_implausible", "1 while a listing is not believed.", LISTED, registry=registry
        )
        self.status_writes = Counter("gpucloud_status_writes", "Status writes.", ["kind", "result"], registry=registry)
        self.time_to_ready = Histogram(
            "gpucloud_time_to_ready_seconds",
            "From the creation of an object to its first Ready.",
            ["kind"],
            buckets=(1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600),
            registry=registry,
        )

    def export_objects(self, census: Callable[[], Iterable[tuple[str, str, str]]]) -> None:
        """Export the number of objects by kind, Ready status and reason, counted when somebody scrapes."""
        self.registry.register(_Census(census))

    def export_staleness(self, staleness: Callable[[], Mapping[tuple[str, str, str], float]]) -> None:
        """Export the age of the last good listing, by account, kind of record and cluster."""
        self.registry.register(_Staleness(staleness))

    def called(self, report: CallReport) -> None:
        """One request to the cloud; the client calls this."""
        code = str(report.status) if report.status is not None else str(report.kind or "none")
        self._calls.labels(report.operation, code).inc()
        self._call_seconds.labels(report.operation).observe(report.seconds)

    def added(self, depth: int) -> None:
        """A key was queued."""
        self._adds.inc()
        self._depth.set(depth)

    def taken(self, depth: int, waited: float) -> None:
        """A key was handed to a worker."""
        self._depth.set(depth)
        self._waited.observe(waited)

    def finished(self, worked: float) -> None:
        """A worker is done with a key."""
        self._worked.observe(worked)

    def listings(self, account: str, kind: str) -> ListingMetrics:
        """The meter of one inventory: what one account lists of one kind of record."""
        return ListingMetrics(self._listed, self._count, self._implausible, (account, kind))


class ListingMetrics:
    """What one inventory tells about its listings."""

    def __init__(self, listed: Counter, count: Gauge, implausible: Gauge, labels: tuple[str, str]) -> None:
        self._listed, self._count, self._implausible, self._labels = listed, count, implausible, labels

    def listed(self, cluster: str, count: int, *, plausible: bool) -> None:
        """A listing came."""
        self._listed.labels(*self._labels, cluster, "plausible" if plausible else "implausible").inc()
        self._count.labels(*self._labels, cluster).set(count)
        self._implausible.labels(*self._labels, cluster).set(0 if plausible else 1)

    def failed(self, cluster: str, kind: str) -> None:
        """A listing failed."""
        self._listed.labels(*self._labels, cluster, kind).inc()


class _Census:
    def __init__(self, census: Callable[[], Iterable[tuple[str, str, str]]]) -> None:
        self._census = census

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "gpucloud_objects", "Objects by kind, Ready status and reason.", labels=["kind", "ready", "reason"]
        )
        counts: dict[tuple[str, str, str], int] = {}
        for labels in self._census():
            counts[labels] = counts.get(labels, 0) + 1
        for labels, count in sorted(counts.items()):
            family.add_metric(labels, count)
        yield family


class _Staleness:
    def __init__(self, staleness: Callable[[], Mapping[tuple[str, str, str], float]]) -> None:
        self._staleness = staleness

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily("gpucloud_cloud_listing_age_seconds", "Age of the last good listing.", labels=LISTED)
        for labels, seconds in sorted(self._staleness().items()):
            family.add_metric(labels, seconds)
        yield family
