"""What must never be, and the rules by which the judge says so.

What is excused stands beside each rule, with the reason.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any

from gpucloud.sim.world.snapshots import Snapshot
from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation.books import TABLES, Life
from simulation.cloud import CREATES, name_of, place_of
from simulation.credentials import KEYS
from simulation.forgiving import Forgiving
from simulation.rates import Rates

if TYPE_CHECKING:
    from simulation.cloud import Row
    from simulation.world import World

WRITES_A_MINUTE = 90  # of one object, whatever happens: more is a loop
SENDS_A_MINUTE = 60
LISTINGS_A_MINUTE = 240  # by one process with one credential, in one cluster: it may poll twice a second
LOOKED_SECONDS = 60.0  # a listing that proves that a name is free in every cluster is not older
WITHOUT_AN_ID = {"two looks", "many vanished"}  # doubts about what has no id of its own
KINDS_OF = {table: kind for kind, table in TABLES.items()}


class Verdicts(Forgiving):
    """Says what must never be, and was."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.rates = Rates(world)
        self._listings: dict[tuple[str, ...], deque[float]] = {}
        self._called: dict[str, float] = {}  # when an operator last sent a power call, or a destroying one, by the VM's name

    def show(self, text: str) -> None:
        """An operator has shown this to others: no key may stand in it."""
        for secret in (*KEYS.values(), *self._world.cloud.callers.tokens):
            if secret in text:
                self.found("canary", f"a key stands in {text[:200]}")

    def _made(self, table: str, maker: str) -> None:
        """At most one live thing for each object.

        Forgiven: each but the last could be known to nobody, and the cloud gave one a name of its own, or the owner another
        place, so that the cloud had no name to refuse. Not where the status was wiped: then a chosen name is looked for in
        every cluster, and a person asked, unless another object claims what bears it there.
        """
        life = self.books.lives.get(maker)
        if life is None:
            return
        rows = [one for where, one in self._world.cloud.made_for(maker) if where == table]
        if len(rows) < 2:
            return
        there = [name_of(one) for one in rows]
        unlike = any(name in self._world.cloud_names for name in there) or len({place_of(one) for one in rows}) == len(rows)
        older = sorted(rows, key=self.time_of)[:-1]
        if not (unlike and all(self.forgives(self._lost_sight_of(life, one)) for one in older)):
            self.found("twice", f"{life.name} has {len(there)} things at once: {', '.join(there)}")

    def _lost_sight_of(self, life: Life, row: Row) -> str:
        """Why nobody could know that this thing is there when another was ordered in another place; empty if somebody could."""
        why = self.untraceable(life, row)
        if why != "record lost" or not life.wiped or not isinstance(row, Vm) or name_of(row) != life.wanted_name:
            return why
        sender, since = self._world.cloud.orders.of(life.uid)[-1].sender, self._world.loop.time() - LOOKED_SECONDS
        if self.has_lately_lacked(sender, row, since) or self._shown(self.time_of(row)) > since:
            return why
        others = (one for one in self.books.standing() if one is not life and one.wanted_name == name_of(row))
        return why if any(one.kind == "GpuVM" and one.names_cluster(row.order.cluster) for one in others) else ""

    @staticmethod
    def _is_act(change: Any) -> bool:
        """Whether somebody ordered this change: what goes on by itself neither raises the epoch nor makes a thing leave."""
        before, after = change.before, change.after
        if after is None:
            return isinstance(before, Vpc)
        return (isinstance(after, Vm) and after.epoch > before.epoch) or (
            isinstance(after, Snapshot) and after.leaving and not before.leaving
        )

    def _acted(self, table: str, change: Any, maker: str) -> None:
        """Nothing is destroyed, stopped or started that is not ours, and nothing destroyed that was not to go.

        Forgiven: a stranger's that nobody could tell from ours, and a call that was on its way when the object was let go. Some
        minutes long an operator may not know that an object that was being deleted came back with etcd as it was before.
        """
        row, kind = change.before, KINDS_OF[table]
        destroys = change.after is None or change.after.leaving if not isinstance(row, Vpc) else True
        life = self.books.lives.get(maker)
        what = f"{'destroyed' if destroys else 'powered'} {kind} {name_of(row)!r}, made by {life.name if life else maker!r}"
        self.sometimes["destroyed" if destroys else "powered"] += 1
        if life is None:
            if not self._adopted(kind, row, destroys=destroys) and not self.ambiguous(kind, row):
                self.found("foreign", what)
            return
        late = "call on its way" if self._called.get(name_of(row), math.inf) <= life.let_go_at else ""
        if life.released and life.now is None and not self.forgives(late) and not self.ambiguous(kind, row):
            self.found("foreign", f"{what}, which was let go before")
        elif destroys and not life.asked_to_go and not self._goes_along(life, row) and not self.may_be_unnoticed(life):
            self.found("unasked", what)
        elif destroys and life.kept_since is not None and self._world.loop.time() - life.kept_since > self.heard_within():
            self.found("kept", f"{what}, which was to stay, or to be left alone, for long")

    def _adopted(self, kind: str, row: Row, *, destroys: bool) -> bool:
        """Whether somebody's spec adopted what a stranger made; destroyed it is only where that spec says Delete.

        The operator's own account lets nobody adopt. An object that is being deleted adopts nothing: a status, or a listing,
        told of the thing before that.
        """
        if self._world.scenario.own_account:
            return False
        name = name_of(row)
        adopters = [life for life in self.books.lives.values() if life.may_adopt(kind, name)]
        if not destroys:
            return any(life.mentions(name) for life in adopters)
        shown, between = self._shown(self.time_of(row)), self._sightings.between
        return any(
            life.asked_to_go
            and (life.adopted_at <= life.went_at or between(row, life.namespace, shown, life.went_at) > 0)
            and (life.spec.get("deletion") or {}).get("policy") == "Delete"
            for life in adopters
        )

    def _goes_along(self, life: Life, row: Row) -> bool:
        return self.goes_along(life) or self.recreating.replaces(life, row)

    def goes_along(self, life: Life) -> bool:
        """A snapshot may go with its VM where both specs allow it."""
        annotations = life.last["metadata"].get("annotations") or {}
        kept = life.keeps() or annotations.get("gpucloud.dev/paused") == "true"
        if life.kind != "GpuSnapshot" or kept:
            return False
        vms = (one for one in self.books.lives.values() if one.kind == "GpuVM" and one.asked_to_go and _is_of(life, one))
        return any((one.spec.get("deletion") or {}).get("snapshots") == "Delete" for one in vms)

    def _let_go(self, life: Life) -> None:
        """The finalizer goes only when the thing is gone or was never made, is to be kept, or is not ours.

        Forgiven: what could be known to nobody, and what was hidden. An Event must still tell of what bears a mark (``leak``).
        """
        self.sometimes["released"] += 1
        if life.retained:
            return
        for table, row in self._world.cloud.made_for(life.uid):
            if table == TABLES[life.kind] and not self.forgives(self.untraceable(life, row) or self.was_hidden(life, row)):
                self.found("released", f"{life.name} was let go, and {name_of(row)!r} is there still")

    def weigh(self, life: Life) -> None:
        """Ready=True only while it is true, or within the documented delay."""
        now = self._world.loop.time()
        lying = self.lies(life)
        since = max(life.lie_since or now, life.disturbed_at, self.hindered_until())
        if life.lie_since is not None and now - since > self.patience(life.kind):
            self.found("ready", f"{life.name} said {life.ready} for {now - since:.1f} s when it was not so")
            life.lie_since = None
        if not lying:
            life.lie_since = None
        elif life.lie_since is None:
            life.lie_since = now

    def patience(self, kind: str) -> float:
        """For how long a status may be untrue: a poll when all is well; until blindness is owned when it is not.

        Blind is also who does not believe a listing, as too much is gone at once.
        """
        settings, lag = self._world.scenario.settings, self._world.cloud.lag
        calm = settings.poll_steady_seconds + 5.0 + settings.poll_pending_seconds
        if self._world.weather.over:
            blind = any(self.many_vanished(kind, at) for at in self.vanished.values())
            return calm + 60.0 + (settings.blind_after_seconds if blind else 0.0)
        return calm + max(settings.blind_after_seconds, 3 * settings.poll_steady_seconds) + 120.0 + lag

    def lies(self, life: Life) -> bool:
        """Whether it says Ready, and it is not so in the cloud."""
        if life.now is None or life.deleting or not life.ready.startswith("True/"):
            return False
        if life.kind == "GpuVpc":
            return not any(
                self._stands_for(life, row, maker) for _, row, maker in self._world.cloud.called(str(life.spec.get("name")))
            )
        rows: list[Any] = [row for table, row in self._world.cloud.made_for(life.uid) if table == TABLES[life.kind]]
        if life.chosen:
            there = (row for table, row, maker in self._world.cloud.live() if table == TABLES[life.kind] and maker != life.uid)
            rows += [row for row in there if self._is_taken_for(life, row)]
        if life.kind == "GpuSnapshot":
            return not any(row.ready_at <= self._world.cloud.now() and not row.leaving for row in rows)
        wanted = {"True/Running": "ONLINE", "True/PoweredOff": "OFFLINE"}.get(life.ready)
        return wanted is not None and not any(row.status == wanted for row in rows)

    def _stands_for(self, life: Life, row: Row, maker: str) -> bool:
        """Whether a VPC is what a GpuVpc may call its own: made for it, adopted by its spec, or not to be told from it.

        Ids of VPCs are never given twice: one that came when listings had shown ours is another, however soon it came.
        """
        if not isinstance(row, Vpc) or row.cluster.casefold() != str(life.spec.get("cluster")).casefold():
            return False
        if maker == life.uid or life.spec.get("adoption", "Never") != "Never":
            return True
        return self.forgives(next((why for why in self._doubts("GpuVpc", row) if why not in WITHOUT_AN_ID), ""))

    def _is_taken_for(self, life: Life, row: Any) -> bool:
        """Whether somebody made this under the life's chosen name when nobody could tell it from ours."""
        if life.wanted_name != name_of(row):
            return False
        return life.may_adopt(life.kind, name_of(row)) or self.ambiguous(life.kind, row)

    def _note_write(self, life: Life) -> None:
        """No object is written hot."""
        self.rates.mutated(life, "writes")
        if _often(life.writes, self._world.loop.time(), WRITES_A_MINUTE):
            self.found("hot writes", f"{life.name} was written {WRITES_A_MINUTE} times within a minute")

    def _note_send(self, life: Life, operation: str) -> None:
        self.rates.mutated(life, "orders" if operation in CREATES else "calls")
        if operation in CREATES and life.spec.get("adoption") == "Required":
            self.found("bought", f"{operation} was sent for {life.name}, which requires what exists")
        if _often(life.sends, self._world.loop.time(), SENDS_A_MINUTE):
            self.found("hot calls", f"{operation} was sent {SENDS_A_MINUTE} times within a minute for {life.name}")

    def _note_listing(self, operation: str, now: float, *whose: str) -> None:
        if _often(self._listings.setdefault((operation, *whose), deque()), now, LISTINGS_A_MINUTE):
            self.found("hot listings", f"{operation} was sent {LISTINGS_A_MINUTE} times within a minute")


def _is_of(snapshot: Life, vm: Life) -> bool:
    """Whether a snapshot's spec names this VM as its source: the object, or where it is in the cloud."""
    if vm.namespace != snapshot.namespace:
        return False
    order, source = vm.status.get("order") or {}, snapshot.spec.get("vm")
    if source is not None:
        return bool(
            vm.records_place(source.get("vpc", ""), source.get("cluster", ""), "") and order.get("name") == source.get("name")
        )
    return bool(vm.last["metadata"]["name"] == (snapshot.spec.get("vmRef") or {}).get("name"))


def _often(times: deque[float], now: float, many: int) -> bool:
    """Whether this is the one too many within a minute; then counting begins anew."""
    times.append(now)
    while times[0] < now - 60.0:
        times.popleft()
    if len(times) < many:
        return False
    times.clear()
    return True
