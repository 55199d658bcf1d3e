"""What the status of a GpuVM alone says, on a real apiserver; what all kinds say is in test_state_tables.py."""

from __future__ import annotations

import pytest

from support.kstatus import assert_row, ready
from support.manifests import gpuvm
from support.waiting import eventually

POLLS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.4, "blind_after_seconds": 1, "create_grace_seconds": 1}


@pytest.fixture
def vms(kubectl, namespace):
    return kubectl.in_namespace(namespace)


def seen(vms, name="train"):
    return vms.get("gpuvm", name)


def reach(vms, wanted, name="train", timeout=60):
    """Wait until Ready says ``status/reason``, and return the object."""
    return eventually(
        lambda: (item := seen(vms, name)) and ready(item) == wanted and item,
        timeout,
        f"{name} to be {wanted}: {seen(vms, name)}",
    )


def test_create_sent_and_pending_in_the_cloud(vms, sim, operator):
    sim.turn(provision_stuck_at="PENDING")
    operator(**POLLS)
    vms.apply(gpuvm())
    item = reach(vms, "False/Creating")
    eventually(sim.vms, what="the VM to be ordered")
    assert_row(vms, item, kstatus="InProgress", standing="Reconciling", met=False)


def test_no_room_waits(vms, sim, operator):
    sim.turn(provision_stuck_at="PENDING_RESOURCES")
    operator(**POLLS)
    vms.apply(gpuvm())
    item = reach(vms, "False/WaitingForCapacity")
    assert_row(vms, item, kstatus="InProgress", standing="Reconciling", met=False)
    assert "progressDeadlineAt" not in item["status"]


def test_online(vms, operator):
    operator(**POLLS)
    vms.apply(gpuvm())
    vms.wait("gpuvm", "train", "condition=Ready")
    item = reach(vms, "True/Running")
    assert_row(vms, item, kstatus="Current", standing="-", met=True)
    assert item["status"]["state"] == "ONLINE"
    assert item["status"]["ip"].startswith("198.51.100.")


def test_stopped_by_someone_else(vms, sim, operator):
    operator(**POLLS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    sim.fault(kind="status", operation="StartServer", status=503)
    sim.force(sim.vms()[0], "OFFLINE")
    item = eventually(lambda: (item := seen(vms)) and ready(item).startswith("False/") and item, what="drift to be seen")
    assert ready(item) in {"False/Drifted", "False/WaitingForCapacity"}
    assert_row(vms, item, kstatus="InProgress", standing="Reconciling", met=False)
    sim.clear_faults()
    reach(vms, "True/Running", timeout=60)


def test_a_refused_credential(vms, sim, operator):
    sim.fault(kind="status", operation="*", status=401)
    operator(**POLLS)
    vms.apply(gpuvm())
    item = reach(vms, "False/CredentialsRefused")
    assert_row(vms, item, kstatus="Failed", standing="Stalled", met=False)


def test_pending_beyond_the_deadline_is_still_watched(vms, sim, operator):
    sim.turn(provision_stuck_at="PENDING_READINESS")
    operator(**POLLS)
    vms.apply(gpuvm(progressDeadlineSeconds=1))
    item = reach(vms, "False/ProgressDeadlineExceeded")
    assert_row(vms, item, kstatus="Failed", standing="Stalled", met=False)
    (name,) = eventually(sim.vms, what="the order")
    sim.force(name, "ONLINE")
    reach(vms, "True/Running")


def test_deleting(vms, sim, operator):
    operator(**POLLS)
    vms.apply(gpuvm())
    reach(vms, "True/Running")
    sim.turn(destroy_seconds=3600)
    (name,) = sim.vms()
    vms.delete("gpuvm", "train", wait=False)
    item = reach(vms, "False/Deleting")
    assert_row(vms, item, kstatus="Terminating", standing="Reconciling", met=False)
    eventually(lambda: sim.committed("DestroyServer"), what="the call")
    sim.destroy_vm(name)
    assert vms.run("wait", "gpuvm/train", "--for=delete", "--timeout=60s").returncode == 0
    assert not sim.vms()
