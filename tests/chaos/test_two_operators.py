"""Two operators awake at once (F1, F2), and one VM that two objects claim (F9).

Without a Lease nothing keeps a second operator from running, so two do: on the same objects by accident, one of them asleep
or killed at times; old and new in a rolling update; or in two clusters that share one key and use the same names. By ADR 2 the
age of a record that may be acted on (half the grace, at least 5 s) and the age of facts stay under the grace: 12 s here, 30 s
in truth. With a Lease: test_lease.py.
"""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import contextmanager
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.kubeclient import KubeClient
from chaos.rig.ledger import Books
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant, things
from chaos.rig.workloads import RUNNING, WORKLOADS
from support.kstatus import ready
from support.manifests import gpuvm
from support.waiting import eventually, gone, reach

pytestmark = pytest.mark.timeout(1500)

GRACE = 12  # seconds
BOTH_HAVE_LOOKED = 8  # listings, of the two together; one of them may have made them all
ROUNDS = 4  # so often have both looked, and the end stood, before it is judged
RANDOM_RUNS = 200
STEPS = ("edit", "stop", "start", "delete", "create", "sleep", "kill", "nothing")
ENDS = {"Running": RUNNING, "Stopped": "True/PoweredOff", "": ""}  # the power state that is wanted at the end, "": no object
AFTER = 10 * GRACE + 60.0  # seconds for the end to come; a kill in the create window costs ten graces
BLIND = 120.0  # seconds in which a status may be of the past
SHARED = "shared-by-name"


def test_two_awake_on_the_same_objects(rig, campaign):
    """A random life of one object; each run ends with what its last step wanted, and with one VM at most at any instant."""
    runs = [Run(f"random life {number}", partial(random_life, rig, number)) for number in range(RANDOM_RUNS)]
    campaign.carry_out("F1", runs, sample=2, at_once=8 if campaign.whole else 2)


def test_old_and_new_overlap(rig, campaign):
    """A rolling update starts the new one before it ends the old; that begins at each step of a life."""
    runs = [Run(f"{name}, overlap", partial(rolled, rig, name)) for name in ("vm", "edits", "snapshot", "vpc")]
    campaign.carry_out("F2", runs, sample=1)


def test_two_clusters_with_one_key_and_the_same_names(rig, campaign):
    """Two namespaces with an operator each, told apart by their tags as two clusters are, use one tenant."""
    runs = [Run(f"the {first} is deleted first", partial(two_clusters, rig, first)) for first in ("one", "other")]
    campaign.carry_out("F2", runs, sample=1)


def test_two_clusters_claim_one_name(rig, campaign):
    """``vmName`` bears no tag: who comes second is in Conflict, and deleting that object sends nothing.

    The same within a namespace, and from another one: tests/e2e/test_gpuvm_life.py and test_tenants.py.
    """
    runs = [Run(f"both at once: {at_once}", partial(one_name, rig, at_once)) for at_once in (False, True)]
    campaign.carry_out("F9", runs, sample=1)


class Pair:
    """Two operators on the same objects; one of them may sleep or be started anew."""

    def __init__(self, trial) -> None:
        self.trial = trial
        self.asleep = None
        trial.start()
        trial.start()

    def sleep(self, which):
        """Put one to sleep, and wake the one that slept."""
        self.wake()
        self.asleep = self.trial.processes[-1 - which]
        os.kill(self.asleep.pid, signal.SIGSTOP)

    def wake(self):
        """Let both be awake."""
        if self.asleep is not None:
            os.kill(self.asleep.pid, signal.SIGCONT)
        self.asleep = None

    def kill(self, which):
        """Kill one of them (what it has sent still arrives) and start the next."""
        victim = self.trial.processes[-1 - which]
        self.wake()
        victim.kill9()
        self.trial.kills += 1
        self.trial.processes.remove(victim)
        self.trial.processes.insert(0, victim)  # the two that live are the last two
        self.trial.start()


def random_life(rig, number):
    """The run's number is all that its steps come from."""
    dice = random.Random(number)
    with rig.trial(create_grace_seconds=GRACE) as trial:
        plant(trial)
        trial.sim.turn(duplicate_vm="twin", provision_seconds=dice.choice((0.2, 1.5)))
        pair = Pair(trial)
        wanted = "Running"
        trial.apply(gpuvm())
        try:
            for _ in range(dice.randint(4, 8)):
                time.sleep(dice.choice((0.0, 0.1, 0.5, 2.0)))
                wanted = take(dice, trial, pair, wanted)
        finally:
            pair.wake()
        trial.prolong(AFTER - 60)
        found = ended(trial, wanted)
        return found + at_most_one_order_each(trial)


def take(dice, trial, pair, wanted):
    """Take one step, and return the power state that is wanted then; "" when there is to be no object."""
    step = dice.choice(STEPS)
    if step == "sleep":
        pair.sleep(dice.randrange(2))
    elif step == "kill":
        pair.kill(dice.randrange(2))
    elif step == "delete":
        trial.here.delete("gpuvm", "train")
        return ""
    elif step == "create" and not wanted:
        pair.wake()
        trial.prolong(AFTER - 60)
        trial.gone("gpuvm", "train")
        trial.apply(gpuvm())
        return "Running"
    elif step in {"stop", "start", "edit"} and wanted:
        wanted = {"stop": "Stopped", "start": "Running", "edit": wanted}[step]
        change = {"powerState": wanted, "progressDeadlineSeconds": dice.randint(900, 1800)}
        trial.here.patch("gpuvm", "train", {"spec": change})
    return wanted


