"""Reads what a credential is offered: its configurations, and their availability in each of its clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.reconcile.gpuoffer import CloudAnswer
from gpucloud.reconcile.naming import same_cluster

if TYPE_CHECKING:
    from gpucloud.cloud.models import AvailabilityRecord, Listing
    from gpucloud.engine.cloud.account_session import AccountSession

log = structlog.get_logger("gpucloud.offers")


async def read_offers(session: AccountSession) -> tuple[CloudAnswer, bool]:
    """Ask once for the configurations, and once per cluster for their availability, without counts.

    Returns:
        The answer, and whether to ask again soon: a query failed, and not for want of a permission.

    Raises:
        CloudError: the configurations cannot be listed, so that no offer can be described.
    """
    configurations = (await session.catalogue.configurations()).items
    availability, complete, again = {}, set(), False
    for cluster in session.learned.clusters:
        try:
            listing = await session.client.get_availability(cluster=cluster, report_nodes=False)
        except CloudError as error:
            log.info("the availability cannot be listed", cluster=cluster, error=str(error), host=session.host)
            again |= is_transient(error)
            continue
        availability[cluster] = listing.items
        session.learned.pools.add(cluster, (item.rpool for item in listing.items))
        if _is_whole(listing, cluster):
            complete.add(cluster)
    answer = CloudAnswer(
        clusters=frozenset(session.learned.clusters),
        configurations={item.name: item for item in configurations if item.name is not None},
        availability=availability,
        complete=frozenset(complete),
    )
    return answer, again


def is_transient(error: CloudError) -> bool:
    """Whether the same query may soon succeed. A missing permission stays missing until a person grants it."""
    return error.kind is not ErrorKind.FORBIDDEN


def _is_whole(listing: Listing[AvailabilityRecord], cluster: str) -> bool:
    """Whether absence from the listing means something: it is complete, and of this cluster alone."""
    return listing.complete and all(same_cluster(item.cluster or cluster, cluster) for item in listing.items)
