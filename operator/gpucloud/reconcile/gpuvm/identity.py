"""Which VM a GpuVM stands for. Computed from spec and UID; status is never believed on its own, since people can edit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile import naming

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.facts import ObjectFacts


def identity(meta: ObjectFacts, spec: GpuVMSpec, status: GpuVMStatus, tag: str) -> naming.Identity:
    """Where to look for the VM.

    A recorded name is kept when it bears the fingerprint of this very object: so a VM is found again after the
    installation's tag has changed (a rebuilt cluster). Any other recorded name is not looked at.
    """
    name = spec.vm_name
    if name is None and status.intent is not None and naming.proves(status.intent.name, meta.uid):
        name = status.intent.name
    return naming.Identity(cluster=spec.cluster, vpc=spec.vpc, name=name or naming.external_name(meta.name, meta.uid, tag))
