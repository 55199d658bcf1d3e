"""Which objects still need the resource of an object that is being deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.engine.kinds.indexes import InVpc, MadeFrom, Named, RefersTo
from gpucloud.engine.kinds.listers import refers_to
from gpucloud.kinds import gpusnapshot, gpuvm, gpuvpc
from gpucloud.kinds.common import OWN_ACCOUNT, Adoption, DeletionPolicy, OrderState, Origin
from gpucloud.kinds.meta import FINAL_SNAPSHOT_OF
from gpucloud.reconcile import order as orders
from gpucloud.reconcile import placement
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, phase_of
from gpucloud.reconcile.naming import Identity, same_cluster
from gpucloud.reconcile.pause import is_paused
from gpucloud.reconcile.retention import recorded_policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus, SnapshotSource
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus

    Vm = CachedObject[GpuVMSpec, GpuVMStatus]
    Vpc = CachedObject[GpuVpcSpec, GpuVpcStatus]
    Snapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]

_SHOWN = frozenset({OrderState.SEEN, OrderState.DESTROYING})


@dataclass(frozen=True, slots=True)
class Dependent:
    """An object that still needs the resource of another one. It has no name where it is in another namespace."""

    kind: str
    name: str
    is_deleting: bool

    def __str__(self) -> str:
        """As a message names it."""
        return f"{self.kind} {self.name!r}" if self.name else f"a {self.kind} in another namespace"


def deletable(dependents: Iterable[Dependent]) -> tuple[str, ...] | None:
    """Return what kubectl calls those that nobody has deleted yet, ``gpuvm/train``; None if one is in another namespace."""
    left = [one for one in dependents if not one.is_deleting]
    return tuple(f"{one.kind.lower()}/{one.name}" for one in left) if all(one.name for one in left) else None


def dependents_of_vpc(objects: Listers, vpc: Vpc, spec: GpuVpcSpec, *, lost: bool = False) -> Iterator[Dependent]:
    """Yield the objects that block this VPC's destruction: they refer to it, or have or may have a resource in it.

    Of a lost VPC only the latter, which may show that it still stands; the others can use the next VPC.
    """
    here, refers_here = InVpc(spec.cluster.casefold(), spec.name), RefersTo(gpuvpc.KIND, vpc.meta.namespace, vpc.meta.name)
    for vm in objects.vms.indexed(here, refers_here):
        if vm.spec is None or not vm.meta.has_finalizer:
            continue
        refers = not lost and vm.spec.vpc_ref is not None and refers_to(vm, vpc, vm.spec.vpc_ref.name)
        if refers or (_ordered_in(vm, vpc, spec) and objects.may_share_tenant(vm, vpc)):
            yield _dependent(gpuvm.KIND, vm, vpc)
    for snapshot in objects.snapshots.indexed(here):
        if snapshot.meta.has_finalizer and _ordered_in(snapshot, vpc, spec) and objects.may_share_tenant(snapshot, vpc):
            yield _dependent(gpusnapshot.KIND, snapshot, vpc)


def dependents_of_vm(objects: Listers, vm: Vm) -> Iterator[Dependent]:
    """Yield the GpuSnapshots of this VM, by vmRef or by name, that are being taken now."""
    here = None if vm.spec is None else objects.vm_identity(vm, vm.spec)
    refers_here = RefersTo(gpuvm.KIND, vm.meta.namespace, vm.meta.name)
    for snapshot in objects.snapshots.indexed(refers_here, *(() if here is None else (MadeFrom(here.name),))):
        spec = snapshot.spec
        if spec is None or is_final_snapshot(snapshot, vm) or not _is_being_taken(snapshot, vm):
            continue
        refers = spec.vm_ref is not None and refers_to(snapshot, vm, spec.vm_ref.name)
        names = spec.vm is not None and here is not None and _leads_to(spec.vm, here)
        if refers or (names and objects.may_share_tenant(snapshot, vm)):
            yield _dependent(gpusnapshot.KIND, snapshot, vm)


def dependents_of_snapshot(objects: Listers, snapshot: Snapshot) -> Iterator[Dependent]:
    """Yield the GpuVMs that are being made from this snapshot now."""
    here = None if snapshot.spec is None else objects.snapshot_identity(snapshot, snapshot.spec)
    refers_here = RefersTo(gpusnapshot.KIND, snapshot.meta.namespace, snapshot.meta.name)
    for vm in objects.vms.indexed(refers_here, *(() if here is None else (MadeFrom(here.name),))):
        image = vm.spec.image if vm.spec is not None else None
        if image is None or not _is_being_made(vm, snapshot):
            continue
        refers = image.snapshot_ref is not None and refers_to(vm, snapshot, image.snapshot_ref.name)
        if refers or (image.snapshot is not None and _names_snapshot(objects, vm, image.snapshot, snapshot)):
            yield _dependent(gpuvm.KIND, vm, snapshot)


def is_final_snapshot(snapshot: Snapshot, vm: Vm) -> bool:
    """Whether the operator made this GpuSnapshot to take the final snapshot of the VM, whose deletion knows of it."""
    return snapshot.meta.annotations.get(FINAL_SNAPSHOT_OF) == vm.meta.uid


def _names_snapshot(objects: Listers, vm: Vm, name: str, snapshot: Snapshot) -> bool:
    """Whether the VM's ``image.snapshot`` is the cloud's name of this snapshot."""
    here = None if snapshot.spec is None else objects.snapshot_identity(snapshot, snapshot.spec)
    in_cluster = here is not None and vm.spec is not None and here.cluster.casefold() == vm.spec.cluster.casefold()
    return in_cluster and here is not None and here.name == name and objects.may_share_tenant(vm, snapshot)


def deletable_snapshots(objects: Listers, vm: Vm, here: Identity) -> Iterator[str]:
    """Yield the names of the VM's snapshots that may be deleted with it: the GpuSnapshot of each must allow it."""
    of_name = [vm, *objects.vms.indexed(Named(here.name))]
    refer_here = {RefersTo(gpuvm.KIND, one.meta.namespace, one.meta.name) for one in of_name}
    for snapshot in objects.snapshots.indexed(MadeFrom(here.name), *refer_here):
        spec = snapshot.spec
        if spec is None or snapshot.meta.namespace != vm.meta.namespace:
            continue
        if recorded_policy(spec.deletion.policy, snapshot.order) is DeletionPolicy.RETAIN:
            continue
        if is_paused(snapshot.meta.annotations) or is_final_snapshot(snapshot, vm):
            continue
        if snapshot.status.snapshot_id is None or not _is_taken_of(objects, snapshot, spec, here):
            continue
        if next(dependents_of_snapshot(objects, snapshot), None) is not None:
            continue  # another VM is being made from it
        identity, order = objects.snapshot_identity(snapshot, spec), snapshot.order
        if not (_is_its_own(objects, snapshot, spec) and objects.may_share_tenant(snapshot, vm)):
            continue
        if identity is not None and not placement.is_moved(order, identity):
            yield identity.name


