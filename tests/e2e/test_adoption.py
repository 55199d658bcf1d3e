"""Taking over VPCs, VMs and snapshots that exist already, and what becomes of snapshots when their VM is deleted."""

from __future__ import annotations

from support.kstatus import condition
from support.manifests import gpusnapshot, gpuvm, gpuvpc
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}


def adoptions(here, name):
    """The notes of the Events by which an object tells what it has adopted."""
    told = [item for item in here.list("events.events.k8s.io") if item["reason"] == "Adopted"]
    return [item["note"] for item in told if item["regarding"]["name"] == name]


def test_adoption(here, sim, operator):
    """The tenant's default VPC is there already: adopted it is usable, and stays when its object goes."""
    operator(**FLAGS)
    never, missing = gpuvpc("never", name="acme"), gpuvpc("awaited", name="acme-awaited", adoption="Required")
    here.apply([never, missing])
    item = reach(here, "gpuvpc", "never", "False/Conflict", says="spec.adoption: IfExists")
    assert "vpcId" not in item["status"]
    reach(here, "gpuvpc", "awaited", "False/NotFound", says="'acme-awaited'")
    here.delete("gpuvpc", "never")

    here.apply([gpuvpc("tenant", name="acme", adoption="IfExists"), gpuvm(vpc=None, vpcRef={"name": "tenant"})])
    item = reach(here, "gpuvpc", "tenant", "True/Adopted")
    assert item["status"]["adopted"]
    assert item["status"]["isDefault"]
    reach(here, "gpuvm", "train", "True/Running")
    here.delete("gpuvm", "train")
    here.delete("gpuvpc", "tenant")
    assert not sim.calls("CreateVpc")

    made = sim.create_vpc("acme-awaited")
    item = reach(here, "gpuvpc", "awaited", "True/Adopted")
    assert item["status"]["vpcId"] == made["id"]
    here.delete("gpuvpc", "awaited")
    assert sim.vpcs() == ["acme-awaited"]
    assert not sim.calls("DestroyVpc")

    here.apply(gpuvpc("taken-over", name="acme-awaited", adoption="IfExists", deletion={"policy": "Delete"}))
    reach(here, "gpuvpc", "taken-over", "True/Adopted")
    here.delete("gpuvpc", "taken-over")
    assert sim.vpcs() == [], "the spec says so"

    here.apply(gpuvpc("if-exists", name="acme-new", adoption="IfExists"))
    item = reach(here, "gpuvpc", "if-exists", "True/Available")
    assert not item["status"]["adopted"]
    here.delete("gpuvpc", "if-exists")
    sim.assert_empty()


def test_adoption_of_a_vm_and_its_snapshot(here, sim, operator):
    """Made by hand: adopted, stopped and started by the spec, and left in the cloud when the objects go."""
    operator(**FLAGS)
    adopts = {"vmName": "by-hand", "adoption": "Required"}
    here.apply(gpuvm("awaited", **adopts))
    reach(here, "gpuvm", "awaited", "False/NotFound", says="'by-hand'")
    sim.create_vm("by-hand")
    item = reach(here, "gpuvm", "awaited", "True/Running")
    assert item["status"]["adopted"]
    assert item["status"]["deletionPolicy"] == "Retain"
    assert (item["status"]["order"]["origin"], item["status"]["order"]["cloudId"]) == ("Adopted", "by-hand")
    told = "Adopted 'by-hand' in cluster 'Msc1' (id 'by-hand'), which existed already. When this object is deleted, it stays "
    eventually(lambda: [note for note in adoptions(here, "awaited") if note.startswith(told)], what="an Event of the adoption")

    second = gpuvm("second", **adopts)
    here.apply(second)
    reach(here, "gpuvm", "second", "False/Conflict", says="already used by GpuVM 'awaited'")
    here.delete("gpuvm", "second")

    here.patch("gpuvm", "awaited", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "awaited", "True/PoweredOff")
    here.patch("gpuvm", "awaited", {"spec": {"powerState": "Running"}})
    reach(here, "gpuvm", "awaited", "True/Running")

    sim.create_snapshot("kept", "by-hand")
    of = {"vmRef": None, "vm": {"cluster": "Msc1", "vpc": "acme", "name": "by-hand"}}
    here.apply(gpusnapshot("kept", snapshotName="kept", adoption="Required", **of))
    item = reach(here, "gpusnapshot", "kept", "True/Completed")
    assert (item["status"]["adopted"], item["status"]["deletionPolicy"]) == (True, "Retain")
    here.delete("gpusnapshot", "kept")
    here.delete("gpuvm", "awaited")
    assert (sim.vms(), sim.snapshots()) == (["by-hand"], ["kept"])
    assert {call["operation"] for call in sim.control("ledger?mutating=true")["entries"]} == {
        "StopServer",
        "StartServer",
        "CreateSnapshot",  # by hand
    }

    here.apply(gpuvm("taken-over", vmName="by-hand", adoption="IfExists", deletion={"policy": "Delete"}))
    reach(here, "gpuvm", "taken-over", "True/Running")
    here.delete("gpuvm", "taken-over")
    assert sim.vms() == [], "the spec says so"


