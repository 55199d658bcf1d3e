"""Indexes over the cached objects, so that no reconcile scans a whole store: by reference, by place and name in the cloud.

An indexer yields the keys of an object from its view alone. A key narrows the candidates; the caller still tests each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.reconcile import naming
from gpucloud.reconcile import order as orders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpucloud.engine.cache.store import CachedObject


Reference = tuple[str, str]  # kind and name of an object of the same namespace


class RefersTo(NamedTuple):
    """Objects whose spec refers to this object."""

    kind: str
    namespace: str
    name: str


class InVpc(NamedTuple):
    """Objects that have or may have a resource in this VPC; the cluster is casefolded."""

    cluster: str
    vpc: str


class Named(NamedTuple):
    """Objects whose resource has, or by the spec gets, this name in the cloud."""

    name: str


class Marked(NamedTuple):
    """The object whose UID has this fingerprint: the names in the cloud that end with it were given for that object."""

    fingerprint: str


class MadeFrom(NamedTuple):
    """Objects whose spec names the cloud resource that theirs is made from."""

    name: str


class UsesSecret(NamedTuple):
    """Accounts whose spec names this Secret, or whose status says that they hold it."""

    namespace: str
    name: str


class WaitsForCapacity(NamedTuple):
    """GpuVMs that wait for capacity in this cluster, casefolded."""

    cluster: str


class Deleting(NamedTuple):
    """Objects that are being deleted."""


def order_keys(tag: str, stored: CachedObject[Any, Any]) -> Iterator[Any]:
    """Yield the keys of an object's order. Where a recorded name is not the object's own, its own is looked for."""
    order = stored.order
    if order is None or not orders.may_exist(order):
        return
    yield InVpc(order.cluster.casefold(), order.vpc)
    if order.cloud_id is not None:
        yield Named(order.cloud_id)
    yield Named(order.name)
    if not naming.proves(order.name, stored.meta.uid):
        yield Named(naming.external_name(stored.meta.name, stored.meta.uid, tag))


def reference_keys(stored: CachedObject[Any, Any], references: Iterable[Reference]) -> Iterator[RefersTo]:
    """Yield the keys of the objects that an object refers to."""
    return (RefersTo(kind, stored.meta.namespace, name) for kind, name in references)