def ended(trial, wanted):
    if not wanted:
        trial.gone("gpuvm", "train")
        return violations(trial)

    def settled():
        item = trial.here.get("gpuvm", "train")
        assert item["status"]["observedGeneration"] == item["metadata"]["generation"]
        assert ready(item) == ENDS[wanted], item["status"]
        return item

    def both_have_looked():
        looks = trial.looks()
        trial.wait(lambda: trial.looks() >= looks + BOTH_HAVE_LOOKED, "both to have looked")

    for _ in range(ROUNDS):  # whoever looked before the last power call says Drifted until it looks again
        both_have_looked()
        trial.wait(settled, f"{wanted} at the end")
    trial.blind_seconds = BLIND  # one that slept may have told of the past
    return violations(trial, Expected(standing={"GpuVM/train": ENDS[wanted]}))


def at_most_one_order_each(trial):
    """Each object's VM has been bought once at most, and was destroyed once at most."""
    found = []
    for operation in ("CreateServer", "DestroyServer"):
        names = [entry["subject"]["id"] for entry in Books.of(trial).committed() if entry["operation"] == operation]
        found += [f"I1: {operation} of {name} was done {names.count(name)} times" for name in {*names} if names.count(name) > 1]
    return found


def rolled(rig, name):
    """Two awake from the beginning; halfway the old one is told to end."""
    workload = WORKLOADS[name]
    with rig.trial(**workload.options | {"create_grace_seconds": GRACE}) as trial:
        workload.prepare(trial)
        trial.sim.turn(duplicate_vm="twin")
        old = trial.start()
        trial.cloud.add(lambda call: call.writes, "received", ending(old))
        trial.start()
        trial.prolong(AFTER - 60)
        workload.live(trial)
        trial.settle()
        trial.blind_seconds = BLIND
        return violations(trial) + at_most_one_order_each(trial)


def ending(old):
    """The first change of the cloud is under way when SIGTERM comes."""

    async def do(_call):
        os.kill(old.pid, signal.SIGTERM)

    return do


@contextmanager
def neighbour(trial):
    """Another cluster's objects: a namespace with an operator and a tag of its own, the same cloud and key."""
    there = KubeClient(trial.rig.cluster, f"{trial.namespace}-other")
    there.create_namespace()
    process = trial.start(namespace=[there.namespace], install_tag=f"{trial.tag}o")
    trial.processes.insert(0, trial.processes.pop())  # the present operator is the first cluster's
    trial.blind_seconds = 10 * BLIND  # the oracle of statuses goes by names, which are the same in both
    try:
        yield there
    finally:
        process.close()
        for item in there.list("gpuvms"):
            there.delete("gpuvm", item["metadata"]["name"])
            there.patch("gpuvm", item["metadata"]["name"], {"metadata": {"finalizers": None}})
        there.close()


def two_clusters(rig, first):
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        with neighbour(trial) as there:
            trial.apply(gpuvm())
            (item,) = there.apply(gpuvm())
            trial.uids[item["metadata"]["uid"]] = "GpuVM/of the other cluster"
            for side in (trial.here, there):
                reach(side, "gpuvm", "train", RUNNING)
            goes, stays = (trial.here, there) if first == "one" else (there, trial.here)
            goes.delete("gpuvm", "train")
            gone(goes, "gpuvm", "train")
            assert ready(stays.get("gpuvm", "train")) == RUNNING
            destroyed = trial.sim.committed("DestroyServer")
            assert len(destroyed) == 1, destroyed
            stays.delete("gpuvm", "train")
            gone(stays, "gpuvm", "train")
            return violations(trial) + at_most_one_order_each(trial)


def one_name(rig, at_once):
    """Judged by the world alone: the oracles tell whose a VM is by a fingerprint, which a chosen name lacks."""
    with rig.trial() as trial:
        plant(trial)
        before = things(trial.sim)
        trial.start()
        with neighbour(trial) as there:
            trial.apply(gpuvm(vmName=SHARED))
            if not at_once:
                trial.reach("gpuvm", "train", RUNNING)
            there.apply(gpuvm(vmName=SHARED))
            sides = (trial.here, there)
            eventually(lambda: sorted(map(said, sides)) == ["False/Conflict", RUNNING], AFTER, "one to own it")
            winner, loser = sorted(sides, key=said, reverse=True)
            loser.delete("gpuvm", "train")
            gone(loser, "gpuvm", "train")
            assert trial.sim.calls("DestroyServer") == []
            assert said(winner) == RUNNING
            winner.delete("gpuvm", "train")
            gone(winner, "gpuvm", "train")
            assert len(trial.sim.committed("CreateServer")) == len(trial.sim.calls("DestroyServer")) == 1
            return [] if things(trial.sim) == before else [f"I3: the world is {things(trial.sim)}, it was {before}"]


def said(side):
    return ready(side.get("gpuvm", "train"))
