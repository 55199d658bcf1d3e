"""The oracles of the waiting line: who waits longest goes first, and nobody's place is lost while it waits.

Like the judge it asks no product code: it knows since when each GpuVM says that it waits, and who got the last place.
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.sim.world.catalogue import Place
from gpucloud.sim.world.vms import Vm
from simulation.books import PAUSED, annotated
from simulation.cloud import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpucloud.sim.messages import Request, Response
    from simulation.books import Life
    from simulation.world import World

NO_CAPACITY = 503
LOOKS = 3  # queries that a GpuVM has waited for, at least, before it can be passed over
TAKEN_LOOKS = 6  # for which what was refused counts as taken, whatever is shown free (docs/adr/0022)
SLACK_SECONDS = 5.0
FIELDS = ("configuration", "resourcePool", "cluster")  # of an alternative
OPEN = frozenset({"Intended", "Accepted", "Unclear", "Overdue"})  # states of an order with which nothing else is ordered


class _Waits(NamedTuple):
    """A GpuVM that stands in line: since when by its status, and since when the judge knows that it could order."""

    since: datetime
    ready_at: float


class Queueing:
    """Looks at each status of a GpuVM that waits, and at each call that takes the last place."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waits: dict[str, _Waits] = {}  # by UID
        self._passed: list[tuple[Life, str, float]] = []  # who waits longer, UID of who got the last place, when to look again
        self._refused: dict[tuple[str, str, str], float] = {}  # by credential, configuration and cluster: in no named pool

    def committed(self, life: Life) -> None:
        """An object has changed."""
        if life.kind != "GpuVM":
            return
        since, before = waiting_since(life), self._waits.get(life.uid)
        if since is None:
            self._waits.pop(life.uid, None)
            return
        excused = any(one.skew for one in self._world.processes) or math.isfinite(
            max(life.tampered_at, life.restored_at, self._world.judge.restored_at)
        )
        if before is not None and since > before.since and not excused:
            self._world.judge.found("place lost", f"{life.name} waited since {before.since}, and now since {since}")
        ready_at = math.inf
        if self._could_order(life):
            ready_at = min(self._world.loop.time(), math.inf if before is None else before.ready_at)
        self._waits[life.uid] = _Waits(since, ready_at)

    def answered(self, operation: str, request: Request, response: Response) -> None:
        """The cloud has accepted an order or a start: if that took the last place, nobody who waits longer may have wanted it.

        Whoever waits may have had a place of another offer at the same time: that shows within a query.
        """
        if operation == "CreateServer":
            self._note_refusal(request, response)
        if operation not in {"CreateServer", "StartServer"} or response.status >= 300 or not self._is_calm():
            return
        who = self._world.cloud.callers.of(request)
        for vm in self._vms(operation, request):
            place, uid = vm.order.place, self._world.cloud.maker_of("vms", vm)
            if not vm.holds_capacity or self._world.cloud.world.catalogue.free(place) > 0:
                continue
            mine = self._waits.get(uid)
            due = self._world.loop.time() + self._look()
            self._passed += [(one, uid, due) for one in self._before(mine, uid) if place in self._wanted(one, who)]
            self._world.later(self._look(), self.look_again)

    def _note_refusal(self, request: Request, response: Response) -> None:
        """An order that names no pool was refused for want of capacity, or such an order was accepted again.

        Nobody knows which pool had no room: one that is shown free may be another.
        """
        said = json.loads(request.body)
        if said.get("rpool"):
            return
        asked = self._world.cloud.callers.of(request), str(said.get("configuration")), str(said.get("cluster")).casefold()
        if response.status == NO_CAPACITY:
            self._refused[asked] = self._world.loop.time()
        elif response.status < 300:
            self._refused.pop(asked, None)

    def look_again(self) -> None:
        """A query later, whoever waits still was passed over."""
        now, passed = self._world.loop.time(), self._passed
        self._passed = [item for item in passed if item[2] > now]
        for one, uid, due in passed:
            if due <= now and one.uid in self._waits and math.isfinite(self._waits[one.uid].ready_at):
                self._world.judge.found("queue jumped", f"{one.name} waits longer than {uid}, which got the last place")

    def _before(self, mine: _Waits | None, uid: str) -> Iterator[Life]:
        """Those of the same namespace, hence credential, that wait longer, and have been ready for some queries."""
        now, lives = self._world.loop.time(), self._world.judge.books.lives
        for other, waits in self._waits.items():
            longer = mine is None or waits.since < mine.since
            same = uid in lives and lives[uid].last["metadata"]["namespace"] == lives[other].last["metadata"]["namespace"]
            if other != uid and longer and same and now - waits.ready_at > LOOKS * self._look() + SLACK_SECONDS:
                yield lives[other]

    def _is_calm(self) -> bool:
        """Whether no fault delays anybody, and every process has had time to find out who waits."""
        world, now = self._world, self._world.loop.time()
        return not world.weather.rates and now - world.judge.last_disturbance > LOOKS * self._look() + SLACK_SECONDS

    def _look(self) -> float:
        return 5 * self._world.scenario.settings.poll_pending_seconds

    def _could_order(self, life: Life) -> bool:
        """Whether it stands in line, and nothing else is in its way; a paused one leaves its place to others."""
        status = life.status
        if annotated(life.last, PAUSED) not in {None, "false"}:
            return False
        stands = (status.get("placement") or {}).get("lookSeconds") and not life.deleting
        reason = life.condition("Ready").get("reason")
        return bool(stands) and reason == "WaitingForCapacity" and (status.get("order") or {}).get("state") not in OPEN

    def _wanted(self, life: Life, who: str) -> set[Any]:
        """The places that a GpuVM accepts, where it names no pool in that of the tenant, unless that was refused lately."""
        spec = life.spec
        placement, own = spec.get("placement") or {}, (spec["configuration"], spec.get("resourcePool"), "Msc1")
        offers = [own]
        ordered = life.status.get("order") or {}
        if ordered.get("state") == "Seen":  # what is to be started is where it was made
            offers = [(*own[:2], ordered.get("cluster") or "Msc1")]
        if "waitSeconds" not in placement and (life.status.get("order") or {}).get("state") != "Seen":
            others = placement.get("alternatives") or ()
            offers += [tuple(one.get(field, mine) for field, mine in zip(FIELDS, own, strict=True)) for one in others]
        if ordered.get("state") in {"Lost", "Gone"} or ordered.get("recreation"):  # a new VM is ordered where the old one was
            there = str(ordered.get("cluster")).casefold()
            offers = [one for one in offers if str(one[2]).casefold() == there]
        lately = self._world.loop.time() - TAKEN_LOOKS * self._look()
        offers = [
            (configuration, pool, cluster)
            for configuration, pool, cluster in offers
            if pool or self._refused.get((who, str(configuration), str(cluster).casefold()), -math.inf) <= lately
        ]
        default = self._world.cloud.world.catalogue.default_pool("acme")
        return {Place(configuration, cluster, pool or default) for configuration, pool, cluster in offers}

    def _vms(self, operation: str, request: Request) -> list[Vm]:
        said = json.loads(request.body)
        name = said.get("name") if operation == "CreateServer" else said.get("id")
        return [row for _, row, _ in self._world.cloud.called(str(name)) if isinstance(row, Vm) and name_of(row) == name]


def waiting_since(life: Life) -> datetime | None:
    """Since when the status of an object says that it waits; None if it does not."""
    said = (life.status.get("placement") or {}).get("waitingSince")
    return None if said is None or life.now is None or life.deleting else datetime.fromisoformat(said)
