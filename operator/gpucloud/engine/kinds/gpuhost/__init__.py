"""GpuHost: its declaration and its reconciler."""

from gpucloud.engine.kinds.gpuhost.declaration import DECLARATION
from gpucloud.engine.kinds.gpuhost.reconciler import GpuHostReconciler

__all__ = ["DECLARATION", "GpuHostReconciler"]
