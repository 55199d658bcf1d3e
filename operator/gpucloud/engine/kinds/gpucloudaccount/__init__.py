"""GpuCloudAccount: its declaration and its reconciler."""

from gpucloud.engine.kinds.gpucloudaccount.declaration import DECLARATION
from gpucloud.engine.kinds.gpucloudaccount.reconciler import AccountReconcilerDeps, GpuCloudAccountReconciler

__all__ = ["DECLARATION", "AccountReconcilerDeps", "GpuCloudAccountReconciler"]
