"""Isolation of namespaces that share the operator's own account.

A name in a spec does not prove that the named cloud resource belongs to the namespace: one namespace could copy another's
disk or adopt another's VPC. So under the operator's own account a spec may name only resources of objects in its own
namespace, and mount no file system that all VMs of the account share, unless the administrator allows all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.kinds.indexes import Named
from gpucloud.kinds import gpusnapshot, gpuvm, gpuvpc
from gpucloud.kinds.common import OWN_ACCOUNT, AdoptingSpec, Adoption, OrderState
from gpucloud.kinds.gpuvm import Storage
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Dependency, Readiness
from gpucloud.reconcile.naming import same_cluster
from gpucloud.reconcile.text import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus, SnapshotSource
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.core.facts import Subject

    Vm = CachedObject[GpuVMSpec, GpuVMStatus]
    Snapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]


def vm_by_name(objects: Listers, snapshot: Snapshot, there: SnapshotSource, account: ResolvedAccount) -> Iterator[Dependency]:
    """Refuse a snapshot's ``spec.vm`` if the VM is not of this namespace: the snapshot would copy its disk."""
    if not is_isolated(objects, account):
        return
    named = objects.vms.indexed(Named(there.name))
    holders = [vm for vm in named if vm.status.vm_id is not None and _is_at(objects, vm, there)]
    if not _only_ours(holders, snapshot):
        yield _refused(
            f"VM {there.name!r}",
            "no GpuVM of this namespace stands for it",
            "name a GpuVM in spec.vmRef",
        )


def snapshot_by_name(objects: Listers, vm: Vm, spec: GpuVMSpec, account: ResolvedAccount) -> Iterator[Dependency]:
    """Refuse a VM's ``image.snapshot`` if the snapshot is not of this namespace: the VM would boot from its disk."""
    name = spec.image.snapshot if spec.image is not None else None
    if name is None or not is_isolated(objects, account):
        return
    identity = objects.vm_identity(vm, spec)
    named = [it for it in objects.snapshots.indexed(Named(name)) if _is_named(objects, it, spec.cluster, name)]
    here = [it for it in named if it.meta.namespace != vm.meta.namespace or (identity and _vpc_of(objects, it) == identity.vpc)]
    if not _only_ours(here, vm):
        why = "no GpuSnapshot here stands for it in the VM's VPC"
        yield _refused(f"Snapshot {name!r}", why, "use image.snapshotRef", vm)


def nameless_fields(objects: Listers, vm: Vm, spec: GpuVMSpec, account: ResolvedAccount) -> Iterator[Dependency]:
    """Refuse a VM's image, volumes and shared file systems: no object can stand for them, so nothing tells whose they are."""
    if not is_isolated(objects, account):
        return
    custom = spec.image.custom_file if spec.image is not None else None
    if custom is not None:
        instead = "use image.operatingSystem, image.snapshotRef"
        yield _refused(f"Custom image {custom!r}", "no object can stand for it", instead, vm)
    storage = Storage() if spec.storage is None else spec.storage
    if storage.block_storage_names:
        volumes = f"Block storage {listed(tuple(map(repr, storage.block_storage_names)))}"
        yield _refused(volumes, "no object can stand for it", "leave out spec.storage.blockStorageNames", vm)
    for field, path in (
        ("personalMountPath", storage.personal_mount_path),
        ("tenantSharedMountPath", storage.tenant_shared_mount_path),
    ):
        if path is not None:
            why = "its VMs would read and write one file system"
            yield _refused(f"File system at {path!r}", why, f"leave out spec.storage.{field}", vm)


# What to do in place of an adoption, by the kind.
INSTEAD = {
    gpuvpc.KIND: "name it in spec.vpc of a GpuVM",
    gpuvm.KIND: "leave out spec.adoption and spec.vmName",
    gpusnapshot.KIND: "leave out spec.adoption and spec.snapshotName",
}


def adoption(objects: Listers, spec: AdoptingSpec, subject: Subject, name: str, account: ResolvedAccount) -> Dependency | None:
    """Return why what exists must not be adopted although ``spec.adoption`` asks for it; None if it may be."""
    if spec.adoption is Adoption.NEVER or not is_isolated(objects, account):
        return None
    return _refused(f"{subject.noun} {name!r}", "it may be another's", INSTEAD[subject.kind])


def is_isolated(objects: Listers, account: ResolvedAccount) -> bool:
    """Whether this account is the operator's own and its namespaces are isolated from each other."""
    return account.facts.name == OWN_ACCOUNT and not objects.shares_own


def _refused(name: str, why: str, instead: str, vm: Vm | None = None) -> Dependency:
    """Refuse a name. The fields are immutable, so a new object does ``instead``; but none is made for a VM that stands."""
    way_out = f"In a new object {instead} or use spec.accountRef; or ask for --own-account-sharing=Shared."
    if vm is not None and orders.stands(vm.order):
        way_out = "Put the old value back, or ask for --own-account-sharing=Shared."
    return Dependency(name, Readiness.UNUSABLE, f"The operator's own account may be shared, and {why}. {way_out}")


def _only_ours(claimants: Iterable[CachedObject[Any, Any]], stored: CachedObject[Any, Any]) -> bool:
    """Whether at least one claimant has a seen resource, and all such claimants are of this object's namespace."""
    found = [item for item in claimants if item.status.account == OWN_ACCOUNT and _is_there(item)]
    return bool(found) and all(item.meta.namespace == stored.meta.namespace for item in found)


def _is_at(objects: Listers, vm: Vm, there: SnapshotSource) -> bool:
    here = None if vm.spec is None else objects.vm_identity(vm, vm.spec)
    if here is None or not same_cluster(here.cluster, there.cluster):
        return False
    return (here.vpc, here.name) == (there.vpc, there.name)


def _is_named(objects: Listers, snapshot: Snapshot, cluster: str, name: str) -> bool:
    if snapshot.status.snapshot_id is None:
        return False
    here = None if snapshot.spec is None else objects.snapshot_identity(snapshot, snapshot.spec)
    return here is not None and same_cluster(here.cluster, cluster) and here.name == name


def _vpc_of(objects: Listers, snapshot: Snapshot) -> str | None:
    here = None if snapshot.spec is None else objects.snapshot_identity(snapshot, snapshot.spec)
    return None if here is None else here.vpc


def _is_there(stored: CachedObject[Any, Any]) -> bool:
    order = stored.order
    return order is not None and order.state is OrderState.SEEN
