"""GpuVpc: its declaration and its reconciler."""

from gpucloud.engine.kinds.gpuvpc.declaration import DECLARATION
from gpucloud.engine.kinds.gpuvpc.reconciler import GpuVpcReconciler

__all__ = ["DECLARATION", "GpuVpcReconciler"]
