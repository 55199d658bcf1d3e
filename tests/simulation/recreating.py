"""The oracle of spec.onLoss: a VM is replaced only where its spec asks for that, and at most three times an hour.

Like the judge it asks no product code. That no two live at once is judged for all (``twice``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.sim.world.vms import Vm

if TYPE_CHECKING:
    from simulation.books import Life
    from simulation.cloud import Row
    from simulation.world import World

MOST, HOUR = 3, 3600.0
SEEN = ("Seen", "Lost", "Destroying", "Gone")  # states of an order whose VM was listed
FAILURES = ("CREATE_FAILED", "FAILED")


class Recreating:
    """Looks at each VM that is made, and at each one that is destroyed for another."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._state: dict[str, str] = {}  # by UID: the state of the order in the last status
        self._recreated: dict[str, list[float]] = {}  # by UID: when an order followed a VM that had been seen
        self._asking: dict[str, float] = {}  # by UID: when its spec last asked for recreation

    def committed(self, life: Life, *, by_operator: bool) -> None:
        """An object has changed. A status that was restored from another object's backup tells of no VM of this one."""
        if life.kind != "GpuVM":
            return
        if asks(life):
            self._asking[life.uid] = self._world.loop.time()
        order = life.status.get("order") or {}
        before, after = self._state.get(life.uid), str(order.get("state"))
        foreign = order.get("origin") == "Adopted" or self._world.cloud.orders.are_anothers(str(order.get("name")), life.uid)
        self._state[life.uid] = "Foreign" if foreign else after
        if by_operator and before in SEEN and after == "Intended":
            self._recreates(life)

    def _recreates(self, life: Life) -> None:
        times = self._recreated.setdefault(life.uid, [])
        times.append(self._world.loop.time())
        if not self._asked(life):
            self._world.judge.found("recreated", f"{life.name} is ordered again, and its spec does not ask for that")
        if self._within_the_hour(life) > MOST:
            self._world.judge.found("recreated", f"{life.name} is recreated more than {MOST} times within an hour")

    def replaces(self, life: Life, row: Row) -> bool:
        """Whether a failed VM may be destroyed for another, as the spec asks or did when the call left."""
        if not isinstance(row, Vm) or life.kind != "GpuVM" or life.keeps():
            return False
        return self._asked(life) and row.status in FAILURES

    def is_limited(self, life: Life) -> bool:
        """Whether an object has been recreated as often as may be."""
        return self._within_the_hour(life) >= MOST

    def _within_the_hour(self, life: Life) -> int:
        """How often it was recreated, as far as its status could know: somebody may have changed that."""
        since = max(life.tampered_at, life.restored_at, self._world.loop.time() - HOUR)
        return sum(at > since for at in self._recreated.get(life.uid, ()))

    def _asked(self, life: Life) -> bool:
        """Whether its spec asks for recreation, or did until a moment ago."""
        now = self._world.loop.time()
        return asks(life) or (life.uid in self._asking and now - life.asked_at < self._world.judge.heard_within())


def asks(life: Life) -> bool:
    """Whether the spec asks for a new VM in place of a lost one."""
    return life.spec.get("onLoss") == "Recreate" and life.spec.get("powerState") != "Stopped"
