"""spec.replacePolicy: a VM is replaced when its spec changes what the cloud cannot change in place."""

from __future__ import annotations

import pytest

from support.kstatus import assert_row
from support.manifests import gpuvm
from support.waiting import eventually, gone, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
LARGE = {"configuration": "A100_40GB_PCIe_2x"}


@pytest.fixture
def running(here, operator):
    """Start a VM that may be replaced."""

    def start(flags=FLAGS, **spec):
        process = operator(**flags)
        here.apply(gpuvm(replacePolicy="Recreate", **spec))
        reach(here, "gpuvm", "train", "True/Running")
        return process

    return start


def replaced(here):
    """Wait until the VM was replaced, and runs; return the status."""

    def look():
        status = here.get("gpuvm", "train")["status"]
        ready = next(one for one in status["conditions"] if one["type"] == "Ready")
        return (status["order"].get("recreation"), ready["reason"]) == (1, "Running") and status

    return eventually(look, what="the replacement")


def test_another_configuration_replaces_the_vm(here, sim, running):
    running()
    here.patch("gpuvm", "train", {"spec": LARGE})
    status = replaced(here)
    assert sim.mutations() == ["CreateServer", "DestroyServer", "CreateServer"]
    assert (status["order"]["configuration"], status.get("replacement")) == ("A100_40GB_PCIe_2x", None)
    assert len(sim.vms()) == 1

    def told():
        notes = [item["note"] for item in here.list("events.events.k8s.io")]
        return any("Requested destruction" in note and "spec.replacePolicy is Recreate" in note for note in notes)

    eventually(told, what="the Event")


def test_the_old_vm_stays_until_there_is_capacity_for_the_new_one(here, sim, running):
    sim.turn(create_without_capacity="refuse_503")
    running()
    room = {**LARGE, "cluster": "Msc1", "pool": "on-demand"}
    sim.control("capacity", room | {"total": 0})
    here.patch("gpuvm", "train", {"spec": LARGE})
    shown = reach(here, "gpuvm", "train", "False/WaitingForCapacity", says="It is destroyed when the cloud has capacity for")
    assert_row(here, shown, kstatus="InProgress", standing="Reconciling", met=False)
    assert sim.mutations() == ["CreateServer"]
    sim.control("capacity", room | {"total": 1})
    replaced(here)
    assert sim.mutations() == ["CreateServer", "DestroyServer", "CreateServer"]


def test_the_plan_stands_in_status_before_anything_happens_and_may_be_taken_back(here, sim, running):
    running(FLAGS | {"create_grace_seconds": 600})
    here.patch("gpuvm", "train", {"spec": {"rootDiskGiB": 300}})
    shown = reach(here, "gpuvm", "train", "False/Replacing", says="spec.rootDiskGiB")
    assert_row(here, shown, kstatus="InProgress", standing="Reconciling", met=False)
    assert here.get("gpuvm", "train")["status"]["replacement"]["changes"] == [{"name": "rootDiskGiB", "to": "300"}]
    here.patch("gpuvm", "train", {"spec": {"rootDiskGiB": None}})
    reach(here, "gpuvm", "train", "True/Running")
    assert "replacement" not in here.get("gpuvm", "train")["status"]
    assert sim.mutations() == ["CreateServer"]


def test_the_final_snapshot_is_taken_before_the_old_vm_goes(here, sim, running):
    running(deletion={"finalSnapshot": "Required"})
    here.patch("gpuvm", "train", {"spec": {"image": {"operatingSystem": "Ubuntu 22.04.4 LTS"}}})
    status = replaced(here)
    assert sim.mutations() == ["CreateServer", "CreateSnapshot", "DestroyServer", "CreateServer"]
    assert status["finalSnapshot"]["state"] == "Ready"
    assert here.get("gpusnapshot", status["finalSnapshot"]["gpuSnapshot"])["spec"]["deletion"]["policy"] == "Retain"


def test_a_vm_that_the_spec_retains_is_not_replaced(here, sim, running):
    running(deletion={"policy": "Retain"})
    here.patch("gpuvm", "train", {"spec": LARGE})
    shown = reach(here, "gpuvm", "train", "False/Mismatch", says="spec.deletion.policy: Retain")
    assert_row(here, shown, kstatus="Failed", standing="Stalled", met=False)
    assert sim.mutations() == ["CreateServer"]


def test_an_operator_that_dies_while_it_replaces_leaves_one_vm(here, sim, running, operator):
    process = running()
    sim.turn(destroy_seconds=2)
    here.patch("gpuvm", "train", {"spec": LARGE})
    eventually(lambda: "DestroyServer" in sim.mutations(), what="the destroying call")
    process.kill9()
    operator(**FLAGS)
    replaced(here)
    assert sim.mutations().count("CreateServer") == 2
    assert len(sim.vms()) == 1
    here.ok("delete", "gpuvm/train", "--wait=false")
    gone(here, "gpuvm", "train")
    assert sim.vms() == []
