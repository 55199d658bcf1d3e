"""Declaration of GpuVM: its references, its keys in the indexes, and what it owns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cloud import calls
from gpucloud.engine.kinds.declaration import KindDeclaration, MarkedResources
from gpucloud.engine.kinds.gpuvm.reconciler import GpuVMReconciler, references
from gpucloud.engine.kinds.indexes import MadeFrom, Marked, Named, WaitsForCapacity, order_keys, reference_keys
from gpucloud.kinds import gpusnapshot
from gpucloud.kinds.gpuvm import KIND, PLURAL, GpuVMSpec, GpuVMStatus
from gpucloud.reconcile import naming
from gpucloud.reconcile.conditions import is_ready
from gpucloud.reconcile.gpuvm.clusters import clusters, is_left_behind
from gpucloud.reconcile.gpuvm.facts import SUBJECT
from gpucloud.reconcile.orphans import Owner
from gpucloud.reconcile.placement import recorded_identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.cloud.calls import Call
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.reconcile.naming import Identity

    GpuVM = CachedObject[GpuVMSpec, GpuVMStatus]


def keys(tag: str, vm: GpuVM) -> Iterator[Any]:
    """Yield the keys of a GpuVM."""
    yield from order_keys(tag, vm)
    yield Marked(naming.fingerprint(vm.meta.uid))
    spec = vm.spec
    if spec is None:
        return
    yield from reference_keys(vm, references(spec))
    if spec.vm_name is not None:
        yield Named(spec.vm_name)
    if spec.image is not None and spec.image.snapshot is not None:
        yield MadeFrom(spec.image.snapshot)
    if vm.status.placement is not None and vm.status.placement.waiting_since is not None:
        yield from (WaitsForCapacity(cluster.casefold()) for cluster in clusters(spec))


def owner(objects: Listers, vm: GpuVM) -> Owner:
    """Return what a GpuVM owns: its VM, and the snapshot that its disk is made from, until it is Ready."""
    spec, meta = vm.spec, vm.meta
    if spec is None:
        return Owner(KIND, meta.uid, meta.namespace, meta.name)
    refers = () if is_ready(vm.status.conditions) else (it for it in references(spec) if it[0] == gpusnapshot.KIND)
    uses = {spec.image.snapshot} if spec.image is not None and spec.image.snapshot is not None else ()
    place = objects.vm_identity(vm, spec)
    recorded = recorded_identity(vm.order)
    others = clusters(spec) if place is not None and is_left_behind(vm.order) else ()
    elsewhere = tuple(place._replace(cluster=cluster) for cluster in others if place is not None)
    who, needs = (KIND, meta.uid, meta.namespace, meta.name), (frozenset(refers), frozenset(uses))
    return Owner(*who, place, *needs, recorded, elsewhere, anywhere=meta.deleting)


def destroying_call(here: Identity) -> Call[Any]:
    """Return the call that destroys an orphan."""
    return calls.destroy_server(id=here.name, namespace=here.vpc, cluster=here.cluster)


DECLARATION = KindDeclaration(
    kind=KIND,
    plural=PLURAL,
    spec=GpuVMSpec,
    status=GpuVMStatus,
    reconciler=GpuVMReconciler,
    keys=keys,
    marked=MarkedResources(
        noun=SUBJECT.noun,
        inventory=GpuVMReconciler.inventory_name,
        owner=owner,
        destroy=SUBJECT.destroy,
        destroying_call=destroying_call,
    ),
)
