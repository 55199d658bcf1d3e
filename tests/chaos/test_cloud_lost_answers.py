"""Orders whose answer is lost, late, or a lie, with every way in which the service may treat a name that is taken (D10 to D12).

The specification does not say what a second create of a living name does, so every setting of the knob is tried: one VM, one
order carried out, and never a second order before a whole grace of looking. Only where the service itself makes two VMs of one
name can there be two; then the object is Stalled, and nothing is destroyed. A grace of 2 s stands for 30, so late commits of
1.5 and 4 s for 20 and 60; in the whole some are run with the real grace.
"""

from __future__ import annotations

import time
from functools import partial
from itertools import pairwise

import pytest

from chaos.rig.campaign import Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant
from chaos.rig.tour import ONCE, ONE_VM, gone, one_vm, persist, reach, tour
from chaos.rig.workloads import AVAILABLE, RUNNING
from support.kstatus import ready
from support.manifests import gpuvm, gpuvpc
from support.simcloud import API_KEY

pytestmark = pytest.mark.timeout(1800)

AT_ONCE = 6
GRACE = 2.0
FLAGS = {"cloud_timeout_seconds": 4, "create_grace_seconds": GRACE, "poll_pending_seconds": 0.3}
DUPLICATES = ("refuse_409", "refuse_400", "refuse_500", "existing", "twin")
LOST = {
    "RST": {"kind": "lost_answer"},
    "FIN": {"kind": "silence_after_commit", "seconds": 0.1},
    "silence": {"kind": "silence_after_commit", "seconds": 30},
    "408": {"kind": "status_after_commit", "status": 408},
    "500": {"kind": "status_after_commit", "status": 500},
}
NOT_DONE = {"kind": "status", "status": 504}
CHANGES = (
    "CreateVpc",
    "CreateServer",
    "CreateSnapshot",
    "StopServer",
    "StartServer",
    "DeleteSnapshot",
    "DestroyServer",
    "DestroyVpc",
)
CREATES = {"CreateServer": "GetServers", "CreateVpc": "GetVpcs", "CreateSnapshot": "GetSnapshots"}
LATE = (1.5, 4.0)  # within the grace, and beyond it
MUCH_LATER = 30.0  # on a busy machine, too, the second order has been carried out by then
LAGS = (0.0, 1.5, 4.0)  # how old listings are

# What else the specification leaves open: each of these settings, with a lost answer to every call that changes something.
OTHER_KNOBS = (
    {"answers": "wrapped"},
    *({"error_form": form} for form in ("empty", "html", "problem", "null_error", "text_error", "list", "truncated")),
    *({"refusals": how} for how in ("all_500", "success_false_at_200")),
    {"time_form": "no_zone"},
    {"configuration_echo": "number"},
    {"image_echo": "verbatim"},
    *({"uncounted": form} for form in ("null", "zero")),
    *({"created_word": word} for word in ("ONLINE", "CREATE_FAILED", "PLANNED")),
    {"stopping_word": "STOPPING"},
    *({"destroying_word": word} for word in ("DESTROYING", "ONLINE", "CREATE_FAILED")),
    *({"missing_vm_status": status} for status in (400, 500)),
    *({"missing_other_status": status} for status in (404, 500)),
    *({"wrong_power_state": how} for how in ("refuse_400", "refuse_422", "refuse_500")),
    *({"duplicate_snapshot": how} for how in ("refuse_409", "refuse_500", "existing")),
    *({"duplicate_vpc": status} for status in (409, 500)),
    {"vpc_ids": "name"},
    *({"unfiltered_listing": how} for how in ("default_cluster", "refuse_400")),
    {"snapshot_source_required": True},
    {"vpc_destroy_blocked_by_snapshots": False},
)


def test_a_lost_answer_with_every_setting_of_the_duplicate_knob(rig, campaign):
    runs = [
        Run(f"{knob}: lost by {how}, {before} not done before", partial(lost, rig, knob, fault, before))
        for knob in DUPLICATES
        for how, fault in LOST.items()
        for before in (0, 2)
    ]
    campaign.carry_out("D10", runs, sample=1, at_once=AT_ONCE)


def test_a_late_commit_with_lagging_listings(rig, campaign):
    """Also a lost answer with listings that lag for longer than the grace."""
    runs = [
        Run(f"{knob}: late by {late:g} s, listings lag by {lag:g} s", partial(late_or_lagging, rig, knob, late, lag))
        for knob in DUPLICATES
        for late in (0.0, *LATE)
        for lag in LAGS
        if late or lag
    ]
    campaign.carry_out("D11", runs, sample=2, at_once=AT_ONCE)