def test_an_adopted_vm_that_is_not_as_the_spec_says_is_left_alone(here, sim, operator):
    operator(**FLAGS)
    sim.create_vm("by-hand")
    adopts = {"vmName": "by-hand", "adoption": "Required", "powerState": "Stopped"}
    here.apply(gpuvm(configuration="H100_80GB_SXM_8x", **adopts))
    reach(here, "gpuvm", "train", "False/Mismatch", says="spec.configuration")
    here.delete("gpuvm", "train")
    here.apply(gpuvm(vpc="acme-other", **adopts))
    reach(here, "gpuvm", "train", "False/NotFound", says="one in VPC 'acme'")
    here.delete("gpuvm", "train")
    assert not sim.control("ledger?mutating=true")["entries"]
    assert sim.vms() == ["by-hand"]


def test_a_vm_takes_its_snapshots_along_when_all_may_go(here, sim, operator):
    sim.turn(snapshot_seconds=0.3, snapshot_delete_seconds=0.3)
    operator(**FLAGS)
    here.apply(gpuvm(deletion={"snapshots": "Delete"}))
    here.apply([gpusnapshot("first"), gpusnapshot("second")])
    for name in ("first", "second"):
        reach(here, "gpusnapshot", name, "True/Completed")
    here.delete("gpuvm", "train")
    (call,) = sim.calls("DestroyServer")
    assert call["parameters"]["DeleteSnapshots"] in {True, "true"}
    assert not sim.calls("DeleteSnapshot")
    eventually(lambda: not sim.snapshots(), what="the snapshots to go with it")
    for name in ("first", "second"):
        reach(here, "gpusnapshot", name, "False/SnapshotLost")
    here.ok("delete", "gpusnapshot", "--all", "--wait=false")
    gone(here, "gpusnapshot", "first", "second")
    sim.assert_empty()


def test_a_vm_leaves_the_snapshots_that_are_to_stay(here, sim, operator):
    """One is retained by its owner, one is nobody's object: the others are deleted one by one, and those two stay."""
    sim.turn(snapshot_seconds=0.3, snapshot_delete_seconds=0.3)
    operator(**FLAGS)
    here.apply(gpuvm(deletion={"snapshots": "Delete"}))
    here.apply([gpusnapshot("first"), gpusnapshot("second"), gpusnapshot("kept", deletion={"policy": "Retain"})])
    for name in ("first", "second", "kept"):
        reach(here, "gpusnapshot", name, "True/Completed")
    sim.create_snapshot("by-hand", sim.vms()[0])
    kept = here.get("gpusnapshot", "kept")["status"]["snapshotId"]
    here.delete("gpuvm", "train")
    (call,) = sim.calls("DestroyServer")
    assert call["parameters"].get("DeleteSnapshots") in {None, False, "false"}
    deleted = {call["parameters"]["Id"] for call in sim.calls("DeleteSnapshot")}
    mine = {here.get("gpusnapshot", name)["status"]["snapshotId"] for name in ("first", "second")}
    assert deleted == mine
    eventually(lambda: sorted(sim.snapshots()) == sorted([kept, "by-hand"]), what="only what is to stay to be left")
    reach(here, "gpusnapshot", "kept", "True/Completed")
    here.ok("delete", "gpusnapshot", "--all", "--wait=false")
    gone(here, "gpusnapshot", "first", "second", "kept")
    assert sorted(sim.snapshots()) == sorted([kept, "by-hand"])


def test_by_default_snapshots_outlive_their_vm(here, sim, operator):
    sim.turn(snapshot_seconds=0.3, snapshot_delete_seconds=0.3)
    operator(**FLAGS)
    here.apply([gpuvm(), gpusnapshot("before")])
    reach(here, "gpusnapshot", "before", "True/Completed")
    here.delete("gpuvm", "train")
    assert len(sim.snapshots()) == 1
    here.apply(gpuvm("again", image={"snapshotRef": {"name": "before"}}))
    reach(here, "gpuvm", "again", "True/Running")
    assert sim.calls("CreateServer")[-1]["parameters"]["snapshotName"] == sim.snapshots()[0]
    assert condition(here.get("gpusnapshot", "before"), "Succeeded")
    here.ok("delete", "gpuvm/again", "gpusnapshot/before", "--wait=false")
    gone(here, "gpuvm", "again")
    gone(here, "gpusnapshot", "before")
    sim.assert_empty()
