"""References between kinds: identities, what an object needs before it is created, and which objects depend on it.

All functions read the cached objects only. ``cache/references.py`` indexes which objects to wake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.references import Target
from gpucloud.engine.kinds import sharing
from gpucloud.engine.kinds.indexes import InVpc, MadeFrom, Named, RefersTo
from gpucloud.kinds import gpusnapshot, gpuvm, gpuvpc
from gpucloud.kinds.common import DEFAULT_ACCOUNT, DeletionPolicy, OrderState
from gpucloud.kinds.gpucloudaccount import KIND as ACCOUNT
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile import placement
from gpucloud.reconcile.conditions import find, is_ready
from gpucloud.reconcile.facts import Dependency, Readiness
from gpucloud.reconcile.gpusnapshot.identity import identity as identity_of_snapshot
from gpucloud.reconcile.gpuvm.identity import identity as identity_of_vm
from gpucloud.reconcile.gpuvm.identity import wanted as wanted_of_vm
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, phase_of
from gpucloud.reconcile.naming import Identity, same_cluster
from gpucloud.reconcile.pause import is_paused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus, SnapshotSource
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus

    Vm = CachedObject[GpuVMSpec, GpuVMStatus]
    Vpc = CachedObject[GpuVpcSpec, GpuVpcStatus]
    Snapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]


WAITS = frozenset({Reason.DEPENDENCY_NOT_READY, Reason.INVALID_REFERENCE})


@dataclass(frozen=True, slots=True)
class Listers:
    """The cached objects of all kinds, and the installation's tag in the names of created resources."""

    vms: Store[GpuVMSpec, GpuVMStatus]
    vpcs: Store[GpuVpcSpec, GpuVpcStatus]
    snapshots: Store[GpuSnapshotSpec, GpuSnapshotStatus]
    accounts: Store[GpuCloudAccountSpec, GpuCloudAccountStatus]
    stores: dict[str, Store[Any, Any]]  # of accounts, and of each kind that the registry makes a reconciler for
    tag: str
    endpoint_of: Callable[[CachedObject[Any, Any]], str | None] = lambda _stored: None  # of its account; None: unknown
    shares_own: bool = False  # whether any namespace may name all resources of the operator's own account

    def find(self, target: Target) -> CachedObject[Any, Any] | None:
        """Return the object with this kind, namespace and name, or None.

        Raises:
            KeyError: no store of this kind is known, so nobody can say whether it exists.
        """
        return self.stores[target.kind].named(target.namespace, target.name)

    def vm_identity(self, vm: Vm, spec: GpuVMSpec) -> Identity | None:
        """Return the VM's identity; None while it is unknown."""
        here = identity_of_vm(vm.meta, spec, vm.status, self.tag, self._referred_vpc(vm, spec))
        return here if here.vpc or spec.vm_name is None else None  # in another VPC a chosen name may be another owner's

    def desired_vm_identity(self, vm: Vm, spec: GpuVMSpec) -> Identity:
        """Return the identity that the spec asks for, with an empty VPC while the VPC is unknown."""
        return wanted_of_vm(vm.meta, spec, vm.status, self.tag, self._referred_vpc(vm, spec))

    def _referred_vpc(self, vm: Vm, spec: GpuVMSpec) -> str | None:
        vpc = None if spec.vpc_ref is None else self.vpcs.named(vm.meta.namespace, spec.vpc_ref.name)
        return vpc.spec.name if vpc is not None and vpc.spec is not None else None

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
        return identity_of_snapshot(snapshot.meta, spec, snapshot.status, self.tag, referred)

    def snapshot_for(self, vm: Vm, spec: GpuVMSpec) -> str | None:
        """Return the cloud's name of the snapshot that the VM's disk is made from; None if unknown or not from a snapshot."""
        if spec.image is None or spec.image.snapshot_ref is None:
            return spec.image.snapshot if spec.image is not None else None
        snapshot = self.snapshots.named(vm.meta.namespace, spec.image.snapshot_ref.name)
        if snapshot is None or snapshot.spec is None:
            return None
        here = self.snapshot_identity(snapshot, snapshot.spec)
        return None if here is None else here.name

    def needs_of_vm(self, vm: Vm, spec: GpuVMSpec, account: ResolvedAccount) -> Iterator[Dependency]:
        """Yield what must be ready before this VM is bought."""
        yield from _account_serves(account)
        namespace = vm.meta.namespace
        if spec.vpc_ref is not None:
            vpc = self.vpcs.named(namespace, spec.vpc_ref.name)
            cluster = vpc.spec.cluster if vpc is not None and vpc.spec is not None else None
            missing = _missing(gpuvpc.KIND, spec.vpc_ref.name, "spec.vpcRef")
            moved = _moved(vm, vpc) or self._other_endpoint(vm, vpc, missing.name)
            yield moved or _need(missing, vpc, cluster, spec.cluster, account)
        else:
            yield from self._leaving_vpc(vm, spec)
        if spec.image is not None and spec.image.snapshot_ref is not None:
            snapshot = self.snapshots.named(namespace, spec.image.snapshot_ref.name)
            missing = _missing(gpusnapshot.KIND, spec.image.snapshot_ref.name, "spec.image.snapshotRef")
            elsewhere = self._other_endpoint(vm, snapshot, missing.name)
            yield elsewhere or _need(missing, snapshot, _cluster(snapshot), spec.cluster, account)
        yield from sharing.snapshot_by_name(self, vm, spec, account)

    def needs_of_vpc(self, account: ResolvedAccount) -> Iterator[Dependency]:
        """Yield what must be ready before a VPC is created."""
        return _account_serves(account)

    def needs_of_snapshot(self, snapshot: Snapshot, spec: GpuSnapshotSpec, account: ResolvedAccount) -> Iterator[Dependency]:
        """Yield what must be ready before this snapshot is taken."""
        yield from _account_serves(account)
        if spec.vm is not None:
            yield from sharing.vm_by_name(self, snapshot, spec.vm, account)
        if spec.vm_ref is None:
            return
        vm, missing = (
            self.vms.named(snapshot.meta.namespace, spec.vm_ref.name),
            _missing(gpuvm.KIND, spec.vm_ref.name, "spec.vmRef"),
        )
        name = missing.name
        elsewhere = self._other_endpoint(snapshot, vm, name)
        if vm is None:
            yield missing
        elif elsewhere is not None:
            yield elsewhere
        elif _is_made_from(vm, snapshot) and not orders.was_seen(vm.order):
            words = "It is to be made from this very snapshot, so neither can be first: take the snapshot of another VM."
            yield Dependency(name, Readiness.UNUSABLE, words)
        elif vm.meta.deleting:
            yield Dependency(name, Readiness.DELETING)
        elif vm.order is None or vm.order.state is not OrderState.SEEN:
            yield Dependency(name, Readiness.PENDING, _message(vm))

    def dependents_of_vpc(self, vpc: Vpc, spec: GpuVpcSpec, *, lost: bool = False) -> Iterator[str]:
        """Yield the objects that block this VPC's destruction: they refer to it, or have or may have a resource in it.

        Of a lost VPC only the latter, which may show that it still stands; the others can use the next VPC.
        """
        here, refers_here = InVpc(spec.cluster.casefold(), spec.name), RefersTo(gpuvpc.KIND, vpc.meta.namespace, vpc.meta.name)
        for vm in self.vms.indexed(here, refers_here):
            if vm.spec is None or not vm.meta.has_finalizer:
                continue
            refers = not lost and vm.spec.vpc_ref is not None and _same(vm, vpc, vm.spec.vpc_ref.name)
            if refers or (_ordered_in(vm, vpc, spec) and self._may_share_tenant(vm, vpc)):
                yield _display_name(gpuvm.KIND, vm, vpc)
        for snapshot in self.snapshots.indexed(here):
            if snapshot.meta.has_finalizer and _ordered_in(snapshot, vpc, spec) and self._may_share_tenant(snapshot, vpc):
                yield _display_name(gpusnapshot.KIND, snapshot, vpc)

    def dependents_of_vm(self, vm: Vm) -> Iterator[str]:
        """Yield the GpuSnapshots of this VM, by vmRef or by name, that are being taken now."""
        here = None if vm.spec is None else self.vm_identity(vm, vm.spec)
        refers_here = RefersTo(gpuvm.KIND, vm.meta.namespace, vm.meta.name)
        for snapshot in self.snapshots.indexed(refers_here, *(() if here is None else (MadeFrom(here.name),))):
            spec = snapshot.spec
            if spec is None or not _is_being_taken(snapshot, vm):
                continue
            refers = spec.vm_ref is not None and _same(snapshot, vm, spec.vm_ref.name)
            names = spec.vm is not None and here is not None and _leads_to(spec.vm, here)
            if refers or (names and self._may_share_tenant(snapshot, vm)):
                yield _display_name(gpusnapshot.KIND, snapshot, vm)

    def dependents_of_snapshot(self, snapshot: Snapshot) -> Iterator[str]:
        """Yield the GpuVMs that are being made from this snapshot now."""
        here = None if snapshot.spec is None else self.snapshot_identity(snapshot, snapshot.spec)
        refers_here = RefersTo(gpusnapshot.KIND, snapshot.meta.namespace, snapshot.meta.name)
        for vm in self.vms.indexed(refers_here, *(() if here is None else (MadeFrom(here.name),))):
            image = vm.spec.image if vm.spec is not None else None
            if image is None or not _is_being_made(vm, snapshot):
                continue
            refers = image.snapshot_ref is not None and _same(vm, snapshot, image.snapshot_ref.name)
            if refers or (image.snapshot is not None and self._names_snapshot(vm, image.snapshot, snapshot)):
                yield _display_name(gpuvm.KIND, vm, snapshot)

    def _names_snapshot(self, vm: Vm, name: str, snapshot: Snapshot) -> bool:
        """Whether the VM's ``image.snapshot`` is the cloud's name of this snapshot."""
        here = None if snapshot.spec is None else self.snapshot_identity(snapshot, snapshot.spec)
        in_cluster = here is not None and vm.spec is not None and here.cluster.casefold() == vm.spec.cluster.casefold()
        return in_cluster and here is not None and here.name == name and self._may_share_tenant(vm, snapshot)

    def deletable_snapshots(self, vm: Vm, here: Identity) -> Iterator[str]:
        """Yield the names of the VM's snapshots that may be deleted with it: the GpuSnapshot of each must allow it."""
        of_name = [vm, *self.vms.indexed(Named(here.name))]
        refer_here = {RefersTo(gpuvm.KIND, one.meta.namespace, one.meta.name) for one in of_name}
        for snapshot in self.snapshots.indexed(MadeFrom(here.name), *refer_here):
            spec = snapshot.spec
            if spec is None or snapshot.meta.namespace != vm.meta.namespace or spec.deletion.policy is DeletionPolicy.RETAIN:
                continue
            if is_paused(snapshot.meta.annotations):
                continue
            if snapshot.status.snapshot_id is None or self.source_identity(snapshot, spec) != here:
                continue
            if next(self.dependents_of_snapshot(snapshot), None) is not None:
                continue  # another VM is being made from it
            identity, order = self.snapshot_identity(snapshot, spec), snapshot.order
            if identity is not None and orders.may_exist(order) and not placement.is_moved(order, identity):
                yield identity.name

    def _leaving_vpc(self, vm: Vm, spec: GpuVMSpec) -> Iterator[Dependency]:
        """Block a VM whose ``spec.vpc`` names a VPC that a GpuVpc of any namespace is about to destroy.

        A GpuVpc of another namespace that adopted its VPC does not block: its deletion waits for an empty VPC.
        """
        for vpc in self.vpcs.indexed(Named(spec.vpc)) if spec.vpc is not None else ():
            wanted = vpc.spec
            if wanted is None or not vpc.meta.deleting or not vpc.meta.has_finalizer:
                continue
            if vpc.status.vpc_id is None and (vpc.order is None or vpc.order.cloud_id is None):
                continue
            if vpc.status.adopted and vpc.meta.namespace != vm.meta.namespace:
                continue
            here = same_cluster(wanted.cluster, spec.cluster) and wanted.name == spec.vpc
            if here and _destroys(wanted, vpc.status) and self._may_share_tenant(vm, vpc):
                yield Dependency(f"VPC {spec.vpc!r}", Readiness.DELETING)

    def _other_endpoint(
        self, dependent: CachedObject[Any, Any], needed: CachedObject[Any, Any] | None, name: str
    ) -> Dependency | None:
        """Refuse a needed object whose account uses another endpoint, hence another cloud."""
        endpoints = (self.endpoint_of(dependent), None if needed is None else self.endpoint_of(needed))
        if None in endpoints or endpoints[0] == endpoints[1]:
            return None
        words = "Its account uses another endpoint than this object's: give both an account of one endpoint."
        return Dependency(name, Readiness.UNUSABLE, words)

    def _may_share_tenant(self, one: CachedObject[Any, Any], other: CachedObject[Any, Any]) -> bool:
        """Whether two objects may be of one tenant at one endpoint. An unknown tenant or endpoint counts as the same."""
        endpoints, tenants = (self.endpoint_of(one), self.endpoint_of(other)), (one.status.tenancy, other.status.tenancy)
        return all(None in pair or pair[0] == pair[1] for pair in (endpoints, tenants))