def test_where_the_service_makes_twins_nothing_is_destroyed(rig, campaign):
    """The late commit comes after the second order. Deleting waits for a person, and goes on when one twin is gone."""
    campaign.carry_out("D11", [Run("twins", partial(duplicate_records, rig))])


def test_late_by_the_clock(rig, campaign):
    """With the real grace: late within it, far beyond it, and listings that lag by more than it."""
    if not campaign.whole:
        return
    rows = ((30, 1, 0), (30, 10, 10), (30, 60, 0), (60, 50, 0), (30, 0, 60), (30, 300, 0), (30, 300, 120))
    runs = [
        Run(f"grace {grace} s: late by {late} s, listings lag by {lag} s", partial(by_the_clock, rig, grace, late, lag))
        for grace, late, lag in rows
    ]
    campaign.carry_out("D11", runs, at_once=len(runs))


def test_a_lost_answer_to_every_change_with_every_other_knob(rig, campaign):
    runs = [
        Run(f"{name}={value}", partial(with_knob, rig, {name: value}, campaign.dice.choice(list(LOST.values()))))
        for knob in OTHER_KNOBS
        for name, value in knob.items()
    ]
    campaign.carry_out("D10", runs, sample=1, at_once=AT_ONCE)


def test_an_order_that_was_accepted_and_never_carried_out(rig, campaign):
    """Ten graces of looking, then one more order; and with a deadline, it says meanwhile that it is late (D12)."""
    campaign.carry_out("D12", [Run("ghost", partial(ghost, rig))])


def lost(rig, knob, fault, before):
    """``before``: so many orders in a row are refused by a gateway before one is carried out and its answer lost."""
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.sim.turn(duplicate_vm=knob)
        if before:
            trial.sim.fault(operation="CreateServer", **NOT_DONE, times=before)
        trial.sim.fault(operation="CreateServer", nth=before + 1, **fault)
        trial.start()
        one_vm(trial)
        return violations(trial, Expected(summary=ONE_VM)) + blind_orders(trial)


def late_or_lagging(rig, knob, late, lag):
    """An order whose answer is lost, or which is carried out late, while listings are old for ten seconds."""
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.blind_seconds = 30.0
        trial.sim.turn(duplicate_vm=knob)
        how = {"kind": "late_commit", "seconds": late, "status": 0} if late else LOST["RST"]
        trial.sim.fault(operation="CreateServer", nth=1, **how)
        if lag:
            trial.sim.fault(operation="GetServers", kind="stale", seconds=lag)
        trial.start()
        trial.apply(gpuvm())
        beyond = late + lag > GRACE
        if knob == "twin" and beyond:
            return ambiguous_or_one(trial, late)
        reach(trial, "gpuvm", "train", RUNNING)
        time.sleep(late)  # what comes later than the grace, and after the object has gone, is an orphan: nobody waits for it
        trial.sim.clear_faults()
        trial.here.delete("gpuvm", "train")
        gone(trial, "gpuvm", "train")
        return violations(trial, Expected(summary=ONE_VM)) + blind_orders(trial)


def ambiguous_or_one(trial, late):
    """Two of one name, made by the service: said, and neither touched. One: all is well."""

    def settled():
        item = trial.here.get("gpuvm", "train")
        return ready(item) if ready(item) in {RUNNING, "False/Ambiguous"} else ""

    persist(trial, settled, "one VM, or two that are told")
    time.sleep(late)
    trial.sim.clear_faults()
    made = len(ours(trial))
    reach(trial, "gpuvm", "train", RUNNING if made == 1 else "False/Ambiguous")
    found = violations(trial, Expected(standing={"GpuVM/train": RUNNING if made == 1 else "False/Ambiguous"}, cloud=False))
    found += [f"{len(ours(trial))} VMs of {made} are left"] if len(ours(trial)) != made else []
    destroyed = trial.sim.committed("DestroyServer")
    twice = made == 2
    return [one for one in found if not (twice and one.startswith("I1"))] + [f"destroyed: {destroyed}"] * bool(destroyed)


