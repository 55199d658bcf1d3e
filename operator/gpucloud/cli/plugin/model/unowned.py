"""``orphans``, ``export``: what the cloud has and no object stands for. Pure.

Who is an orphan, the operator's own code decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cli.plugin.model.objects import HOST, SNAPSHOT, VM, VPC
from gpucloud.cli.unclaimed import leftover
from gpucloud.cloud.models import HostRecord, VmRecord, VpcRecord
from gpucloud.reconcile import naming
from gpucloud.reconcile.orphans import MarkedRecord
from gpucloud.reconcile.orphans import orphans as without_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpucloud.cli.plugin.model.objects import Thing
    from gpucloud.cli.unclaimed import CloudRecord, Leftover
    from gpucloud.engine.cloud.queries import ClusterRecords, Records
    from gpucloud.reconcile.orphans import Owners


def orphans(records: Records, bodies: Mapping[str, Iterable[Mapping[str, Any]]], tag: str) -> tuple[Leftover, ...]:
    """What bears this installation's mark and belongs to no object; ``bodies`` are all objects of all namespaces, by kind."""
    found = without_object(_marked(records, tag), _owners(bodies, tag))
    return tuple(_leftover(item.where.cluster, item.record, records.prices, item.made_for) for item in found)


def unclaimed(records: Records, things: Iterable[Thing]) -> tuple[tuple[Leftover, CloudRecord], ...]:
    """What no object in sight stands for, by what the objects say that they stand for, with its record."""
    claimed = dict[tuple[str, str, str], set[str]]()
    for item in things:
        for claim in _claims(item):
            claimed.setdefault(claim, set()).update(_vpcs(item))
    found = []
    for here in records.clusters:
        for kind, record in _each(here):
            name, vpc = _named(record)
            vpcs = claimed.get((kind, here.cluster.casefold(), name), set())
            if name and not (vpcs & {vpc, ""} or (vpcs and not vpc)):
                found.append((_leftover(here.cluster, record, records.prices), record))
    return tuple(found)


def _each(here: ClusterRecords) -> Iterator[tuple[str, CloudRecord]]:
    yield from ((VM, record) for record in here.vms)
    yield from ((SNAPSHOT, record) for record in here.snapshots)
    yield from ((VPC, record) for record in here.vpcs)
    yield from ((HOST, record) for record in here.hosts or ())


def _named(record: CloudRecord) -> tuple[str, str]:
    """The name that an object gives, and the VPC in which the name counts; none for what is in no VPC."""
    if isinstance(record, VpcRecord):
        return record.name or "", ""
    return record.id or "", "" if isinstance(record, HostRecord) else record.namespace or ""


def _marked(records: Records, tag: str) -> Iterator[MarkedRecord]:
    for here in records.clusters:
        for kind, record in _each(here):
            if isinstance(record, VpcRecord | HostRecord):
                continue
            mark = naming.read_mark(record.id or "", tag)
            if mark is not None:
                where = naming.Identity(cluster=here.cluster, vpc=record.namespace or "", name=record.id or "")
                yield MarkedRecord(kind, where, mark, record)


def _owners(bodies: Mapping[str, Iterable[Mapping[str, Any]]], tag: str) -> Owners:
    from gpucloud.engine.kinds.registry import new_listers  # noqa: PLC0415 - all reconcilers, which take a second to load
    from gpucloud.engine.orphans import scan  # noqa: PLC0415 - as above

    objects = new_listers(tag)
    for kind, store in objects.stores.items():
        for body in bodies.get(kind, ()):
            store.put(body)
    return scan.owners_in(objects)


def _claims(item: Thing) -> Iterator[tuple[str, str, str]]:
    """Under which names an object stands, or may stand, for something: what was seen, and what is or may be ordered."""
    order = item.status.get("order")
    planned = order if isinstance(order, dict) else {}
    clusters = {item.text("cluster"), str(item.spec.get("cluster") or ""), str(planned.get("cluster") or "")}
    seen = {VM: "vmId", SNAPSHOT: "snapshotId", VPC: "name", HOST: "hostId"}.get(item.key.kind, "")
    chosen = {VM: "vmName", SNAPSHOT: "snapshotName", VPC: "name", HOST: "hostId"}.get(item.key.kind, "")
    names = {item.text(seen), str(item.spec.get(chosen) or ""), str(planned.get("name") or "")}
    return ((item.key.kind, cluster.casefold(), name) for cluster in clusters for name in names if cluster and name)


def _vpcs(item: Thing) -> set[str]:
    """In which VPCs it stands, or may stand; an empty name for any, while none is known."""
    order, vm = item.status.get("order"), item.spec.get("vm")
    said = [item.text("vpc"), item.spec.get("vpc"), *(part.get("vpc") for part in (order, vm) if isinstance(part, dict))]
    return {str(vpc) for vpc in said if vpc} or {""}


def _leftover(cluster: str, record: CloudRecord, prices: Mapping[str, str], made_for: str | None = None) -> Leftover:
    price = prices.get(record.configuration or "") if isinstance(record, VmRecord) else None
    return leftover(cluster, record, price, made_for)
