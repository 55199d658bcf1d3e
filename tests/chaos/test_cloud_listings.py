"""Listings that lack things, hold them twice, are old, or change their words with each look (D3, D14, D18).

Nothing may be destroyed, bought again or let go on the strength of any of it, while one VM comes and another goes.
"""

from __future__ import annotations

import time
from collections import Counter
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant
from chaos.rig.tour import gone, reach
from chaos.rig.workloads import RUNNING
from support.manifests import gpuvm

pytestmark = pytest.mark.timeout(600)

FLAGS = {"poll_pending_seconds": 0.3}
NAMES = tuple(f"vm-{number}" for number in range(6))
LASTS = 8.0
REAL_POLL = 2.0  # the default; a verdict that changes with each look is written as often, and not more
ODD = {
    "some are missing": {"kind": "partial", "items": 3},
    "nearly all are missing": {"kind": "partial", "items": 10},
    "all are missing": {"kind": "empty"},
    "some are there twice": {"kind": "duplicate", "items": 8},
    "they are old": {"kind": "stale", "seconds": 5},
    "an unknown word": {"kind": "status_word", "word": "HIBERNATING"},
    "failed, it says": {"kind": "status_word", "word": "CREATE_FAILED"},
}


def test_listings_that_cannot_be_relied_on(rig, campaign):
    """Each oddity in half of the listings, by the simulator's dice, and all of them mixed."""
    runs = [Run(name, partial(odd, rig, [fault], 0.5)) for name, fault in ODD.items()]
    runs += [Run(f"mixed {number}", partial(odd, rig, list(ODD.values()), 0.15, number)) for number in range(8)]
    campaign.carry_out("D18", runs, sample=1, at_once=4)


def test_what_vanished_all_at_once_is_not_believed_before_a_person_does(rig, campaign):
    """Every listing is empty from now on: told as implausible, kept, not bought again; and back when the listing is."""
    campaign.carry_out("D18", [Run(f"deleting {many}", partial(vanished, rig, many)) for many in (0, 1, 6)], sample=1)


def test_flapping_words_cost_few_writes(rig, campaign):
    """A new word with each look, at the real interval: nothing is destroyed or powered, and a look costs at most one write."""
    campaign.carry_out(
        "D14", [Run(word, partial(flapping, rig, word)) for word in ("HIBERNATING", "PENDING", "CREATE_FAILED")], sample=0
    )


def odd(rig, faults, probability, dice=0):
    """``dice`` makes other throws of the simulator's."""
    with rig.trial(**FLAGS) as trial:
        standing(trial)
        for number, fault in enumerate(faults):
            trial.sim.fault(id=f"{dice}-{number}", operation="GetServers", probability=probability, **fault)
        trial.apply(gpuvm())
        trial.here.delete("gpuvm", NAMES[0])
        time.sleep(LASTS)
        trial.sim.clear_faults()
        gone(trial, "gpuvm", NAMES[0])
        for name in ("train", *NAMES[1:]):
            reach(trial, "gpuvm", name, RUNNING)
        wanted = {(f"GpuVM/{name}", "created"): 1 for name in ("train", *NAMES)} | {(f"GpuVM/{NAMES[0]}", "destroyed"): 1}
        left = {f"GpuVM/{name}": RUNNING for name in ("train", *NAMES[1:])}
        return violations(trial, Expected(summary=Counter(wanted), standing=left))


def vanished(rig, many):
    with rig.trial(**FLAGS, create_grace_seconds=1, blind_after_seconds=1) as trial:
        standing(trial)
        trial.sim.fault(operation="GetServers", kind="empty")
        kept, going = NAMES[many:], NAMES[:many]
        trial.here.delete("gpuvm", *going)
        for name in kept:
            trial.reach("gpuvm", name, "Unknown/ImplausibleListing", says="looks like an error of the cloud")
        time.sleep(4)  # four graces
        assert len(trial.sim.calls("CreateServer")) == len(NAMES)
        trial.sim.clear_faults()
        for name in kept:
            reach(trial, "gpuvm", name, RUNNING)
        gone(trial, "gpuvm", *going)
        wanted = {(f"GpuVM/{name}", "created"): 1 for name in NAMES} | {(f"GpuVM/{name}", "destroyed"): 1 for name in going}
        return violations(trial, Expected(summary=Counter(wanted), standing={f"GpuVM/{name}": RUNNING for name in kept}))


def flapping(rig, word):
    with rig.trial(poll_pending_seconds=REAL_POLL, poll_steady_seconds=REAL_POLL) as trial:
        standing(trial)
        before, looks = trial.kube.count("update gpuvms/status"), trial.cloud.count("GetServers")
        trial.sim.fault(operation="GetServers", kind="status_word", word=word, probability=0.5)
        time.sleep(3 * LASTS)
        trial.sim.clear_faults()
        written = trial.kube.count("update gpuvms/status") - before
        for name in NAMES:
            reach(trial, "gpuvm", name, RUNNING)
        looks = trial.cloud.count("GetServers") - looks
        found = [f"{written} status writes for {len(NAMES)} objects in {looks} looks"] if written > looks * len(NAMES) else []
        wanted = {(f"GpuVM/{name}", "created"): 1 for name in NAMES}
        return found + violations(
            trial, Expected(summary=Counter(wanted), standing={f"GpuVM/{name}": RUNNING for name in NAMES})
        )


def standing(trial):
    plant(trial)
    trial.blind_seconds = 30.0
    trial.start()
    trial.apply(*(gpuvm(name) for name in NAMES))
    for name in NAMES:
        reach(trial, "gpuvm", name, RUNNING)
