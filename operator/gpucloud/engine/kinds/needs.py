"""What an object needs before its resource is created: its account, and the objects that its spec refers to or names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.kinds import sharing
from gpucloud.engine.kinds.indexes import Named
from gpucloud.engine.kinds.listers import refers_to
from gpucloud.kinds import gpusnapshot, gpuvm, gpuvpc
from gpucloud.kinds.common import DeletionPolicy, OrderState
from gpucloud.kinds.meta import FINAL_SNAPSHOT_OF, ConditionType
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.conditions import find, is_ready
from gpucloud.reconcile.facts import Dependency, Readiness
from gpucloud.reconcile.gpuvpc.facts import is_id_known
from gpucloud.reconcile.naming import same_cluster
from gpucloud.reconcile.retention import deletion_policy
from gpucloud.reconcile.text import in_brackets
from gpucloud.spelling import nearest_of_few

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus

    Vm = CachedObject[GpuVMSpec, GpuVMStatus]
    Vpc = CachedObject[GpuVpcSpec, GpuVpcStatus]
    Snapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]


_ANEW = "Delete this object and create it again"


def needs_of_vm(objects: Listers, vm: Vm, spec: GpuVMSpec, account: ResolvedAccount) -> Iterator[Dependency]:
    """Yield what must be ready before this VM is bought."""
    yield from _account_serves(account)
    namespace = vm.meta.namespace
    if spec.vpc_ref is not None:
        vpc = objects.vpcs.named(namespace, spec.vpc_ref.name)
        cluster = vpc.spec.cluster if vpc is not None and vpc.spec is not None else None
        missing = _missing(gpuvpc.KIND, spec.vpc_ref.name, "spec.vpcRef", objects.vpcs.names(namespace))
        moved = _moved(vm, vpc) or _other_endpoint(objects, vm, vpc, missing.name)
        yield moved or _other_cluster(missing, cluster, spec.cluster, vm) or _need(missing, vpc, account, vm)
    else:
        yield from _leaving_vpc(objects, vm, spec)
    if spec.image is not None and spec.image.snapshot_ref is not None:
        snapshot = objects.snapshots.named(namespace, spec.image.snapshot_ref.name)
        known = objects.snapshots.names(namespace)
        missing = _missing(gpusnapshot.KIND, spec.image.snapshot_ref.name, "spec.image.snapshotRef", known)
        elsewhere = _other_endpoint(objects, vm, snapshot, missing.name)
        apart = _other_cluster(missing, _cluster(snapshot), spec.cluster, vm)
        found = elsewhere or apart or _need(missing, snapshot, account, vm)
        nameless = objects.snapshot_for(vm, spec) is None and _was_taken(found, snapshot)
        yield _nameless(vm, snapshot, found.name) if nameless else found  # no VM is made from anything else
    yield from sharing.snapshot_by_name(objects, vm, spec, account)
    yield from sharing.nameless_fields(objects, vm, spec, account)


def needs_of_vpc(account: ResolvedAccount) -> Iterator[Dependency]:
    """Yield what must be ready before a VPC is created."""
    return _account_serves(account)


def needs_of_snapshot(
    objects: Listers, snapshot: Snapshot, spec: GpuSnapshotSpec, account: ResolvedAccount
) -> Iterator[Dependency]:
    """Yield what must be ready before this snapshot is taken."""
    yield from _account_serves(account, ends_a_vm=ends_a_vm(objects, snapshot))
    if spec.vm is not None:
        yield from sharing.vm_by_name(objects, snapshot, spec.vm, account)
    if spec.vm_ref is None:
        return
    namespace = snapshot.meta.namespace
    vm = objects.vms.named(namespace, spec.vm_ref.name)
    missing = _missing(gpuvm.KIND, spec.vm_ref.name, "spec.vmRef", objects.vms.names(namespace))
    name = missing.name
    elsewhere = _other_endpoint(objects, snapshot, vm, name)
    if vm is None:
        yield missing
    elif elsewhere is not None:
        yield elsewhere
    elif _is_made_from(vm, snapshot) and not orders.was_seen(vm.order):
        words = f"Its image is this snapshot, so neither can be created first. {_ANEW} with another VM in spec.vmRef."
        yield Dependency(name, Readiness.UNUSABLE, words)
    elif vm.meta.deleting:
        yield Dependency(name, Readiness.DELETING)
    elif vm.order is None or vm.order.state is not OrderState.SEEN:
        yield Dependency(name, Readiness.PENDING, _message(vm))


def _leaving_vpc(objects: Listers, vm: Vm, spec: GpuVMSpec) -> Iterator[Dependency]:
    """Block a VM whose ``spec.vpc`` names a VPC that a GpuVpc of any namespace is about to destroy.

    A GpuVpc of another namespace that adopted its VPC does not block: its deletion waits for an empty VPC.
    """
    for vpc in objects.vpcs.indexed(Named(spec.vpc)) if spec.vpc is not None else ():
        wanted = vpc.spec
        if wanted is None or not vpc.meta.deleting or not vpc.meta.has_finalizer:
            continue
        if not is_id_known(vpc.status, vpc.order):
            continue
        if vpc.status.adopted and vpc.meta.namespace != vm.meta.namespace:
            continue
        there = objects.desired_vm_identity(vm, spec).cluster
        here = same_cluster(wanted.cluster, there) and wanted.name == spec.vpc
        if here and _destroys(wanted, vpc.status) and objects.may_share_tenant(vm, vpc):
            yield Dependency(f"VPC {spec.vpc!r}", Readiness.DELETING)


def _other_endpoint(
    objects: Listers, dependent: CachedObject[Any, Any], needed: CachedObject[Any, Any] | None, name: str
) -> Dependency | None:
    """Refuse a needed object whose account uses another endpoint, hence another cloud."""
    endpoints = (objects.endpoint_of(dependent), None if needed is None else objects.endpoint_of(needed))
    if None in endpoints or endpoints[0] == endpoints[1]:
        return None
    words = "Its account uses another endpoint than this object's: give both an account of one endpoint."
    return Dependency(name, Readiness.UNUSABLE, words)


def ends_a_vm(objects: Listers, snapshot: Snapshot) -> bool:
    """Whether it is the final snapshot of a VM whose object is being deleted."""
    vm = objects.vms.get(snapshot.meta.annotations.get(FINAL_SNAPSHOT_OF, ""))
    return vm is not None and vm.meta.deleting and vm.meta.namespace == snapshot.meta.namespace


def _account_serves(account: ResolvedAccount, *, ends_a_vm: bool = False) -> Iterator[Dependency]:
    """Block creation with an account that is being deleted, whose Secret is, or whose credential changed its tenant."""
    yield from account.blockers(ends_a_vm=ends_a_vm)
    if account.tenant is not None and account.facts.tenants and account.tenant not in account.facts.tenants:
        words = f"Its credential is no longer of tenant {account.tenant!r}: put a key of that tenant back."
        yield Dependency(f"GpuCloudAccount {account.facts.name!r}", Readiness.PENDING, words, account=True)


def _missing(kind: str, name: str, field: str, known: Collection[str]) -> Dependency:
    """What this field of the spec names, if there is no such object; ``known`` are the names of this kind in the namespace."""
    near = () if name in known else nearest_of_few(name, known)
    return Dependency(f"{kind} {name!r}", Readiness.MISSING, field=field, near=near)


def _other_cluster(needed: Dependency, cluster: str | None, wanted: str, vm: Vm) -> Dependency | None:
    """Refuse a needed object of another cluster than the VM's; None for ``cluster``: it is not known, or there is no object."""
    if cluster is None or same_cluster(cluster, wanted):
        return None
    what = f"It is in cluster {cluster!r}, and spec.cluster is {wanted!r}"
    if orders.may_exist(vm.order):  # a deletion would destroy the VM
        another = f"Name one of cluster {wanted!r} in {needed.field}"
        if needed.field == "spec.vpcRef":  # which no edit may change
            another = f"Delete {needed.name}, and create it again in cluster {wanted!r}"
        return Dependency(needed.name, Readiness.UNUSABLE, f"{what}. {another}.")
    words = f"{what}. {_ANEW} with spec.cluster: {cluster}, or {needed.field} of cluster {wanted}."
    return Dependency(needed.name, Readiness.UNUSABLE, words)


