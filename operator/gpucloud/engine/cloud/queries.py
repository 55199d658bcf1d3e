"""Read-only queries of the cloud for people: offers, and all records that a credential lists.

The operator's console and the plugin with its own credential share them.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel, ConfigDict

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import (
    AvailabilityRecord,
    ConfigurationRecord,
    HostRecord,
    Listing,
    SnapshotRecord,
    VmRecord,
    VpcRecord,
)
from gpucloud.cloud.reader import CloudReader
from gpucloud.engine.cloud import listings
from gpucloud.engine.cloud.configuration_records import names, prices
from gpucloud.reconcile.naming import same_cluster

HOSTS = "hosts"  # the parameter by which the console is asked for hosts, too


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Offers(_Answer):
    """Configurations, their availability by cluster, and the queries that failed."""

    configurations: tuple[ConfigurationRecord, ...] = ()
    availability: tuple[AvailabilityRecord, ...] = ()
    failures: tuple[str, ...] = ()


class ClusterRecords(_Answer):
    """All records that a credential lists in one cluster."""

    cluster: str
    vms: tuple[VmRecord, ...] = ()
    snapshots: tuple[SnapshotRecord, ...] = ()
    vpcs: tuple[VpcRecord, ...] = ()
    hosts: tuple[HostRecord, ...] | None = None  # None: not listed


class Records(_Answer):
    """All records that a credential lists, and the listings that failed, whose records are unknown."""

    clusters: tuple[ClusterRecords, ...] = ()
    prices: dict[str, str] = {}  # dollars per hour by configuration; unknown prices are missing
    configurations: dict[str, str] = {}  # names of configurations, by what a VM's record may say
    failures: tuple[str, ...] = ()


async def offers(client: CloudReader, cluster: str = "") -> Offers:
    """Return configurations, and their availability in one cluster or in all clusters of the credential.

    Raises:
        CloudError: the configurations, or the clusters, cannot be listed.
    """
    configurations = (await client.get_configurations()).items
    failures: list[str] = []
    found: list[AvailabilityRecord] = []
    for place in (cluster,) if cluster else sorted(await listings.clusters(client)):
        try:
            listed = await client.get_availability(cluster=place, report_nodes=True)
        except CloudError as error:
            failures.append(f"the availability in cluster {place!r} cannot be read: {error.message}")
            continue
        found += [item if item.cluster else item.model_copy(update={"cluster": place}) for item in listed.items]
    return Offers(configurations=configurations, availability=tuple(found), failures=tuple(failures))


async def records(client: CloudReader, *, hosts: bool = False) -> Records:
    """List VMs, snapshots and VPCs in every cluster of the credential, and bare metal hosts where they are asked for.

    That a credential may not list hosts is no failure: one that was made for VMs may not. They are None then.

    Raises:
        CloudError: the clusters cannot be listed.
    """
    failures: list[str] = []
    clusters = []
    for cluster in sorted(await listings.clusters(client)):
        lists: dict[str, Callable[..., Awaitable[Listing[Any]]]] = {
            "vms": client.get_servers,
            "snapshots": client.get_snapshots,
            "vpcs": client.get_vpcs,
        }
        seen = {what: await _listed(what, ask, cluster, failures) for what, ask in lists.items()}
        metal = await _hosts(client, cluster, failures) if hosts else None
        clusters.append(ClusterRecords(cluster=cluster, hosts=metal, **seen))
    offered = await _configurations(client)
    return Records(clusters=tuple(clusters), prices=prices(offered), configurations=names(offered), failures=tuple(failures))


async def vpc_names(client: CloudReader, cluster: str) -> frozenset[str] | None:
    """List the names of the VPCs in one cluster. None: the listing may lack some.

    Raises:
        CloudError: they cannot be listed.
    """
    failures: list[str] = []
    found = _checked("vpcs", await listings.vpcs(client, cluster), cluster, failures)
    return None if failures else frozenset(item.name for item in found if item.name)


async def _configurations(client: CloudReader) -> tuple[ConfigurationRecord, ...]:
    """Return the configurations; none if they cannot be listed."""
    try:
        return (await client.get_configurations()).items
    except CloudError:
        return ()


async def _hosts(client: CloudReader, cluster: str, failures: list[str]) -> tuple[HostRecord, ...] | None:
    try:
        listing = await client.get_hosts(cluster=cluster)
    except CloudError as error:
        if error.kind is ErrorKind.FORBIDDEN:
            return None
        failures.append(_unlisted(HOSTS, cluster, error))
        return ()
    return _checked(HOSTS, listing, cluster, failures)


async def _listed(what: str, ask: Callable[..., Awaitable[Listing[Any]]], cluster: str, failures: list[str]) -> tuple[Any, ...]:
    try:
        listing = await ask(cluster=cluster)
    except CloudError as error:
        failures.append(_unlisted(what, cluster, error))
        return ()
    return _checked(what, listing, cluster, failures)


def _unlisted(what: str, cluster: str, error: CloudError) -> str:
    return f"the {what} in cluster {cluster!r} cannot be listed: {error.message}"


def _checked(what: str, listing: Listing[Any], cluster: str, failures: list[str]) -> tuple[Any, ...]:
    """Return the records of this cluster; note what the listing may lack."""
    if not listing.complete:
        why = listing.flaw or "some records cannot be told apart"
        failures.append(f"the list of the {what} in cluster {cluster!r} is incomplete: {why}")
    found = tuple(item for item in listing.items if same_cluster(getattr(item, "cluster", None) or cluster, cluster))
    if len(found) < len(listing.items):
        failures.append(f"the list of the {what} in cluster {cluster!r} holds records of another, so some may be missing")
    return found
