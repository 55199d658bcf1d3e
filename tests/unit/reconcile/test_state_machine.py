"""The core against a world that fails in every way we know of: what must never happen, and what must happen in the end.

A history is a list of steps drawn from a seed; a failing one is shortened, step by step, before it is shown. By default 500
histories, always the same; ``STATE_MACHINE_HISTORIES=3000`` explores more.
"""

from __future__ import annotations

import random

import pytest

from gpucloud.kinds.gpuvm import DeletionPolicy, PowerState
from gpucloud.kinds.meta import Annotation, Reason
from support.histories import HISTORIES, PEOPLE, WORK, History, draw_steps, explore, violation


class VmHistory(History):
    """A GpuVM, its owner, and somebody else at the cloud's console."""

    def switches(self, power):
        if self.standing is not None and power is not self.standing.spec.power_state:
            self.world.kube.change(spec=self.standing.spec.model_copy(update={"power_state": power}))

    def somebody_else(self, what):
        world = self.world
        for vm in world.cloud.living(world.now):
            world.beyond_knowing = True
            if what == "DESTROY":
                world.outside_destroyed = True
                world.cloud.destroy(vm, world.now)
            elif vm.word(world.now) == {"START": "OFFLINE", "STOP": "ONLINE"}[what]:
                vm.states.append((world.now, {"START": "ONLINE", "STOP": "OFFLINE"}[what]))

    def as_asked(self):
        item, world = self.standing, self.world
        living = world.cloud.living(world.now)
        self.expect(not world.wrongs, *world.wrongs[:1])
        if item is None or item.meta.annotations.get(Annotation.PAUSED) == "true":
            return
        ready = self.ready()
        self.expect(not item.meta.deleting, "never let go", ready)
        self.expect(ready is not None, "no verdict")
        if world.cloud.living(world.now, foreign=True):
            self.expect((ready.reason, living) == (Reason.CONFLICT, []), "a taken name is no conflict", ready)
        elif not living:
            self.expect(world.outside_destroyed and ready.reason == Reason.VM_LOST, "no VM in the end", ready)
        else:
            word = "ONLINE" if item.spec.power_state is PowerState.RUNNING else "OFFLINE"
            self.expect((ready.status, living[0].word(world.now)) == ("True", word), "not as asked", ready)
            self.expect(item.status.restarting is None, "a restart without end")


ANNOTATIONS = (Annotation.RESTART_REQUESTED_AT, Annotation.RECONCILE_REQUESTED_AT)
# The order counts: seeds stand for the histories that they always stood for.
STEPS_DRAWN = {
    **WORK,
    "switches": (1, lambda r: (r.choice(list(PowerState)),)),
    "keeps": (0.4, lambda r: (r.choice(list(DeletionPolicy)),)),
    "annotate": (1, lambda r: (r.choice(ANNOTATIONS), r.choice("ab"))),
    **PEOPLE,
    "somebody_else": (1, lambda r: (r.choice(("START", "STOP") * 3 + ("DESTROY",)),)),
}


def draw(seed, two):
    """The beginning and the steps of one history."""
    r = random.Random(seed)
    name = r.choice((None, None, "chosen", "taken"))
    beginning = {
        "two": two,
        "twice": r.choice(("twin", "twin", "refuse", "500")),
        "illegal": r.choice(("tolerated", "400", "500")),
        "vm_name": name,
        "foreign": name == "taken",
        "guarded": r.random() < 0.8,
        "age": r.choice((0.0, 0.0, 60.0)),
    }
    return beginning, draw_steps(r, STEPS_DRAWN)


def drawn(two, age=None):
    """All histories with one process, or with two."""
    for seed in range(HISTORIES):
        beginning, steps = draw(seed, two)
        yield seed, beginning | ({} if age is None else {"age": age}), steps


def test_one_process_survives_everything():
    explore(VmHistory, drawn(two=False))


ALONE = {"two": False, "twice": "twin", "illegal": "400", "vm_name": None, "foreign": False, "guarded": True, "age": 0.0}
HONEST = ("good", "good", "partial", "failed")  # one that goes back in time is taken for somebody's switch
IMPATIENT = {
    "works": (
        4,
        lambda r: (0, r.choice(("ok", "ok", "lost after", "no room")), 1.0, r.choice(HONEST), r.choice((0.5, 3.0, 32.0))),
    ),
    "switches": (4, lambda r: (r.choice(list(PowerState)),)),
    "thinks": (2, lambda _: (0, 0)),
    "does": (2, lambda _: (0, "ok", 1.0, "ok")),
    "crashes": (0.2, lambda _: (0,)),
}


def test_an_owner_who_switches_to_and_fro_is_never_told_ready_too_early():
    seeds = range(HISTORIES)
    explore(
        VmHistory, ((seed, ALONE, [("all_is_well", (40.0,)), *draw_steps(random.Random(seed), IMPATIENT)]) for seed in seeds)
    )


@pytest.mark.parametrize("known_before", [False, True], ids=["at once", "long known"])
def test_two_processes_awake_at_once_do_no_harm(known_before):
    explore(VmHistory, drawn(two=True, age=60.0 if known_before else 0.0))


def test_a_process_that_knew_the_object_before_waits_for_the_order_of_one_that_died():
    steps = [("works_and_crashes", (0, "late", 5.0)), ("deletes", ())]
    assert violation(VmHistory, ALONE | {"two": True, "age": 60.0}, steps) is None


def test_a_destroy_that_was_once_called_invalid_is_sent_again():
    history = VmHistory(**ALONE)
    for item in [("all_is_well", (40.0,)), ("deletes", ()), ("works", (0, "invalid", 1.0, "good", 3.0))]:
        history.step(*item)
    history.world.called_invalid = False  # nobody corrects anything
    history.end()


def test_a_start_that_came_too_late_does_not_stop_the_next():
    steps = [
        ("all_is_well", (40.0,)),
        ("somebody_else", ("STOP",)),
        ("works", (0, "ok", 1.0, "failed", 0.5)),
        ("lists", (0, "good")),
        ("thinks", (0, 0)),
        ("does", (0, "ok", 1.0, "ok")),
        ("thinks", (0, 0)),
        ("somebody_else", ("START",)),
        ("does", (0, "ok", 1.0, "ok")),
        ("all_is_well", (40.0,)),
        ("somebody_else", ("STOP",)),
    ]
    assert violation(VmHistory, ALONE, steps) is None


def test_one_partial_listing_does_not_buy_twice():
    history = VmHistory(**ALONE)
    history.step("works", (0, "lost after", 1.0, "good", 3.0))
    for how in ("failed", "partial", "good"):
        history.step("works", (0, "ok", 1.0, how, 32.0))
    history.end()


def test_one_partial_listing_does_not_make_a_taken_name_ours():
    history = VmHistory(**ALONE | {"vm_name": "taken", "foreign": True, "twice": "refuse"})
    history.step("works", (0, "ok", 1.0, "partial", 3.0))
    for item in [("all_is_well", (40.0,)), ("deletes", ()), ("all_is_well", (40.0,))]:
        history.step(*item)


def test_an_intent_that_could_not_be_written_does_not_make_the_standing_one_a_strangers_for_ever():
    steps = [
        ("works", (0, "lost before", 1.0, "good", 3.0)),
        ("time_passes", (31.0,)),
        ("lists", (0, "good")),
        ("time_passes", (2.0,)),
        ("lists", (0, "good")),
        ("thinks", (0, 0)),
        ("does", (0, "ok", 1.0, "refused")),
    ]
    assert violation(VmHistory, ALONE, steps) is None
