"""Somebody changes in the cloud what is ours (F11, F12), and uses it for things that we know nothing of (F13, F14).

"Seen within two polls" is not timed here, but in virtual time (tests/unit/simulation/test_two_polls.py): what is waited for
comes, and what it costs is counted.
"""

from __future__ import annotations

import random
import time
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.kubeclient import KubeClient
from chaos.rig.ledger import POWERS
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import Hold, nth
from chaos.rig.strangers import plant, things
from chaos.rig.workloads import AVAILABLE, COMPLETED, RUNNING
from support.kstatus import ready
from support.manifests import gpusnapshot, gpuvm, gpuvpc
from support.waiting import eventually, gone, reach

pytestmark = pytest.mark.timeout(1500)

LOST_WHILE = ("pending", "running", "stopped", "being stopped", "being deleted", "replaced by a namesake", "moved away")
STATES = (  # of the specification, and one that it does not know
    *("na", "PLANNED", "PENDING", "PENDING_RESOURCES", "PENDING_READINESS", "ONLINE", "OFFLINE"),
    *("CREATE_FAILED", "FAILED", "ADMIN_WAIT", "SOMETHING_NEW"),
)
OCCUPANTS = ("ours", "ours by name", "a stranger's VM", "a stranger's snapshot", "another namespace's VM")
POLLS = 8


def test_destroyed_from_outside_at_any_time(rig, campaign):
    """It is told, and neither bought again nor is another one taken for it."""
    runs = [Run(f"lost while {when}", partial(lost, rig, when)) for when in LOST_WHILE]
    campaign.carry_out("F11", runs, sample=1)


def test_forced_into_every_state(rig, campaign):
    """Every state of the specification in a random order: nothing is bought or destroyed, one correction each at most."""
    runs = [Run(f"states {number}", partial(forced, rig, number)) for number in range(10)]
    campaign.carry_out("F12", runs, sample=1)


def test_a_vpc_is_deleted_with_something_in_it(rig, campaign):
    """DestroyVpc is not sent before the VPC is empty, whoever's it is that is in it, and then once."""
    campaign.carry_out("F13", [Run(who, partial(occupied, rig, who)) for who in OCCUPANTS], sample=1)


def test_a_snapshot_in_the_middle_of_things(rig, campaign):
    ways = {"of a missing VM": missing, "VM deleted during it": cut_short, "deleted during a restore": restoring}
    campaign.carry_out("F14", [Run(name, partial(way, rig)) for name, way in ways.items()], sample=1)


def let_pass(trial, polls=POLLS):
    """So many further listings, after each of which the operator could have done something."""
    before = trial.cloud.count("GetServers")
    trial.wait(lambda: trial.cloud.count("GetServers") >= before + polls, f"{polls} polls")


def ours(trial):
    """The name of the VM of the only GpuVM."""
    return next((name for name in trial.sim.vms() if f"-{trial.tag}-" in name), "")


def lost(rig, when):
    with rig.trial() as trial:
        plant(trial)
        trial.sim.turn(**{"pending": {"provision_stuck_at": "PENDING"}, "being stopped": {"stop_seconds": 30}}.get(when, {}))
        trial.start()
        trial.apply(gpuvm(powerState="Stopped" if when == "stopped" else "Running"))
        trial.reach("gpuvm", "train", {"pending": "False/Creating", "stopped": "True/PoweredOff"}.get(when, RUNNING))
        trial.wait(lambda: trial.here.get("gpuvm", "train")["status"].get("state"), "a listing to have shown it")
        name = ours(trial)
        hold = Hold()
        if when == "being stopped":
            trial.here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
            trial.wait(lambda: trial.sim.committed("StopServer"), "the stop")
        if when == "being deleted":
            trial.cloud.add(nth("DestroyServer"), "received", hold)
            trial.here.delete("gpuvm", "train")
            hold.wait()
        trial.sim.destroy_vm(name)
        found = told_lost(trial, name, when) if when != "being deleted" else []
        hold.release()
        trial.here.delete("gpuvm", "train")
        trial.gone("gpuvm", "train")
        if len(trial.sim.calls("CreateServer")) != 1:
            found.append(f"F11: {len(trial.sim.calls('CreateServer'))} orders")
        trial.blind_seconds = 10.0
        return found + violations(trial)


