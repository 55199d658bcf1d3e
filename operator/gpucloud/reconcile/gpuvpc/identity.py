"""Which VPC a GpuVpc stands for: its full name in its cluster, as the spec says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile.naming import Identity

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvpc import GpuVpcSpec


def identity(spec: GpuVpcSpec) -> Identity:
    """Where to look for the VPC. It lives in no VPC but itself."""
    return Identity(cluster=spec.cluster, vpc=spec.name, name=spec.name)
