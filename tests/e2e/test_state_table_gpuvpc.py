"""The rows of the status table for a GpuVpc, on a real apiserver: one operator, one object a row, faults by the VPC's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from support.kstatus import assert_row, condition, ready
from support.manifests import gpuvpc
from support.waiting import eventually, gone, reach

POLLS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.4, "blind_after_seconds": 1, "create_grace_seconds": 1}
AGAIN = 200  # seconds within which what was throttled, however often by now, is tried again
HELD = 120.0  # seconds that a fault holds an answer: longer than the test needs


@dataclass(frozen=True)
class Row:
    """How a GpuVpc is made, and what is to be said of it; CreateVpc of its name meets the ``fault``."""

    why: str
    wanted: str
    kstatus: str = "Failed"
    standing: str = "Stalled"
    met: bool = False
    says: str = ""
    spec: dict[str, Any] = field(default_factory=dict)
    fault: dict[str, Any] = field(default_factory=dict)


ROWS = {
    "made": Row("as asked", "True/Available", "Current", "-", True),
    "slow": Row(
        "the create is on its way",
        "False/Creating",
        "InProgress",
        "Reconciling",
        fault={"kind": "silence", "seconds": HELD},
    ),
    "early": Row(
        "what it needs is not there",
        "False/AccountNotReady",
        "InProgress",
        "Reconciling",
        says="GpuCloudAccount 'later'",
        spec={"accountRef": {"name": "later"}},
    ),
    "forbidden": Row(
        "the cloud forbids it",
        "False/PermissionDenied",
        says="no VPCs for you",
        fault={"kind": "status", "status": 403, "message": "no VPCs for you"},
    ),
    "misnamed": Row("only the cloud knows the tenant's name", "False/Rejected", says="acme-", spec={"name": "lab"}),
    "throttled": Row(
        "pending beyond its deadline",
        "False/ProgressDeadlineExceeded",
        says="still watched",
        spec={"progressDeadlineSeconds": 1},
        fault={"kind": "status", "status": 429},
    ),
    "taken": Row("there is one already", "False/Conflict", says="IfExists"),
    "adopted": Row("taken over", "True/Adopted", "Current", "-", True, spec={"adoption": "IfExists"}),
    "absent": Row("to be taken over, and absent", "False/NotFound", says="Required", spec={"adoption": "Required"}),
    "different": Row(
        "taken over, and not as asked",
        "False/Mismatch",
        says="blockIntraVpcComms",
        spec={"adoption": "Required", "blockIntraVpcComms": True},
    ),
}


def test_while_it_lives(here, sim, operator):
    for name in ("taken", "adopted", "different"):
        sim.create_vpc(f"acme-{name}")
    for name, row in ROWS.items():
        if row.fault:
            sim.fault(operation="CreateVpc", parameters={"name": f"acme-{name}"}, **row.fault)
    operator(**POLLS)
    here.apply([gpuvpc(name, **{"name": f"acme-{name}", **row.spec}) for name, row in ROWS.items()])
    for name, row in ROWS.items():
        item = reach(here, "gpuvpc", name, row.wanted, says=row.says)
        assert_row(here, item, kstatus=row.kstatus, standing=row.standing, met=row.met)
    asked = [call["parameters"]["name"] for call in sim.calls("CreateVpc")]
    assert asked.count("lab") == asked.count("acme-forbidden") == 1, "one attempt, as long as nothing changes"

    sim.clear_faults()
    reach(here, "gpuvpc", "throttled", "True/Available", timeout=AGAIN)  # still watched
    sim.destroy_vpc(here.get("gpuvpc", "made")["status"]["vpcId"])
    item = reach(here, "gpuvpc", "made", "False/VPCLost")
    assert_row(here, item, kstatus="Failed", standing="Stalled", met=False)
    assert not sim.calls("DestroyVpc")[1:], "nothing but our own"


def test_edited_paused_and_out_of_sight(here, sim, operator):
    here.apply(gpuvpc())
    item = here.get("gpuvpc", "lab")
    assert ready(item) == "Unknown/Pending"
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=-1)

    process = operator(**POLLS)
    item = reach(here, "gpuvpc", "lab", "True/Available")
    assert item["status"]["tenancy"] == "acme"
    assert item["status"]["ipRange"]
    process.stop()
    here.patch("gpuvpc", "lab", {"spec": {"deletion": {"policy": "Retain"}}})
    item = here.get("gpuvpc", "lab")
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=1)

    operator(**POLLS)
    eventually(lambda: here.get("gpuvpc", "lab")["status"]["observedGeneration"] == 2, what="the edit to be seen")
    here.annotate("gpuvpc", "lab", **{"gpucloud.dev/paused": "true"})
    item = eventually(lambda: (item := here.get("gpuvpc", "lab")) and condition(item, "Paused") and item, what="Paused")
    assert ready(item) == "True/Available"
    assert_row(here, item, kstatus="Current", standing="-", met=True)
    here.patch("gpuvpc", "lab", {"spec": {"deletion": {"policy": "Delete"}}})
    item = reach(here, "gpuvpc", "lab", "Unknown/Paused")
    assert_row(here, item, kstatus="InProgress", standing="-", met=False)
    here.annotate("gpuvpc", "lab", **{"gpucloud.dev/paused": None})
    reach(here, "gpuvpc", "lab", "True/Available")

    sim.fault(kind="status", operation="GetVpcs", status=502)
    item = reach(here, "gpuvpc", "lab", "Unknown/ApiUnavailable")
    assert_row(here, item, kstatus="InProgress", standing="Reconciling", met=False)
    assert item["status"]["vpcId"], "the last known record stays"
    sim.clear_faults()
    reach(here, "gpuvpc", "lab", "True/Available")


def test_while_it_is_deleted(here, sim, operator):
    operator(**POLLS)
    names = ("going", "refused", "held", "used")
    here.apply([gpuvpc(name, name=f"acme-{name}") for name in names])
    ids = {name: reach(here, "gpuvpc", name, "True/Available")["status"]["vpcId"] for name in names}
    sim.fault(kind="silence", seconds=HELD, operation="DestroyVpc", parameters={"Id": ids["going"]})
    sim.fault(kind="status", status=403, operation="DestroyVpc", parameters={"Id": ids["refused"]})
    here.annotate("gpuvpc", "held", **{"gpucloud.dev/paused": "true"})
    sim.create_vm("theirs", vpc="acme-used")
    here.ok("delete", "gpuvpc", *names, "--wait=false")
    table = {
        "going": ("False/Deleting", "Reconciling", ""),
        "refused": ("False/DeletionBlocked", "Stalled", "spec.deletion.policy: Retain"),
        "held": ("False/DeletionBlocked", "Stalled", "gpucloud.dev/paused"),
        "used": ("False/DeletionBlocked", "Reconciling", "VM 'theirs'"),
    }
    for name, (wanted, standing, says) in table.items():
        item = reach(here, "gpuvpc", name, wanted, says=says)
        assert_row(here, item, kstatus="Terminating", standing=standing, met=False)
    assert sorted(sim.vpcs()) == sorted(f"acme-{name}" for name in names)

    here.patch("gpuvpc", "refused", {"spec": {"deletion": {"policy": "Retain"}}})
    here.annotate("gpuvpc", "held", **{"gpucloud.dev/paused": None})
    sim.destroy_vm("theirs", vpc="acme-used")
    gone(here, "gpuvpc", "refused", "held", "used")
    assert sorted(sim.vpcs()) == ["acme-going", "acme-refused"]


def test_what_somebody_makes_after_a_refusal_is_theirs(here, sim, operator):
    """The record of the refused order proves nothing, to this process or to the next."""
    sim.fault(operation="CreateVpc", kind="status", status=403, nth=1)
    process = operator(**POLLS)
    here.apply(gpuvpc())
    reach(here, "gpuvpc", "lab", "False/PermissionDenied")
    sim.create_vpc("acme-lab")  # as an administrator would who reads that
    reach(here, "gpuvpc", "lab", "False/Conflict", says="spec.adoption")
    process.kill9()
    process = operator(**POLLS)
    process.wait_for_line('"synced"')
    asked = len(sim.calls("GetVpcs"))
    eventually(lambda: len(sim.calls("GetVpcs")) > asked + 3, what="some looks of the next")
    assert ready(here.get("gpuvpc", "lab")) == "False/Conflict"
    here.delete("gpuvpc", "lab")
    assert not sim.calls("DestroyVpc")
    assert "acme-lab" in sim.vpcs()
