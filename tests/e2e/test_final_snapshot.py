"""spec.deletion.finalSnapshot: Required: the VM goes only when its last snapshot is ready, and the snapshot stays."""

from __future__ import annotations

import pytest

from support.finals import REQUIRED, final_snapshot
from support.kstatus import assert_row
from support.manifests import gpusnapshot, gpuvm
from support.waiting import eventually, gone, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
TAKING, BLOCKED = "False/TakingFinalSnapshot", "False/DeletionBlocked"


@pytest.fixture
def running(here, operator):
    """Start a VM that is not destroyed without a snapshot."""

    def start(**deletion):
        process = operator(**FLAGS)
        here.apply(gpuvm(deletion={**REQUIRED, **deletion}))
        reach(here, "gpuvm", "train", "True/Running")
        return process

    return start


def delete(here, *which):
    here.ok("delete", *(which or ("gpuvm/train",)), "--wait=false")


def told(here, words):
    """Wait for an Event with these words."""

    def look():
        notes = [item["note"] for item in here.list("events.events.k8s.io")]
        assert any(words in note for note in notes), notes
        return True

    eventually(look, what=words)


def give_up(here):
    here.patch("gpuvm", "train", {"spec": {"deletion": {"finalSnapshot": "None"}}})


def test_the_vm_goes_when_the_snapshot_is_ready_and_a_vm_is_made_from_it(here, sim, running):
    sim.turn(snapshot_seconds=4)
    running()
    delete(here)
    kept = final_snapshot(here)
    name = kept["metadata"]["name"]
    vm = reach(here, "gpuvm", "train", TAKING, says=f"GpuSnapshot {name!r} takes the final snapshot")
    assert_row(here, vm, kstatus="Terminating", standing="Reconciling", met=False)
    assert vm["status"]["finalSnapshot"]["gpuSnapshot"] == name
    assert (len(sim.vms()), "DestroyServer" in sim.mutations()) == (1, False)
    gone(here, "gpuvm", "train")
    taken = reach(here, "gpusnapshot", name, "True/Completed")
    assert sim.mutations() == ["CreateServer", "CreateSnapshot", "DestroyServer"]
    assert (kept["spec"]["deletion"], kept["metadata"].get("ownerReferences")) == ({"policy": "Retain"}, None)
    assert sim.snapshots() == [taken["status"]["snapshotId"]]

    here.apply(gpuvm("again", image={"snapshotRef": {"name": name}}))
    reach(here, "gpuvm", "again", "True/Running")
    here.ok("delete", "gpuvm/again", f"gpusnapshot/{name}", "--timeout=60s")
    assert (sim.vms(), len(sim.snapshots())) == ([], 1), "it is retained"


def test_its_other_snapshots_are_deleted_when_the_final_one_is_ready(here, sim, running):
    running(snapshots="Delete")
    here.apply(gpusnapshot("before", vmRef={"name": "train"}))
    reach(here, "gpusnapshot", "before", "True/Completed")
    delete(here, "gpuvm/train")
    gone(here, "gpuvm", "train")
    assert sim.mutations() == ["CreateServer", "CreateSnapshot", "CreateSnapshot", "DeleteSnapshot", "DestroyServer"]
    assert len(sim.snapshots()) == 1


def test_a_snapshot_that_the_cloud_refuses_blocks_until_a_person_gives_it_up(here, sim, running):
    running()
    sim.fault(operation="CreateSnapshot", kind="status", status=400, times=1000)
    delete(here)
    shown = reach(here, "gpuvm", "train", BLOCKED, says="The GpuSnapshot says: Rejected:")
    assert_row(here, shown, kstatus="Terminating", standing="Stalled", met=False)
    assert len(sim.vms()) == 1
    give_up(here)
    gone(here, "gpuvm", "train")
    assert (sim.vms(), sim.snapshots()) == ([], [])


def test_who_deletes_the_gpusnapshot_meanwhile_deletes_no_snapshot(here, sim, running):
    sim.turn(snapshot_seconds=4)
    running()
    delete(here)
    name = final_snapshot(here)["metadata"]["name"]
    eventually(sim.snapshots, what="it to be ordered")
    eventually(lambda: here.get("gpuvm", "train")["status"]["finalSnapshot"]["snapshotId"], what="its id to be recorded")
    delete(here, f"gpusnapshot/{name}")
    gone(here, "gpuvm", "train")
    assert (sim.vms(), len(sim.snapshots())) == ([], 1)
    assert sim.mutations() == ["CreateServer", "CreateSnapshot", "DestroyServer"]
    told(here, "No GpuSnapshot stands for it")


def test_a_stopped_vm_is_copied_and_an_operator_that_dies_meanwhile_forgets_nothing(here, sim, running, operator):
    sim.turn(snapshot_seconds=3)
    process = running()
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "train", "True/PoweredOff")
    delete(here)
    reach(here, "gpuvm", "train", TAKING)
    process.kill9()
    operator(**FLAGS)
    gone(here, "gpuvm", "train")
    assert sim.mutations() == ["CreateServer", "StopServer", "CreateSnapshot", "DestroyServer"]


def test_a_vm_that_is_gone_is_let_go_and_says_that_none_was_taken(here, sim, running):
    running()
    here.annotate("gpuvm", "train", **{"gpucloud.dev/paused": "true"})
    delete(here)
    sim.destroy_vm(sim.vms()[0])
    here.annotate("gpuvm", "train", **{"gpucloud.dev/paused": None})
    gone(here, "gpuvm", "train")
    assert sim.mutations() == ["CreateServer"], "nothing was destroyed unseen"
    told(here, "No final snapshot was taken")


def test_in_a_namespace_that_is_being_deleted_the_cloud_takes_it_and_the_log_names_it(kubectl, here, sim, running):
    process = running()
    kubectl.ok("delete", "namespace", here.namespace, "--wait=false")
    delete(here)
    gone(here, "gpuvm", "train")
    assert sim.mutations() == ["CreateServer", "CreateSnapshot", "DestroyServer"]
    (taken,) = sim.snapshots()
    (released,) = process.logged("released")
    assert f"Its final snapshot {taken!r} stays in the cloud, and is billed. No GpuSnapshot stands for it." in released["note"]
    events = kubectl.in_namespace("default")  # its own namespace takes no Event any more
    heard = lambda: [one["regarding"]["name"] for one in events.list("events.events.k8s.io") if taken in one["note"]]  # noqa: E731
    assert eventually(heard, what="the Event") == ["gpuvms.gpucloud.dev"]
