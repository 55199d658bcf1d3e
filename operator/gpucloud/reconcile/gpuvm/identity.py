"""Which VM a GpuVM stands for. Computed from spec and UID; status is never believed on its own, since people can edit it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.reconcile import naming
from gpucloud.reconcile.gpuvm.clusters import cluster_in_hand
from gpucloud.reconcile.placement import actual_identity

if TYPE_CHECKING:
    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.kinds.placement import PlacementStatus
    from gpucloud.reconcile.facts import ObjectFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class VmLocation:
    """What the VM's name and place follow from.

    No field has a default: whoever left out ``placement`` would look for the VM in the wrong cluster.
    """

    meta: ObjectFacts
    spec: GpuVMSpec
    order: Order | None  # the object's own record, if it has one
    placement: PlacementStatus | None  # of status: where no order ties the object to a cluster, it names the one in hand
    referred_vpc: str | None  # the VPC's name that spec.vpcRef leads to, if there is such an object
    tag: str  # of the installation

    def wanted(self) -> naming.Identity:
        """Return the identity that the spec asks for.

        A recorded name is kept when it bears the fingerprint of this very object: so a VM is found again after the
        installation's tag has changed (a rebuilt cluster). Any other recorded name is not looked at.

        The VPC recorded with this VM's own name comes before the referred one: a GpuVpc may go, and another of its name stand
        for another VPC. With neither it is an empty one: then the name is looked for in all VPCs.

        Of an object that is being deleted a recorded name of its own says where the VM is, whatever the spec names by now.
        """
        meta, spec, order = self.meta, self.spec, self.order
        name, vpc, cluster = spec.vm_name, spec.vpc, ""
        marked = order is not None and naming.proves(order.name, meta.uid)
        if order is not None and (marked if name is None else order.name == name):
            if meta.deleting and name is None:
                vpc, cluster = order.vpc, order.cluster
            name, vpc = order.name, vpc or order.vpc
        name = name or naming.external_name(meta.name, meta.uid, self.tag)
        here = cluster or cluster_in_hand(spec, order if marked else None, self.placement)
        return naming.Identity(cluster=here, vpc=vpc or self.referred_vpc or "", name=name)

    def placed(self) -> naming.Identity:
        """Return the VM's identity: as the cloud placed it, else as ordered."""
        return actual_identity(self.wanted(), self.order)