def targets_of(stored: CachedObject[Any, Any]) -> Iterator[Target]:
    """Yield the objects that an object of any kind refers to; a change of a target wakes the object."""
    spec, namespace = stored.spec, stored.meta.namespace
    if spec is None:
        if stored.status.account is not None:
            yield Target(ACCOUNT, namespace, stored.status.account)
        return
    account = spec.account_ref.name if spec.account_ref is not None else stored.status.account or DEFAULT_ACCOUNT
    yield Target(ACCOUNT, namespace, account)
    fields = vars(spec)  # to ask a model for a field that its kind lacks takes ten times as long
    if fields.get("vpc_ref") is not None:
        yield Target(gpuvpc.KIND, namespace, spec.vpc_ref.name)
    if fields.get("vm_ref") is not None:
        yield Target(gpuvm.KIND, namespace, spec.vm_ref.name)
    image = fields.get("image")
    if image is not None and image.snapshot_ref is not None:
        yield Target(gpusnapshot.KIND, namespace, image.snapshot_ref.name)


def _account_serves(account: ResolvedAccount) -> Iterator[Dependency]:
    """Block creation with an account that is being deleted, whose Secret is, or whose credential changed its tenant."""
    name = f"GpuCloudAccount {account.facts.name!r}"
    if account.deleting:
        yield Dependency(name, Readiness.DELETING, account=True)
    if account.blocker is not None:
        yield account.blocker
    if account.tenant is not None and account.facts.tenants and account.tenant not in account.facts.tenants:
        words = f"Its credential is not of tenant {account.tenant!r} any more, to which it belonged; its conditions say more."
        yield Dependency(name, Readiness.PENDING, words, account=True)


