"""Metrics of requests to the cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from gpucloud.cloud.options import CallReport


class CallMetrics:
    """How many requests to the cloud there were, by their answer, and how long they took."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._calls = Counter("gpucloud_cloud_requests", "Requests to the cloud.", ["operation", "code"], registry=registry)
        self._seconds = Histogram(
            "gpucloud_cloud_request_duration_seconds", "Length of a request to the cloud.", ["operation"], registry=registry
        )

    def called(self, report: CallReport) -> None:
        """Count one request; called by the cloud client."""
        code = str(report.status) if report.status is not None else str(report.kind or "none")
        self._calls.labels(report.operation, code).inc()
        self._seconds.labels(report.operation).observe(report.seconds)
