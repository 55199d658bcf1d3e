"""kill -9 of the operator at chosen points of a VM's life: after a restart exactly one VM, or none, as desired.

Each point is reached for certain, by a fault that holds the cloud's answer there, and seen in the ledger or the object.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from support.kstatus import condition, ready
from support.manifests import gpuvm
from support.waiting import eventually

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 2, "cloud_timeout_seconds": 20}
HELD = 60.0  # seconds that a fault holds an answer: longer than the test needs


@dataclass
class Point:
    """When to kill: the faults that hold the operator there, and how to see that it is there."""

    why: str
    faults: list[dict[str, Any]] = field(default_factory=list)
    deleting: bool = False
    there: str = ""  # a phase of a call, "CreateServer received", or a verdict, "status False/Creating"
    creates: tuple[int, ...] = (1,)  # committed creates in the whole life


POINTS = {
    "guarded, nothing intended": Point(
        "the finalizer stands, no listing has come",
        [{"kind": "delay", "operation": "GetServers", "seconds": HELD}],
        there="guarded",
    ),
    "create received, never committed": Point(
        "before the create is carried out",
        [{"kind": "silence", "operation": "CreateServer", "seconds": HELD}],
        there="CreateServer received",
    ),
    "create committed, not answered": Point(
        "after the commit, before the answer",
        [{"kind": "delay_answer", "operation": "CreateServer", "seconds": HELD}],
        there="CreateServer committed",
    ),
    "create answer lost": Point(
        "committed, and the connection reset",
        [{"kind": "lost_answer", "operation": "CreateServer"}],
        there="CreateServer committed",
    ),
    "create committed late": Point(
        "the cloud hangs up and carries it out a second later",
        [{"kind": "late_commit", "operation": "CreateServer", "seconds": 1.0, "status": 0}],
        there="CreateServer received",
    ),
    "create answered, nothing saved of it": Point(
        "the listing that would show it is held back",
        [{"kind": "delay", "operation": "GetServers", "seconds": HELD, "nth": 3, "times": 1000}],
        there="CreateServer answered",
    ),
    "running and saved": Point("nothing is under way", there="status True/Running"),
    "destroy received, never committed": Point(
        "before the destroy is carried out",
        [{"kind": "silence", "operation": "DestroyServer", "seconds": HELD}],
        True,
        "DestroyServer received",
    ),
    "destroy committed, not answered": Point(
        "after the commit, before the answer",
        [{"kind": "delay_answer", "operation": "DestroyServer", "seconds": HELD}],
        True,
        "DestroyServer committed",
    ),
    "destroy answered, the VM still listed": Point("the record stays a while", [], True, "DestroyServer answered"),
    "gone, the finalizer not yet released": Point(
        "the listing that would prove it is held back",
        [{"kind": "delay_answer", "operation": "GetServers", "seconds": HELD}],
        True,
        "gone",
    ),
}


@pytest.mark.parametrize("name", POINTS)
def test_killed(name, kubectl, namespace, sim, operator):
    point = POINTS[name]
    vms = kubectl.in_namespace(namespace)
    sim.turn(destroy_seconds=1)
    process = operator(**FLAGS)
    if point.deleting:
        vms.apply(gpuvm())
        vms.wait("gpuvm", "train", "condition=Ready")
        for fault in point.faults:
            sim.fault(**fault)
        vms.delete("gpuvm", "train", wait=False)
    else:
        for fault in point.faults:
            sim.fault(**fault)
        vms.apply(gpuvm())
    eventually(lambda: is_there(point.there, vms, sim), 30, point.there)
    process.kill9()
    sim.clear_faults()
    operator(**FLAGS)
    if point.deleting:
        eventually(lambda: vms.get("gpuvm", "train") is None, 60, "the object to go")
        assert sim.vms() == [], point.why
    else:
        vms.wait("gpuvm", "train", "condition=Ready")
        assert len(sim.vms()) == 1, point.why
    committed = [call for call in sim.calls("CreateServer") if call["committed"] is not None]
    assert len(committed) == 1, point.why


def is_there(where, vms, sim):
    item = vms.get("gpuvm", "train")
    if where == "guarded":
        return item and item["metadata"].get("finalizers") and sim.calls("GetServers")
    if where == "gone":
        return not sim.vms()
    what, phase = where.split()
    if what == "status":
        return item and ready(item) == phase
    return any(call[phase] is not None for call in sim.calls(what))


def test_intent_recorded_create_not_sent(kubectl, namespace, sim, operator):
    """The budget of calls is used up by the listing, so the order waits inside the operator when it is killed."""
    vms = kubectl.in_namespace(namespace)
    process = operator(**{**FLAGS, "cloud_qps": 0.2, "cloud_burst": 2})
    vms.apply(gpuvm())
    eventually(lambda: (item := vms.get("gpuvm", "train")) and ready(item) == "False/Creating", 60, "the intent")
    sent = len(sim.calls("CreateServer"))
    process.kill9()
    operator(**FLAGS)
    vms.wait("gpuvm", "train", "condition=Ready")
    assert len(sim.vms()) == 1
    assert len(sim.calls("CreateServer")) == 1 or sent == 1


def test_a_pause_takes_effect_while_deleting(kubectl, namespace, sim, operator):
    vms = kubectl.in_namespace(namespace)
    operator(**{**FLAGS, "create_grace_seconds": 1})
    vms.apply(gpuvm())
    vms.wait("gpuvm", "train", "condition=Ready")
    sim.fault(kind="status", operation="DestroyServer", status=500)
    vms.delete("gpuvm", "train", wait=False)
    eventually(lambda: sim.calls("DestroyServer"), what="the first destroy")
    vms.annotate("gpuvm", "train", **{"gpucloud.dev/paused": "true"})
    eventually(
        lambda: "Paused by" in condition(vms.get("gpuvm", "train"), "Ready")["message"], what="the pause to be acknowledged"
    )
    sim.clear_faults()
    asked = len(sim.calls("DestroyServer"))
    eventually(lambda: len(sim.calls("GetServers")) > 15, what="some more polls")
    assert len(sim.calls("DestroyServer")) == asked
    assert len(sim.vms()) == 1
    vms.annotate("gpuvm", "train", **{"gpucloud.dev/paused": None})
    eventually(lambda: vms.get("gpuvm", "train") is None, 60, "deletion to go on")
    assert sim.vms() == []


def test_a_change_to_retain_takes_effect_while_deleting(kubectl, namespace, sim, operator):
    vms = kubectl.in_namespace(namespace)
    operator(**FLAGS)
    vms.apply(gpuvm())
    vms.wait("gpuvm", "train", "condition=Ready")
    sim.fault(kind="status", operation="DestroyServer", status=500)
    vms.delete("gpuvm", "train", wait=False)
    eventually(lambda: sim.calls("DestroyServer"), what="the first destroy")
    vms.patch("gpuvm", "train", {"spec": {"deletion": {"policy": "Retain"}}})
    eventually(lambda: vms.get("gpuvm", "train") is None, 30, "the object to go")
    assert len(sim.vms()) == 1, "the VM is retained"
