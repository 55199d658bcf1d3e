"""Identity of a GpuVpc's VPC: its full name and cluster, both from spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile.naming import Identity

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvpc import GpuVpcSpec


def identity(spec: GpuVpcSpec) -> Identity:
    """Return the VPC's identity. Its VPC part is its own name."""
    return Identity(cluster=spec.cluster, vpc=spec.name, name=spec.name)
