"""Destroying calls without effect, VMs that are born broken, and refusals that must not be hammered on (D2, D15 to D17)."""

from __future__ import annotations

import time
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import nth
from chaos.rig.strangers import plant
from chaos.rig.tour import ONCE, ONE_VM, PATIENCE, gone, reach, tour
from chaos.rig.workloads import RUNNING
from support.kstatus import condition, ready
from support.manifests import gpuvm

pytestmark = pytest.mark.timeout(1200)

FLAGS = {"cloud_timeout_seconds": 2, "poll_pending_seconds": 0.3}
RESENT_AFTER = 20.0  # seconds, ten graces: what was accepted and has no effect is asked for again
IDLE = {  # answers to a destroying call that did nothing
    "done, it says": {"kind": "ghost"},
    "not found, it says": {"kind": "status", "status": 404},
    "500 and not found": {"kind": "status", "status": 500, "message": '"x" not found'},
}
WORDS = {"CREATE_FAILED": "CreateFailed", "FAILED": "VMFailed", "ADMIN_WAIT": "AdminWait", "ERROR": "UnknownState"}
WATCHED = 12.0  # seconds in which a refused order is not to be repeated more often than the table says
# Refusals of CreateServer, and how often it may have been sent in that time by the table of reconcile/retry.py; after a 503
# by the waiting line: the offer counts as taken for 6 looks of 5 fast polls each, which here are 9 seconds.
ATTEMPTS = {400: 1, 401: 1, 403: 1, 404: 1, 422: 1, 503: 2, 429: 2, 409: 2, 500: 2, 502: 2}


def test_a_destroying_call_without_effect_keeps_the_object(rig, campaign):
    """The same process asks again after ten graces, and so does a new one: a restart shortens no wait."""
    runs = [Run(f"{how}, restarted", partial(idle, rig, fault, restarted=True)) for how, fault in IDLE.items()]
    if campaign.whole:
        runs += [Run(f"{how}, waited for", partial(idle, rig, fault, restarted=False)) for how, fault in IDLE.items()]
    campaign.carry_out("D15", runs, sample=1, at_once=6)


@pytest.mark.parametrize("word", WORDS)
def test_born_broken(rig, campaign, word):
    """It is said, nothing is destroyed unasked, and deleting works."""
    if campaign.whole or word == "ERROR":
        campaign.carry_out("D16", [Run(word, partial(born_broken, rig, word))])


def test_a_refused_order_is_not_hammered_on(rig, campaign):
    runs = [Run(f"{status}", partial(refused, rig, status, most)) for status, most in ATTEMPTS.items()]
    campaign.carry_out("D2", runs, sample=1, at_once=5)


def test_no_room_for_one_is_no_harm_to_the_others(rig, campaign):
    campaign.carry_out("D17", [Run(how, partial(no_room, rig, how)) for how in ("wait", "refuse_503")], sample=1)


def idle(rig, fault, *, restarted):
    with rig.trial(own_account=False, **FLAGS) as trial:
        plant(trial)
        for operation in ("DestroyServer", "DestroyVpc", "DeleteSnapshot"):
            trial.sim.fault(operation=operation, nth=1, **fault)
            if restarted:
                trial.cloud.add(nth(operation), "delivered", trial.crash())
        trial.start()
        tour(trial, patience=RESENT_AFTER + PATIENCE)
        return violations(trial, Expected(summary=ONCE))


def born_broken(rig, word):
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.sim.turn(provision_outcome=word)
        trial.start()
        trial.apply(gpuvm())
        said = trial.reach("gpuvm", "train", f"False/{WORDS[word]}")
        assert word == "ERROR" or condition(said, "Stalled")
        found = violations(trial, Expected(standing={"GpuVM/train": f"False/{WORDS[word]}"}))
        assert trial.sim.committed("DestroyServer") == []
        trial.here.delete("gpuvm", "train")
        trial.gone("gpuvm", "train")
        return found + violations(trial, Expected(summary=ONE_VM))


def refused(rig, status, most):
    """The object asks no more often than the table allows; another one beside it, which is not refused, is served."""
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.start()
        trial.sim.fault(
            operation="CreateServer", parameters={"configuration": "A100_40GB_PCIe_1x"}, kind="status", status=status
        )
        trial.apply(gpuvm())
        trial.wait(lambda: trial.sim.calls("CreateServer"), "the first order")
        trial.apply(gpuvm("p0", configuration="A100_40GB_PCIe_2x"))
        time.sleep(WATCHED)
        asked = [call for call in trial.sim.calls("CreateServer") if call["parameters"]["configuration"].endswith("_1x")]
        found = [f"{len(asked)} orders in {WATCHED:g} s, {most} allowed"] if len(asked) > most else []
        reach(trial, "gpuvm", "p0", RUNNING)
        trial.sim.clear_faults()
        reach(trial, "gpuvm", "train", RUNNING)
        return found + violations(trial, Expected(standing={"GpuVM/train": RUNNING, "GpuVM/p0": RUNNING}))


def no_room(rig, how):
    place = {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "pool": "on-demand"}
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.sim.turn(create_without_capacity=how)
        trial.sim.control("capacity", {**place, "total": 0})
        trial.start()
        trial.apply(gpuvm(), gpuvm("p0"), gpuvm("p1", configuration="A100_40GB_PCIe_2x"))
        for name in ("train", "p0"):
            trial.reach("gpuvm", name, "False/WaitingForCapacity")
        trial.reach("gpuvm", "p1", RUNNING)
        asked = len(trial.sim.calls("CreateServer"))
        # After one 503 the offer counts as taken: whoever asks for it then waits without an order.
        assert asked in ({2, 3} if how == "refuse_503" else {3}), "at most one order each"
        trial.sim.control("capacity", {**place, "total": 100})
        for name in ("train", "p0"):
            assert ready(reach(trial, "gpuvm", name, RUNNING)) == RUNNING
        for name in ("train", "p0", "p1"):
            trial.here.delete("gpuvm", name)
        gone(trial, "gpuvm", "train", "p0", "p1")
        each = {(f"GpuVM/{name}", what): 1 for name in ("train", "p0", "p1") for what in ("created", "destroyed")}
        return violations(trial, Expected(summary=type(ONE_VM)(each)))