def _missing(kind: str, name: str, field: str) -> Dependency:
    """What this field of the spec names, if there is no such object."""
    return Dependency(f"{kind} {name!r}", Readiness.MISSING, field=field)


def _need(
    missing: Dependency, needed: CachedObject[Any, Any] | None, cluster: str | None, wanted: str, account: ResolvedAccount
) -> Dependency:
    name = missing.name
    if needed is None:
        return missing
    if cluster is not None and not same_cluster(cluster, wanted):
        words = f"It is in cluster {cluster!r}, and spec.cluster is {wanted!r}: correct one of them by creating it anew."
        return Dependency(name, Readiness.UNUSABLE, words)
    theirs = needed.status.tenancy
    if theirs is not None and account.facts.tenants and theirs not in account.facts.tenants:
        words = (
            f"It belongs to tenant {theirs!r}, and the account {account.facts.name!r} does not: use an account of that tenant."
        )
        return Dependency(name, Readiness.UNUSABLE, words)
    if needed.meta.deleting:
        return Dependency(name, Readiness.DELETING)
    if not is_ready(needed.status.conditions) or needed.status.observed_generation != needed.meta.generation:
        return Dependency(name, Readiness.PENDING, _message(needed))
    return Dependency(name, Readiness.READY)


def _destroys(spec: GpuVpcSpec, status: GpuVpcStatus) -> bool:
    """Whether deleting this GpuVpc destroys its VPC. Without a policy in spec, an adopted VPC is retained."""
    said = spec.deletion.policy if spec.deletion is not None else None
    return not status.adopted if said is None else said is DeletionPolicy.DELETE


