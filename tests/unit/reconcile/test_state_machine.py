"""The core against a world that fails in every way we know of: what must never happen, and what must happen in the end.

A history is a list of steps drawn from a seed; a failing one is shortened, step by step, before it is shown. By default 500
histories, always the same; ``STATE_MACHINE_HISTORIES=3000`` explores more.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest

from gpucloud.kinds.gpuvm import DeletionPolicy, PowerState
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import find
from support.modelcloud import CALL_FAULTS
from support.vmworld import World

HISTORIES = int(os.environ.get("STATE_MACHINE_HISTORIES", "500"))
STEPS = 40
SETTLE_SECONDS, QUIET_SECONDS = 1500.0, 700.0
LISTINGS = ("good",) * 5 + ("stale", "partial", "failed", "refused")
KUBE = ("ok",) * 6 + ("refused", "answer lost")


class ViolationError(AssertionError):
    """What must not be."""


class History:
    """One world, and every step that can befall it. Steps take numbers and words only, so that a history can be replayed."""

    def __init__(self, *, two, age, **world):
        self.two = two
        self.world = World(processes=1 + two, **world)
        if age:  # known to the processes long before anything may be bought
            self.annotate(Annotation.PAUSED, "true")
            self.world.run(age)
            self.annotate(Annotation.PAUSED, None)

    @property
    def standing(self):
        return self.world.kube.object

    def process(self, number):
        return self.world.processes[min(number, len(self.world.processes) - 1)]

    # --- time and the work itself

    def time_passes(self, seconds):
        for process in self.world.processes:
            if self.two and seconds > 6:  # each of two is protected from the other as long as neither dawdles
                process.thought = None
        self.world.tick(seconds)

    def lists(self, number, how):
        self.world.list(self.process(number), "good" if how == "stale" else how, lag=6.0 if how == "stale" else 0.0)

    def thinks(self, number, but):
        self.world.deliver(self.process(number), but)
        self.world.think(self.process(number))

    def does(self, number, fault, delay, kube):
        self.world.do(self.process(number), fault, min(delay, 5.0) if self.two else delay, kube)

    def works(self, number, fault, delay, how, seconds):
        """Time, a listing and a few passes on end: how most of life goes."""
        self.time_passes(seconds)
        self.lists(number, how)
        for _ in range(3):
            self.thinks(number, 0)
            self.does(number, fault, delay, "ok")

    def works_and_crashes(self, number, fault, delay):
        self.works(number, fault, delay, "good", 3.0)
        self.crashes(number)

    def crashes(self, number):
        self.world.crash(min(number, len(self.world.processes) - 1))

    def all_is_well(self, seconds):
        self.world.run(seconds)

    # --- people, and kopf

    def annotate(self, annotation, value):
        if self.standing is None:
            return
        others = {name: text for name, text in self.standing.meta.annotations.items() if name != annotation}
        new = {**others, annotation: value} if value else others
        self.world.kube.change(meta=replace(self.standing.meta, annotations=new))

    def switches(self, power):
        if self.standing is not None and power is not self.standing.spec.power_state:
            self.world.kube.change(spec=self.standing.spec.model_copy(update={"power_state": power}))

    def keeps(self, policy):
        if self.standing is not None and policy is not self.standing.spec.deletion.policy:
            deletion = self.standing.spec.deletion.model_copy(update={"policy": policy})
            self.world.kube.change(spec=self.standing.spec.model_copy(update={"deletion": deletion}))

    def guards(self):
        item = self.standing
        if item is not None and not item.meta.guarded and not item.meta.deleting:
            self.world.kube.change(meta=replace(item.meta, guarded=True))

    def deletes(self):
        if self.standing is not None:
            self.world.kube.change(meta=replace(self.standing.meta, deleting=True))

    def somebody_else(self, what):
        world = self.world
        for vm in world.cloud.living(world.now):
            if what == "DESTROY":
                world.outside_destroyed = True
                world.cloud.destroy(vm, world.now)
            elif vm.word(world.now) == {"START": "OFFLINE", "STOP": "ONLINE"}[what]:
                vm.states.append((world.now, {"START": "ONLINE", "STOP": "OFFLINE"}[what]))

    # --- what must hold

    def step(self, name, arguments):
        getattr(self, name)(*arguments)
        self.world.check()
        self.expect(not self.world.wrongs, *self.world.wrongs[:1])

    @staticmethod
    def expect(holds, *words):
        if not holds:
            raise ViolationError(*words)

    def end(self):
        """Faults stop: what is asked for is reached, and then nothing more is sent or written."""
        world = self.world
        for process in world.processes:
            process.thought = None
        self.guards()
        self.settle()
        if world.called_invalid and self.standing is not None:  # for the owner to correct; then it must go on
            world.kube.change(spec=self.standing.spec.model_copy(update={"progress_deadline_seconds": 1801}))
            self.settle()
        self.as_asked()
        world.run(60)
        before = len(world.cloud.sent), world.kube.status_writes
        world.run(QUIET_SECONDS)
        self.expect((len(world.cloud.sent), world.kube.status_writes) == before, "no end of calls or writes")
        self.expect(not world.wrongs, *world.wrongs[:1])

    def settle(self):
        for _ in range(int(SETTLE_SECONDS / 50)):
            self.world.run(50)
            try:
                self.as_asked()
            except ViolationError:
                continue
            return

    def ready(self):
        return find(self.standing.status.conditions, ConditionType.READY) if self.standing is not None else None

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


# How often each step comes, and how its arguments are drawn.
STEPS_DRAWN = {
    "works": (8, lambda r: (r.randrange(2), fault(r), delay(r), r.choice(LISTINGS), r.choice((0.5, 3.0, 9.0, 32.0)))),
    "works_and_crashes": (1, lambda r: (r.randrange(2), r.choice(("ok", "lost after", "late")), delay(r))),
    "lists": (4, lambda r: (r.randrange(2), r.choice(LISTINGS))),
    "thinks": (4, lambda r: (r.randrange(2), r.randrange(2))),
    "does": (4, lambda r: (r.randrange(2), fault(r), delay(r), r.choice(KUBE))),
    "time_passes": (3, lambda r: (r.choice((0.5, 2.0, 6.0, 14.0, 31.0)),)),
    "crashes": (1, lambda r: (r.randrange(2),)),
    "all_is_well": (1, lambda r: (r.choice((5.0, 40.0)),)),
    "switches": (1, lambda r: (r.choice(list(PowerState)),)),
    "keeps": (0.4, lambda r: (r.choice(list(DeletionPolicy)),)),
    "annotate": (1, lambda r: (r.choice((Annotation.RESTART_REQUESTED_AT, Annotation.RECONCILE_REQUESTED_AT)), r.choice("ab"))),
    "pauses": (0.6, lambda r: (Annotation.PAUSED, r.choice(("true", None, None)))),
    "deletes": (0.5, lambda _: ()),
    "guards": (0.5, lambda _: ()),
    "somebody_else": (1, lambda r: (r.choice(("START", "STOP") * 3 + ("DESTROY",)),)),
}
History.pauses = History.annotate


def fault(r):
    return r.choice(("ok",) * 8 + CALL_FAULTS)


def delay(r):
    return r.choice((1.0, 5.0, 15.0))


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
    names = r.choices(list(STEPS_DRAWN), [weight for weight, _ in STEPS_DRAWN.values()], k=STEPS)
    return beginning, [(item, STEPS_DRAWN[item][1](r)) for item in names]


def violation(beginning, steps):
    """How this history goes wrong, or None."""
    try:
        history = History(**beginning)
        for item in steps:
            history.step(*item)
        history.end()
    except ViolationError as found:
        return found
    return None


def shortest(beginning, steps, found):
    """Leave out every step without which it still goes wrong in the same way."""
    for index in reversed(range(len(steps))):
        fewer = steps[:index] + steps[index + 1 :]
        again = violation(beginning, fewer)
        if again is not None and again.args[0] == found.args[0]:
            steps, found = fewer, again
    return steps, found


def explore(first, last, two, age=None):
    for seed in range(first, last):
        beginning, steps = draw(seed, two)
        beginning |= {} if age is None else {"age": age}
        found = violation(beginning, steps)
        if found is not None:
            steps, found = shortest(beginning, steps, found)
            told = "\n  ".join(f"{name}{arguments}" for name, arguments in steps)
            pytest.fail(f"seed {seed}: {found}\n  {beginning}\n  {told}", pytrace=False)


def test_one_process_survives_everything():
    explore(0, HISTORIES, two=False)


@pytest.mark.parametrize("known_before", [False, True], ids=["at once", "long known"])
def test_two_processes_awake_at_once_do_no_harm(known_before):
    explore(0, HISTORIES, two=True, age=60.0 if known_before else 0.0)


ALONE = {"two": False, "twice": "twin", "illegal": "400", "vm_name": None, "foreign": False, "guarded": True, "age": 0.0}


def test_a_process_that_knew_the_object_before_waits_for_the_order_of_one_that_died():
    steps = [("works_and_crashes", (0, "late", 5.0)), ("deletes", ())]
    assert violation(ALONE | {"two": True, "age": 60.0}, steps) is None


def test_a_destroy_that_was_once_called_invalid_is_sent_again():
    history = History(**ALONE)
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
    assert violation(ALONE, steps) is None


def test_one_partial_listing_does_not_buy_twice():
    history = History(**ALONE)
    history.step("works", (0, "lost after", 1.0, "good", 3.0))
    for how in ("failed", "partial", "good"):
        history.step("works", (0, "ok", 1.0, how, 32.0))
    history.end()


def test_one_partial_listing_does_not_make_a_taken_name_ours():
    history = History(**ALONE | {"vm_name": "taken", "foreign": True, "twice": "refuse"})
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
    assert violation(ALONE, steps) is None
