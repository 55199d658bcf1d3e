"""The oracle of ``placement.alternatives``: what is ordered is accepted by the spec, and no sooner than it says.

Like the judge it asks no product code: it knows the specs, and what the cloud has answered to each order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from simulation.books import clusters_named
from simulation.forgiving import ACCEPTED_GRACES

if TYPE_CHECKING:
    from simulation.books import Life
    from simulation.cloud import Order
    from simulation.world import World

NO_CAPACITY = 503
TIES = frozenset({"vmName", "vpcRef", "nodeName"})  # fields of a spec that are of one cluster
SNAPSHOTS = frozenset({"snapshot", "snapshotRef"})  # of its image, the same
ROUNDING_SECONDS = 2.0  # times in status are whole seconds


class Choosing:
    """Looks at each order of a VM."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked: dict[str, list[Any]] = {}  # by UID: what its spec last said of offers
        self._edited_at: dict[str, float] = {}  # by UID
        self._named: dict[str, set[str]] = {}  # by UID: the clusters that it names now
        self._named_before: dict[str, set[str]] = {}  # by UID: those from before the last edit of what it says of offers
        self._refused_otherwise: set[str] = set()  # UIDs whose own configuration was refused, and not for want of capacity

    def committed(self, life: Life) -> None:
        """An object has changed."""
        said = [life.spec.get(name) for name in ("cluster", "configuration", "placement")]
        if self._asked.setdefault(life.uid, said) != said:
            self._asked[life.uid], self._edited_at[life.uid] = said, self._world.loop.time()
            self._named_before[life.uid] = self._named[life.uid]
        self._named[life.uid] = life.clusters()

    def clusters(self, life: Life, heard_within: float) -> set[str]:
        """The clusters that it names, casefolded, and named before an edit of a moment ago, which may not have been heard."""
        edited = self._world.loop.time() - self._edited_at.get(life.uid, -math.inf) <= heard_within
        return life.clusters() | (self._named_before.get(life.uid, set()) if edited else set())

    def restored(self) -> None:
        """Etcd has gone back in time, and specs with it."""
        self._edited_at = dict.fromkeys(self._asked, self._world.loop.time())

    def refused(self, order: Order, status: int) -> None:
        """The cloud has answered an order with an error: for want of capacity, or for another reason."""
        life = self._world.judge.books.lives.get(order.uid)
        if life is not None and order.configuration == life.spec.get("configuration") and status != NO_CAPACITY:
            self._refused_otherwise.add(life.uid)

    def orders(self, life: Life, order: Order, heard_within: float) -> None:
        """An operator orders a VM for an object.

        Excused: an edit of a moment ago, which may not have been heard.
        """
        now, configuration = self._world.loop.time(), order.configuration
        self._leaves(life, order)
        if now - self._edited_at.get(life.uid, -math.inf) <= heard_within:
            return
        named = {str(life.spec.get("cluster")), *clusters_named(life.spec)}
        if order.cluster.casefold() not in {one.casefold() for one in named}:
            self._world.judge.found("unwanted offer", f"{life.name} was ordered in {order.cluster}, and its spec names others")
        elif configuration not in accepted(life):
            self._world.judge.found("unwanted offer", f"{configuration} was ordered for {life.name}, whose spec names others")
        elif configuration != life.spec.get("configuration"):
            self._waits_for_its_own(life, now)

    def _leaves(self, life: Life, order: Order) -> None:
        """To another cluster an object goes only when its last order has made nothing: there the cloud has no name to refuse.

        That is certain after a 4xx answer; after an answer without meaning, when a grace is over. What was accepted stays.
        Where the answer could not be read, or its process died before it recorded it, ten graces are waited for.
        Excused: a status that somebody else wrote since, so that nobody knows of that order.
        """
        before = [one for one in self._world.cloud.orders.of(life.uid) if one is not order and one.operation == order.operation]
        last = before[-1] if before else None
        if last is None or last.cluster.casefold() == order.cluster.casefold() or not clusters_named(life.spec):
            return
        lost = max(life.tampered_at, life.restored_at, self._world.judge.restored_at)
        if lost >= last.at or last.told == "refused":
            return
        if last.answer == "accepted":
            self._world.judge.found(
                "accepted elsewhere", f"{life.name}: accepted in {last.cluster}, ordered in {order.cluster}"
            )
        elif order.at - max(last.at, last.known) < self._waited_for(last) - ROUNDING_SECONDS:
            what = f"{life.name} was ordered in {order.cluster} while nobody knew what became of its order in {last.cluster}"
            self._world.judge.found("hasty elsewhere", what)

    def _waited_for(self, order: Order) -> float:
        """For how long an order without a clear answer is waited for."""
        return self._world.grace * (ACCEPTED_GRACES if order.perhaps else 1)

    def _waits_for_its_own(self, life: Life, now: float) -> None:
        """An alternative is ordered only when the object has waited for as long as its spec says.

        It cannot have waited before it was there. Not asked where prices decide which comes first. Excused: its own
        configuration was refused for another reason; a status that somebody else wrote, and clocks that differ, as the wait is
        counted from a time in status.
        """
        placement = life.spec.get("placement") or {}
        wait = None if placement.get("order") == "Price" else placement.get("waitSeconds")
        rewritten = math.isfinite(max(life.tampered_at, life.restored_at, self._world.judge.restored_at))
        if wait is None or life.uid in self._refused_otherwise or rewritten or any(one.skew for one in self._world.processes):
            return
        early = self._world.judge.appeared(life) + wait - ROUNDING_SECONDS - now
        if early > 0:
            self._world.judge.found("hasty offer", f"an alternative was ordered for {life.name} {early:.1f} s too early")


def accepted(life: Life) -> set[str]:
    """The configurations that its spec accepts: without those of other clusters where something in it is of one cluster.

    Admission refuses such a spec, but this apiserver evaluates no rules.
    """
    spec, own = life.spec, str(life.spec.get("configuration"))
    others = (spec.get("placement") or {}).get("alternatives") or ()
    tied = not TIES.isdisjoint(spec) or not SNAPSHOTS.isdisjoint(spec.get("image") or ())
    here = [one for one in others if not tied or one.get("cluster") in {None, spec.get("cluster")}]
    return {own, *(str(one.get("configuration") or own) for one in here)}