def _need(missing: Dependency, needed: CachedObject[Any, Any] | None, account: ResolvedAccount, vm: Vm) -> Dependency:
    name = missing.name
    if needed is None:
        return missing
    theirs = needed.status.tenancy
    if theirs is not None and account.facts.tenants and theirs not in account.facts.tenants:
        what = f"It is of tenant {theirs!r}, and account {account.facts.name!r} is not"
        words = f"{what}. {_ANEW} with an account of that tenant in spec.accountRef."
        if orders.may_exist(vm.order):  # a deletion would destroy the VM
            words = f"{what}. Give {name} an account of this object's tenant."
        return Dependency(name, Readiness.UNUSABLE, words)
    if needed.meta.deleting:
        return Dependency(name, Readiness.DELETING, held=isinstance(needed.spec, gpuvpc.GpuVpcSpec))
    if not is_ready(needed.status.conditions) or needed.status.observed_generation != needed.meta.generation:
        return Dependency(name, Readiness.PENDING, _message(needed))
    return Dependency(name, Readiness.READY)


def _was_taken(found: Dependency, snapshot: Snapshot | None) -> bool:
    """Whether the GpuSnapshot says Ready, or did: without a record of its order it waits for its GpuVM as a new one does."""
    shown = None if snapshot is None else snapshot.status.snapshot_id
    return found.readiness is Readiness.READY or (found.readiness is Readiness.PENDING and shown is not None)


