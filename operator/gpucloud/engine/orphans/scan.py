"""Scan: lists the cloud records of this installation and the objects that stand for them.

The cloud is listed before the objects, so that a record created in between has its object in the list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.cloud.errors import CloudError
from gpucloud.engine.cloud import listings
from gpucloud.engine.kinds import registry
from gpucloud.reconcile import naming
from gpucloud.reconcile.facts import Unknown
from gpucloud.reconcile.orphans import MarkedRecord, Owner, Owners

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.reconcile.orphans import Abandonment

KINDS = {one.inventory: kind for kind, one in registry.MARKED.items()}  # of what bears our mark, by the inventory that lists it
PLURALS = {kind: registry.PLURALS[kind] for kind in registry.MARKED}
if len(KINDS) < len(registry.MARKED):
    raise ValueError("two kinds of marked resources share an inventory: an orphan would be taken for the other kind's")


class Scope(NamedTuple):
    """One listing: what is listed, and in which cluster."""

    inventory: str
    cluster: str


CLUSTERS = Scope("clusters", "")  # the list of the clusters themselves


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What one credential shows of ours, when each listing began, and what could not be listed, with the reason."""

    records: tuple[MarkedRecord, ...] = ()
    as_of: Mapping[Scope, float] = field(default_factory=dict)
    unlisted: Mapping[Scope, str] = field(default_factory=dict)


def scope_of(marked: MarkedRecord) -> Scope:
    """Return the listing that shows this record."""
    return Scope(registry.MARKED[marked.kind].inventory, marked.where.cluster)


async def scan_session(session: AccountSession, tag: str) -> ScanResult:
    """Scan every cluster that the credential knows, also clusters without objects."""
    in_use = set[str]().union(*(session.inventories[inventory].clusters for inventory in KINDS))
    told, unlisted = frozenset[str](), {}
    try:
        told = await listings.clusters(session.client)
    except CloudError as error:
        unlisted[CLUSTERS] = error.message
    known = (*sorted(in_use), *session.learned.clusters, *sorted(told))
    spellings = {cluster.casefold(): cluster for cluster in known}  # one of each cluster: the cloud's own, where it is known
    scopes = [Scope(inventory, cluster) for cluster in sorted(spellings.values()) for inventory in KINDS]
    found = await scan_scopes(session, tag, scopes)
    return ScanResult(found.records, found.as_of, unlisted | dict(found.unlisted))


async def scan_scopes(session: AccountSession, tag: str, scopes: Iterable[Scope], not_before: float = -math.inf) -> ScanResult:
    """Scan these scopes only, by listings that began at ``not_before`` or later.

    A listing that is shared with objects may have their spelling of the cluster, which comes and goes with them.
    """
    found: list[MarkedRecord] = []
    as_of, unlisted = {}, {}
    for scope in scopes:
        inventory: Inventory[Any] = session.inventories[scope.inventory]
        listed = await inventory.listing(inventory.spelling(scope.cluster), not_before)
        if isinstance(listed, Unknown):
            unlisted[scope] = f"{listed.cause}: {listed.detail}" if listed.detail else str(listed.cause)
            continue
        as_of[scope] = listed.as_of
        for where, records in listed.records.items():
            mark = naming.read_mark(where.name, tag)
            if mark is not None:
                here = where._replace(cluster=scope.cluster)
                found.append(MarkedRecord(KINDS[scope.inventory], here, mark, records[0], duplicate_records=len(records) > 1))
    return ScanResult(tuple(found), as_of, unlisted)


def owners(objects: Listers, listed: Mapping[str, set[str]]) -> Owners:
    """Return the owners: the objects that the apiserver lists. Of an object that is not cached yet, only the UID is known."""
    return Owners(_owners(objects, listed), objects.tag)


def owners_in(objects: Listers) -> Owners:
    """Return the owners where all objects that the apiserver lists are in the stores."""
    return owners(objects, {kind: {one.meta.uid for one in objects.stores[kind]} for kind in registry.MARKED})


def _owners(objects: Listers, listed: Mapping[str, set[str]]) -> Iterator[Owner]:
    for kind, marked in registry.MARKED.items():
        for uid in listed[kind]:
            stored = objects.stores[kind].get(uid)
            yield Owner(kind, uid) if stored is None else marked.owner(objects, stored)


def may_be_wanted_now(objects: Listers, gone: Abandonment) -> bool:
    """Whether an object of this name exists now that may own the abandoned resource."""
    base = naming.base_name(gone.name, objects.tag)
    return any(
        stored.meta.namespace == gone.namespace and naming.base_name(stored.meta.name, objects.tag) == base
        for stored in objects.stores[gone.kind]
    )
