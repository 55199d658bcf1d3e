"""GpuVM: its declaration, its reconciler, and the body of its order."""

from gpucloud.engine.kinds.gpuvm.create_server import create_server_request
from gpucloud.engine.kinds.gpuvm.declaration import DECLARATION
from gpucloud.engine.kinds.gpuvm.reconciler import GpuVMReconciler

__all__ = ["DECLARATION", "GpuVMReconciler", "create_server_request"]
