"""Which snapshot a GpuSnapshot stands for. Computed from spec and UID; its place is its VM's, or the recorded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile import naming
from gpucloud.reconcile.placement import actual_identity

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec
    from gpucloud.reconcile.facts import ObjectFacts


def name_of(meta: ObjectFacts, spec: GpuSnapshotSpec, order: Order | None, tag: str) -> str:
    """Return the name that the spec asks for: spec.snapshotName, else the recorded name with this object's fingerprint."""
    if spec.snapshot_name is not None:
        return spec.snapshot_name
    if order is not None and naming.proves(order.name, meta.uid):
        return order.name
    return naming.external_name(meta.name, meta.uid, tag)


def identity(
    meta: ObjectFacts,
    spec: GpuSnapshotSpec,
    order: Order | None,
    tag: str,
    referred: naming.Identity | None = None,
) -> naming.Identity | None:
    """Return the snapshot's identity; None while it is unknown.

    A snapshot outlives its VM, so the place in ``order``, this object's own record, comes first. ``referred`` is the VM that
    ``spec.vmRef`` leads to, if there is such an object.
    """
    name = name_of(meta, spec, order, tag)
    if order is not None and order.name and (spec.snapshot_name is None or order.name == name):
        cluster, vpc = (spec.vm.cluster, spec.vm.vpc) if spec.vm is not None else (order.cluster, order.vpc)
        return actual_identity(naming.Identity(cluster=cluster, vpc=vpc, name=name), order)
    if spec.vm is not None:
        return naming.Identity(cluster=spec.vm.cluster, vpc=spec.vm.vpc, name=name)
    return None if referred is None else naming.Identity(cluster=referred.cluster, vpc=referred.vpc, name=name)
