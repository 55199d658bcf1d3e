"""Makes the stores of all kinds with their indexes, behind ``Listers``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.store import Store
from gpucloud.engine.kinds.dependencies import Listers
from gpucloud.engine.kinds.indexes import account_keys, snapshot_keys, vm_keys, vpc_keys
from gpucloud.kinds.gpucloudaccount import KIND, GpuCloudAccountSpec, GpuCloudAccountStatus
from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
from gpucloud.kinds.gpuvpc import GpuVpcSpec, GpuVpcStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cache.store import CachedObject

FROZEN = ("account", "tenancy")  # fields of status, written once: whose credential, in which tenant


def new_listers(
    tag: str,
    entries: Entries | None = None,
    endpoint_of: Callable[[CachedObject[Any, Any]], str | None] = lambda _stored: None,
    *,
    shares_own: bool = False,
) -> Listers:
    """Return empty stores. ``tag`` is the installation's; ``entries`` hold all runtime state, if it is shared."""
    accounts = Store(GpuCloudAccountSpec, GpuCloudAccountStatus, (), entries, account_keys)
    return Listers(
        vms=Store(GpuVMSpec, GpuVMStatus, FROZEN, entries, partial(vm_keys, tag)),
        vpcs=Store(GpuVpcSpec, GpuVpcStatus, FROZEN, entries, vpc_keys),
        snapshots=Store(GpuSnapshotSpec, GpuSnapshotStatus, FROZEN, entries, partial(snapshot_keys, tag)),
        accounts=accounts,
        stores={KIND: accounts},
        tag=tag,
        endpoint_of=endpoint_of,
        shares_own=shares_own,
    )