def _moved(vm: Vm, vpc: Vpc | None) -> Dependency | None:
    """Refuse a GpuVpc that was recreated for another VPC than the one that this VM was ordered in."""
    order = vm.order
    if vpc is None or vpc.spec is None or order is None or not orders.may_exist(order) or order.vpc in {"", vpc.spec.name}:
        return None
    words = f"It stands for VPC {vpc.spec.name!r} now, and this VM was ordered in {order.vpc!r}: create this object anew."
    return Dependency(f"GpuVpc {vpc.meta.name!r}", Readiness.UNUSABLE, words)


def _cluster(snapshot: Snapshot | None) -> str | None:
    return snapshot.status.cluster if snapshot is not None else None


def _same(dependent: CachedObject[Any, Any], target: CachedObject[Any, Any], name: str) -> bool:
    return dependent.meta.namespace == target.meta.namespace and name == target.meta.name


def _leads_to(there: SnapshotSource, here: Identity) -> bool:
    """Whether a snapshot's ``spec.vm`` may be this VM, whose VPC may be unknown."""
    return same_cluster(there.cluster, here.cluster) and there.name == here.name and here.vpc in {"", there.vpc}


def _ordered_in(stored: CachedObject[Any, Any], vpc: Vpc, spec: GpuVpcSpec) -> bool:
    order = stored.order
    if order is None or not _may_come(stored, vpc):
        return False
    return same_cluster(order.cluster, spec.cluster) and order.vpc == spec.name


