"""Which VM a GpuVM stands for. Computed from spec and UID; status is never believed on its own, since people can edit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile import naming
from gpucloud.reconcile.gpuvm.clusters import cluster_in_hand
from gpucloud.reconcile.placement import actual_identity

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.kinds.placement import PlacementStatus
    from gpucloud.reconcile.facts import ObjectFacts


def wanted(
    meta: ObjectFacts,
    spec: GpuVMSpec,
    order: Order | None,
    tag: str,
    referred_vpc: str | None = None,
    placement: PlacementStatus | None = None,
) -> naming.Identity:
    """Return the identity that the spec asks for. ``order`` is the object's own record, if it has one.

    A recorded name is kept when it bears the fingerprint of this very object: so a VM is found again after the
    installation's tag has changed (a rebuilt cluster). Any other recorded name is not looked at.

    ``referred_vpc`` is the VPC's name that ``spec.vpcRef`` leads to, if there is such an object. The VPC recorded with this
    VM's own name comes before it: a GpuVpc may go, and another of its name stand for another VPC. With neither it is an
    empty one: then the name is looked for in all VPCs.

    Of an object that is being deleted a recorded name of its own says where the VM is, whatever the spec names by now.
    ``placement`` is that of status: where no order ties the object to a cluster, it names the one in hand.
    """
    name, vpc, cluster = spec.vm_name, spec.vpc, ""
    marked = order is not None and naming.proves(order.name, meta.uid)
    if order is not None and (marked if name is None else order.name == name):
        if meta.deleting and name is None:
            vpc, cluster = order.vpc, order.cluster
        name, vpc = order.name, vpc or order.vpc
    name = name or naming.external_name(meta.name, meta.uid, tag)
    here = cluster or cluster_in_hand(spec, order if marked else None, placement)
    return naming.Identity(cluster=here, vpc=vpc or referred_vpc or "", name=name)


def identity(
    meta: ObjectFacts,
    spec: GpuVMSpec,
    order: Order | None,
    tag: str,
    referred_vpc: str | None = None,
    placement: PlacementStatus | None = None,
) -> naming.Identity:
    """Return the VM's identity: as the cloud placed it, else as ordered."""
    return actual_identity(wanted(meta, spec, order, tag, referred_vpc, placement), order)
