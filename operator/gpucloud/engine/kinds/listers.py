"""The cached objects of all kinds, and what follows from them alone: identities in the cloud, whose tenant, which endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.kinds import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.gpusnapshot.identity import identity as identity_of_snapshot
from gpucloud.reconcile.gpuvm.identity import VmLocation
from gpucloud.reconcile.naming import Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.references import Target
    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus

    Vm = CachedObject[GpuVMSpec, GpuVMStatus]
    Snapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]


@dataclass(frozen=True, slots=True)
class Listers:
    """The cached objects of all kinds, and the installation's tag in the names of created resources."""

    stores: Mapping[str, Store[Any, Any]]  # of every kind of the registry
    tag: str
    endpoint_of: Callable[[CachedObject[Any, Any]], str | None] = lambda _stored: None  # of its account; None: unknown
    shares_own: bool = False  # whether any namespace may name all resources of the operator's own account

    @property
    def vms(self) -> Store[GpuVMSpec, GpuVMStatus]:
        """All GpuVMs."""
        return self.stores[gpuvm.KIND]

    @property
    def vpcs(self) -> Store[GpuVpcSpec, GpuVpcStatus]:
        """All GpuVpcs."""
        return self.stores[gpuvpc.KIND]

    @property
    def snapshots(self) -> Store[GpuSnapshotSpec, GpuSnapshotStatus]:
        """All GpuSnapshots."""
        return self.stores[gpusnapshot.KIND]

    @property
    def accounts(self) -> Store[GpuCloudAccountSpec, GpuCloudAccountStatus]:
        """All GpuCloudAccounts."""
        return self.stores[gpucloudaccount.KIND]

    def find(self, target: Target) -> CachedObject[Any, Any] | None:
        """Return the object with this kind, namespace and name, or None.

        Raises:
            KeyError: no store of this kind is known, so nobody can say whether it exists.
        """
        return self.stores[target.kind].named(target.namespace, target.name)

    def vm_identity(self, vm: Vm, spec: GpuVMSpec) -> Identity | None:
        """Return the VM's identity; None while it is unknown."""
        here = self._location(vm, spec).placed()
        return here if here.vpc or spec.vm_name is None else None  # in another VPC a chosen name may be another owner's

    def desired_vm_identity(self, vm: Vm, spec: GpuVMSpec) -> Identity:
        """Return the identity that the spec asks for, with an empty VPC while the VPC is unknown."""
        return self._location(vm, spec).wanted()

    def _location(self, vm: Vm, spec: GpuVMSpec) -> VmLocation:
        vpc = None if spec.vpc_ref is None else self.vpcs.named(vm.meta.namespace, spec.vpc_ref.name)
        referred = vpc.spec.name if vpc is not None and vpc.spec is not None else None
        return VmLocation(
            meta=vm.meta, spec=spec, order=vm.order, placement=vm.status.placement, referred_vpc=referred, tag=self.tag
        )

    def source_identity(self, snapshot: Snapshot, spec: GpuSnapshotSpec) -> Identity | None:
        """Return the identity of the snapshot's VM; None while its GpuVM does not exist."""
        if spec.vm is not None:
            return Identity(cluster=spec.vm.cluster, vpc=spec.vm.vpc, name=spec.vm.name)
        vm = None if spec.vm_ref is None else self.vms.named(snapshot.meta.namespace, spec.vm_ref.name)
        return None if vm is None or vm.spec is None else self.vm_identity(vm, vm.spec)

    def snapshot_identity(self, snapshot: Snapshot, spec: GpuSnapshotSpec) -> Identity | None:
        """Return the snapshot's identity; None while it is unknown."""
        referred = self.source_identity(snapshot, spec)
        if referred is not None and not referred.vpc:
            referred = None  # the VPC of its VM is unknown
        return identity_of_snapshot(snapshot.meta, spec, snapshot.order, self.tag, referred)

    def snapshot_for(self, vm: Vm, spec: GpuVMSpec) -> str | None:
        """Return the cloud's name of the snapshot that the VM's disk is made from; None if unknown or not from a snapshot."""
        if spec.image is None or spec.image.snapshot_ref is None:
            return spec.image.snapshot if spec.image is not None else None
        snapshot = self.snapshots.named(vm.meta.namespace, spec.image.snapshot_ref.name)
        if snapshot is None or snapshot.spec is None:
            return None
        here = self.snapshot_identity(snapshot, snapshot.spec)
        return None if here is None else here.name

    def may_share_tenant(self, one: CachedObject[Any, Any], other: CachedObject[Any, Any]) -> bool:
        """Whether two objects may be of one tenant at one endpoint. An unknown tenant or endpoint counts as the same."""
        endpoints, tenants = (self.endpoint_of(one), self.endpoint_of(other)), (one.status.tenancy, other.status.tenancy)
        return all(None in pair or pair[0] == pair[1] for pair in (endpoints, tenants))


def refers_to(dependent: CachedObject[Any, Any], target: CachedObject[Any, Any], name: str) -> bool:
    """Whether the name in a reference of ``dependent`` is that of ``target``."""
    return dependent.meta.namespace == target.meta.namespace and name == target.meta.name