def told_lost(trial, name, when):
    """``VMLost`` stands, also beside a VM that resembles ours and is none of ours."""
    trial.reach("gpuvm", "train", "False/VMLost")
    if when == "replaced by a namesake":
        make(trial, f"{name[:-3]}xyz", "acme")
    if when == "moved away":
        trial.sim.create_vpc(f"acme-{trial.tag}-away", trial.bystander["value"])
        make(trial, name, f"acme-{trial.tag}-away")
    if when in {"replaced by a namesake", "moved away"}:
        trial.strangers = things(trial.sim)  # what has just been made is somebody else's, too
    let_pass(trial)
    word = ready(trial.here.get("gpuvm", "train"))
    return [] if word == "False/VMLost" else [f"F11: lost, it is called {word}"]


def make(trial, name, vpc):
    """Somebody else's VM, which runs already: as it is it shall stay."""
    trial.sim.create_vm(name, vpc=vpc)
    trial.sim.force(name, "ONLINE", vpc=vpc)


def forced(rig, number):
    dice = random.Random(number)
    order = dice.sample(STATES, len(STATES))
    wanted = dice.choice(("Running", "Stopped"))
    end = {"Running": RUNNING, "Stopped": "True/PoweredOff"}[wanted]
    found = []
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm(powerState=wanted))
        trial.reach("gpuvm", "train", end)
        name = ours(trial)
        for state in order:
            before = powered(trial)
            trial.prolong()
            trial.sim.force(name, state)
            let_pass(trial)
            corrections = powered(trial) - before
            allowed = 1 if state in {"ONLINE", "OFFLINE"} else 0
            if corrections > allowed:
                found.append(f"F12: {corrections} power calls after {state}, where {wanted} is wanted")
            if allowed:
                trial.reach("gpuvm", "train", end)
            elif ready(trial.here.get("gpuvm", "train")).startswith("True"):
                found.append(f"F12: {state}, and Ready is True")
        trial.sim.force(name, "ONLINE")
        trial.reach("gpuvm", "train", end)
        if len(trial.sim.calls("CreateServer")) != 1 or trial.sim.calls("DestroyServer"):
            found.append("F12: something was bought or destroyed")
        return found + violations(trial, Expected(standing={"GpuVM/train": end}))


def powered(trial):
    return sum(trial.cloud.count(word) for word in POWERS)


def occupied(rig, who):
    with rig.trial() as trial:
        plant(trial)
        vpc = f"acme-{trial.tag}-lab"
        trial.start()
        trial.apply(gpuvpc("lab", name=vpc))
        trial.reach("gpuvpc", "lab", AVAILABLE)
        leave = OCCUPY[who](trial, vpc)
        trial.here.delete("gpuvpc", "lab")
        trial.reach("gpuvpc", "lab", "False/DeletionBlocked")
        let_pass(trial)
        found = [] if not trial.sim.calls("DestroyVpc") else ["F13: DestroyVpc was sent with something in the VPC"]
        leave()
        trial.prolong()
        trial.gone("gpuvpc", "lab")
        if len(trial.sim.calls("DestroyVpc")) != 1:
            found.append(f"F13: {len(trial.sim.calls('DestroyVpc'))} DestroyVpc")
        return found + violations(trial)


def our_vm(trial, vpc, *, by_name=False):
    trial.apply(gpuvm(vpc=vpc) if by_name else gpuvm(vpc=None, vpcRef={"name": "lab"}))
    trial.reach("gpuvm", "train", RUNNING)
    return lambda: trial.here.delete("gpuvm", "train")


def strangers_vm(trial, vpc):
    trial.sim.create_vm("visitor", vpc=vpc)
    return lambda: trial.sim.destroy_vm("visitor", vpc)


