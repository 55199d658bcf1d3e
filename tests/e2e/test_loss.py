"""spec.onLoss: what is done about a VM that is destroyed outside Kubernetes, or fails."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from support.kstatus import assert_row
from support.manifests import gpuvm
from support.waiting import eventually, gone, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}


@pytest.fixture
def running(here, operator):
    """Start a VM."""

    def start(**spec):
        process = operator(**FLAGS)
        here.apply(gpuvm(**spec))
        reach(here, "gpuvm", "train", "True/Running")
        return process

    return start


def recreated(here, times):
    """Wait until the VM was recreated so often, and runs."""

    def look():
        status = here.get("gpuvm", "train")["status"]
        ready = next(one for one in status["conditions"] if one["type"] == "Ready")
        return (status["order"].get("recreation"), ready["reason"]) == (times, "Running") and status

    return eventually(look, what=f"recreation {times}")


def notes(here):
    return [item["note"] for item in here.list("events.events.k8s.io")]


def test_a_lost_vm_is_not_recreated_unasked(here, sim, running):
    running()
    sim.destroy_vm(sim.vms()[0])
    shown = reach(here, "gpuvm", "train", "False/VMLost", says="set spec.onLoss: Recreate")
    assert_row(here, shown, kstatus="Failed", standing="Stalled", met=False)
    assert sim.mutations() == ["CreateServer"]


def test_a_lost_vm_is_recreated_when_the_spec_asks_for_that_later(here, sim, running):
    running()
    sim.destroy_vm(sim.vms()[0])
    reach(here, "gpuvm", "train", "False/VMLost")
    here.patch("gpuvm", "train", {"spec": {"onLoss": "Recreate"}})
    status = recreated(here, 1)
    assert len(status["recreations"]) == 1
    assert sim.mutations() == ["CreateServer", "CreateServer"]
    assert len(sim.vms()) == 1
    eventually(lambda: any("Requested creation" in note and "as spec.onLoss asks" in note for note in notes(here)), what="it")


def test_a_failed_vm_is_destroyed_before_another_one_is_created(here, sim, running):
    running(onLoss="Recreate")
    sim.force(sim.vms()[0], "FAILED")
    recreated(here, 1)
    assert sim.mutations() == ["CreateServer", "DestroyServer", "CreateServer"]
    assert len(sim.vms()) == 1
    here.ok("delete", "gpuvm/train", "--wait=false")
    gone(here, "gpuvm", "train")
    assert sim.vms() == []


@pytest.mark.parametrize("deletion", [{"policy": "Retain"}, {"finalSnapshot": "Required"}], ids=["Retain", "finalSnapshot"])
def test_a_failed_vm_that_the_spec_keeps_is_not_destroyed(here, sim, running, deletion):
    running(onLoss="Recreate", deletion=deletion)
    sim.force(sim.vms()[0], "FAILED")
    shown = reach(here, "gpuvm", "train", "False/VMFailed", says="To have it recreated, set spec.powerState")
    assert_row(here, shown, kstatus="Failed", standing="Stalled", met=False)
    assert sim.mutations() == ["CreateServer"]


def test_a_vm_is_recreated_three_times_an_hour_whoever_counts(here, sim, running, operator):
    process = running(onLoss="Recreate")
    for times in (1, 2, 3):
        sim.destroy_vm(sim.vms()[0])
        recreated(here, times)
    process.kill9()
    operator(**FLAGS)
    sim.destroy_vm(sim.vms()[0])
    shown = reach(here, "gpuvm", "train", "False/RecreationLimited", says="3 times within an hour")
    assert_row(here, shown, kstatus="Failed", standing="Stalled", met=False)
    assert sim.mutations() == ["CreateServer"] * 4


def test_an_operator_that_dies_while_it_recreates_leaves_one_vm(here, sim, running, operator):
    process = running(onLoss="Recreate")
    sim.turn(destroy_seconds=2)
    sim.force(sim.vms()[0], "FAILED")
    eventually(lambda: "DestroyServer" in sim.mutations(), what="it to be destroyed")
    process.kill9()
    operator(**FLAGS)
    recreated(here, 1)
    assert sim.mutations().count("CreateServer") == 2
    assert len(sim.vms()) == 1


def test_failed_vms_are_held_beyond_the_limit_until_a_person_releases_them(here, sim, operator):
    operator(**FLAGS, brake_vms=1)
    for name in ("one", "two"):
        here.apply(gpuvm(name, onLoss="Recreate"))
    for name in ("one", "two"):
        reach(here, "gpuvm", name, "True/Running")
    for vm in sim.vms():
        sim.force(vm, "FAILED")
    shown = reach(here, "gpuvm", "one", "False/DeletionHeld", says="exceed --brake-vms 1.")
    assert_row(here, shown, kstatus="Failed", standing="Stalled", met=False)
    reach(here, "gpuvm", "two", "False/DeletionHeld")
    assert "DestroyServer" not in sim.mutations()
    here.annotate("gpuvm", "one", **{"gpucloud.dev/brake-released-at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")})
    reach(here, "gpuvm", "one", "True/Running")
    assert here.get("gpuvm", "one")["status"]["order"]["recreation"] == 1
