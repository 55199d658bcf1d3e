"""Every metric that the operator exports, each with a sample.

Kept by hand, since some metrics come only with what they count. ``test_collectors.py`` fails where a running engine exports
more.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from prometheus_client import ProcessCollector

from gpucloud.cloud.options import CallReport
from gpucloud.engine.telemetry import collectors
from gpucloud.engine.telemetry.collectors import FleetVM, ListingStatus
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.model import Condition

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ACCOUNT = "team/default"


def a_status(state: str | None = "ONLINE", gpus: int | None = 8, price: str | None = "20.50") -> GpuVMStatus:
    """Of a VM that the cloud shows."""
    return GpuVMStatus(state=state, vm_id="x", gpus=gpus, price_per_hour=price)


def a_condition(kind: str = "Ready", status: str = "True", reason: str = "Running", *, at: datetime = NOON) -> Condition:
    """A condition that has stood since then."""
    return Condition(type=kind, status=status, reason=reason, message="So it is.", last_transition_time=at)


def all_metrics(clusters: list[str]) -> Metrics:
    """Every metric, of these clusters."""
    metrics = Metrics()
    listed = [(ACCOUNT, "vms", cluster) for cluster in clusters]
    metrics.export(
        collectors.Objects(lambda: [("team", "GpuVM", "True", "Running")]),
        collectors.ListingStatuses(lambda: dict.fromkeys(listed, ListingStatus(1.0, 1, doubted=False)), metrics.cluster),
        collectors.held(lambda: {("team",): 1.0}),
        collectors.price_limits({("namespace",): 100.0}),
        collectors.price_limit_usage(lambda: {("team", ACCOUNT): 20.5}),
        collectors.vm_limits({("namespace",): 10.0}),
        collectors.vm_limit_usage(lambda: {("team", ACCOUNT): 9.0}),
        collectors.withheld(lambda: {("GpuVM", "CreateServer"): 1.0}),
        collectors.Orphans(lambda: [((ACCOUNT, "vms", "Msc1"), 1, 1.0)], lambda: [(ACCOUNT, True)]),
        collectors.watch_ages(lambda: {("GpuVM",): 1.0}),
        collectors.leadership("gpucloud-operator", lambda: True),
        collectors.build("1.2.3"),
        ProcessCollector(registry=None),
        collectors.Fleet(lambda: [FleetVM("team", ACCOUNT, "u-train", a_status())], lambda: NOON),
        collectors.Conditions(lambda: [("GpuVM", "team", a_condition())], lambda: NOON),
        collectors.Deletions(lambda: [("GpuVM", ("Reconciling", "Deleting"), NOON)], lambda: NOON),
        collectors.Budgets(lambda: [(ACCOUNT, 5.0)]),
    )
    metrics.time_to_ready.labels("GpuVM").observe(60)
    metrics.changed("GpuVM", [a_condition(status="False")], [a_condition()])
    metrics.ended("GpuVM", timedelta(seconds=1))
    metrics.calls.called(CallReport("GetServers", "GET", 200, None, 0.1, 1))
    metrics.reconciles.total.labels("gpuvm", "success").inc()
    metrics.reconciles.seconds.labels("gpuvm").observe(0.1)
    metrics.reconciles.errors.labels("gpuvm").inc()
    metrics.queue.retried()
    metrics.requests.observe("PUT", "200", 0.1)
    metrics.changes.change("CreateServer", "Accepted")
    metrics.status_writes.labels("GpuVM", "written").inc()
    metrics.undone_writes.labels("GpuVM").inc()
    meter = metrics.listings(ACCOUNT, "vms")
    for cluster in clusters:
        meter.listed(cluster, plausible=True)
        meter.failed(cluster, "Invalid")
    return metrics
