"""What the last listings of one kind's records show, by cluster, for everybody who asks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar

from gpucloud.engine.cloud.cluster_records import ClusterRecords, Contents, Listed, find
from gpucloud.reconcile.facts import Observation, Unknown, UnknownReason
from gpucloud.reconcile.naming import same_cluster

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.telemetry.collectors import ListingStatus
    from gpucloud.reconcile.naming import Identity

R = TypeVar("R")


class ListedClusters(Generic[R]):
    """The cached records of all clusters that are listed. All methods are queries."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._cached: dict[str, ClusterRecords[R]] = {}

    def observe(self, identity: Identity, accepted_until: float = -math.inf) -> Observation[R]:
        """Return what the last listing shows of an identity. A person accepted all absences up to ``accepted_until`` (mono)."""
        cached = self._cached.get(identity.cluster)
        seen = None if cached is None else cached.observe(identity, accepted_until)
        return Unknown(self._clock.mono(), UnknownReason.NOT_LISTED) if seen is None else seen

    def standing(self, cluster: str) -> float | Unknown | None:
        """Return when the last listing of a cluster began, or why it is not believed; None where there is none."""
        cached = self._cached.get(cluster)
        latest = None if cached is None else cached.latest()
        return latest.as_of if isinstance(latest, Listed) else latest

    def names(self, cluster: str, vpc: str, base: str) -> list[str]:
        """Return the names of the records in a VPC that are this base and a fingerprint."""
        cached = self._cached.get(cluster)
        return [] if cached is None else cached.names(vpc, base)

    def locations_of(self, name: str) -> list[Identity]:
        """Return all locations where the listed clusters show a record of this name."""
        return [here for cached in self._cached.values() for here in cached.locations(name)]

    def locations_since(self, cluster: str, name: str, not_before: float) -> tuple[Identity, ...] | Unknown:
        """Return where a cluster has records of a name, by a listing that began at ``not_before`` (mono) or later.

        That it has none takes two listings in a row, as one may be partial. ``Inventory.list_until_known`` asks for them.
        """
        cached = self._cached.get(cluster)
        latest = None if cached is None else cached.latest()
        if isinstance(latest, Unknown):
            return latest
        if cached is None or not cached.has_listed_since(not_before) or cached.is_unproven(name, not_before):
            return Unknown(self._clock.mono(), UnknownReason.NOT_LISTED)
        return cached.locations(name)

    def shows(self, identity: Identity) -> bool:
        """Whether the last complete listing of its cluster shows an identity."""
        cached = self._cached.get(identity.cluster)
        return cached is not None and bool(find(cached.records, identity))

    def shown_now(self) -> Callable[[Identity], bool]:
        """Return a predicate: whether the listings cached now contain an identity. Later listings do not change it."""
        records = {cluster: cached.records for cluster, cached in self._cached.items()}
        return lambda identity: bool(find(records.get(identity.cluster, {}), identity))

    def within(self, cluster: str, vpc: str) -> Contents[R] | Unknown:
        """Return all records in a VPC. Records without a VPC count as in it."""
        cached = self._cached.get(cluster)
        found = None if cached is None else cached.contents(vpc)
        return Unknown(self._clock.mono(), UnknownReason.NOT_LISTED) if found is None else found

    def spelling(self, cluster: str) -> str:
        """Return how a cluster is listed already: in another spelling that the cloud takes, else as it is given.

        Only for one that the cloud itself named. Whether it takes one that a spec names, only its answer to that one tells.
        """
        own = self._cached.get(cluster)
        if own is not None and own.presences:
            return cluster  # objects watch it
        others = (one for one, cached in self._cached.items() if cached.taken and same_cluster(one, cluster))
        return min((one for one in others if one != cluster), default=cluster)

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters in use: those that a poller lists."""
        return frozenset(self._cached)

    def listing_statuses(self) -> dict[str, ListingStatus]:
        """Return each cluster's status for metrics. Unknown clusters are left out: a wrong spec must not raise an alert."""
        now = self._clock.mono()
        return {cluster: cached.listing_status(now) for cluster, cached in self._cached.items() if not cached.rejected}