def strangers_snapshot(trial, vpc):
    key = trial.bystander["value"]
    trial.sim.create_vm("visitor", vpc=vpc)
    trial.sim.force("visitor", "ONLINE", vpc)
    trial.sim.create_snapshot("kept", "visitor", vpc, key)
    time.sleep(0.5)
    trial.sim.destroy_vm("visitor", vpc)
    return lambda: trial.sim.delete_snapshot("kept", vpc, key)


def elsewheres_vm(trial, vpc):
    """A GpuVM of another namespace that the same operator serves."""
    there = KubeClient(trial.rig.cluster, f"{trial.namespace}-other")
    there.create_namespace()
    trial.flags["namespace"] = [trial.namespace, there.namespace]
    trial.restart()
    (item,) = there.apply(gpuvm("visitor", vpc=vpc))
    trial.uids[item["metadata"]["uid"]] = "GpuVM/visitor"
    reach(there, "gpuvm", "visitor", RUNNING)

    def leave():
        there.delete("gpuvm", "visitor")
        gone(there, "gpuvm", "visitor")
        there.close()

    return leave


OCCUPY = {
    "ours": our_vm,
    "ours by name": partial(our_vm, by_name=True),
    "a stranger's VM": strangers_vm,
    "a stranger's snapshot": strangers_snapshot,
    "another namespace's VM": elsewheres_vm,
}


def missing(rig):
    """Neither an object nor a VM of that name: nothing is asked of the cloud, and the object goes at once."""
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(gpusnapshot("before", vmRef={"name": "nowhere"}))
        item = eventually(lambda: (one := trial.here.get("gpusnapshot", "before")) and said_why(one) and one)
        assert "nowhere" in str(item["status"]["conditions"])
        time.sleep(2.0)
        found = [] if not trial.cloud.count("CreateSnapshot") else ["F14: a snapshot of nothing was asked for"]
        trial.here.delete("gpusnapshot", "before")
        trial.gone("gpusnapshot", "before")
        return found + violations(trial)


def said_why(item):
    return ready(item) not in {"-", "Unknown/Pending"}


def cut_short(rig):
    """The VM stays until its snapshot has been taken."""
    with rig.trial() as trial:
        plant(trial)
        trial.sim.turn(snapshot_seconds=3.0)
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        trial.apply(gpusnapshot())
        trial.wait(lambda: trial.cloud.count("CreateSnapshot"), "the snapshot to be ordered")
        trial.here.delete("gpuvm", "train")
        trial.reach("gpusnapshot", "before", COMPLETED)
        trial.gone("gpuvm", "train")
        taken, destroyed = trial.sim.committed("CreateSnapshot")[-1], trial.sim.committed("DestroyServer")[0]
        seconds = destroyed["received"] - taken["committed"]
        found = [] if seconds >= 3.0 else [f"F14: destroyed {seconds:.1f} s into a snapshot of 3 s"]
        trial.here.delete("gpusnapshot", "before")
        trial.gone("gpusnapshot", "before")
        return found + violations(trial)


def restoring(rig):
    """The snapshot stays until the VM that is made from it is there."""
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm(), gpusnapshot())
        trial.reach("gpusnapshot", "before", COMPLETED)
        trial.sim.turn(provision_seconds=3.0)
        trial.apply(gpuvm("p0", image={"snapshotRef": {"name": "before"}}))
        trial.wait(lambda: len(trial.sim.committed("CreateServer")) > 1, "the restore to be ordered")
        trial.here.delete("gpusnapshot", "before")
        trial.reach("gpuvm", "p0", RUNNING)
        trial.gone("gpusnapshot", "before")
        restored, deleted = trial.sim.committed("CreateServer")[1], trial.sim.committed("DeleteSnapshot")[0]
        seconds = deleted["received"] - restored["committed"]
        found = [] if seconds >= 3.0 else [f"F14: deleted {seconds:.1f} s into a restore of 3 s"]
        trial.here.delete("gpuvm", "p0", "train")
        trial.gone("gpuvm", "p0", "train")
        return found + violations(trial)
