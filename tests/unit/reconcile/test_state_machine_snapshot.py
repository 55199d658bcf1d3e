"""GpuSnapshot against a world that fails: its VM comes and goes, in the cloud and as an object."""

from __future__ import annotations

import random

import pytest

from gpucloud.kinds.common import DeletionPolicy
from gpucloud.kinds.meta import Annotation, Reason
from support.histories import HISTORIES, PEOPLE, WORK, History, draw_steps, explore, violation
from support.worldkinds import SnapshotKind


class SnapshotHistory(History):
    """A GpuSnapshot, its VM, and somebody else at the cloud's console."""

    def __init__(self, **world):
        super().__init__(kind=SnapshotKind, **world)

    def source(self, there):
        """The VM in the cloud."""
        self.world.cloud.source = there

    def placed(self, there):
        """The GpuVM, which tells where the VM is."""
        self.world.placed = there
        self.world.stir()

    def somebody_deletes(self):
        world = self.world
        for snapshot in world.cloud.living(world.now):
            world.outside_destroyed = True
            world.cloud.destroy(snapshot, world.now)

    def faults_stop(self):
        self.source(True)
        if self.standing is not None and not self.standing.meta.deleting:
            self.placed(True)

    def nobody_can_say(self):
        """Deleted with no GpuVM to tell the place, and nobody who saw it new: its owner must say Retain."""
        item, new = self.standing, any(process.memory.seen_new for process in self.world.processes)
        return item.meta.deleting and not self.world.placed and item.status.intent is None and not new

    def as_asked(self):
        item, world = self.standing, self.world
        self.expect(not world.wrongs, *world.wrongs[:1])
        if item is None or item.meta.annotations.get(Annotation.PAUSED) == "true":
            return
        ready = self.ready()
        if self.nobody_can_say():
            self.expect(ready.reason == Reason.DELETION_BLOCKED, "neither let go nor held", ready)
            return
        self.expect(not item.meta.deleting, "never let go", ready)
        self.expect(ready is not None, "no verdict")
        if world.cloud.living(world.now, foreign=True):
            self.expect(ready.reason == Reason.CONFLICT, "a taken name is no conflict", ready)
        elif world.cloud.living(world.now):
            self.expect((ready.status, ready.reason) == ("True", Reason.COMPLETED), "not completed", ready)
        else:
            self.expect(world.outside_destroyed and ready.reason == Reason.SNAPSHOT_LOST, "no snapshot in the end", ready)


STEPS_DRAWN = {
    **WORK,
    **PEOPLE,
    "keeps": (0.4, lambda r: (r.choice(list(DeletionPolicy)),)),
    "source": (1, lambda r: (r.choice((True, True, False)),)),
    "placed": (1, lambda r: (r.choice((True, True, False)),)),
    "somebody_deletes": (0.5, lambda _: ()),
}


def draw(seed, two):
    """The beginning and the steps of one history."""
    r = random.Random(seed)
    name = r.choice((None, None, "chosen", "taken"))
    beginning = {
        "two": two,
        "twice": r.choice(("twin", "refuse", "500")),
        "vm_name": name,
        "foreign": name == "taken",
        "guarded": r.random() < 0.8,
        "age": r.choice((0.0, 0.0, 60.0)),
    }
    return beginning, draw_steps(r, STEPS_DRAWN)


@pytest.mark.parametrize("two", [False, True], ids=["one process", "two at once"])
def test_it_survives_everything(two):
    explore(SnapshotHistory, ((seed, *draw(seed, two)) for seed in range(HISTORIES)))


ALONE = {"two": False, "twice": "refuse", "guarded": True, "age": 0.0}


def test_it_outlives_its_vm_and_its_object_and_can_still_be_deleted():
    steps = [
        ("all_is_well", (40.0,)),
        ("source", (False,)),
        ("placed", (False,)),
        ("all_is_well", (200.0,)),
        ("crashes", (0,)),
        ("deletes", ()),
    ]
    assert violation(SnapshotHistory, ALONE, steps) is None


@pytest.mark.parametrize("crashes", [[], [("crashes", (0,))]], ids=["at once", "after a restart"])
def test_deleted_before_its_vm_ever_was_there_it_goes(crashes):
    history = SnapshotHistory(**ALONE | {"guarded": False})
    for item in [("placed", (False,)), ("all_is_well", (5.0,)), ("guards", ()), ("all_is_well", (5.0,)), *crashes]:
        history.step(*item)
    history.step("deletes", ())
    history.end()
    assert history.standing is None
