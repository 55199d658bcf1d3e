"""Metric of the calls that change the cloud, by operation and outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class ChangeMetrics:
    """Counter of changes; implements ``ChangeMeter``."""

    def __init__(self, registry: CollectorRegistry) -> None:
        words = "Calls that change the cloud, sent or withdrawn."
        self._changes = Counter("gpucloud_cloud_changes", words, ["operation", "outcome"], registry=registry)

    def change(self, operation: str, outcome: str) -> None:
        """Count one change; ``outcome`` is Accepted, or the kind of the error."""
        self._changes.labels(operation, outcome).inc()
