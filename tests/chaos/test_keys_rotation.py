"""The key is revoked at any call of a create, and the Secret gets a new one later (E3), or before (rotation at every call)."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import pytest

from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant
from chaos.rig.tour import ONE_VM, account, ask_again, close_account, gone, reach
from chaos.rig.workloads import RUNNING, SECRET
from support.manifests import gpuvm, secret

pytestmark = pytest.mark.timeout(900)

FLAGS = {"poll_pending_seconds": 0.3, "blind_after_seconds": 1}
CALLS = 12  # from the first to the VM's being Ready
PHASES = ("received", "answered")
LATER = 3.0  # seconds until the new key is there; five minutes in the catalogue
MINUTE = 2.0  # between the last use of the old key and its revocation; five polls
LOOKS = 4


def points(make):
    places = [(f"call {index}", lambda call, index=index: call.index == index) for index in range(1, CALLS)]
    places.append(("CreateServer", lambda call: call.word == "CreateServer"))
    return [Run(f"{name}, {phase}", partial(make, meant, phase)) for name, meant in places for phase in PHASES]


def test_revoked_in_the_middle_and_replaced_later(rig, campaign):
    campaign.carry_out("E3", points(partial(rotated, rig, False)), sample=1, at_once=5)


def test_replaced_in_the_middle(rig, campaign):
    """The Secret first, the revocation when the new key is in use and the old is not: no call is refused."""
    campaign.carry_out("E3", points(partial(rotated, rig, True)), sample=1, at_once=5)


def rotated(rig, in_time, meant, phase):
    with rig.trial(own_account=False, **FLAGS) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        trial.sim.turn(provision_seconds=1.5)
        old, new = trial.sim.key("ann"), trial.sim.key("ann")

        async def strike(_):
            await asyncio.to_thread(replace if in_time else trial.sim.revoke, *((trial, new) if in_time else (old,)))

        rule = trial.cloud.add(meant, phase, strike)
        trial.start()
        account(trial, apikey=old["value"])
        trial.apply(gpuvm())
        trial.wait(lambda: rule.struck, "the point to be reached")
        if in_time:
            trial.wait(lambda: used(trial, new), "the new key to be used")
            trial.wait(lambda: retired(trial, old), "what was begun with the old key to end")
            trial.sim.revoke(old)
        else:
            time.sleep(LATER)
            replace(trial, new)
        reach(trial, "gpuvm", "train", RUNNING)
        trial.prolong()
        trial.wait(lambda: used(trial, new), "the new key to be used")
        since = trial.sim.control("ledger")["last"]
        looks = len(trial.sim.calls("GetServers"))
        trial.wait(lambda: len(trial.sim.calls("GetServers")) >= looks + LOOKS, "some more looks")
        found = [f"{call['operation']} with the old key" for call in used(trial, old, since)]
        trial.here.delete("gpuvm", "train")
        gone(trial, "gpuvm", "train")
        close_account(trial)
        if not rule.struck:
            raise NotReachedError
        if in_time:
            found += [f"{call['operation']} was refused" for call in trial.sim.calls() if call["status"] == 401]
        return found + violations(trial, Expected(summary=ONE_VM))


def replace(trial, key):
    """The Secret holds another key, and the account is asked to look."""
    trial.here.apply(secret(SECRET, apikey=key["value"]))
    trial.here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/reconcile-requested-at": key["id"]})
    ask_again(trial)


def retired(trial, key):
    """Nothing comes with this key any more: people are told to wait a minute before they revoke it."""
    sent, before = list(trial.cloud.seen), len(used(trial, key))
    time.sleep(MINUTE)
    return all(seen.answered or seen.note for seen in sent) and len(used(trial, key)) == before


def used(trial, key, since=0):
    return trial.sim.control(f"ledger?credential={key['id']}&since={since}")["entries"]
