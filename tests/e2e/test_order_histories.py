"""Histories of one order on a real apiserver: what is another's stays, what is ours goes, and nothing is bought twice."""

from __future__ import annotations

import pytest

from gpucloud.reconcile.naming import external_name
from support.kstatus import condition, ready
from support.manifests import gpusnapshot, gpuvm
from support.waiting import eventually

SHORT = {"poll_steady_seconds": 0.5, "create_grace_seconds": 1}
QUICK = {"poll_steady_seconds": 0.5}  # with the default grace of 30 s


@pytest.fixture
def here(kubectl, namespace):
    return kubectl.in_namespace(namespace)


def reach(here, wanted, name="train", kind="gpuvm", timeout=60):
    return eventually(
        lambda: (item := here.get(kind, name)) and ready(item) == wanted and item, timeout, f"{name} to be {wanted}"
    )


def gone(here, name="train", kind="gpuvm", timeout=60):
    eventually(lambda: here.get(kind, name) is None, timeout, f"{name} to be gone")


def test_a_vm_made_by_hand_under_the_name_of_a_lost_one_is_not_ours(here, sim, operator):
    operator(**SHORT)
    here.apply(gpuvm(vmName="prod"))
    reach(here, "True/Running")
    sim.destroy_vm("prod")
    reach(here, "False/VMLost")
    sim.create_vm("prod")
    reach(here, "False/Conflict")
    here.delete("gpuvm", "train")
    assert (sim.vms(), sim.calls("DestroyServer")) == (["prod"], [])


def test_an_order_that_was_carried_out_and_answered_with_a_500_not_found_is_ours(here, sim, operator):
    operator(**QUICK)
    sim.fault(kind="status_after_commit", operation="CreateServer", status=500, nth=1, message='configuration "x" not found')
    here.apply(gpuvm())
    reach(here, "True/Running")
    here.delete("gpuvm", "train")
    assert (sim.vms(), len(sim.calls("CreateServer"))) == ([], 1)


def test_a_chosen_name_after_an_order_without_a_clear_answer_asks_a_person(here, sim, operator):
    operator(**QUICK)
    sim.fault(kind="status_after_commit", operation="CreateServer", status=500, nth=1, message="upstream")
    here.apply(gpuvm(vmName="prod"))
    reach(here, "False/Ambiguous")
    here.delete("gpuvm", "train", wait=False)
    item = reach(here, "False/DeletionBlocked")
    assert "spec.deletion.policy: Retain" in condition(item, "Stalled")["message"]
    here.patch("gpuvm", "train", {"spec": {"deletion": {"policy": "Retain"}}})
    gone(here)
    assert (sim.vms(), sim.calls("DestroyServer")) == (["prod"], [])


def test_an_id_of_the_clouds_own_is_followed_and_after_a_restart_a_person_is_asked(here, sim, operator):
    sim.turn(own_ids=True)
    process = operator(**QUICK)
    here.apply([gpuvm("first"), gpuvm("second")])
    for name in ("first", "second"):
        reach(here, "True/Running", name)
    here.delete("gpuvm", "first")
    assert len(sim.vms()) == 1
    process.kill9()
    operator(**QUICK)
    here.delete("gpuvm", "second", wait=False)
    item = reach(here, "False/DeletionBlocked", "second")
    assert "spec.deletion.policy: Retain" in condition(item, "Stalled")["message"]
    assert (len(sim.vms()), len(sim.calls("CreateServer"))) == (1, 2)
    here.patch("gpuvm", "second", {"spec": {"deletion": {"policy": "Retain"}}})
    gone(here, "second")


def test_what_was_accepted_is_waited_for_after_a_kill(here, sim, operator):
    """The listing lags seven graces; the object is deleted right after the restart."""
    process = operator(**SHORT)
    sim.fault(kind="stale", operation="GetServers", seconds=7)
    here.apply(gpuvm())
    eventually(lambda: sim.committed("CreateServer"), 60, "the order to be carried out")
    process.kill9()
    operator(**SHORT)
    here.delete("gpuvm", "train", wait=False)
    gone(here)
    assert (sim.vms(), len(sim.calls("CreateServer"))) == ([], 1)


def test_what_is_deleted_right_after_its_creation_goes_at_once(here, sim, operator):
    """With the default grace: the object is gone long before a grace has passed since."""
    sim.turn(destroy_seconds=0.5)
    operator(**QUICK)
    here.apply(gpuvm())
    eventually(lambda: sim.committed("CreateServer"), 60, "the order to be carried out")
    here.delete("gpuvm", "train", wait=False)
    gone(here, timeout=20)
    assert sim.vms() == []


def test_a_vm_stays_while_its_paused_snapshot_is_under_way(here, sim, operator):
    sim.turn(snapshot_seconds=6)
    operator(**SHORT)
    here.apply([gpuvm(), gpusnapshot("copy", vmRef={"name": "train"})])
    reach(here, "False/Creating", "copy", "gpusnapshot")
    eventually(lambda: sim.committed("CreateSnapshot"), 60, "the snapshot to be ordered")
    here.annotate("gpusnapshot", "copy", **{"gpucloud.dev/paused": "true"})
    here.delete("gpuvm", "train", wait=False)
    item = reach(here, "False/DeletionBlocked")
    assert "GpuSnapshot 'copy'" in condition(item, "Ready")["message"]
    assert not sim.calls("DestroyServer")
    here.annotate("gpusnapshot", "copy", **{"gpucloud.dev/paused": None})
    gone(here)
    reach(here, "True/Completed", "copy", "gpusnapshot")


def test_a_restart_annotation_that_outlived_the_status_is_not_carried_out_again(here, sim, operator):
    process = operator(**SHORT)
    here.apply(gpuvm())
    reach(here, "True/Running")
    process.kill9()
    here.annotate("gpuvm", "train", **{"gpucloud.dev/restart-requested-at": "long-ago"})
    names = here.get("gpuvm", "train")["status"]
    here.patch("gpuvm", "train", {"status": dict.fromkeys(names) | {"conditions": []}}, subresource="status")
    operator(**SHORT)
    item = eventually(
        lambda: (one := here.get("gpuvm", "train"))["status"].get("lastHandledRestartAt") == "long-ago" and one, 60, "an answer"
    )
    assert item["status"]["order"]["state"] == "Seen"
    looks = len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) > looks + 10, what="some more looks")
    assert not {"StopServer", "StartServer"} & set(sim.mutations())


def test_a_vm_in_another_cluster_than_an_older_status_tells_of_is_destroyed_with_its_object(here, sim, operator):
    """A backup of etcd from before the order; the cluster that cannot be listed at first is named."""
    process = operator(**QUICK, install_tag="searched")
    here.apply(gpuvm(sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": "none", "key": "pub"}}]))
    item = reach(here, "False/SSHKeysNotFound")
    process.kill9()
    sim.create_vm(external_name("train", item["metadata"]["uid"], "searched"), cluster="Hou1")
    here.delete("gpuvm", "train", wait=False)
    sim.fault(kind="status", operation="GetServers", parameters={"Cluster": "Hou1"}, status=500)
    operator(**QUICK, install_tag="searched")
    item = reach(here, "False/DeletionBlocked", timeout=90)
    assert condition(item, "Ready")["message"].startswith("Cluster 'Hou1' cannot be searched for VM ")
    assert len(sim.vms()) == 1
    sim.clear_faults()
    gone(here, timeout=90)
    assert sim.vms() == []
