"""The oracle of final snapshots: no VM is destroyed whose spec requires one that was not ready.

Like the judge it asks no product code: it knows since when each spec has required a final snapshot, and which were taken.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpucloud.sim.world.vms import Vm
from simulation.books import PAUSED, annotated
from simulation.cloud import name_of, place_of
from simulation.recreating import fields_of

if TYPE_CHECKING:
    from gpucloud.sim.world.snapshots import Snapshot
    from simulation.books import Life
    from simulation.world import World

FINAL_OF = "gpucloud.dev/final-snapshot-of"


class Saving:
    """Looks at each destroying call of a VM."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._since: dict[str, float] = {}  # by UID: since when the spec requires a final snapshot; before all times: always
        self._asked: dict[str, tuple[object, float]] = {}  # by UID: what VM the spec asks for, and since when, without a pause
        self._paused: dict[str, float] = {}  # by UID: since when nothing is to be done

    def committed(self, life: Life) -> None:
        """An object has changed."""
        if life.kind == "GpuVM" and not requires(life):
            self._since[life.uid] = math.inf
        elif life.kind == "GpuVM":
            since = self._since.get(life.uid, -math.inf)
            self._since[life.uid] = self._world.loop.time() if since == math.inf else since
        if life.kind == "GpuVM":
            self._note_plan(life, self._world.loop.time())

    def _note_plan(self, life: Life, now: float) -> None:
        """Note since when just this VM is asked for in place of another. A pause of a moment may not have been heard of."""
        asked = fields_of(life)
        known, since = self._asked.get(life.uid, (asked, -math.inf))
        if annotated(life.last, PAUSED) == "true":
            self._paused.setdefault(life.uid, now)
        elif now - self._paused.pop(life.uid, now) > self._world.judge.heard_within():
            since = now
        self._asked[life.uid] = (asked, since if known == asked else now)

    def restored(self) -> None:
        """Etcd has gone back in time, and specs with it."""
        now = self._world.loop.time()
        self._since = {uid: now if since < math.inf else since for uid, since in self._since.items()}

    def destroys(self, name: str, place: tuple[str, str], heard_within: float) -> None:
        """An operator sends DestroyServer.

        Excused: the spec has required the snapshot for a moment only, or somebody has just destroyed it in the cloud, so
        that the call was on its way.
        """
        lives, now = self._world.judge.books.lives, self._world.loop.time()
        for _, row, maker in self._world.cloud.called(name):
            life = lives.get(maker)
            if not isinstance(row, Vm) or place_of(row) != place or life is None:
                continue
            if now - self._since.get(life.uid, math.inf) > heard_within and not self._is_saved(life, row, heard_within):
                self._world.judge.found(
                    "unsaved", f"{life.name} requires a final snapshot, and DestroyServer {name!r} was sent"
                )

    def _is_saved(self, life: Life, row: Vm, heard_within: float) -> bool:
        """Whether a snapshot of a VM is ready that was taken as its final one, for what it goes for now."""
        cloud, replaced = self._world.cloud, self._world.judge.recreating.differs_since.get(life.uid, math.inf)
        asked = self._asked.get(life.uid, (None, -math.inf))[1]
        if asked >= self._world.loop.time() - heard_within or max(life.tampered_at, life.restored_at) >= asked:
            asked = -math.inf  # the plan before may not have been given up yet, or stand again
        went_at = life.went_at if life.deleting else max(replaced, asked)
        changes = cloud.world.snapshots.table.changes
        lately = cloud.now() - heard_within - cloud.lag
        there = [*cloud.world.snapshots.table.rows(), *(one.before for one in changes if one.after is None and one.at > lately)]
        return any(
            one.source == name_of(row)
            and place_of(one) == place_of(row)
            and one.ready_at <= cloud.now()
            and one.created - cloud.epoch >= went_at
            and self.is_final(one, life)
            for one in there
        )

    def is_final(self, snapshot: Snapshot, vm: Life) -> bool:
        """Whether a snapshot was ordered as the final one of a GpuVM: by itself, or by its GpuSnapshot."""
        maker = self._world.cloud.maker_of("snapshots", snapshot)
        taker = self._world.judge.books.lives.get(maker)
        return maker == vm.uid or (taker is not None and is_final_of(taker, vm))

    def lacks_one(self, life: Life) -> bool:
        """Whether a VM cannot go since a person is needed for its final snapshot, or the cloud cannot take one."""
        if life.kind != "GpuVM" or not requires(life):
            return False
        judge = self._world.judge
        takers = [one for one in judge.books.standing() if is_final_of(one, life)]
        refused = self._was_never_made(life) or self._name_is_taken(life)
        return refused or any(judge.calling.needs_a_person(one) for one in takers)

    def _was_never_made(self, life: Life) -> bool:
        """Whether the VM's creation has failed: the cloud takes no snapshot of it, and its owner has to waive it."""
        rows = (row for _, row, maker in self._world.cloud.live() if maker == life.uid)
        return any(isinstance(row, Vm) and row.status == "CREATE_FAILED" for row in rows)

    def _name_is_taken(self, life: Life) -> bool:
        """Whether somebody has made a GpuSnapshot of the name that the one for the final snapshot would have."""
        name = (life.status.get("finalSnapshot") or {}).get("gpuSnapshot")
        there = (one for one in self._world.judge.books.standing() if one.kind == "GpuSnapshot")
        return any(
            (one.namespace, one.last["metadata"]["name"]) == (life.namespace, name)
            and one.by_hand
            and not is_final_of(one, life)
            for one in there
        )


def requires(life: Life) -> bool:
    """Whether the spec says that the VM is destroyed, and not without a final snapshot."""
    return (life.spec.get("deletion") or {}).get("finalSnapshot") == "Required" and not life.keeps()


def is_final_of(snapshot: Life, vm: Life) -> bool:
    """Whether a GpuSnapshot was made to take the final snapshot of a GpuVM."""
    return (snapshot.last["metadata"].get("annotations") or {}).get(FINAL_OF) == vm.uid
