"""Where the specification is silent, the cloud may answer in its own way: nothing is bought twice, lost or let go for that."""

from __future__ import annotations

import time

import pytest

from support.kstatus import ready
from support.manifests import gpuvm
from support.waiting import eventually

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1, "blind_after_seconds": 1}


@pytest.fixture
def vms(kubectl, namespace):
    return kubectl.in_namespace(namespace)


def reach(vms, wanted, name="train", timeout=30):
    return eventually(
        lambda: (item := vms.get("gpuvm", name)) and ready(item).startswith(wanted) and item, timeout, f"{name} to be {wanted}"
    )


@pytest.mark.parametrize(("choice", "listed"), [("any_case", "Msc1"), ("upper", "MSC1")])
def test_a_cluster_in_another_spelling_is_the_same_cluster(vms, sim, operator, choice, listed):
    sim.turn(cluster_spelling=choice)
    operator(**FLAGS)
    vms.apply(gpuvm(cluster="msc1"))
    reach(vms, "True/Running")
    vms.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(vms, "True/PoweredOff")
    vms.delete("gpuvm", "train")
    assert [call["parameters"]["cluster"] for call in sim.calls("StopServer")] == [listed]
    assert [call["parameters"]["Cluster"] for call in sim.calls("DestroyServer")] == [listed]
    assert len(sim.calls("CreateServer")) == 1
    eventually(lambda: not sim.vms(), 10, "the VM to be gone")


@pytest.mark.parametrize(
    "knobs",
    [{"total_count": "present", "page_size": 1}, {"cluster_filter": "ignored"}],
    ids=["the first page only", "records of another cluster"],
)
def test_a_listing_that_lacks_records_makes_nothing_absent(vms, sim, operator, knobs):
    operator(**FLAGS)
    vms.apply(gpuvm("one"))
    vms.apply(gpuvm("two"))
    for name in ("one", "two"):
        reach(vms, "True/Running", name)
    sim.create_vm("elsewhere", cluster="Hou1")
    sim.turn(**knobs)
    for name in ("one", "two"):
        reach(vms, "Unknown/", name)
    vms.delete("gpuvm", "two", wait=False)
    time.sleep(3)
    assert vms.get("gpuvm", "two") is not None, "nobody knows whether its VM is gone"
    sim.turn(total_count="absent", page_size=0, cluster_filter="works")
    reach(vms, "True/Running", "one")
    eventually(lambda: vms.get("gpuvm", "two") is None, 30, "the object to go")
    assert (len(sim.calls("CreateServer")), len(sim.committed("DestroyServer"))) == (2, 1)


def test_an_order_that_was_carried_out_and_answered_500_not_found_is_found_and_destroyed(vms, sim, operator):
    sim.fault(kind="status_after_commit", operation="CreateServer", status=500, message="node n-1 not found", times=1)
    operator(**FLAGS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    vms.delete("gpuvm", "train")
    assert len(sim.calls("CreateServer")) == 1
    eventually(lambda: not sim.vms(), 10, "the VM to be gone")
