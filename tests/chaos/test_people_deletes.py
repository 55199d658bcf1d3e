"""People edit and delete while the operator is at work (F3, F4, F5, F7, F10).

An outage of ten minutes lasts as many seconds here as ``OUTAGE`` says; the tries in it are bounded by the same number.
"""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress
from functools import partial

import pytest

from chaos.rig.calls import Phase
from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.ledger import Books
from chaos.rig.oracles import Expected, violations
from chaos.rig.points import points
from chaos.rig.reference import reference
from chaos.rig.rules import Hold, answer, drop, nth
from chaos.rig.strangers import plant, things
from chaos.rig.workloads import RUNNING
from support.kstatus import condition, ready
from support.manifests import gpuvm
from support.waiting import eventually

pytestmark = pytest.mark.timeout(1500)

EDITS = 50
PAUSE = 0.05  # seconds between two edits
FIXED = {  # fields that a VM was bought with
    "cluster": "Msc2",
    "configuration": "A100_40GB_PCIe_2x",
    "vpc": "elsewhere",
    "vmName": "another",
    "rootDiskGiB": 500,
}
ENDS = {"Running": RUNNING, "Stopped": "True/PoweredOff"}
OUTAGE = 12.0
TRIES = 25
OUTAGES = {"refused": "down", "503": answer(503), "cut": drop(), "silent": None}
STRIPPED_AT = (
    ("update gpuvms/status", Phase.RECEIVED),
    ("update gpuvms/status", Phase.ANSWERED),
    ("CreateServer", Phase.RECEIVED),
    ("CreateServer", Phase.ANSWERED),
    ("DestroyServer", Phase.RECEIVED),
    ("DestroyServer", Phase.ANSWERED),
    ("Running", None),
)
LIVES = 100


def test_edited_fifty_times_while_it_is_being_created(rig, campaign):
    runs = [Run(f"edits {number}", partial(edited, rig, number)) for number in range(10)]
    campaign.carry_out("F3", runs, sample=1)


def test_deleted_at_each_point_of_its_creation(rig, campaign):
    """Whatever has been bought by then is destroyed, and nothing is bought after it."""
    calls = reference(rig, "vm")
    last = next(call.index for call in calls.cloud if call.word == "DestroyServer")
    listings = sum(call.word == "GetServers" and call.index < last for call in calls.cloud)
    before = [point for point in points(calls) if of_creation(point, listings)]
    runs = [Run(f"deleted at {point}", partial(deleted_at, rig, point)) for point in before]
    campaign.carry_out("F4", runs, sample=2)


def test_deleted_during_an_outage(rig, campaign):
    runs = [Run(f"deleted while {how}", partial(deleted_blind, rig, how)) for how in OUTAGES]
    campaign.carry_out("F5", runs, sample=1)


def test_a_finalizer_is_stripped_by_force(rig, campaign):
    """What then belongs to nobody is left alone, and an object of the same name does not buy beside it unasked."""
    runs = [
        Run(f"stripped at {word} {phase or ''}".strip(), partial(stripped, rig, word, phase)) for word, phase in STRIPPED_AT
    ]
    campaign.carry_out("F7", runs, sample=1)


def test_one_name_deleted_and_created_again_and_again(rig, campaign):
    lives = LIVES if campaign.whole else 5
    campaign.carry_out("F10", [Run("one name", partial(again_and_again, rig, lives, campaign.choice.seed))])


def edited(rig, number):
    dice = random.Random(number)
    with rig.trial() as trial:
        plant(trial)
        trial.sim.turn(provision_seconds=dice.choice((0.2, 1.0, 3.0)))
        trial.start()
        trial.apply(gpuvm())
        power, found = "Running", []
        for count in range(EDITS):
            time.sleep(PAUSE)
            power = dice.choice(tuple(ENDS))
            change = {"powerState": power, "progressDeadlineSeconds": 900 + count}
            trial.here.patch("gpuvm", "train", {"spec": change})
            field = dice.choice(tuple(FIXED))
            if not refused(trial, {field: FIXED[field]}):
                found.append(f"F3: spec.{field} could be changed")
        trial.wait(lambda: settled(trial, ENDS[power]), "the last spec to stand")
        assert trial.here.get("gpuvm", "train")["spec"]["progressDeadlineSeconds"] == 900 + EDITS - 1
        if len(trial.sim.calls("CreateServer")) != 1:
            found.append(f"F3: {len(trial.sim.calls('CreateServer'))} orders")
        return found + violations(trial, Expected(standing={"GpuVM/train": ENDS[power]}))


def refused(trial, change):
    here = trial.here
    path = f"/apis/gpucloud.dev/v1alpha1/namespaces/{trial.namespace}/gpuvms/train"
    status, _ = here.answer("PATCH", path, {"spec": change}, "application/merge-patch+json")
    return status == 422


def settled(trial, wanted):
    item = trial.here.get("gpuvm", "train")
    return item["status"]["observedGeneration"] == item["metadata"]["generation"] and ready(item) == wanted


def of_creation(point, listings):
    """Points up to Ready: a life without faults writes two statuses on its way there."""
    most = {"CreateServer": 1, "patch gpuvms": 1, "update gpuvms/status": 2, "create events": 3, "GetServers": listings}
    return point.phase is not Phase.DELIVERED and point.number <= most.get(point.word, 1) and point.word != "DestroyServer"


