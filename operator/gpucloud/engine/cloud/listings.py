"""How one credential's listings become an inventory: what is asked, and which identity a record speaks of.

A record that cannot be told apart, or that is of another cluster than the one asked for, makes its listing incomplete: what
is missing from such a listing is not gone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gpucloud.cloud.models import Listing, VmRecord, VpcRecord
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.naming import Identity, same_cluster
from gpucloud.reconcile.text import abridged

if TYPE_CHECKING:
    from gpucloud.cloud.client import CloudClient
    from gpucloud.cloud.models import SnapshotRecord
    from gpucloud.reconcile.facts import Observation

R = TypeVar("R", VmRecord, VpcRecord)


async def vms(client: CloudClient, cluster: str) -> Listing[VmRecord]:
    """All VMs in a cluster."""
    return of_cluster(await client.get_servers(cluster=cluster), cluster)


async def snapshots(client: CloudClient, cluster: str) -> Listing[SnapshotRecord]:
    """All snapshots in a cluster. Their records name none, so they are always asked for by cluster."""
    return await client.get_snapshots(cluster=cluster)


async def vpcs(client: CloudClient, cluster: str) -> Listing[VpcRecord]:
    """All VPCs in a cluster. A VPC is told by its name, so one without a name could be any."""
    listing = of_cluster(await client.get_vpcs(cluster=cluster), cluster)
    if all(item.name for item in listing.items):
        return listing
    return replace(listing, complete=False, flaw="the listing holds VPCs without a name")


def of_cluster(listing: Listing[R], cluster: str) -> Listing[R]:
    """The listing of one cluster; with a record of another the filter did not work, so other records may be missing."""
    foreign = next((item.cluster for item in listing.items if item.cluster and not same_cluster(item.cluster, cluster)), None)
    if foreign is None:
        return listing
    return replace(listing, complete=False, flaw=f"the listing of cluster {cluster!r} holds a record of {foreign!r}")


def as_recorded(found: Observation[VmRecord] | Observation[SnapshotRecord], here: Identity) -> Identity:
    """Where calls for a thing go: as the cloud's own record spells it; what the record leaves out, as it was looked for."""
    if not isinstance(found, Present):
        return here
    record = found.record
    cluster = record.cluster if isinstance(record, VmRecord) else None  # a snapshot's record names none
    return Identity(cluster or here.cluster, record.namespace or here.vpc, record.id or here.name)


def vm_identity(record: VmRecord, cluster: str) -> Identity | None:
    """Which VM a record speaks of, with the cluster as it was asked for; a record of another cluster is not of the listing."""
    if record.id is None or (record.cluster and not same_cluster(record.cluster, cluster)):
        return None
    return Identity(cluster=cluster, vpc=abridged(record.namespace or ""), name=abridged(record.id))


def snapshot_identity(record: SnapshotRecord, cluster: str) -> Identity | None:
    """Which snapshot a record speaks of."""
    if record.id is None:
        return None
    return Identity(cluster=cluster, vpc=abridged(record.namespace or ""), name=abridged(record.id))


def vpc_identity(record: VpcRecord, cluster: str) -> Identity | None:
    """Which VPC a record speaks of; like a VM it may name another cluster than the one that was asked for."""
    if record.name is None or (record.cluster and not same_cluster(record.cluster, cluster)):
        return None
    name = abridged(record.name)
    return Identity(cluster=cluster, vpc=name, name=name)
