"""Declaration of GpuSnapshot: its references, its keys in the indexes, and what it owns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cloud import calls
from gpucloud.engine.kinds.declaration import KindDeclaration, MarkedResources
from gpucloud.engine.kinds.gpusnapshot.reconciler import GpuSnapshotReconciler, references
from gpucloud.engine.kinds.indexes import MadeFrom, Marked, Named, order_keys, reference_keys
from gpucloud.kinds.gpusnapshot import KIND, PLURAL, GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.reconcile import naming
from gpucloud.reconcile.conditions import is_ready
from gpucloud.reconcile.gpusnapshot.facts import SUBJECT
from gpucloud.reconcile.orphans import Owner
from gpucloud.reconcile.placement import recorded_identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.cloud.calls import Call
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.reconcile.naming import Identity

    GpuSnapshot = CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]


def keys(tag: str, snapshot: GpuSnapshot) -> Iterator[Any]:
    """Yield the keys of a GpuSnapshot."""
    yield from order_keys(tag, snapshot)
    yield Marked(naming.fingerprint(snapshot.meta.uid))
    spec = snapshot.spec
    if spec is None:
        return
    yield from reference_keys(snapshot, references(spec))
    if spec.vm is not None:
        yield MadeFrom(spec.vm.name)
    if spec.snapshot_name is not None:
        yield Named(spec.snapshot_name)


def owner(objects: Listers, snapshot: GpuSnapshot) -> Owner:
    """Return what a GpuSnapshot owns: its snapshot, and the VM that it is taken of, until it is Ready."""
    spec, meta = snapshot.spec, snapshot.meta
    if spec is None:
        return Owner(KIND, meta.uid, meta.namespace, meta.name)
    ready = is_ready(snapshot.status.conditions)
    refers = () if ready else references(spec)
    uses = {spec.vm.name} if spec.vm is not None and not ready else ()
    place = objects.snapshot_identity(snapshot, spec)
    recorded = recorded_identity(snapshot.order)
    who, needs = (KIND, meta.uid, meta.namespace, meta.name), (frozenset(refers), frozenset(uses))
    return Owner(*who, place, *needs, recorded, anywhere=meta.deleting)


def destroying_call(here: Identity) -> Call[Any]:
    """Return the call that destroys an orphan."""
    return calls.delete_snapshot(id=here.name, namespace=here.vpc, cluster=here.cluster)


DECLARATION = KindDeclaration(
    kind=KIND,
    plural=PLURAL,
    spec=GpuSnapshotSpec,
    status=GpuSnapshotStatus,
    reconciler=GpuSnapshotReconciler,
    keys=keys,
    marked=MarkedResources(
        noun=SUBJECT.noun,
        inventory=GpuSnapshotReconciler.inventory_name,
        owner=owner,
        destroy=SUBJECT.destroy,
        destroying_call=destroying_call,
    ),
)
