"""How one credential's listings become an inventory: what is asked, and which identity a record speaks of.

A record that cannot be told apart makes its listing incomplete: what is missing from such a one is not gone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.reconcile.naming import Identity

if TYPE_CHECKING:
    from gpucloud.cloud.client import CloudClient
    from gpucloud.cloud.models import Listing, SnapshotRecord, VmRecord, VpcRecord


async def vms(client: CloudClient, cluster: str) -> Listing[VmRecord]:
    """All VMs in a cluster."""
    return await client.get_servers(cluster=cluster)


async def snapshots(client: CloudClient, cluster: str) -> Listing[SnapshotRecord]:
    """All snapshots in a cluster. Their records name none, so they are always asked for by cluster."""
    return await client.get_snapshots(cluster=cluster)


async def vpcs(client: CloudClient, cluster: str) -> Listing[VpcRecord]:
    """All VPCs in a cluster. A VPC is told by its name, so one without a name could be any."""
    listing = await client.get_vpcs(cluster=cluster)
    return replace(listing, complete=listing.complete and all(item.name for item in listing.items))


def vm_identity(record: VmRecord, cluster: str) -> Identity | None:
    """Which VM a record speaks of. The listing was asked for one cluster; a record that names another is not of it."""
    if record.id is None or (record.cluster and record.cluster != cluster):
        return None
    return Identity(cluster=cluster, vpc=record.namespace or "", name=record.id)


def snapshot_identity(record: SnapshotRecord, cluster: str) -> Identity | None:
    """Which snapshot a record speaks of."""
    return None if record.id is None else Identity(cluster=cluster, vpc=record.namespace or "", name=record.id)


def vpc_identity(record: VpcRecord, cluster: str) -> Identity | None:
    """Which VPC a record speaks of; like a VM it may name another cluster than the one that was asked for."""
    if record.name is None or (record.cluster and record.cluster != cluster):
        return None
    return Identity(cluster=cluster, vpc=record.name, name=record.name)
