"""Declaration of GpuVpc: its keys in the indexes. The name of a VPC bears no mark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.kinds.declaration import KindDeclaration
from gpucloud.engine.kinds.gpuvpc.reconciler import GpuVpcReconciler
from gpucloud.engine.kinds.indexes import Deleting, Named
from gpucloud.kinds.gpuvpc import KIND, PLURAL, GpuVpcSpec, GpuVpcStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.engine.cache.store import CachedObject


def keys(_tag: str, vpc: CachedObject[GpuVpcSpec, GpuVpcStatus]) -> Iterator[Any]:
    """Yield the keys of a GpuVpc."""
    if vpc.spec is not None:
        yield Named(vpc.spec.name)
    if vpc.meta.deleting:
        yield Deleting()


DECLARATION = KindDeclaration(
    kind=KIND,
    plural=PLURAL,
    spec=GpuVpcSpec,
    status=GpuVpcStatus,
    reconciler=GpuVpcReconciler,
    keys=keys,
)
