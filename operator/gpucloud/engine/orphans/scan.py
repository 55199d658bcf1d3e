"""Scan: lists the cloud records of this installation and the objects that stand for them.

The cloud is listed before the objects, so that a record created in between has its object in the list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.cloud.errors import CloudError
from gpucloud.kinds import gpusnapshot, gpuvm
from gpucloud.reconcile import naming
from gpucloud.reconcile.conditions import is_ready
from gpucloud.reconcile.facts import Unknown
from gpucloud.reconcile.orphans import MarkedRecord, Owner, Owners

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.engine.kinds.dependencies import Listers
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.reconcile.orphans import Abandonment

# By the name of the inventory that holds them: what bears our mark, and the kind of the object that it is made for.
MARKED = {"vms": gpuvm.KIND, "snapshots": gpusnapshot.KIND}
INVENTORIES = {kind: holds for holds, kind in MARKED.items()}
PLURALS = {gpuvm.KIND: gpuvm.PLURAL, gpusnapshot.KIND: gpusnapshot.PLURAL}


class Place(NamedTuple):
    """One listing: what is listed, and in which cluster."""

    holds: str
    cluster: str


CLUSTERS = Place("clusters", "")  # the list of the clusters themselves


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What one credential shows of ours, when each listing began, and what could not be listed, with the reason."""

    records: tuple[MarkedRecord, ...] = ()
    as_of: Mapping[Place, float] = field(default_factory=dict)
    unlisted: Mapping[Place, str] = field(default_factory=dict)


def place_of(marked: MarkedRecord) -> Place:
    """Which listing shows it."""
    return Place(INVENTORIES[marked.kind], marked.where.cluster)


async def scan_session(session: AccountSession, tag: str) -> ScanResult:
    """Scan every cluster that the credential knows, also clusters without objects."""
    known = set(session.learned.clusters).union(*(session.inventories[holds].clusters for holds in MARKED))
    unlisted = {}
    try:
        known |= set(await session.client.get_all_clusters())
    except CloudError as error:
        unlisted[CLUSTERS] = error.message
    spellings = {cluster.casefold(): cluster for cluster in sorted(known)}  # two of one cluster would show everything twice
    found = await scan_places(session, tag, [Place(holds, cluster) for cluster in spellings.values() for holds in MARKED])
    return ScanResult(found.records, found.as_of, unlisted | dict(found.unlisted))


async def scan_places(session: AccountSession, tag: str, places: Iterable[Place], not_before: float = -math.inf) -> ScanResult:
    """Scan these places only, by listings that began at ``not_before`` or later."""
    found: list[MarkedRecord] = []
    as_of, unlisted = {}, {}
    for place in places:
        inventory: Inventory[Any] = session.inventories[place.holds]
        listed = await inventory.listing(place.cluster, not_before)
        if isinstance(listed, Unknown):
            unlisted[place] = f"{listed.cause}: {listed.detail}" if listed.detail else str(listed.cause)
            continue
        as_of[place] = listed.as_of
        for where, records in listed.records.items():
            mark = naming.read_mark(where.name, tag)
            if mark is not None:
                found.append(MarkedRecord(MARKED[place.holds], where, mark, records[0], duplicate_records=len(records) > 1))
    return ScanResult(tuple(found), as_of, unlisted)


def owners(objects: Listers, listed: Mapping[str, set[str]]) -> Owners:
    """The objects that the apiserver lists, by kind and UID; one that has not been seen whole yet is known by its UID alone."""
    return Owners((*_owners_of_vms(objects, listed), *_owners_of_snapshots(objects, listed)), objects.tag)


def _owners_of_vms(objects: Listers, listed: Mapping[str, set[str]]) -> Iterator[Owner]:
    for uid in listed[gpuvm.KIND]:
        vm = objects.vms.get(uid)
        if vm is None or vm.spec is None:
            yield _bare(gpuvm.KIND, uid, vm)
            continue
        image = vm.spec.image
        refers = {(gpusnapshot.KIND, image.snapshot_ref.name)} if image is not None and image.snapshot_ref is not None else ()
        uses = {image.snapshot} if image is not None and image.snapshot is not None else ()
        place = objects.vm_identity(vm, vm.spec)
        yield Owner(
            gpuvm.KIND, uid, vm.meta.namespace, vm.meta.name, place, frozenset(refers if _unmade(vm) else ()), frozenset(uses)
        )


def _owners_of_snapshots(objects: Listers, listed: Mapping[str, set[str]]) -> Iterator[Owner]:
    for uid in listed[gpusnapshot.KIND]:
        snapshot = objects.snapshots.get(uid)
        if snapshot is None or snapshot.spec is None:
            yield _bare(gpusnapshot.KIND, uid, snapshot)
            continue
        spec, meta = snapshot.spec, snapshot.meta
        refers = {(gpuvm.KIND, spec.vm_ref.name)} if spec.vm_ref is not None and _unmade(snapshot) else ()
        uses = {spec.vm.name} if spec.vm is not None and _unmade(snapshot) else ()
        place = objects.snapshot_identity(snapshot, spec)
        yield Owner(gpusnapshot.KIND, uid, meta.namespace, meta.name, place, frozenset(refers), frozenset(uses))


def _bare(kind: str, uid: str, stored: CachedObject[Any, Any] | None) -> Owner:
    """One whose spec is not known: it stands for whatever bears its mark."""
    return Owner(kind, uid) if stored is None else Owner(kind, uid, stored.meta.namespace, stored.meta.name)


def _unmade(stored: CachedObject[GpuVMSpec, Any] | CachedObject[GpuSnapshotSpec, Any]) -> bool:
    """Whether it may still need what it is made from."""
    return not is_ready(stored.status.conditions)


def may_be_wanted_now(objects: Listers, gone: Abandonment) -> bool:
    """Whether an object has come, since all were listed, that may be looking for what this one left behind."""
    store: Store[Any, Any] = objects.vms if gone.kind == gpuvm.KIND else objects.snapshots
    base = naming.base_name(gone.name, objects.tag)
    return any(
        stored.meta.namespace == gone.namespace and naming.base_name(stored.meta.name, objects.tag) == base for stored in store
    )
