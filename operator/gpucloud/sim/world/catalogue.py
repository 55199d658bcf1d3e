"""Clusters, VM configurations, images, resource pools and their finite capacity.

It counts what is taken and free. Who takes it, and why, is the business of the VMs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.sim.world.refusals import Reason, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

ON_DEMAND = "on-demand"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A VM configuration: sizes in GB, price in dollars an hour for the whole VM."""

    id: int
    name: str
    gpus: int
    vcpus: int
    memory: int
    storage: int
    price: float
    gpu_type: str
    brand: str
    network: str
    clusters: tuple[str, ...]


class Place(NamedTuple):
    """Where capacity is counted: one configuration in one pool of one cluster."""

    configuration: str
    cluster: str
    pool: str


class Catalogue:
    """What can be bought, where, and how much of it is left."""

    def __init__(
        self, clusters: Iterable[str], configurations: Iterable[Configuration], images: Iterable[str], capacity: int
    ) -> None:
        self.clusters = tuple(clusters)
        self.configurations = {item.name: item for item in configurations}
        self.images = tuple(images)
        self.custom_images: dict[str, tuple[str, ...]] = {}
        self.pools: dict[str, tuple[str, ...]] = {}
        self._default_capacity = capacity
        self._totals: dict[Place, int] = {}
        self._taken: Counter[Place] = Counter()

    def pools_of(self, tenant: str) -> tuple[str, ...]:
        """Return the pools assigned to a tenant, and always on-demand."""
        assigned = self.pools.get(tenant, ())
        return assigned if ON_DEMAND in assigned else (*assigned, ON_DEMAND)

    def default_pool(self, tenant: str) -> str:
        """Return the first assigned pool, else on-demand (service-api: CreateServer rpool)."""
        return next(iter(self.pools.get(tenant, ())), ON_DEMAND)

    def nodes(self, cluster: str, pool: str) -> tuple[str, ...]:
        """Return the nodes that can be selected: those of a reserved pool; on-demand names none."""
        return () if pool == ON_DEMAND else tuple(f"{cluster.lower()}-{pool}-{number}" for number in (1, 2))

    def require_cluster(self, cluster: str, member: str = "cluster") -> None:
        """Raise Refused unless the cluster is one of those allocated."""
        if cluster not in self.clusters:
            raise Refused(Reason.UNKNOWN_REFERENCE, f'Cluster "{cluster}" is unknown.', member)

    def require_configuration(self, name: str, cluster: str) -> Configuration:
        """Return the configuration; raise Refused if it is unknown or not offered in the cluster."""
        found = self.configurations.get(name)
        if found is None or cluster not in found.clusters:
            raise Refused(Reason.UNKNOWN_REFERENCE, f'Configuration "{name}" is not offered in "{cluster}".', "configuration")
        return found

    def change(self, name: str, price: float | None, clusters: tuple[str, ...] | None) -> Configuration:
        """Change what is given of a configuration; VMs that have it keep it. Raise Refused if it is unknown."""
        found = self.configurations.get(name)
        if found is None:
            raise Refused(Reason.UNKNOWN_REFERENCE, f'Configuration "{name}" is unknown.', "configuration")
        changed = replace(
            found, price=found.price if price is None else price, clusters=found.clusters if clusters is None else clusters
        )
        self.configurations[name] = changed
        return changed

    def require_pool(self, tenant: str, pool: str, cluster: str, node: str) -> None:
        """Raise Refused for a pool the tenant has not, or a node that cannot be selected in it."""
        if pool not in self.pools_of(tenant):
            raise Refused(Reason.UNKNOWN_REFERENCE, f'Resource pool "{pool}" is not assigned.', "rpool")
        if node and pool == ON_DEMAND:
            raise Refused(Reason.INVALID, "A node can be selected in non-on-demand pools only.", "selectedNode")
        if node and node not in self.nodes(cluster, pool):
            raise Refused(Reason.UNKNOWN_REFERENCE, f'Node "{node}" is not in pool "{pool}".', "selectedNode")

    def total(self, place: Place) -> int:
        """Return how many VMs fit."""
        return self._totals.get(place, self._default_capacity)

    def free(self, place: Place) -> int:
        """Return how many more VMs fit now; never negative, also after the total was lowered."""
        return max(0, self.total(place) - self._taken[place])

    def set_total(self, place: Place, total: int) -> None:
        """Set how many VMs fit; what runs already is not evicted."""
        self._totals[place] = total

    def take(self, place: Place) -> bool:
        """Take one place if there is one."""
        if self.free(place) == 0:
            return False
        self._taken[place] += 1
        return True

    def give_back(self, place: Place) -> None:
        """Free one place."""
        self._taken[place] -= 1
