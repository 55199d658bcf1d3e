"""The oracle of spec.onLoss and spec.replacePolicy: a VM is recreated only where its spec asks, at most three times an hour.

Like the judge it asks no product code. That no two live at once is judged for all (``twice``).
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.sim.world.vms import Vm
from simulation.cloud import place_of
from simulation.process import EPOCH
from simulation.rooms import Rooms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simulation.books import Life
    from simulation.cloud import Row
    from simulation.world import World

MOST, HOUR = 3, 3600.0
MAKING_SECONDS = 90.0  # the slowest cloud makes a VM in 40
SEEN = ("Seen", "Lost", "Destroying", "Gone")  # states of an order whose VM was listed
FAILURES = ("CREATE_FAILED", "FAILED")
REPLACING = ("configuration", "resourcePool", "image", "rootDiskGiB", "storage", "nodeName", "sshKeys", "sshKeysFrom")


class Recreation(NamedTuple):
    """An order that followed a VM that had been seen: when, and how far the clock was ahead by which it is recorded."""

    at: float
    ahead: float


class Recreating:
    """Looks at each VM that is made, and at each one that is destroyed for another."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._state: dict[str, str] = {}  # by UID: the state of the order in the last status
        self._recreated: dict[str, list[Recreation]] = {}  # by UID
        self._numbered: dict[str, dict[int, float]] = {}  # by UID: when each recreation was first recorded, by its number
        self._asking: dict[str, float] = {}  # by UID: when its spec last asked for recreation
        self._order: dict[str, object] = {}  # by UID: id of the last order
        self._made_from: dict[str, tuple[object, ...]] = {}  # by UID: of what spec the order was recorded
        self.differs_since: dict[str, float] = {}  # by UID: since when the spec asks for another VM than that
        self._differed: dict[str, float] = {}  # by UID: until when it did
        self._replacing: set[str] = set()  # UIDs whose destruction for another VM was announced
        self._planned: dict[str, object] = {}  # by UID: the plan that the last status had
        self._made_at: dict[str, float] = {}  # by UID: when the order was recorded
        self.rooms = Rooms(world)

    def restored(self) -> None:
        """Etcd has gone back in time: a status may tell nothing any more of a VM that was seen."""
        self._state.clear()

    def committed(self, life: Life, *, by_operator: bool) -> None:
        """An object has changed. A record of another object's backup tells of no VM of this one, nor one without a name."""
        if life.kind != "GpuVM":
            return
        if asks(life):
            self._asking[life.uid] = self._world.loop.time()
        order = life.status.get("order") or {}
        before, after = self._state.get(life.uid), str(order.get("state"))
        name = str(order.get("name") or "")
        foreign = not name or order.get("origin") == "Adopted" or self._world.cloud.orders.are_anothers(name, life.uid)
        self._state[life.uid] = "Foreign" if foreign else after
        if by_operator and after == "Seen" and is_current(life) and not self.was_made_otherwise(life):
            self._made_from[life.uid] = fields_of(life)  # the record tells of it in the words of the spec
        self._compare(life, order, after)
        if by_operator and after == "Destroying" and not life.deleting and self._differs(life):
            self._replacing.add(life.uid)
            self._judge_plan(life, before)
        if by_operator and is_ready(life) and self.is_another(life):
            self._world.judge.found("another", f"{life.name} is Ready, and its VM was not made as its spec says")
        if by_operator and before == "Seen" and after == "Destroying" and not life.deleting:
            self._note_failed(life)
        self._planned[life.uid] = life.status.get("replacement")
        if by_operator and after == "Intended" and order.get("recreation"):
            self._numbered.setdefault(life.uid, {}).setdefault(int(str(order["recreation"])), self._world.loop.time())
        if by_operator and before in SEEN and after == "Intended":
            self._recreates(life)

    def _note_failed(self, life: Life) -> None:
        """A VM is announced to be destroyed for another one, perhaps since the cloud let it fail."""
        row = self._row(life)
        if row is not None and row.status in FAILURES and self._asked(life):
            self._world.judge.rates.failed(life, row)

    def _judge_plan(self, life: Life, before: str | None) -> None:
        """Judge an announced replacement: a status had the plan before, unless somebody else wrote the status meanwhile."""
        since = self.differs_since.get(life.uid, math.inf)
        if before != "Seen" or life.status.get("failedSince") or max(life.tampered_at, life.restored_at) >= since:
            return
        if self._planned.get(life.uid) is None:
            self._world.judge.found("unplanned", f"{life.name} is destroyed for another, and no status had the plan before")
        made, asked = self._made_from.get(life.uid, fields_of(life)), fields_of(life)
        row = self._row(life)
        made = made if row is None else self._as_it_is(life, made)
        fields = (name for name, before, after in zip(REPLACING, made, asked, strict=True) if before != after)
        if is_current(life):  # else whoever announced it had not heard of the last edit
            self.rooms.replaces(life, row, since, frozenset(fields))

    def _compare(self, life: Life, order: dict[str, object], state: str) -> None:
        """Note what an order is made from, and whether the spec asks for another one by now.

        Whoever loses a status takes this knowledge from the next operator only, not from the one that ordered.
        """
        now, asked = self._world.loop.time(), fields_of(life)
        if state == "NotOrdered":  # what was refused may be made late all the same
            self._made_from.pop(life.uid, None)
        elif state == "Intended" and self._order.get(life.uid) != order.get("id"):
            self._order[life.uid], self._made_from[life.uid] = order.get("id"), asked
            self._made_at[life.uid] = now
        if self.was_made_otherwise(life) and life.spec.get("replacePolicy") == "Recreate":
            self.differs_since.setdefault(life.uid, now)
        elif self.differs_since.pop(life.uid, None) is not None:
            self._differed[life.uid] = now

    def _differs(self, life: Life) -> bool:
        """Whether its spec asks for another VM, or did until a moment ago."""
        until = self._differed.get(life.uid, -math.inf)
        return life.uid in self.differs_since or self._world.loop.time() - until < self._world.judge.heard_within()

    def _recreates(self, life: Life) -> None:
        made, known = self._recreated.setdefault(life.uid, []), max(life.tampered_at, life.restored_at)
        last = Recreation(self._world.loop.time(), self._ahead(life))
        made.append(last)
        replaced = life.uid in self._replacing
        self._replacing.discard(life.uid)
        if not (replaced or self._asked(life)):
            self._world.judge.found("recreated", f"{life.name} is ordered again, and its spec does not ask for that")
        if sum(one.at > known and _between(one, last) < HOUR for one in made) > MOST:
            self._world.judge.found("recreated", f"{life.name} is recreated more than {MOST} times within an hour")

    def replaces(self, life: Life, row: Row) -> bool:
        """Whether a VM may be destroyed for another: it has failed, or is not as the spec says, or was when the call left."""
        if not isinstance(row, Vm) or life.kind != "GpuVM" or life.keeps():
            return False
        return (self._asked(life) and row.status in FAILURES) or self._differs(life)

    def is_another(self, life: Life) -> bool:
        """Whether its VM was made from another spec, as its operator can know: of a lost status only the cloud's record tells.

        That shows the configuration, which is compared where the VM may be replaced for it.
        """
        if not self.was_made_otherwise(life) or (life.status.get("order") or {}).get("origin") == "Adopted":
            return False
        if max(life.tampered_at, life.restored_at) < self._made_at.get(life.uid, math.inf):
            return True
        compared = life.spec.get("replacePolicy") == "Recreate" and not life.spec.get("placement")
        return compared and self._made_from[life.uid][:1] != fields_of(life)[:1]

    def was_made_otherwise(self, life: Life) -> bool:
        """Whether its VM was made from another spec, and is not what the spec says by now."""
        asked = fields_of(life)
        made = self._made_from.get(life.uid, asked)
        return made != asked and self._as_it_is(life, made) != asked

    def has_another(self, life: Life) -> bool:
        """Whether its spec accepts a VM that the cloud offers in the cluster of the one that is there, and that is another."""
        row = self._row(life)
        return row is not None and self.rooms.accepts_another(life, row)

    def _as_it_is(self, life: Life, made: tuple[object, ...]) -> tuple[object, ...]:
        """What its VM was made from, but the offer as the spec names it, where that is what the cloud has.

        It was made of an alternative, or in the pool that nobody named. A pool counts for a configuration of the spec only.
        """
        row, (configuration, pool) = self._row(life), fields_of(life)[:2]
        if row is None:
            return made
        alternatives = (life.spec.get("placement") or {}).get("alternatives") or ()
        accepted = {configuration, *(one.get("configuration") for one in alternatives)}
        is_same = (row.order.configuration == configuration, row.order.pool == pool and row.order.configuration in accepted)
        return (configuration if is_same[0] else made[0], pool if is_same[1] else made[1], *made[2:])

    def _row(self, life: Life) -> Vm | None:
        """Its VM in the cloud."""
        order = life.status.get("order") or {}
        place, name = (str(order.get("cluster")).casefold(), order.get("vpc")), order.get("name")
        rows = self._world.cloud.world.vms.table.rows()
        return next((row for row in rows if (place_of(row), row.order.name) == (place, name)), None)

    def has_just_begun(self, life: Life) -> bool:
        """Whether it was recreated a moment ago, so that its new VM is still being made."""
        made = self._recreated.get(life.uid)
        return bool(made) and self._world.loop.time() - made[-1].at < MAKING_SECONDS

    def is_limited(self, life: Life) -> bool:
        """Whether an object has been recreated as often as may be, also where a process knew what a restored etcd did not.

        Where the clocks of processes differ, each time in its status may count for longer by the difference.
        """
        skews = [0.0, *(one.skew for one in self._world.processes)]
        longest = HOUR + max(skews) - min(skews)
        times = ([one.at for one in self._recreated.get(life.uid, ())], self._numbered.get(life.uid, {}).values())
        return max(self._since(life, each, longest) for each in times) >= MOST

    def _ahead(self, life: Life) -> float:
        """By how many seconds the clock is ahead that recorded this recreation: the one of a process that comes nearest."""
        now, times = self._world.loop.time(), life.status.get("recreations")
        ahead = (datetime.fromisoformat(times[-1]) - EPOCH).total_seconds() - now if times else 0.0
        return min((one.skew for one in self._world.processes), key=lambda skew: abs(ahead - skew), default=0.0)

    def _since(self, life: Life, times: Iterable[float], lasting: float) -> int:
        """How many of these times are so young, as far as its status could know: somebody may have changed that."""
        since = max(life.tampered_at, life.restored_at, self._world.loop.time() - lasting)
        return sum(at > since for at in times)

    def _asked(self, life: Life) -> bool:
        """Whether its spec asks for recreation, or did until a moment ago."""
        now = self._world.loop.time()
        return asks(life) or (life.uid in self._asking and now - life.asked_at < self._world.judge.heard_within())


def _between(one: Recreation, later: Recreation) -> float:
    """How many seconds have passed; where clocks of processes differ, what the status says may be more than that.

    No process knows the difference (docs/reliability.md, known limits).
    """
    passed = later.at - one.at
    return max(passed, passed + later.ahead - one.ahead)


def fields_of(life: Life) -> tuple[object, ...]:
    """What its spec says that the cloud cannot change in place."""
    return tuple(life.spec.get(name) or None for name in REPLACING)


def is_ready(life: Life) -> bool:
    """Whether its last status calls the spec as it is now done."""
    return is_current(life) and life.condition("Ready").get("status") == "True"


def is_current(life: Life) -> bool:
    """Whether its last status is of the spec as it is now."""
    return life.status.get("observedGeneration") == life.last["metadata"].get("generation")


def asks(life: Life) -> bool:
    """Whether the spec asks for a new VM in place of a lost one."""
    return life.spec.get("onLoss") == "Recreate" and life.spec.get("powerState") != "Stopped"
