"""The oracle of room for what is replaced: a VM goes for another one only when that has room, and never for its own equal.

Like the judge it asks no product code: at each query of what is free it looks itself. Queries are asked every few seconds while
somebody waits, so what was free at none of the last ones had no room.
"""

from __future__ import annotations

import math
from itertools import takewhile
from typing import TYPE_CHECKING

from gpucloud.sim.world.catalogue import ON_DEMAND, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.sim.messages import Request
    from gpucloud.sim.world.vms import Vm
    from simulation.books import Life
    from simulation.world import World

_Offer = tuple[str, str | None]  # configuration and pool
QUERIES = 3  # so many of the last ones count: one may have been on its way, or slow
SLACK_SECONDS = 10.0


class Rooms:
    """Looks at each VM whose destruction for another one is announced."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked: dict[str, float] = {}  # by cluster, casefolded: when an operator last asked what is free there
        self._answered: dict[str, float] = {}  # ... and was told
        self._free: dict[Place, float] = {}  # when a place was last free at a query

    def asks(self, request: Request, *, told: bool) -> None:
        """An operator asks the cloud what is free, or is told that."""
        now, catalogue = self._world.loop.time(), self._world.cloud.world.catalogue
        clusters = dict(request.query).get("Cluster") or ""
        for cluster in catalogue.clusters:
            if clusters and clusters.casefold() != cluster.casefold():
                continue
            (self._answered if told else self._asked)[cluster.casefold()] = now
            for configuration in catalogue.configurations:
                places = (Place(configuration, cluster, pool) for pool in self._pools())
                self._free |= {place: now for place in places if catalogue.free(place) > 0}

    def replaces(self, life: Life, row: Vm | None, since: float, fields: frozenset[str]) -> None:
        """A VM is about to be destroyed for another one, since its spec changed in these fields ``since`` then.

        Excused: it holds the room of what is ordered first; what the cloud does not know has no room to ask for; a final
        snapshot lies between the query and the destruction; queries that fail.
        """
        wanted = [] if row is None else list(self._accepted(life, row))
        saves = (life.spec.get("deletion") or {}).get("finalSnapshot") == "Required"
        if row is None or saves:
            return
        only_offer = fields <= {"configuration", "resourcePool"}
        others = self._before(life, row, wanted) if only_offer else [one for one in wanted if not _is_equal(one, row)]
        if not only_offer and len(others) < len(wanted):
            return  # it may be the first, whose room it holds
        cluster = row.order.cluster.casefold()
        if not others:
            self._world.judge.found("own equal", f"{life.name} is replaced, and its spec accepts nothing else in {cluster}")
        elif self._asked.get(cluster, -math.inf) < since - self._lately():
            self._world.judge.found("no look at room", f"{life.name} is replaced, and nobody asked what is free in {cluster}")
        elif self._is_told(cluster) and not any(map(self._had_room, self._places(others, row))):
            self._world.judge.found("no room", f"{life.name} is replaced, and nothing else was free in {cluster}")

    def accepts_another(self, life: Life, row: Vm) -> bool:
        """Whether the spec accepts, before that VM's equal, something that the cloud offers in the cluster of a VM."""
        known = self._world.cloud.world.catalogue.configurations
        return any(one[0] in known for one in self._before(life, row, list(self._accepted(life, row))))

    @staticmethod
    def _before(life: Life, row: Vm, offers: list[_Offer]) -> list[_Offer]:
        """What the spec accepts before a VM's equal; by price anything else may come before it."""
        if (life.spec.get("placement") or {}).get("order") == "Price":
            return [one for one in offers if not _is_equal(one, row)]
        return list(takewhile(lambda one: not _is_equal(one, row), offers))

    def _lately(self) -> float:
        return QUERIES * 5 * self._world.scenario.settings.poll_pending_seconds + SLACK_SECONDS

    def _is_told(self, cluster: str) -> bool:
        """Whether the cloud has answered one of the last queries."""
        return self._world.loop.time() - self._answered.get(cluster, -math.inf) < self._lately()

    def _had_room(self, place: Place) -> bool:
        """Whether a place was free at one of the last queries, as far as the cloud tells."""
        known = place.configuration in self._world.cloud.world.catalogue.configurations
        return not known or self._world.loop.time() - self._free.get(place, -math.inf) < self._lately()

    def _places(self, offers: list[_Offer], row: Vm) -> Iterator[Place]:
        """The places of these offers; of one that names no pool, each that the tenant has."""
        for configuration, pool in offers:
            yield from (Place(configuration, row.order.cluster, one) for one in ([pool] if pool else self._pools()))

    @staticmethod
    def _pools() -> tuple[str, ...]:
        return (ON_DEMAND, "reserved-acme")

    @staticmethod
    def _accepted(life: Life, row: Vm) -> Iterator[_Offer]:
        """What the spec accepts in the cluster of its VM: configuration and pool."""
        spec = life.spec
        alternatives = (spec.get("placement") or {}).get("alternatives") or ()
        for one in ({}, *alternatives):
            if str(one.get("cluster") or spec.get("cluster")).casefold() == row.order.cluster.casefold():
                yield one.get("configuration") or spec["configuration"], one.get("resourcePool") or spec.get("resourcePool")


def _is_equal(offer: _Offer, row: Vm) -> bool:
    """Whether a VM is of this configuration, in this pool."""
    return offer[0] == row.order.configuration and offer[1] in {None, row.order.pool}
