"""Which snapshot a GpuSnapshot stands for. Computed from spec and UID; its place is its VM's, or the recorded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile import naming
from gpucloud.reconcile.order import placed

if TYPE_CHECKING:
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
    from gpucloud.reconcile.facts import ObjectFacts


def identity(
    meta: ObjectFacts,
    spec: GpuSnapshotSpec,
    status: GpuSnapshotStatus,
    tag: str,
    referred: naming.Identity | None = None,
) -> naming.Identity | None:
    """Where to look for the snapshot; None while nobody can say.

    A snapshot outlives its VM, so the recorded place comes first once the recorded name bears this object's fingerprint, or
    is the chosen one. ``referred`` is the VM that ``spec.vmRef`` leads to, if there is such an object.
    """
    name, order = spec.snapshot_name, status.order
    if order is not None and order.name and (order.name == name or (name is None and naming.proves(order.name, meta.uid))):
        cluster, vpc = (spec.vm.cluster, spec.vm.vpc) if spec.vm is not None else (order.cluster, order.vpc)
        return placed(naming.Identity(cluster=cluster, vpc=vpc, name=order.name), order)
    name = name or naming.external_name(meta.name, meta.uid, tag)
    if spec.vm is not None:
        return naming.Identity(cluster=spec.vm.cluster, vpc=spec.vm.vpc, name=name)
    return None if referred is None else naming.Identity(cluster=referred.cluster, vpc=referred.vpc, name=name)
