"""A VM that stays before readiness: its boot log is read late, and its class alone is told; no word of the log."""

from __future__ import annotations

import json
from itertools import pairwise

from support.kstatus import condition
from support.manifests import gpuvm
from support.waiting import eventually, gone, reach

AFTER = 1.0
FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1, "boot_log_seconds": AFTER}
OPERATION = "GetVirtualMachineBootLogs"
SECRET = "hunter2-made-up-password-of-a-boot-log"


def boot_log(sim, text):
    """Have the cloud answer with this boot log."""
    sim.fault(kind="status", status=200, operation=OPERATION, body=json.dumps({"id": "x", "bootLogs": text}))


def found(here, name="train"):
    return ((here.get("gpuvm", name) or {}).get("status") or {}).get("bootLog")


def test_the_class_of_trouble_is_said_and_nothing_of_the_log(here, sim, operator):
    sim.turn(provision_stuck_at="PENDING_READINESS")
    sim.canaries.plant("a password in the boot log", SECRET)
    boot_log(sim, f"[1.0] cloud-init: root password {SECRET}\n[2.0] Kernel panic - not syncing\n")
    process = operator(**FLAGS, log_level="debug")
    here.apply(gpuvm())
    eventually(lambda: found(here), what="the boot log to be read")
    assert found(here)["trouble"] == "KernelPanic"
    ready = condition(here.get("gpuvm", "train"), "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "Creating")
    assert "Its boot log shows a kernel panic: set another spec.image." in ready["message"]
    assert f"Read it: kubectl gpucloud logs train -n {here.namespace}" in ready["message"]

    sim.clear_faults()
    boot_log(sim, f"{SECRET}: No space left on device")
    eventually(lambda: found(here)["trouble"] == "DiskFull", what="another reading")
    asked = [call["answered"] for call in sim.calls(OPERATION)]
    assert all(later - earlier >= AFTER for earlier, later in pairwise(asked))
    here.ok("delete", "gpuvm/train", "--wait=false")
    gone(here, "gpuvm", "train")
    assert SECRET not in json.dumps(process.logs())


def test_a_log_that_cannot_be_read_is_said_without_a_word_of_the_answer(here, sim, operator):
    sim.turn(provision_stuck_at="PENDING_READINESS")
    sim.canaries.plant("a password in the boot log", SECRET)
    process = operator(**FLAGS, log_level="debug")
    here.apply(gpuvm())
    for number, answer in enumerate((f"<html>{SECRET}</html>", f'{{"bootLogs": "{SECRET}')):
        sim.clear_faults()
        sim.fault(kind="status", status=200, operation=OPERATION, body=answer)
        asked = len(sim.calls(OPERATION))
        eventually(lambda asked=asked: len(sim.calls(OPERATION)) > asked, 60, f"reading {number}")
        eventually(lambda: (found(here) or {}).get("trouble") == "NotReadable", what="that to be said")
    assert SECRET not in json.dumps(process.logs())


def test_a_vm_that_comes_up_in_time_costs_no_reading(here, sim, operator):
    operator(**FLAGS | {"boot_log_seconds": 600})
    here.apply(gpuvm())
    vm = reach(here, "gpuvm", "train", "True/Running")
    assert "bootLog" not in vm["status"]
    assert sim.calls(OPERATION) == []


def test_a_vm_that_comes_up_late_has_no_finding_any_more(here, sim, operator):
    sim.turn(provision_stuck_at="PENDING_READINESS")
    operator(**FLAGS)
    here.apply(gpuvm())
    eventually(lambda: found(here), what="the boot log to be read")
    assert found(here)["trouble"] == "Empty"
    sim.force(sim.vms()[0], "ONLINE")
    vm = reach(here, "gpuvm", "train", "True/Running")
    assert "bootLog" not in vm["status"]
