"""A person says "stop" in the middle: paused, Retain, observe-only, before, during and after each call (F16)."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from chaos.rig.calls import Phase
from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.ledger import CREATES, DESTROYS, POWERS, Books
from chaos.rig.oracles import Expected, violations
from chaos.rig.points import points
from chaos.rig.reference import reference
from chaos.rig.rules import DROP
from chaos.rig.strangers import plant, things
from chaos.rig.workloads import RUNNING
from support.kstatus import ready
from support.manifests import gpuvm

pytestmark = pytest.mark.timeout(1500)

CHANGES = {*CREATES, *DESTROYS, *POWERS}
PAUSED = "gpucloud.dev/paused"
HEARD = 0.7  # seconds in which the point's call waits, so that the operator hears of it before the call goes on
QUIET = 4.0  # seconds, twenty polls, in which nothing may be changed


def test_paused_at_each_point(rig, campaign):
    """Nothing is changed in the cloud until the pause ends; then the life goes on and ends as any other."""
    runs = [Run(f"paused at {point}", partial(paused_at, rig, point)) for point in of_a_life(rig)]
    campaign.carry_out("F16", runs, sample=1)


def test_retained_at_each_point(rig, campaign):
    """A VM that has been bought outlives its object; only a destroy that was under way already may have gone through."""
    runs = [Run(f"retained at {point}", partial(retained_at, rig, point)) for point in of_a_life(rig)]
    campaign.carry_out("F16", runs, sample=1)


def test_observed_only_from_each_point(rig, campaign):
    """Killed there and started with ``--observe-only``, the operator changes nothing; started without it, it goes on."""
    runs = [Run(f"observed from {point}", partial(observed_from, rig, point)) for point in of_a_life(rig)]
    campaign.carry_out("F16", runs, sample=1)


def of_a_life(rig):
    return [point for point in points(reference(rig, "vm")) if point.phase is not Phase.DELIVERED]


class Interruption:
    """A ``do``: have something done at a point, and know what was sent to the cloud after it."""

    def __init__(self, trial, act, outcome=None) -> None:
        self.begun = False
        self.mark = None
        self._trial, self._act, self._outcome = trial, act, outcome

    async def __call__(self, _call):
        self.begun = True
        self._trial.keep()
        await asyncio.to_thread(self._act)
        if self._outcome is None:
            await asyncio.sleep(HEARD)
        self.mark = len(self._trial.cloud.seen)
        return self._outcome

    def later(self, words):
        """What of this has been sent since."""
        return [str(seen.call) for seen in self._trial.cloud.seen[self.mark :] if seen.call.word in words]


def live_until(trial, point, interruption):
    """The life of a VM up to that point; returns whether it was being deleted by then."""
    plant(trial)
    trial.start()
    point.arm(trial, interruption)
    trial.apply(gpuvm())
    trial.wait(lambda: interruption.begun or ready(trial.here.get("gpuvm", "train")) == RUNNING, f"{point}")
    deleting = not interruption.begun
    if deleting:
        trial.here.delete("gpuvm", "train")
        trial.wait(lambda: interruption.begun or trial.here.get("gpuvm", "train") is None, f"{point}")
    if not interruption.begun:
        raise NotReachedError
    trial.wait(lambda: interruption.mark is not None, f"what is done at {point}")
    return deleting


def finish(trial, deleting):
    """The rest of that life."""
    trial.prolong()
    if not deleting:
        trial.reach("gpuvm", "train", RUNNING)
        trial.here.delete("gpuvm", "train")
    trial.gone("gpuvm", "train")


def quiet(trial, interruption):
    """Nothing is changed in the cloud for a while."""
    trial.settle()
    time.sleep(QUIET)
    return [f"F16: sent after it was to stop: {call}" for call in interruption.later(CHANGES)]


def paused_at(rig, point):
    with rig.trial() as trial:

        def pause():
            if trial.here.get("gpuvm", "train"):
                trial.here.annotate("gpuvm", "train", **{PAUSED: "true"})

        stop = Interruption(trial, pause)
        deleting = live_until(trial, point, stop)
        found = quiet(trial, stop)
        if trial.here.get("gpuvm", "train"):  # else its finalizer was on its way already
            trial.here.annotate("gpuvm", "train", **{PAUSED: None})
        finish(trial, deleting)
        trial.blind_seconds = QUIET
        return found + violations(trial, Expected(summary=reference(rig, "vm").summary))


def retained_at(rig, point):
    with rig.trial() as trial:

        def retain():
            if trial.here.get("gpuvm", "train"):
                trial.retain("gpuvm", "train")

        keep = Interruption(trial, retain)
        finish(trial, live_until(trial, point, keep))
        found = [f"F16: sent after Retain: {call}" for call in keep.later(DESTROYS)]
        ordered = {entry["operation"] for entry in Books.of(trial).committed()}
        wanted = int(ordered == {"CreateServer"})  # a VM whose end is under way takes its time
        trial.wait(lambda: len(things(trial.sim)) - len(trial.strangers) == wanted, f"{wanted} VMs to be left of {ordered}")
        trial.blind_seconds = QUIET
        return found + violations(trial, Expected(cloud=False))


def observed_from(rig, point):
    with rig.trial() as trial:

        def begin():
            trial.kill()
            trial.start(observe_only=True)

        watch = Interruption(trial, begin, DROP)
        deleting = live_until(trial, point, watch)
        trial.operator.wait_for_line("synced")
        found = quiet(trial, watch)
        trial.restart()
        finish(trial, deleting)
        return found + violations(trial, Expected(summary=reference(rig, "vm").summary))
