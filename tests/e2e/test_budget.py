"""How little is asked of the apiserver and of the cloud: counted in the audit log and in the simulator's ledger."""

from __future__ import annotations

import time
from collections import Counter

from support.kstatus import ready
from support.manifests import gpuvm
from support.waiting import eventually

USER = "gpucloud-operator"
QUICK = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "cloud_qps": 500,
    "cloud_burst": 100,
    "orphan_scan_seconds": 0,  # its calls come every ten minutes, and would hit now one test, now another
}


def writes(audit, namespace):
    return audit.requests(user=USER, namespace=namespace, reads=False, events=False)


def test_the_writes_and_calls_of_a_life(kubectl, namespace, sim, operator, audit):
    sim.turn(destroy_seconds=0.2)  # a VM that goes for long changes, and that would be told
    operator(**QUICK)
    vms = kubectl.in_namespace(namespace)
    vms.apply(gpuvm())
    vms.wait("gpuvm", "train", "condition=Ready")
    eventually(lambda: len(writes(audit, namespace)) >= 3, what="the audit log to tell of the last write")
    born = Counter((one.verb, one.subresource) for one in writes(audit, namespace))
    assert born == {("patch", ""): 1, ("update", "status"): 2}, "finalizer; record with Creating; Ready"
    events = [one for one in audit.requests(user=USER, namespace=namespace, reads=False) if one.is_event]
    assert len(events) <= 3
    assert len(sim.calls("CreateServer")) == 1

    later = audit.since_now()
    vms.delete("gpuvm", "train")
    eventually(lambda: len(writes(later, namespace)) >= 2, what="the audit log to tell of the last write")
    gone = Counter((one.verb, one.subresource) for one in writes(later, namespace))
    assert gone == {("update", "status"): 1, ("patch", ""): 1}, "Deleting; finalizer"
    assert len(sim.calls("DestroyServer")) == 1
    assert not sim.calls("GetServer")
    assert not sim.vms()
    assert [one for one in audit.requests(user=USER) if one.code not in {0, 200, 201}] == [], "none refused, none in vain"


def test_a_hundred_idle_vms_cost_one_listing_an_interval_and_no_write(kubectl, namespace, sim, operator, audit):
    operator(**{**QUICK, "poll_steady_seconds": 2})
    vms = kubectl.in_namespace(namespace)
    vms.apply([gpuvm(f"vm-{number:03}") for number in range(100)])
    eventually(lambda: all(ready(item) == "True/Running" for item in vms.list("gpuvm")), 90, "100 VMs to run")
    assert len(sim.calls("CreateServer")) == 100
    time.sleep(3)  # let the last fast poll and the last event pass

    quiet, asked = audit.since_now(), sim.calls()
    eventually(lambda: len(sim.calls()) >= len(asked) + 3, 60, "three more listings")
    seen = sim.calls()[len(asked) :]
    assert {call["operation"] for call in seen} == {"GetServers"}
    assert len(seen) <= (seen[-1]["received"] - asked[-1]["received"]) / 2 + 1, "one an interval of 2 s, for all of them"
    assert writes(quiet, namespace) == []
    reads = [one for one in quiet.requests(user=USER, reads=True, events=False) if one.verb in {"get", "list"}]
    assert reads == []


def test_a_restart_writes_nothing_and_lists_once(kubectl, namespace, sim, operator, audit):
    process = operator(**QUICK)
    vms = kubectl.in_namespace(namespace)
    vms.apply([gpuvm(f"vm-{number}") for number in range(10)])
    eventually(lambda: all(ready(item) == "True/Running" for item in vms.list("gpuvm")), 60, "10 VMs to run")
    process.kill9()
    quiet, asked = audit.since_now(), len(sim.calls())
    again = operator(**{**QUICK, "poll_steady_seconds": 30})
    again.wait_for_line('"synced"')
    eventually(lambda: len(sim.calls()) > asked, what="the first listing")
    time.sleep(2)
    calls = Counter(call["operation"] for call in sim.calls()[asked:])
    assert calls["GetServers"] <= 2
    assert set(calls) <= {"GetServers", "GetConfigurations"}, calls
    assert writes(quiet, namespace) == []