def _is_its_own(objects: Listers, snapshot: Snapshot, spec: GpuSnapshotSpec) -> bool:
    """Whether what has the snapshot's name is its GpuSnapshot's, which alone looks: not what that would not delete itself."""
    order = snapshot.order
    if order is None or order.state not in _SHOWN or order.missing_since is not None:
        return False
    may_adopt = objects.shares_own or snapshot.status.account != OWN_ACCOUNT
    return order.origin is Origin.CREATED or (spec.adoption is not Adoption.NEVER and may_adopt)


def _is_taken_of(objects: Listers, snapshot: Snapshot, spec: GpuSnapshotSpec, vm: Identity) -> bool:
    source = objects.source_identity(snapshot, spec)
    if source is None or not same_cluster(source.cluster, vm.cluster):
        return False
    return (source.vpc, source.name) == (vm.vpc, vm.name)


def _leads_to(there: SnapshotSource, here: Identity) -> bool:
    """Whether a snapshot's ``spec.vm`` may be this VM, whose VPC may be unknown."""
    return same_cluster(there.cluster, here.cluster) and there.name == here.name and here.vpc in {"", there.vpc}


def _ordered_in(stored: CachedObject[Any, Any], vpc: Vpc, spec: GpuVpcSpec) -> bool:
    order = stored.order
    if order is None or not _may_come(stored, vpc):
        return False
    return same_cluster(order.cluster, spec.cluster) and order.vpc == spec.name


def _is_being_taken(snapshot: Snapshot, vm: Vm) -> bool:
    """Whether a snapshot was ordered and is not finished. Until then it needs its VM, even if paused or stalled."""
    if snapshot.meta.deleting or _is_unrecorded(snapshot):
        return not snapshot.meta.deleting
    if not snapshot.meta.has_finalizer or not _may_come(snapshot, vm):
        return False
    return orders.being_made(snapshot.order) or not snapshot.status.ready_to_use


def _is_being_made(vm: Vm, snapshot: Snapshot) -> bool:
    """Whether a VM was ordered and has not come up yet. Until then it needs the snapshot that its disk is made from."""
    if vm.meta.deleting or _is_unrecorded(vm):
        return not vm.meta.deleting
    if not vm.meta.has_finalizer or not _may_come(vm, snapshot):
        return False
    if orders.being_made(vm.order):
        return True
    return vm.status.settled_generation is None and phase_of(vm.status.state) is not VmPhase.FAILED


def _is_unrecorded(dependent: CachedObject[Any, Any]) -> bool:
    """Whether no status says anything of an object yet: it is new, or its status was lost after its resource was ordered.

    Its first reconcile tells which, within moments.
    """
    return dependent.order is None and dependent.status.observed_generation < 0


def _may_come(dependent: CachedObject[Any, Any], needed: CachedObject[Any, Any]) -> bool:
    """Whether what was ordered for an object exists, may yet come, or is ordered again.

    An overdue order is not repeated with what is being deleted: if that waited for it, both would wait for ever.
    """
    order = dependent.order
    overdue = order is not None and order.state is OrderState.OVERDUE
    return orders.may_exist(order) and not (overdue and needed.meta.deleting)


def _dependent(kind: str, stored: CachedObject[Any, Any], beside: CachedObject[Any, Any]) -> Dependent:
    """Return an object that needs another one's resource."""
    name = stored.meta.name if stored.meta.namespace == beside.meta.namespace else ""
    return Dependent(kind, name, is_deleting=stored.meta.deleting)
