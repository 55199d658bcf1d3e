"""The waiting line of a cluster: which GpuVM may order what the cloud has free, by one answer of GetAvailability. Pure.

Who waits longest goes first; of those that wait equally long, the one with the higher priority. Each takes the first of its
offers that has room left. What the cloud has refused counts as taken for a while, even if it lists room for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.kinds.gpuvm import ON_DEMAND
from gpucloud.reconcile.naming import same_cluster

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from gpucloud.cloud.models import AvailabilityRecord

QUERY_INTERVALS = 5  # of the fast poll, between two queries
EXHAUSTED_QUERIES = 6  # for which a refused offer counts as taken


class Offer(NamedTuple):
    """A configuration in a resource pool; without one in the account's, else in the tenant's first."""

    configuration: str
    resource_pool: str | None = None
    cluster: str | None = None  # None in the line of a cluster, and where it is that of the spec

    def in_pool(self, default: str | None) -> Offer:
        """Return it with the pool in which it is ordered: ``default`` is the account's, for where it names none."""
        return Offer(self.configuration, self.resource_pool or default, self.cluster)

    def listed(self, room: Collection[Offer]) -> tuple[Offer, ...]:
        """Return the listed offers of which an order for this one gets one; none if the listing leaves that open.

        Without a pool that is the first one assigned to the tenant, and on-demand if none is (service-api): on-demand may be
        the first one, too. Of several others nobody knows which one comes first.
        """
        pools = [one.resource_pool for one in room if one.configuration == self.configuration]
        if self.resource_pool is not None:
            return (self,) if self.resource_pool in pools else ()
        assigned = [one for one in pools if one != ON_DEMAND]
        if len(assigned) > 1:
            return ()
        return tuple(Offer(self.configuration, pool) for pool in (*assigned, ON_DEMAND) if pool in pools)


@dataclass(frozen=True, slots=True)
class Line:
    """What the waiting line of its cluster says of one GpuVM, by the last answer of GetAvailability and by refusals."""

    behind: bool = False  # others wait for what it would order, so it queues behind them
    looking: bool = False  # somebody waits, and the first answer has yet to come
    listed: frozenset[Offer] = frozenset()  # those of its offers whose room the answer shows
    turn: Offer | None = None  # the offer that it may order now
    taken: Mapping[Offer, datetime] = field(default_factory=dict)  # of its offers, those refused to others, until when


@dataclass(frozen=True, slots=True)
class Waiter:
    """A GpuVM that waits for capacity."""

    uid: str
    since: datetime
    offers: tuple[Offer, ...]  # that it accepts, the preferred first
    default_pool: str | None = None  # of its account: where an offer names none
    priority: int = 0
    ready: bool = True  # False: it cannot order now, so it is passed over
    node: str | None = None  # the only one that it can use

    def listed(self, offer: Offer, room: Collection[Offer]) -> tuple[Offer, ...]:
        """Return the listed offers of which its order for this one gets one; none if the listing leaves that open."""
        return offer.in_pool(self.default_pool).listed(room)

    def is_shown_room(self, offer: Offer, room: Mapping[Offer, int], nodes: Mapping[Offer, Collection[str]]) -> bool:
        """Whether the listing tells if there is room for it. For one node: it names free nodes, or shows no room at all."""
        listed = self.listed(offer, room)
        return bool(listed) and (self.node is None or all(room[one] == 0 or one in nodes for one in listed))

    def can_use(self, listed: Offer, nodes: Mapping[Offer, Collection[str]]) -> bool:
        """Whether it can use the room of a listed offer: its node must be one of those that are free."""
        return self.node is None or self.node in nodes.get(listed, ())


class Refusal(NamedTuple):
    """That the cloud had no capacity for an offer: when it said so last, and to whom."""

    at: datetime
    uid: str


def query_seconds(fast_poll: float) -> float:
    """Return how many seconds pass between two queries of a cluster, however many wait."""
    return QUERY_INTERVALS * fast_poll


def turns(
    waiters: Iterable[Waiter],
    room: Mapping[Offer, int],
    taken: Collection[Offer] = (),
    nodes: Mapping[Offer, Collection[str]] | None = None,
) -> dict[str, Offer]:
    """Return the offer that each GpuVM may order now, by UID; whoever is not in it waits on.

    ``nodes``: the free ones of each listed offer, where the cloud names them. An order without a pool gets a place in one of
    several, and nobody knows in which: it counts in each, so that nobody behind it is given what it may be about to get.
    """
    left = {offer: 0 if offer in taken else count for offer, count in room.items()}
    found = dict[str, Offer]()
    for waiter in sorted(waiters, key=lambda one: (one.since, -one.priority, one.uid)):
        for offer in waiter.offers if waiter.ready else ():
            free = [one for one in waiter.listed(offer, room) if left[one] > 0 and waiter.can_use(one, nodes or {})]
            if free and offer.in_pool(waiter.default_pool) not in taken:
                left.update({one: left[one] - 1 for one in free})
                found[waiter.uid] = offer
                break
    return found


def exhausted(
    refused: Mapping[Offer, Refusal],
    room: Collection[Offer],
    now: datetime,
    fast_poll: float,
    shown_full: Mapping[Offer, datetime],
) -> dict[Offer, datetime]:
    """Return the offers that count as taken, since the cloud refused them a short time ago, and until when.

    ``shown_full`` is when a query began that last showed a listed offer without room: after that a refusal says nothing new.
    A refusal in the future was noted by another clock, which says nothing here.
    """
    lasting = timedelta(seconds=EXHAUSTED_QUERIES * query_seconds(fast_poll))
    recent = {offer: one.at for offer, one in refused.items() if now - lasting < one.at <= now}
    return {offer: at + lasting for offer, at in recent.items() if _is_news(at, offer.listed(room), shown_full)}


def _is_news(at: datetime, listed: Collection[Offer], shown_full: Mapping[Offer, datetime]) -> bool:
    """Whether no query since then has shown the listed offers without room."""
    return not listed or any(one not in shown_full or shown_full[one] <= at for one in listed)


def room_of(cluster: str, records: Iterable[AvailabilityRecord]) -> dict[Offer, int]:
    """Return how many VMs each listed offer of the cluster has room for; one if it is available and nobody counted."""
    found = dict[Offer, int]()
    for item in records:
        if item.configuration is None or not same_cluster(item.cluster or cluster, cluster):
            continue
        counted = max(item.count or 0, 0)
        if item.available is not None:
            counted = max(counted, 1) if item.available else 0
        elif item.count is None:
            continue
        found[Offer(item.configuration, item.rpool)] = counted
    return found


def nodes_of(cluster: str, records: Iterable[AvailabilityRecord]) -> dict[Offer, frozenset[str]]:
    """Return the free nodes of each listed offer of the cluster, where they are named."""
    return {
        Offer(item.configuration, item.rpool): frozenset(item.available_node_names)
        for item in records
        if item.configuration is not None and item.available_node_names and same_cluster(item.cluster or cluster, cluster)
    }
