"""The reconcilers of all kinds that stand for something in the cloud. A new kind is one more line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.kinds.gpusnapshot import GpuSnapshotReconciler
from gpucloud.engine.kinds.gpuvm import GpuVMReconciler
from gpucloud.engine.kinds.gpuvpc import GpuVpcReconciler

if TYPE_CHECKING:
    from gpucloud.engine.kinds.cloud_reconciler import CloudReconciler
    from gpucloud.engine.kinds.deletion_guard import DeletionGuard
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.quota_usage import QuotaUsage


def cloud_reconcilers(deps: ReconcilerDeps, guard: DeletionGuard, quota: QuotaUsage) -> list[CloudReconciler[Any, Any, Any]]:
    """Return one reconciler per kind, each with its store among those of ``deps.objects``."""
    reconcilers: list[CloudReconciler[Any, Any, Any]] = [
        GpuVMReconciler(deps, deps.objects.vms, guard, quota),
        GpuVpcReconciler(deps, deps.objects.vpcs),
        GpuSnapshotReconciler(deps, deps.objects.snapshots),
    ]
    deps.objects.stores.update((reconciler.kind, reconciler.store) for reconciler in reconcilers)
    return reconcilers
