"""Metrics of reconciles, under controller-runtime's names, and the results that they and their writes may have."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from prometheus_client import Counter, Histogram

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry


class ReconcileResult(StrEnum):
    """Result of a reconcile: controller-runtime's values, and ``unchanged`` for a success that wrote and called nothing."""

    SUCCESS = "success"
    UNCHANGED = "unchanged"
    REQUEUE = "requeue"
    ERROR = "error"


class StatusWriteResult(StrEnum):
    """Result of a status write."""

    WRITTEN = "written"
    CONFLICT = "conflict"
    ERROR = "error"


def controller_name(kind: str) -> str:
    """Return the value of the label ``controller``: the kind in lower case, as controller-runtime names its controllers."""
    return kind.lower()


class ReconcileMetrics:
    """How many reconciles there were of each kind, with which result, and how long they took."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.total = Counter(
            "controller_runtime_reconcile", "Reconciles by their result.", ["controller", "result"], registry=registry
        )
        self.errors = Counter(
            "controller_runtime_reconcile_errors", "Reconciles that ended with an exception.", ["controller"], registry=registry
        )
        self.seconds = Histogram(
            "controller_runtime_reconcile_time_seconds", "Duration of a reconcile.", ["controller"], registry=registry
        )

    def begin(self, kind: str) -> None:
        """Create the series of a kind at 0."""
        self.errors.labels(controller_name(kind))
        for result in ReconcileResult:
            self.total.labels(controller_name(kind), result)
