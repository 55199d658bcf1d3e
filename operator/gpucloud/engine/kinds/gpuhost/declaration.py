"""Declaration of GpuHost: a kind that is only observed. Nothing else refers to it, so it has no keys in the indexes."""

from __future__ import annotations

from gpucloud.engine.kinds.declaration import KindDeclaration
from gpucloud.engine.kinds.gpuhost.reconciler import GpuHostReconciler
from gpucloud.kinds.gpuhost import KIND, PLURAL, GpuHostSpec, GpuHostStatus

DECLARATION = KindDeclaration(
    kind=KIND,
    plural=PLURAL,
    spec=GpuHostSpec,
    status=GpuHostStatus,
    observer=GpuHostReconciler,
)
