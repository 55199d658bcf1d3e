"""Histories of one object in the model world: steps drawn from a seed, what must never happen, what must be so in the end.

A failing history is shortened, step by step, before it is shown. ``STATE_MACHINE_HISTORIES=3000`` explores more of them.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from gpucloud.kinds.meta import Annotation, ConditionType
from gpucloud.reconcile.conditions import find
from support.modelcloud import CALL_FAULTS
from support.vmworld import World

HISTORIES = int(os.environ.get("STATE_MACHINE_HISTORIES", "500"))
STEPS = 40
SETTLE_SECONDS, QUIET_SECONDS = 1500.0, 700.0
AT_REST_SECONDS = 30.0
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
        self.world.beyond_knowing |= how == "stale" and self.world.crashed
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

    def keeps(self, policy):
        if self.standing is not None and policy is not self.standing.spec.deletion.policy:
            deletion = self.standing.spec.deletion.model_copy(update={"policy": policy})
            self.world.kube.change(spec=self.standing.spec.model_copy(update={"deletion": deletion}))

    def guards(self):
        item = self.standing
        if item is not None and not item.meta.guarded and not item.meta.deleting:
            self.world.kube.change(meta=replace(item.meta, guarded=True))

    def pauses(self, annotation, value):
        self.annotate(annotation, value)

    def deletes(self):
        if self.standing is not None:
            self.world.kube.change(meta=replace(self.standing.meta, deleting=True))

    def namespace_goes(self):
        """Nothing may be created from now on; its objects are deleted a while later, at the latest in the end."""
        self.world.terminating = True

    def loses_status(self):
        """As in a restored backup, once all is as asked: a name with a fingerprint tells all the same whose it is."""
        ready, world = self.ready(), self.world
        old = [thing for thing in world.cloud.living(world.now) if world.now - thing.states[0][0] > AT_REST_SECONDS]
        fingerprinted = self.standing is not None and world.cloud.twice != "twin" and world.own_name
        if fingerprinted and old and not world.cloud.late and ready is not None and ready.status == "True":
            world.kube.change(status=world.kind.status())

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
        if world.terminating:
            self.deletes()
        self.faults_stop()
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

    def faults_stop(self):
        """What a kind's own troubles are: they end too."""

    def as_asked(self):
        """What is must be what is asked for."""
        raise NotImplementedError

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


def fault(r):
    return r.choice(("ok",) * 8 + CALL_FAULTS)


def delay(r):
    return r.choice((1.0, 5.0, 15.0))


# How often each step that every kind knows comes, and how its arguments are drawn.
WORK = {
    "works": (8, lambda r: (r.randrange(2), fault(r), delay(r), r.choice(LISTINGS), r.choice((0.5, 3.0, 9.0, 32.0)))),
    "works_and_crashes": (1, lambda r: (r.randrange(2), r.choice(("ok", "lost after", "late")), delay(r))),
    "lists": (4, lambda r: (r.randrange(2), r.choice(LISTINGS))),
    "thinks": (4, lambda r: (r.randrange(2), r.randrange(2))),
    "does": (4, lambda r: (r.randrange(2), fault(r), delay(r), r.choice(KUBE))),
    "time_passes": (3, lambda r: (r.choice((0.5, 2.0, 6.0, 14.0, 31.0)),)),
    "crashes": (1, lambda r: (r.randrange(2),)),
    "all_is_well": (1, lambda r: (r.choice((5.0, 40.0)),)),
}
PEOPLE = {
    "pauses": (0.6, lambda r: (Annotation.PAUSED, r.choice(("true", None, None)))),
    "deletes": (0.5, lambda _: ()),
    "guards": (0.5, lambda _: ()),
}


def draw_steps(r, drawn):
    names = r.choices(list(drawn), [weight for weight, _ in drawn.values()], k=STEPS)
    return [(item, drawn[item][1](r)) for item in names]


def violation(kind, beginning, steps):
    """How this history goes wrong, or None."""
    try:
        history = kind(**beginning)
        for item in steps:
            history.step(*item)
        history.end()
    except ViolationError as found:
        return found
    return None


def shortest(kind, beginning, steps, found):
    """Leave out every step without which it still goes wrong in the same way."""
    for index in reversed(range(len(steps))):
        fewer = steps[:index] + steps[index + 1 :]
        again = violation(kind, beginning, fewer)
        if again is not None and again.args[0] == found.args[0]:
            steps, found = fewer, again
    return steps, found


def explore(kind, histories):
    """``histories`` yields (seed, beginning, steps)."""
    for seed, beginning, steps in histories:
        found = violation(kind, beginning, steps)
        if found is not None:
            fewest, found = shortest(kind, beginning, steps, found)
            told = "\n  ".join(f"{name}{arguments}" for name, arguments in fewest)
            pytest.fail(f"seed {seed}: {found}\n  {beginning}\n  {told}", pytrace=False)