def deleted_at(rig, point):
    with rig.trial() as trial:
        plant(trial)
        reached = []

        async def do(_call):
            reached.append(point)
            await asyncio.to_thread(trial.here.delete, "gpuvm", "train")

        trial.start()
        point.arm(trial, do)
        trial.apply(gpuvm())
        trial.wait(lambda: reached or runs(trial), f"{point}")
        with suppress(AssertionError):  # the last points of a creation come a moment after it can be seen
            eventually(lambda: reached, 5)
        if not reached:
            raise NotReachedError
        trial.gone("gpuvm", "train")
        return violations(trial) + balanced(trial)


def runs(trial):
    item = trial.here.get("gpuvm", "train")
    return item is not None and ready(item) == RUNNING


def balanced(trial):
    summary = Books.of(trial).summary()
    made, ended = summary["GpuVM/train", "created"], summary["GpuVM/train", "destroyed"]
    return [] if made == ended <= 1 else [f"F4: created {made} times, destroyed {ended} times"]


def deleted_blind(rig, how):
    """The object stays, says so, and asks a bounded number of times; when the cloud is back it goes."""
    with rig.trial(cloud_timeout_seconds=2) as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        end = outage(trial, how)
        trial.here.delete("gpuvm", "train")
        time.sleep(OUTAGE)
        item = trial.here.get("gpuvm", "train")
        found = [] if item["metadata"]["finalizers"] else ["F5: the finalizer went in the outage"]
        tries = len([seen for seen in trial.cloud.seen if seen.call.word == "DestroyServer"])
        if tries > TRIES:
            found.append(f"F5: {tries} DestroyServer in the outage")
        end()
        trial.blind_seconds = 2 * OUTAGE
        trial.prolong(60)
        trial.gone("gpuvm", "train")
        return found + violations(trial, Expected(summary=reference(rig, "vm").summary))


def outage(trial, how):
    """Begin it, and return what ends it."""
    if how == "refused":
        trial.cloud.down()
        return trial.cloud.up
    hold = Hold()
    rule = trial.cloud.add(lambda _: True, "received", OUTAGES[how] or hold, times=0)

    def end():
        trial.cloud.rules.remove(rule)
        hold.release()

    return end


def stripped(rig, word, phase):
    with rig.trial() as trial:
        plant(trial)
        before = things(trial.sim)
        held = Hold()
        if phase:
            (trial.cloud if word[0].isupper() else trial.kube).add(nth(word), phase, held)
        trial.start()
        trial.apply(gpuvm())
        if phase and word != "DestroyServer":
            held.wait()
        else:
            trial.reach("gpuvm", "train", RUNNING)
        if not phase:  # else the operator may be done with the deletion before we are
            trial.kube.add(nth("update gpuvms/status"), Phase.RECEIVED, held)
        trial.here.delete("gpuvm", "train")
        if word in {"DestroyServer", "Running"}:
            held.wait()
        eventually(lambda: strip(trial), 30, "the object to be gone")
        held.release()
        eventually(lambda: all(seen.answered or seen.note for seen in trial.cloud.seen), 30, "what was held to be carried out")
        eventually(lambda: silent(trial), 60, "the operator to have forgotten the object")
        return after_stripping(trial, before, word)


def silent(trial):
    """Nothing is asked of the cloud any more: the operator has nothing to do there."""
    asked = len(trial.cloud.calls)
    time.sleep(3.0)
    return len(trial.cloud.calls) == asked


def strip(trial):
    """A finalizer that is being added at this moment may come back: nobody can strip what is not there yet."""
    if trial.here.get("gpuvm", "train") is None:
        return True
    path = f"/apis/gpucloud.dev/v1alpha1/namespaces/{trial.namespace}/gpuvms/train"
    trial.here.answer("PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")
    return trial.here.get("gpuvm", "train") is None


def after_stripping(trial, before, word):
    """The VM that was left, if one was, stays for good; the next of its name waits until it may buy."""
    left = sorted(things(trial.sim).keys() - before.keys())
    sent = len(trial.sim.calls("DestroyServer"))
    found = [] if sent == (word == "DestroyServer") else [f"F7: {sent} DestroyServer"]
    trial.apply(gpuvm())
    if left:
        item = trial.reach("gpuvm", "train", "False/PossibleDuplicate")
        assert left[0].rpartition("/")[2] in condition(item, "Stalled")["message"]
        assert len(trial.sim.committed("CreateServer")) == 1
        trial.here.annotate("gpuvm", "train", **{"gpucloud.dev/buy-anyway": "true"})
    trial.reach("gpuvm", "train", RUNNING)
    trial.here.delete("gpuvm", "train")
    trial.gone("gpuvm", "train")
    now = things(trial.sim)
    if sorted(now.keys() - before.keys()) != left:
        found.append(f"F7: left were {left}, now {sorted(now.keys() - before.keys())}")
    found += [f"I3: {name} of somebody else has changed" for name in before if now.get(name) != before[name]]
    trial.blind_seconds = 60  # nobody can correct the status of an object that is gone
    return found + violations(trial, Expected(cloud=False))


def again_and_again(rig, lives, seed):
    """Each life ends at a moment of its own; no life's VM is touched for another's sake."""
    dice = random.Random(seed)
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        for _ in range(lives):
            trial.prolong()
            trial.apply(gpuvm())
            time.sleep(dice.choice((0.0, 0.2, 0.5, 1.0)))
            trial.here.delete("gpuvm", "train")
            trial.gone("gpuvm", "train")
        trial.prolong()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        names = [(entry["operation"], entry["subject"]["id"]) for entry in Books.of(trial).committed()]
        found = [f"F10: {call} was done {names.count(call)} times" for call in {*names} if names.count(call) > 1]
        return found + violations(trial, Expected(standing={"GpuVM/train": RUNNING}))
