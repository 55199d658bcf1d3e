"""What a spec asks for when its VM is lost or has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.gpuvm import DeletionPolicy, PowerState
from gpucloud.kinds.recreation import OnLoss
from gpucloud.reconcile.gpuvm.snapshots import is_required

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMSpec


def asks_recreation(spec: GpuVMSpec) -> bool:
    """Whether it asks for a new VM. One that is to be stopped is not created: the cloud starts, and bills, what it creates."""
    return spec.on_loss is OnLoss.RECREATE and spec.power_state is PowerState.RUNNING


def replaces_failed(spec: GpuVMSpec, policy: DeletionPolicy) -> bool:
    """Whether a failed VM is destroyed for a new one: not if the spec keeps the VM, or a last snapshot of it."""
    return asks_recreation(spec) and policy is DeletionPolicy.DELETE and not is_required(spec.deletion, policy)