def _nameless(vm: Vm, snapshot: Snapshot | None, name: str) -> Dependency:
    """A GpuSnapshot that was taken, and whose status lost the record of its order, while its GpuVM does not exist."""
    taken = None if snapshot is None else snapshot.status.snapshot_id
    image = "another spec.image" if taken is None else f"spec.image.snapshot: {taken!r}"
    # A deletion would destroy what was ordered.
    how = f"set {image}" if orders.may_exist(vm.order) else f"delete this object and create it again with {image}"
    return Dependency(name, Readiness.NAMELESS, f"To do without that GpuSnapshot, {how}.")


def _destroys(spec: GpuVpcSpec, status: GpuVpcStatus) -> bool:
    """Whether deleting this GpuVpc destroys its VPC. Without a policy in spec, an adopted VPC is retained."""
    said = spec.deletion.policy if spec.deletion is not None else None
    return deletion_policy(said, adopted=bool(status.adopted)) is DeletionPolicy.DELETE


def _moved(vm: Vm, vpc: Vpc | None) -> Dependency | None:
    """Refuse a GpuVpc that was recreated for another VPC than the one that this VM was ordered in."""
    order = vm.order
    if vpc is None or vpc.spec is None or order is None or not orders.may_exist(order) or order.vpc in {"", vpc.spec.name}:
        return None
    words = (
        f"Its VPC is {vpc.spec.name!r} now, and this VM was ordered in {order.vpc!r}. Delete this object (that destroys the "
        "VM, unless spec.deletion.policy is Retain) and create it again."
    )
    return Dependency(f"GpuVpc {vpc.meta.name!r}", Readiness.UNUSABLE, words)


def _cluster(snapshot: Snapshot | None) -> str | None:
    return snapshot.status.cluster if snapshot is not None else None


def _is_made_from(vm: Vm, snapshot: Snapshot) -> bool:
    """Whether the VM's ``image.snapshotRef`` is this snapshot."""
    image = None if vm.spec is None else vm.spec.image
    return image is not None and image.snapshot_ref is not None and refers_to(vm, snapshot, image.snapshot_ref.name)


def _message(stored: CachedObject[Any, Any]) -> str:
    """Return why another object is Stalled.

    The state of one that goes on by itself passes within seconds, and would still be quoted when it has passed.
    """
    found = find(stored.status.conditions, ConditionType.STALLED)
    return "" if found is None else in_brackets(f"{found.reason}: {found.message}")
