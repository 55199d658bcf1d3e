"""A GpuVM's life as its owner sees it, and what happens when something is wrong with what was asked."""

from __future__ import annotations

import pytest

from support.kstatus import condition, ready
from support.manifests import PUBLIC_KEY, gpuvm, secret
from support.waiting import eventually

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
PRIVATE_KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nMADEUPMADEUP\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.fixture
def vms(kubectl, namespace):
    return kubectl.in_namespace(namespace)


def reach(vms, wanted, name="train", timeout=30):
    return eventually(
        lambda: (item := vms.get("gpuvm", name)) and ready(item) == wanted and item, timeout, f"{name} to be {wanted}"
    )


def test_all_that_can_be_said_reaches_the_cloud(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(
        gpuvm(
            resourcePool="reserved-acme",
            image={"operatingSystem": "Debian 12"},
            rootDiskGiB=300,
            storage={
                "persistDirectAttached": True,
                "directMountPath": "/mnt/direct",
                "personalMountPath": "/mnt/personal",
                "tenantSharedMountPath": "/mnt/shared",
                "blockStorageNames": ["data-1"],
            },
        )
    )
    item = reach(vms, "True/Running")
    (call,) = sim.calls("CreateServer")
    name = item["status"]["vmId"]
    assert name.startswith("train-")
    assert call["parameters"] == {
        "name": name,
        "cluster": "Msc1",
        "vpc": "acme",
        "configuration": "A100_40GB_PCIe_1x",
        "rpool": "reserved-acme",
        "ssh_keys": "[redacted]",  # by the ledger; their content is the unit tests' business
        "operatingSystemImage": "Debian 12",
        "rootDiskSize": 300,
        "persistStorage": True,
        "directStorageMountPath": "/mnt/direct",
        "personalStorageMountPath": "/mnt/personal",
        "tenantSharedAdditionalStorage": "/mnt/shared",
        "blockStorageNames": ["data-1"],
    }
    assert item["status"]["pricePerHour"] == "2.05"
    assert item["status"]["resourcePool"] == "reserved-acme"


def test_stop_start_restart(vms, sim, operator):
    operator(**FLAGS)
    sim.turn(stop_seconds=0.5, start_seconds=0.5)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    vms.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(vms, "True/PoweredOff")
    vms.patch("gpuvm", "train", {"spec": {"powerState": "Running"}})
    reach(vms, "True/Running")
    vms.annotate("gpuvm", "train", **{"gpucloud.dev/restart-requested-at": "2026-01-01T00:00:00Z"})
    vms.wait("gpuvm", "train", "jsonpath={.status.lastHandledRestartAt}=2026-01-01T00:00:00Z")
    reach(vms, "True/Running")

    def told():
        reasons = [reason for _, reason in vms.events()]
        return reasons.count("Stopped"), reasons.count("Started")

    eventually(lambda: min(told()) >= 2, what="each mutation to be told")
    assert told() == (2, 2), "once"
    assert len(sim.calls("StopServer")) == 2
    assert len(sim.calls("StartServer")) == 2
    assert len(sim.calls("CreateServer")) == 1


def test_a_start_without_room_waits_for_it(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(gpuvm(powerState="Stopped"))
    reach(vms, "True/PoweredOff")
    sim.fault(kind="status", operation="StartServer", status=503, message="No capacity at the moment.", nth=1)
    vms.patch("gpuvm", "train", {"spec": {"powerState": "Running"}})
    item = reach(vms, "False/WaitingForCapacity")
    assert "No capacity at the moment" in condition(item, "Ready")["message"]
    reach(vms, "True/Running", timeout=60)


def test_keys_that_come_later(vms, operator):
    operator(**FLAGS)
    vms.apply(gpuvm(sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": "team-keys", "key": "ann"}}]))
    item = reach(vms, "False/SSHKeysNotFound")
    assert "'team-keys'" in condition(item, "Reconciling")["message"]
    vms.apply(secret("team-keys", bob=PUBLIC_KEY))
    eventually(lambda: "'ann'" in condition(vms.get("gpuvm", "train"), "Ready")["message"], what="the missing key to be named")
    vms.apply(secret("team-keys", ann=f"# ann\n{PUBLIC_KEY}\n"))
    reach(vms, "True/Running")


def test_a_private_key_is_refused_and_shown_nowhere(vms, sim, operator):
    process = operator(**FLAGS, log_level="debug")
    vms.apply(secret("oops", key=PRIVATE_KEY))
    vms.apply(gpuvm(sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": "oops", "key": "key"}}]))
    item = reach(vms, "False/InvalidSSHKeys")
    everywhere = f"{item} {vms.list('events.events.k8s.io')} {process.process.lines()} {sim.calls()}"
    assert "private key" in condition(item, "Stalled")["message"]
    assert "MADEUPMADEUP" not in everywhere


def test_a_name_that_is_taken_is_a_conflict_and_deleting_destroys_nothing(vms, sim, operator):
    sim.create_vm("theirs")
    operator(**FLAGS)
    vms.apply(gpuvm(vmName="theirs"))
    item = reach(vms, "False/Conflict")
    assert "theirs" in condition(item, "Stalled")["message"]
    vms.delete("gpuvm", "train")
    assert sim.vms() == ["theirs"]
    assert not sim.calls("DestroyServer")


def test_two_objects_of_one_name(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(gpuvm("first", vmName="shared"))
    reach(vms, "True/Running", "first")
    vms.apply(gpuvm("second", vmName="shared"))
    item = reach(vms, "False/Conflict", "second")
    assert "is already used by GpuVM 'first'" in condition(item, "Stalled")["message"]
    vms.delete("gpuvm", "second")
    assert sim.vms() == ["shared"]
    vms.delete("gpuvm", "first")
    assert sim.vms() == []


def test_a_status_edited_to_name_anothers_vm_changes_nothing(vms, sim, operator):
    sim.create_vm("theirs")
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    forged = {
        "vmId": "theirs",
        "order": {"state": "Seen", "name": "theirs", "cloudId": "theirs", "cluster": "Msc1", "vpc": "acme"},
    }
    vms.patch("gpuvm", "train", {"status": forged}, subresource="status")
    vms.delete("gpuvm", "train")
    assert sim.vms() == ["theirs"]


def test_the_status_is_mended_when_somebody_edits_it(vms, operator):
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    vms.patch("gpuvm", "train", {"status": {"conditions": [], "vmId": None}}, subresource="status")
    item = reach(vms, "True/Running")
    eventually(lambda: vms.get("gpuvm", "train")["status"].get("vmId"), what="the record to be restored")
    assert item["status"]["observedGeneration"] == 1


def test_a_reapplied_manifest_does_not_buy_a_second_vm(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(gpuvm(deletion={"policy": "Retain"}))
    reach(vms, "True/Running")
    vms.delete("gpuvm", "train")
    vms.apply(gpuvm())
    item = reach(vms, "False/PossibleDuplicate")
    assert sim.vms()[0] in condition(item, "Stalled")["message"]
    assert len(sim.calls("CreateServer")) == 1
    vms.annotate("gpuvm", "train", **{"gpucloud.dev/buy-anyway": "true"})
    reach(vms, "True/Running")
    assert len(sim.vms()) == 2


def test_destroyed_from_outside_is_told_and_not_bought_again(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    sim.destroy_vm(sim.vms()[0])
    reach(vms, "False/VMLost")
    assert len(sim.calls("CreateServer")) == 1
    vms.delete("gpuvm", "train")


def test_an_empty_listing_is_not_believed(vms, sim, operator):
    operator(**FLAGS, blind_after_seconds=1)
    vms.apply([gpuvm(f"vm-{number}") for number in range(4)])
    for number in range(4):
        reach(vms, "True/Running", f"vm-{number}")
    sim.fault(kind="empty", operation="GetServers")
    for number in range(4):
        reach(vms, "Unknown/ImplausibleListing", f"vm-{number}")
    vms.run("delete", "gpuvm", "--all", "--wait=false")
    reach(vms, "False/DeletionBlocked", "vm-0")
    sim.clear_faults()
    eventually(lambda: not vms.list("gpuvm"), 60, "all to go once they can be seen")
    assert sim.vms() == []


def test_an_unknown_word_and_rubbish_are_waited_out(vms, sim, operator):
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    sim.fault(kind="status_word", operation="GetServers", word="DEFROSTING")
    item = reach(vms, "False/UnknownState")
    assert "DEFROSTING" in condition(item, "Ready")["message"]
    sim.clear_faults()
    sim.fault(kind="garbage", operation="GetServers")
    asked = len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) > asked + 3, what="some rubbish to arrive")
    sim.clear_faults()
    reach(vms, "True/Running", timeout=60)
    assert not sim.calls("DestroyServer")


def test_capacity_is_waited_for_at_creation(vms, sim, operator):
    sim.fault(kind="status", operation="CreateServer", status=503, nth=1)
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "False/WaitingForCapacity")
    reach(vms, "True/Running", timeout=60)
    assert len(sim.vms()) == 1


def test_observe_only_says_and_does_nothing(vms, sim, operator):
    operator(**FLAGS, observe_only=True)
    vms.apply(gpuvm())
    item = reach(vms, "Unknown/ObserveOnly")
    assert "CreateServer" in condition(item, "Ready")["message"]
    assert sim.vms() == []
    assert not vms.get("gpuvm", "train")["metadata"].get("finalizers")


def test_only_the_named_namespaces_are_watched(vms, kubectl, sim, operator):
    operator(**FLAGS, namespace=["default"])
    vms.apply(gpuvm())
    kubectl.in_namespace("default").apply(gpuvm("inside"))
    try:
        reach(kubectl.in_namespace("default"), "True/Running", "inside")
        assert ready(vms.get("gpuvm", "train")) == "Unknown/Pending"
    finally:
        kubectl.in_namespace("default").delete("gpuvm", "inside")
    assert sim.vms() == []
