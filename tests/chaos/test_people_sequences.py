"""A random sequence of edits ends where a fresh deployment of the last spec begins (I2 of the catalogue)."""

from __future__ import annotations

import random
import time
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant
from chaos.rig.workloads import RUNNING
from support.kstatus import ready
from support.manifests import gpuvm

pytestmark = pytest.mark.timeout(1500)

SEQUENCES = 100
EDITS = 20
PAUSES = (0.0, 0.0, 0.1, 0.6)
ENDS = {"Running": RUNNING, "Stopped": "True/PoweredOff"}
DEADLINES = (600, 900, 1800)
DELETIONS = ({}, {"policy": "Retain"}, {"policy": "Delete"}, {"snapshots": "Delete"})
BAD = (  # refused at admission, each
    {"powerState": "Asleep"},
    {"progressDeadlineSeconds": "soon"},
    {"deletion": {"policy": "Perhaps"}},
    {"configuration": "A100_40GB_PCIe_2x"},
    {"sshKeys": []},
)
COMPARED = ("state", "cluster", "vpc", "resourcePool", "gpuType", "gpus", "vcpus", "storageType", "image", "pricePerHour")


def test_edits_end_as_a_fresh_deployment_does(rig, campaign):
    runs = [Run(f"sequence {number}", partial(compared, rig, number)) for number in range(SEQUENCES)]
    campaign.carry_out("I2", runs, sample=1, at_once=6 if campaign.whole else 2)


def compared(rig, number):
    """Both lives in one cloud, one after the other, under one name."""
    dice = random.Random(number)
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm())
        spec, found = edited(trial, dice)
        settle(trial, spec)
        found += violations(trial, Expected(standing={"GpuVM/train": ENDS[spec["powerState"]]}))
        by_edits = outcome(trial)
        trial.prolong()
        clear(trial)
        trial.apply(gpuvm(**spec))
        settle(trial, spec)
        fresh = outcome(trial)
        if by_edits != fresh:
            found.append(f"I2: by edits {by_edits}, fresh {fresh}")
        clear(trial)
        return found + violations(trial)


def edited(trial, dice):
    """Return the spec that stands after the edits, and what was taken that should have been refused."""
    spec, found = {"powerState": "Running"}, []
    for _ in range(EDITS):
        time.sleep(dice.choice(PAUSES))
        match dice.choice(("power", "deadline", "deletion", "bad")):
            case "power":
                spec["powerState"] = dice.choice(tuple(ENDS))
            case "deadline":
                spec["progressDeadlineSeconds"] = dice.choice(DEADLINES)
            case "deletion":
                spec["deletion"] = dice.choice(DELETIONS)
            case _:
                bad = dice.choice(BAD)
                found += [] if refused(trial, bad) else [f"I2: {bad} was taken"]
        trial.apply(gpuvm(**spec))
    return spec, found


def refused(trial, bad):
    path = f"/apis/gpucloud.dev/v1alpha1/namespaces/{trial.namespace}/gpuvms/train"
    return trial.here.answer("PATCH", path, {"spec": bad}, "application/merge-patch+json")[0] == 422


def settle(trial, spec):
    def look():
        item = trial.here.get("gpuvm", "train")
        assert item["status"]["observedGeneration"] == item["metadata"]["generation"]
        assert ready(item) == ENDS[spec["powerState"]], item["status"]
        return True

    trial.wait(look, "the last spec to stand")


def outcome(trial):
    """What a person sees in the end, without what each life has of its own (names, addresses, times)."""
    item = trial.here.get("gpuvm", "train")
    (vm,) = [vm for vm in trial.sim.control("world")["vms"] if f"-{trial.tag}-" in vm["order"]["name"]]
    conditions = sorted((one["type"], one["status"], one["reason"]) for one in item["status"]["conditions"])
    order = {name: value for name, value in vm["order"].items() if name != "name"}
    shown = {name: item["status"].get(name) for name in COMPARED}
    return {"spec": item["spec"], "conditions": conditions, "order": order, "vm": vm["status"], "shown": shown}


def clear(trial):
    """Retain would leave the VM."""
    trial.here.patch("gpuvm", "train", {"spec": {"deletion": {"policy": "Delete"}}})
    trial.here.delete("gpuvm", "train")
    trial.gone("gpuvm", "train")
