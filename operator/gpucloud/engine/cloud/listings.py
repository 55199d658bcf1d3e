"""List calls of the inventories, the identity of each record, and the list of clusters.

A listing is incomplete if a record has no identity, or is of another cluster than the requested one. A record that an
incomplete listing lacks does not count as absent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import HostRecord, Listing, VmRecord, VpcRecord
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.naming import NO_VPC, Identity, same_cluster
from gpucloud.reconcile.text import abridged

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from gpucloud.cloud.models import SnapshotRecord
    from gpucloud.cloud.reader import CloudReader
    from gpucloud.reconcile.facts import Observation

R = TypeVar("R", VmRecord, VpcRecord, HostRecord)
NO_CLUSTERS = "the list of clusters is empty"


async def clusters(client: CloudReader) -> frozenset[str]:
    """List the clusters of a credential.

    Raises:
        CloudError: they cannot be listed, or the list is empty: that proves of no cluster that it is not there.
    """
    listed = await client.get_all_clusters()
    if not listed:
        raise CloudError(ErrorKind.MALFORMED, NO_CLUSTERS, operation="GetAll")
    return frozenset(listed)


async def vms(client: CloudReader, cluster: str) -> Listing[VmRecord]:
    """List all VMs in a cluster."""
    return of_cluster(await client.get_servers(cluster=cluster), cluster)


async def snapshots(client: CloudReader, cluster: str) -> Listing[SnapshotRecord]:
    """List all snapshots in a cluster. Snapshot records name no cluster, so each cluster is listed by itself."""
    return await client.get_snapshots(cluster=cluster)


async def vpcs(client: CloudReader, cluster: str) -> Listing[VpcRecord]:
    """List all VPCs in a cluster. A VPC is identified by its name, so a record without a name makes the listing incomplete."""
    listing = of_cluster(await client.get_vpcs(cluster=cluster), cluster)
    if all(item.name for item in listing.items):
        return listing
    return replace(listing, complete=False, flaw="the listing holds VPCs without a name")


async def hosts(client: CloudReader, cluster: str) -> Listing[HostRecord]:
    """List all bare metal hosts in a cluster."""
    return of_cluster(await client.get_hosts(cluster=cluster), cluster)


def of_cluster(listing: Listing[R], cluster: str) -> Listing[R]:
    """Mark a listing incomplete if it holds a record of another cluster: the filter failed, so records may be missing."""
    foreign = next((item.cluster for item in listing.items if item.cluster and not same_cluster(item.cluster, cluster)), None)
    if foreign is None:
        return listing
    return replace(listing, complete=False, flaw=f"the listing of cluster {cluster!r} holds a record of {foreign!r}")


def as_recorded(found: Observation[VmRecord] | Observation[SnapshotRecord], here: Identity) -> Identity:
    """Return the identity to send in calls: spelled as in the cloud's record, else as in ``here``."""
    if not isinstance(found, Present):
        return here
    record = found.record
    cluster = record.cluster if isinstance(record, VmRecord) else None  # snapshot records name no cluster
    return Identity(cluster or here.cluster, record.namespace or here.vpc, record.id or here.name)


def vm_identity(record: VmRecord, cluster: str) -> Identity | None:
    """Return the identity of a VM record, with the requested spelling of the cluster; None for another cluster's record."""
    if record.id is None or (record.cluster and not same_cluster(record.cluster, cluster)):
        return None
    return Identity(cluster=cluster, vpc=abridged(record.namespace or ""), name=abridged(record.id))


def snapshot_identity(record: SnapshotRecord, cluster: str) -> Identity | None:
    """Return the identity of a snapshot record."""
    if record.id is None:
        return None
    return Identity(cluster=cluster, vpc=abridged(record.namespace or ""), name=abridged(record.id))


def vpc_identity(record: VpcRecord, cluster: str) -> Identity | None:
    """Return the identity of a VPC record; None for another cluster's record."""
    if record.name is None or (record.cluster and not same_cluster(record.cluster, cluster)):
        return None
    name = abridged(record.name)
    return Identity(cluster=cluster, vpc=name, name=name)


def host_identity(record: HostRecord, cluster: str) -> Identity | None:
    """Return the identity of a host record; None for another cluster's record. A host is in no VPC."""
    if record.id is None or (record.cluster and not same_cluster(record.cluster, cluster)):
        return None
    return Identity(cluster=cluster, vpc=NO_VPC, name=abridged(record.id))


# The inventories that a session keeps, by name: how to list the records of a cluster, and the identity of a record.
LISTINGS: Mapping[str, tuple[Callable[[CloudReader, str], Awaitable[Listing[Any]]], Callable[[Any, str], Identity | None]]] = {
    "vms": (vms, vm_identity),
    "snapshots": (snapshots, snapshot_identity),
    "vpcs": (vpcs, vpc_identity),
    "hosts": (hosts, host_identity),
}
