"""GpuVpc against a world that fails: strangers that take its name, tenants that move in, an owner who changes their mind.

A VPC's name carries no proof, so what is ours hangs on the recorded intent and the cloud's id.
"""

from __future__ import annotations

import random

import pytest

from gpucloud.kinds.common import Adoption, DeletionPolicy
from gpucloud.kinds.gpuvpc import VpcDeletion
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.facts import Verb
from support.histories import HISTORIES, PEOPLE, WORK, History, draw_steps, explore, violation
from support.worldkinds import VpcKind

NAME = "acme-train"
SEEN_BY_THEN = 20.0  # seconds in which a listing, stale or not, has shown who is inside
UNLISTED = 7.0  # longer than a stale listing lags


class VpcHistory(History):
    """A GpuVpc, its owner, strangers of the same tenant, and VMs that move in and out."""

    def __init__(self, **world):
        super().__init__(kind=VpcKind, vm_name=NAME, **world)

    def adopts(self, adoption):
        if self.standing is not None and adoption is not self.standing.spec.adoption:
            self.world.kube.change(spec=self.standing.spec.model_copy(update={"adoption": adoption}))

    def keeps(self, policy):
        if self.standing is not None and VpcDeletion(policy=policy) != self.standing.spec.deletion:
            self.world.kube.change(spec=self.standing.spec.model_copy(update={"deletion": VpcDeletion(policy=policy)}))

    def stranger_makes(self):
        """A VPC of our name, but not while an order of ours may be under way: those two nobody could tell apart."""
        world, item = self.world, self.standing
        free = not world.cloud.living(world.now) and not world.cloud.living(world.now, foreign=True) and not world.cloud.late
        if not free or item is None or (item.status.intent is not None and item.status.vpc_id is None):
            return
        world.cloud.bear(NAME, world.now, foreign=True)
        self.seen_by_all()

    def somebody_destroys(self):
        world = self.world
        for vpc in (*world.cloud.living(world.now), *world.cloud.living(world.now, foreign=True)):
            world.outside_destroyed = True
            world.cloud.destroy(vpc, world.now)

    def seen_by_all(self):
        """No order is on its way any more that was decided before the stranger came."""
        for process in self.world.processes:
            process.thought = None
        self.world.tick(UNLISTED)
        for process in self.world.processes:
            self.world.list(process)

    def moves_in(self):
        if self.world.cloud.living(self.world.now):
            self.world.cloud.inside.append(self.world.now)

    def moves_out(self):
        self.world.cloud.inside.clear()

    def step(self, name, arguments):
        before = len(self.world.cloud.sent)
        super().step(name, arguments)
        self.nobody_evicted(before)

    def nobody_evicted(self, before):
        inside = self.world.cloud.inside
        for at, verb in self.world.cloud.sent[before:]:
            evicts = verb is Verb.DESTROY_VPC and any(at - since > SEEN_BY_THEN for since in inside)
            self.expect(not evicts, "told to go with somebody inside")

    def faults_stop(self):
        self.moves_out()

    def as_asked(self):
        item, world = self.standing, self.world
        self.expect(not world.wrongs, *world.wrongs[:1])
        if item is None or item.meta.annotations.get(Annotation.PAUSED) == "true":
            return
        ready = self.ready()
        self.expect(not item.meta.deleting, "never let go", ready)
        self.expect(ready is not None, "no verdict")
        adopting = item.spec.adoption is not Adoption.NEVER
        if world.cloud.living(world.now):
            self.expect((ready.status, ready.reason) == ("True", Reason.AVAILABLE), "ours is not Available", ready)
        elif world.cloud.living(world.now, foreign=True):
            self.expect(ready.reason == (Reason.ADOPTED if adopting else Reason.CONFLICT), "neither adopted nor refused", ready)
            self.expect(item.status.intent is None or not adopting, "a proof of making what was adopted", ready)
        elif ready.reason == Reason.VPC_LOST:
            self.expect(world.outside_destroyed, "lost, and nobody destroyed it", ready)
        else:
            required = item.spec.adoption is Adoption.REQUIRED
            self.expect(required and ready.reason == Reason.NOT_FOUND, "no VPC in the end", ready)


STEPS_DRAWN = {
    **WORK,
    **PEOPLE,
    "keeps": (0.6, lambda r: (r.choice((None, *DeletionPolicy)),)),
    "adopts": (1, lambda r: (r.choice(list(Adoption)),)),
    "stranger_makes": (1, lambda _: ()),
    "somebody_destroys": (0.8, lambda _: ()),
    "moves_in": (0.7, lambda _: ()),
    "moves_out": (0.7, lambda _: ()),
}


def draw(seed, two):
    """The beginning and the steps of one history."""
    r = random.Random(seed)
    beginning = {
        "two": two,
        "twice": r.choice(("refuse", "500")),
        "foreign": r.random() < 0.25,
        "guarded": r.random() < 0.8,
        "age": r.choice((0.0, 0.0, 60.0)),
    }
    return beginning, draw_steps(r, STEPS_DRAWN)


@pytest.mark.parametrize("two", [False, True], ids=["one process", "two at once"])
def test_it_survives_everything(two):
    explore(VpcHistory, ((seed, *draw(seed, two)) for seed in range(HISTORIES)))


ALONE = {"two": False, "twice": "refuse", "foreign": False, "guarded": True, "age": 0.0}


def test_re_made_by_a_stranger_and_adopted_it_is_not_destroyed_with_the_object():
    steps = [
        ("all_is_well", (40.0,)),
        ("somebody_destroys", ()),
        ("stranger_makes", ()),
        ("adopts", (Adoption.IF_EXISTS,)),
        ("all_is_well", (40.0,)),
        ("deletes", ()),
        ("all_is_well", (40.0,)),
    ]
    history = VpcHistory(**ALONE)
    for item in steps:
        history.step(*item)
    history.end()
    assert history.standing is None
    assert history.world.cloud.living(history.world.now, foreign=True)


def test_made_anew_after_an_adopted_one_it_is_destroyed_with_the_object():
    steps = [
        ("adopts", (Adoption.IF_EXISTS,)),
        ("all_is_well", (40.0,)),
        ("adopts", (Adoption.NEVER,)),
        ("all_is_well", (40.0,)),
        ("somebody_destroys", ()),
        ("all_is_well", (80.0,)),
        ("deletes", ()),
    ]
    assert violation(VpcHistory, ALONE | {"foreign": True}, steps) is None


def test_somebody_inside_holds_it_until_they_leave():
    history = VpcHistory(**ALONE)
    for item in [("all_is_well", (40.0,)), ("moves_in", ()), ("deletes", ()), ("all_is_well", (400.0,))]:
        history.step(*item)
    assert history.ready().reason == Reason.DELETION_BLOCKED
    history.end()
    assert history.standing is None