def _is_made_from(vm: Vm, snapshot: Snapshot) -> bool:
    """Whether the VM's ``image.snapshotRef`` is this snapshot."""
    image = None if vm.spec is None else vm.spec.image
    return image is not None and image.snapshot_ref is not None and _same(vm, snapshot, image.snapshot_ref.name)


def _is_being_taken(snapshot: Snapshot, vm: Vm) -> bool:
    """Whether a snapshot was ordered and is not finished. Until then it needs its VM, even if paused or stalled."""
    if snapshot.meta.deleting or not snapshot.meta.has_finalizer or not _may_come(snapshot, vm):
        return False
    return orders.being_made(snapshot.order) or not snapshot.status.ready_to_use


def _is_being_made(vm: Vm, snapshot: Snapshot) -> bool:
    """Whether a VM was ordered and has not come up yet. Until then it needs the snapshot that its disk is made from."""
    if vm.meta.deleting or not vm.meta.has_finalizer or not _may_come(vm, snapshot):
        return False
    if orders.being_made(vm.order):
        return True
    return vm.status.settled_generation is None and phase_of(vm.status.state) is not VmPhase.FAILED


def _may_come(dependent: CachedObject[Any, Any], needed: CachedObject[Any, Any]) -> bool:
    """Whether what was ordered for an object exists, may yet come, or is ordered again.

    An overdue order is not repeated with what is being deleted: if that waited for it, both would wait for ever.
    """
    order = dependent.order
    overdue = order is not None and order.state is OrderState.OVERDUE
    return orders.may_exist(order) and not (overdue and needed.meta.deleting)


def _display_name(kind: str, stored: CachedObject[Any, Any], beside: CachedObject[Any, Any]) -> str:
    """Return an object's name for a message. An object of another namespace stays unnamed."""
    if stored.meta.namespace == beside.meta.namespace:
        return f"{kind} {stored.meta.name!r}"
    return f"a {kind} in another namespace"


def _message(stored: CachedObject[Any, Any]) -> str:
    """Return another object's reason and message. If it waits itself, its reason only, so that messages do not nest."""
    ready = find(stored.status.conditions, ConditionType.READY)
    if ready is None:
        return ""
    return f"({ready.reason})" if ready.reason in WAITS else f"({ready.reason}: {ready.message})"
