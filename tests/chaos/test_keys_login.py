"""The login token ends between any two calls of a life (E2), and the key is swapped for another tenant's (D4)."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant
from chaos.rig.tour import ONE_VM, account, ask_again, close_account, gone, reach
from chaos.rig.workloads import RUNNING, SECRET
from support.manifests import gpuvm, secret

pytestmark = pytest.mark.timeout(900)

FLAGS = {"poll_pending_seconds": 0.3}
PASSWORD = "made-up-p4ssphrase"
CALLS = 20  # of the life of one slow VM; which they are, depends on time
ALWAYS = ("CreateServer", "DestroyServer")
SWAPPED = ("the VM is ordered", "the VM runs", "the VM is told to go")


def test_the_token_ends_between_any_two_calls(rig, campaign):
    """One login more, the call that met it repeated once, and nothing made or destroyed twice."""
    runs = [
        Run(f"before call {index}", partial(expired, rig, lambda call, index=index: call.index == index))
        for index in range(2, CALLS)
    ]
    runs += [Run(f"before {word}", partial(expired, rig, lambda call, word=word: call.word == word)) for word in ALWAYS]
    campaign.carry_out("E2", runs, sample=1, at_once=5)


def test_the_token_lives_for_five_seconds(rig, campaign):
    """So it ends during a life again and again; it is renewed early, and no call is ever refused."""
    campaign.carry_out("E2", [Run("five seconds", partial(short_lived, rig))], sample=1)


def test_the_key_is_swapped_for_another_tenants(rig, campaign):
    """Everything of ours looks gone, also to a process that starts with that key: nothing is released, bought or destroyed."""
    runs = [
        Run(f"{when}, {how}", partial(swapped, rig, when, restarted=how == "restarted"))
        for when in SWAPPED
        for how in ("alive", "restarted")
    ]
    campaign.carry_out("D4", runs, sample=1, at_once=6)


def expired(rig, meant):
    with rig.trial(own_account=False, **FLAGS) as trial:
        plant(trial)
        trial.sim.turn(provision_seconds=3, destroy_seconds=2)

        async def end_tokens(_):
            await asyncio.to_thread(trial.sim.control, "logins/end", {})

        rule = trial.cloud.add(meant, "received", end_tokens)
        life(trial, username="ann", password=PASSWORD)
        if not rule.struck:
            raise NotReachedError
        refused = [call for call in trial.sim.calls() if call["status"] == 401]
        logins = len(trial.sim.calls("Authenticate"))
        found = [f"{logins} logins, for one end of a token"] if logins > 2 else []
        found += [f"{len(refused)} calls were refused"] if len(refused) > 4 else []  # those that were under way together
        found += [] if refused or logins > 1 else ["E2: the token's end was not noticed by anybody"]
        return found + violations(trial, Expected(summary=ONE_VM))


def short_lived(rig):
    with rig.trial(own_account=False, **FLAGS) as trial:
        plant(trial)
        # A life of several tokens; their last tenth, in which they are renewed, holds more than one poll.
        trial.sim.turn(login_token_seconds=5, provision_seconds=7, destroy_seconds=5)
        life(trial, username="ann", password=PASSWORD)
        refused = [call["operation"] for call in trial.sim.calls() if call["status"] == 401]
        found = [f"refused: {refused}"] * bool(refused)
        found += [] if len(trial.sim.calls("Authenticate")) > 1 else ["E2: the token was never renewed"]
        return found + violations(trial, Expected(summary=ONE_VM))


def life(trial, **credential):
    trial.start()
    account(trial, **credential)
    trial.apply(gpuvm())
    reach(trial, "gpuvm", "train", RUNNING)
    trial.here.delete("gpuvm", "train")
    gone(trial, "gpuvm", "train")
    close_account(trial)


def swapped(rig, when, *, restarted):
    with rig.trial(own_account=False, **FLAGS, blind_after_seconds=1) as trial:
        plant(trial)
        trial.blind_seconds = 90.0
        trial.sim.turn(provision_seconds=3, destroy_seconds=3)
        mine, theirs = trial.sim.key("ann"), trial.sim.key("gil")
        trial.start()
        account(trial, apikey=mine["value"])
        trial.apply(gpuvm())
        bring_to(trial, when)
        told(trial, theirs)
        if restarted:
            trial.restart()
        used = trial.sim.control("ledger")["last"]
        trial.wait(lambda: reads(trial, theirs, used) >= 3, "the other tenant's key to be used")
        if when != "the VM is told to go":
            trial.here.delete("gpuvm", "train")
        trial.reach("gpuvm", "train", "False/DeletionBlocked", says="globex")
        assert any(f"-{trial.tag}-" in name for name in trial.sim.vms()) or when == "the VM is told to go"
        told(trial, mine)
        gone(trial, "gpuvm", "train")
        close_account(trial)
        wrong = [
            call["operation"] for call in trial.sim.control(f"ledger?credential={theirs['id']}")["entries"] if call["mutating"]
        ]
        return [f"with the other tenant's key: {wrong}"] * bool(wrong) + violations(trial, Expected(summary=ONE_VM))


def bring_to(trial, when):
    if when == "the VM is ordered":
        trial.wait(lambda: trial.sim.committed("CreateServer"), "the order")
        trial.wait(lambda: trial.here.get("gpuvm", "train")["status"].get("vmId"), "the VM to be seen")
        return
    trial.reach("gpuvm", "train", RUNNING)
    if when == "the VM is told to go":
        trial.here.delete("gpuvm", "train")
        trial.wait(lambda: trial.sim.committed("DestroyServer"), "the VM to be told to go")


def told(trial, key):
    """The Secret holds another key, and the account is asked to look."""
    trial.apply(secret(SECRET, apikey=key["value"]))
    trial.here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/reconcile-requested-at": key["id"]})
    ask_again(trial)


def reads(trial, key, since):
    return len(trial.sim.control(f"ledger?credential={key['id']}&since={since}&operation=GetServers")["entries"])