def duplicate_records(rig):
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.sim.turn(duplicate_vm="twin")
        trial.sim.fault(operation="CreateServer", nth=1, kind="late_commit", seconds=MUCH_LATER, status=0)
        trial.start()
        trial.apply(gpuvm())
        trial.wait(lambda: trial.sim.calls("CreateServer"), "the order")
        trial.prolong(MUCH_LATER)
        trial.wait(lambda: len(ours(trial)) == 2, "the service to have made two")
        trial.reach("gpuvm", "train", "False/Ambiguous", says="Destroy all but one in the cloud")
        trial.here.delete("gpuvm", "train")
        trial.reach("gpuvm", "train", "False/DeletionBlocked", says="Retain")
        found = violations(trial, Expected(standing={"GpuVM/train": "False/DeletionBlocked"}, cloud=False))
        assert trial.sim.committed("DestroyServer") == []
        trial.sim.destroy_vm(ours(trial)[0])
        gone(trial, "gpuvm", "train")
        assert ours(trial) == []
        return [one for one in found if not one.startswith("I1")] + blind_orders(trial)


def by_the_clock(rig, grace, late, lag):
    flags = {"create_grace_seconds": grace, "poll_pending_seconds": 2, "poll_steady_seconds": 2, "cloud_timeout_seconds": 5}
    with rig.trial(**FLAGS | flags) as trial:
        plant(trial)
        trial.blind_seconds = 120.0
        how = {"kind": "late_commit", "seconds": late, "status": 0} if late else LOST["RST"]
        trial.sim.fault(operation="CreateServer", nth=1, **how)
        if lag:
            trial.sim.fault(operation="GetServers", kind="stale", seconds=lag)
        trial.start()
        trial.apply(gpuvm())
        reach(trial, "gpuvm", "train", RUNNING, patience=300)
        time.sleep(late)  # an order that comes after the object has gone leaves an orphan: nobody waits for it
        trial.sim.clear_faults()
        trial.here.delete("gpuvm", "train")
        gone(trial, "gpuvm", "train")
        return violations(trial, Expected(summary=ONE_VM)) + blind_orders(trial)


def with_knob(rig, knob, fault):
    with rig.trial(own_account=False, **FLAGS) as trial:
        plant(trial)
        trial.blind_seconds = 30.0
        trial.sim.turn(**knob)
        for operation in CHANGES:
            trial.sim.fault(operation=operation, nth=1, **fault)
        trial.start()
        tour(trial, apikey=API_KEY)
        return violations(trial, Expected(summary=ONCE)) + blind_orders(trial)


def ghost(rig):
    with rig.trial(**FLAGS | {"create_grace_seconds": 1}) as trial:
        plant(trial)
        trial.sim.fault(operation="CreateServer", nth=1, kind="ghost")
        trial.sim.fault(operation="CreateVpc", nth=1, kind="ghost")
        trial.start()
        trial.apply(gpuvm(progressDeadlineSeconds=3), gpuvpc("lab", name=f"acme-{trial.tag}-lab"))
        trial.reach("gpuvm", "train", "False/ProgressDeadlineExceeded", says="keeps trying")
        assert len(trial.sim.calls("CreateServer")) == 1
        reach(trial, "gpuvm", "train", RUNNING)
        reach(trial, "gpuvpc", "lab", AVAILABLE)
        asked = {operation: trial.cloud.count(operation) for operation in ("CreateServer", "CreateVpc")}
        assert asked == {"CreateServer": 2, "CreateVpc": 2}
        standing = {"GpuVM/train": RUNNING, "GpuVpc/lab": AVAILABLE}
        return violations(trial, Expected(standing=standing)) + blind_orders(trial)


def ours(trial):
    return [name for name in trial.sim.vms() if f"-{trial.tag}-" in name]


def blind_orders(trial):
    """Orders sent again too soon: before two looks, which after an unclear answer must have begun a grace after it."""
    found, grace = [], float(trial.flags["create_grace_seconds"])
    for create, look in CREATES.items():
        orders = [one for one in trial.cloud.seen if one.call.word == create]
        for last, after in pairwise(orders):
            unclear = not 400 <= last.status < 500 or last.status == 408
            since = (last.answered or last.received) + (grace if unclear else 0.0)
            looks = [one for one in trial.cloud.seen if one.call.word == look and since <= one.received and one.answered]
            if sum(one.answered <= after.received for one in looks) < 2:
                found.append(f"{after.call} was sent without two looks {grace:g} s after {last.call}")
    return found
