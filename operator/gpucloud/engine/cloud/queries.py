"""Read-only queries of the cloud for people: offers, and all records that a credential lists.

The operator's console and the plugin with its own credential share them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
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
AT_ONCE = 6  # requests: somebody waits, and the rest of the credential's budget is for the operator's own listings
_Listed = tuple[tuple[Any, ...] | None, list[str]]  # records, None if they were not listed; and what they may lack


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

    async def places() -> list[str]:
        return [cluster] if cluster else sorted(await listings.clusters(client))

    configurations, named = await _side_by_side((client.get_configurations, places))
    answers = await _side_by_side([partial(_availability, client, place) for place in named])
    return Offers(
        configurations=configurations.items,
        availability=tuple(item for found, _ in answers for item in found),
        failures=tuple(failure for _, failed in answers for failure in failed),
    )


async def _availability(client: CloudReader, place: str) -> tuple[list[AvailabilityRecord], list[str]]:
    """Return the availability in one cluster, and why it is not known."""
    try:
        listed = await client.get_availability(cluster=place, report_nodes=True)
    except CloudError as error:
        return [], [f"the availability in cluster {place!r} cannot be read: {error.message}"]
    return [item if item.cluster else item.model_copy(update={"cluster": place}) for item in listed.items], []


async def records(client: CloudReader, *, hosts: bool = False) -> Records:
    """List VMs, snapshots and VPCs in every cluster of the credential, and bare metal hosts where they are asked for.

    That a credential may not list hosts is no failure: one that was made for VMs may not. They are None then.

    Raises:
        CloudError: the clusters cannot be listed.
    """
    clusters = sorted(await listings.clusters(client))
    lists: dict[str, Callable[..., Awaitable[_Listed]]] = {
        "vms": partial(_listed, "vms", client.get_servers),
        "snapshots": partial(_listed, "snapshots", client.get_snapshots),
        "vpcs": partial(_listed, "vpcs", client.get_vpcs),
        **({HOSTS: partial(_hosts, client)} if hosts else {}),
    }
    asked = [partial(ask, cluster) for cluster in clusters for ask in lists.values()]
    offered, *answers = await _side_by_side([partial(_configurations, client), *asked])
    found = []
    for number, cluster in enumerate(clusters):
        here = answers[number * len(lists) : (number + 1) * len(lists)]
        found.append(ClusterRecords(cluster=cluster, **{what: seen for what, (seen, _) in zip(lists, here, strict=True)}))
    failures = tuple(failure for _, failed in answers for failure in failed)
    return Records(clusters=tuple(found), prices=prices(offered), configurations=names(offered), failures=failures)


async def _side_by_side(calls: Sequence[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Return the answers in the order of the calls, of which a few run at a time. When it ends, none runs any more.

    Raises:
        CloudError: the error of the first call, in their order, that fails.
    """
    turns = asyncio.Semaphore(AT_ONCE)

    async def in_turn(call: Callable[[], Awaitable[Any]]) -> Any:
        async with turns:
            return await call()

    answers = await asyncio.gather(*(in_turn(call) for call in calls), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return answers


async def vpc_names(client: CloudReader, cluster: str) -> frozenset[str] | None:
    """List the names of the VPCs in one cluster. None: the listing may lack some.

    Raises:
        CloudError: they cannot be listed.
    """
    found, failures = _checked("vpcs", await listings.vpcs(client, cluster), cluster)
    return None if failures else frozenset(item.name for item in found or () if item.name)


async def _configurations(client: CloudReader) -> tuple[ConfigurationRecord, ...]:
    """Return the configurations; none if they cannot be listed."""
    try:
        return (await client.get_configurations()).items
    except CloudError:
        return ()


async def _hosts(client: CloudReader, cluster: str) -> _Listed:
    try:
        listing = await client.get_hosts(cluster=cluster)
    except CloudError as error:
        return (None, []) if error.kind is ErrorKind.FORBIDDEN else ((), [_unlisted(HOSTS, cluster, error)])
    return _checked(HOSTS, listing, cluster)


async def _listed(what: str, ask: Callable[..., Awaitable[Listing[Any]]], cluster: str) -> _Listed:
    try:
        listing = await ask(cluster=cluster)
    except CloudError as error:
        return (), [_unlisted(what, cluster, error)]
    return _checked(what, listing, cluster)


def _unlisted(what: str, cluster: str, error: CloudError) -> str:
    return f"the {what} in cluster {cluster!r} cannot be listed: {error.message}"


def _checked(what: str, listing: Listing[Any], cluster: str) -> _Listed:
    """Return the records of this cluster, and what the listing may lack."""
    failures = []
    if not listing.complete:
        why = listing.flaw or "some records cannot be told apart"
        failures.append(f"the list of the {what} in cluster {cluster!r} is incomplete: {why}")
    found = tuple(item for item in listing.items if same_cluster(getattr(item, "cluster", None) or cluster, cluster))
    if len(found) < len(listing.items):
        failures.append(f"the list of the {what} in cluster {cluster!r} holds records of another, so some may be missing")
    return found, failures
