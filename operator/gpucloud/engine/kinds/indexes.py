"""Indexes over the cached objects, so that no reconcile scans a whole store: by reference, by place and name in the cloud.

An indexer yields the keys of an object from its view alone. A key narrows the candidates; the caller still tests each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.kinds import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile import naming
from gpucloud.reconcile import order as orders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
    from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus


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


class MadeFrom(NamedTuple):
    """Objects whose spec names the cloud resource that theirs is made from."""

    name: str


class UsesSecret(NamedTuple):
    """Accounts with this Secret."""

    namespace: str
    name: str


class Deleting(NamedTuple):
    """Objects that are being deleted."""


def vm_keys(tag: str, vm: CachedObject[GpuVMSpec, GpuVMStatus]) -> Iterator[Any]:
    """Yield the keys of a GpuVM."""
    yield from _of_order(tag, vm)
    spec = vm.spec
    if spec is None:
        return
    if spec.vpc_ref is not None:
        yield RefersTo(gpuvpc.KIND, vm.meta.namespace, spec.vpc_ref.name)
    if spec.vm_name is not None:
        yield Named(spec.vm_name)
    if spec.image is not None and spec.image.snapshot_ref is not None:
        yield RefersTo(gpusnapshot.KIND, vm.meta.namespace, spec.image.snapshot_ref.name)
    if spec.image is not None and spec.image.snapshot is not None:
        yield MadeFrom(spec.image.snapshot)


def snapshot_keys(tag: str, snapshot: CachedObject[GpuSnapshotSpec, GpuSnapshotStatus]) -> Iterator[Any]:
    """Yield the keys of a GpuSnapshot."""
    yield from _of_order(tag, snapshot)
    spec = snapshot.spec
    if spec is None:
        return
    if spec.vm_ref is not None:
        yield RefersTo(gpuvm.KIND, snapshot.meta.namespace, spec.vm_ref.name)
    if spec.vm is not None:
        yield MadeFrom(spec.vm.name)
    if spec.snapshot_name is not None:
        yield Named(spec.snapshot_name)


def vpc_keys(vpc: CachedObject[GpuVpcSpec, GpuVpcStatus]) -> Iterator[Any]:
    """Yield the keys of a GpuVpc."""
    if vpc.spec is not None:
        yield Named(vpc.spec.name)
    if vpc.meta.deleting:
        yield Deleting()


def account_keys(account: CachedObject[GpuCloudAccountSpec, GpuCloudAccountStatus]) -> Iterator[Any]:
    """Yield the keys of a GpuCloudAccount."""
    if account.spec is not None:
        yield UsesSecret(account.meta.namespace, account.spec.secret_ref.name)


def _of_order(tag: str, stored: CachedObject[Any, Any]) -> Iterator[Any]:
    """Yield the keys of what was ordered. Where a recorded name is not this object's own, its own is looked for."""
    order = stored.order
    if order is None or not orders.may_exist(order):
        return
    yield InVpc(order.cluster.casefold(), order.vpc)
    if order.cloud_id is not None:
        yield Named(order.cloud_id)
    yield Named(order.name)
    if not naming.proves(order.name, stored.meta.uid):
        yield Named(naming.external_name(stored.meta.name, stored.meta.uid, tag))
