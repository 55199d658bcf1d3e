"""GpuSnapshot: its declaration and its reconciler."""

from gpucloud.engine.kinds.gpusnapshot.declaration import DECLARATION
from gpucloud.engine.kinds.gpusnapshot.reconciler import GpuSnapshotReconciler

__all__ = ["DECLARATION", "GpuSnapshotReconciler"]
