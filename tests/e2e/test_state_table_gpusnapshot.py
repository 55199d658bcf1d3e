"""The rows of the status table for a GpuSnapshot, on a real apiserver: one operator, one object a row, faults by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from support.kstatus import assert_row, condition, ready
from support.manifests import gpusnapshot
from support.waiting import eventually, gone, reach

POLLS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.4, "blind_after_seconds": 1, "create_grace_seconds": 1}
AGAIN = 200  # seconds within which what was throttled, however often by now, is tried again
HELD = 120.0  # seconds that a fault holds an answer: longer than the test needs


@dataclass(frozen=True)
class Row:
    """How a GpuSnapshot is made, and what is to be said of it; CreateSnapshot of its name meets the ``fault``."""

    why: str
    wanted: str
    kstatus: str = "Failed"
    standing: str = "Stalled"
    met: bool = False
    says: str = ""
    source: str | None = "theirs"  # a VM that somebody else has made
    spec: dict[str, Any] = field(default_factory=dict)
    fault: dict[str, Any] = field(default_factory=dict)


ROWS = {
    "done": Row("taken", "True/Completed", "Current", "-", True),
    "slow": Row(
        "the create is on its way",
        "False/Creating",
        "InProgress",
        "Reconciling",
        fault={"kind": "silence", "seconds": HELD},
    ),
    "early": Row(
        "what it needs is not there",
        "False/DependencyNotReady",
        "InProgress",
        "Reconciling",
        says="GpuVM 'later'",
        source=None,
        spec={"vmRef": {"name": "later"}},
    ),
    "sourceless": Row("no such VM", "False/SourceNotFound", says="'nobody'", source="nobody"),
    "forbidden": Row(
        "the cloud forbids it",
        "False/PermissionDenied",
        says="no snapshots for you",
        fault={"kind": "status", "status": 403, "message": "no snapshots for you"},
    ),
    "refused": Row(
        "the cloud does not want it so",
        "False/Rejected",
        says="not like this",
        fault={"kind": "status", "status": 400, "message": "not like this"},
    ),
    "awaiting": Row(
        "its VM is neither on nor off",
        "False/DependencyNotReady",
        "InProgress",
        "Reconciling",
        says="VM 'busy'",
        source="busy",
    ),
    "throttled": Row(
        "pending beyond its deadline",
        "False/ProgressDeadlineExceeded",
        says="still watched",
        spec={"progressDeadlineSeconds": 1},
        fault={"kind": "status", "status": 429},
    ),
    "taken": Row("there is one already", "False/Conflict", says="spec.snapshotName"),
}


def snapshot(name, source="theirs", **spec):
    """A snapshot that bears its object's name in the cloud, of a VM that no GpuVM stands for."""
    vm = None if source is None else {"cluster": "Msc1", "vpc": "acme", "name": source}
    return gpusnapshot(name, **{"snapshotName": name, "vm": vm, "vmRef": None} | spec)


def test_while_it_lives(here, sim, operator):
    sim.turn(snapshot_seconds=0.2)
    for name in ("theirs", "busy"):
        sim.create_vm(name)
    sim.force("theirs", "ONLINE")
    sim.force("busy", "PENDING")
    sim.create_snapshot("taken", "theirs")
    for name, row in ROWS.items():
        if row.fault:
            sim.fault(operation="CreateSnapshot", parameters={"name": name}, **row.fault)
    operator(**POLLS)
    here.apply([snapshot(name, row.source, **row.spec) for name, row in ROWS.items()])
    for name, row in ROWS.items():
        item = reach(here, "gpusnapshot", name, row.wanted, says=row.says)
        assert_row(here, item, kstatus=row.kstatus, standing=row.standing, met=row.met)
        assert (condition(item, "Succeeded") is not None) == row.met, "only what is finished has succeeded"
    asked = [call["parameters"]["name"] for call in sim.committed("CreateSnapshot")]
    assert asked == ["taken", "done"]

    sim.clear_faults()
    sim.turn(snapshot_seconds=HELD)
    reach(
        here, "gpusnapshot", "throttled", "False/ProgressDeadlineExceeded", timeout=AGAIN, says="is being taken"
    )  # still watched
    sim.create_vm("nobody")
    sim.force("nobody", "ONLINE")
    reach(here, "gpusnapshot", "sourceless", "False/Creating")  # taken as soon as there is one
    sim.delete_snapshot("done")
    item = reach(here, "gpusnapshot", "done", "False/SnapshotLost")
    assert_row(here, item, kstatus="Failed", standing="Stalled", met=False)
    assert condition(item, "Succeeded") is None
    assert sim.snapshots().count("done") == 0, "it is not taken again"


def test_edited_paused_and_out_of_sight(here, sim, operator):
    sim.turn(snapshot_seconds=0.2)
    sim.create_vm("theirs")
    sim.force("theirs", "ONLINE")
    here.apply(snapshot("before"))
    item = here.get("gpusnapshot", "before")
    assert ready(item) == "Unknown/Pending"
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=-1)

    process = operator(**POLLS)
    item = reach(here, "gpusnapshot", "before", "True/Completed")
    assert {key: item["status"][key] for key in ("snapshotId", "sourceName", "vpc", "cluster", "readyToUse")} == {
        "snapshotId": "before",
        "sourceName": "theirs",
        "vpc": "acme",
        "cluster": "Msc1",
        "readyToUse": True,
    }
    process.stop()
    here.patch("gpusnapshot", "before", {"spec": {"deletion": {"policy": "Retain"}}})
    item = here.get("gpusnapshot", "before")
    assert_row(here, item, kstatus="InProgress", standing="-", met=False, observed=1)

    operator(**POLLS)
    eventually(lambda: here.get("gpusnapshot", "before")["status"]["observedGeneration"] == 2, what="the edit to be seen")
    here.annotate("gpusnapshot", "before", **{"gpucloud.dev/paused": "true"})
    item = eventually(lambda: (item := here.get("gpusnapshot", "before")) and condition(item, "Paused") and item, what="Paused")
    assert ready(item) == "True/Completed"
    assert condition(item, "Succeeded")
    assert_row(here, item, kstatus="Current", standing="-", met=True)
    here.patch("gpusnapshot", "before", {"spec": {"deletion": {"policy": "Delete"}}})
    item = reach(here, "gpusnapshot", "before", "Unknown/Paused")
    assert_row(here, item, kstatus="InProgress", standing="-", met=False)
    here.annotate("gpusnapshot", "before", **{"gpucloud.dev/paused": None})
    reach(here, "gpusnapshot", "before", "True/Completed")

    sim.fault(kind="status", operation="GetSnapshots", status=502)
    item = reach(here, "gpusnapshot", "before", "Unknown/ApiUnavailable")
    assert_row(here, item, kstatus="InProgress", standing="Reconciling", met=False)
    assert item["status"]["snapshotId"], "the last known record stays"
    sim.clear_faults()
    reach(here, "gpusnapshot", "before", "True/Completed")


def test_while_it_is_deleted(here, sim, operator):
    sim.turn(snapshot_seconds=0.2)
    sim.create_vm("theirs")
    sim.force("theirs", "ONLINE")
    operator(**POLLS)
    names = ("going", "refused", "held")
    here.apply([snapshot(name) for name in names])
    for name in names:
        reach(here, "gpusnapshot", name, "True/Completed")
    sim.fault(kind="silence", seconds=HELD, operation="DeleteSnapshot", parameters={"Id": "going"})
    sim.fault(kind="status", status=403, operation="DeleteSnapshot", parameters={"Id": "refused"})
    here.annotate("gpusnapshot", "held", **{"gpucloud.dev/paused": "true"})
    here.ok("delete", "gpusnapshot", *names, "--wait=false")
    table = {
        "going": ("False/Deleting", "Reconciling", ""),
        "refused": ("False/DeletionBlocked", "Stalled", "spec.deletion.policy: Retain"),
        "held": ("False/DeletionBlocked", "Stalled", "gpucloud.dev/paused"),
    }
    for name, (wanted, standing, says) in table.items():
        item = reach(here, "gpusnapshot", name, wanted, says=says)
        assert_row(here, item, kstatus="Terminating", standing=standing, met=False)
    assert sorted(sim.snapshots()) == sorted(names)

    here.patch("gpusnapshot", "refused", {"spec": {"deletion": {"policy": "Retain"}}})
    here.annotate("gpusnapshot", "held", **{"gpucloud.dev/paused": None})
    gone(here, "gpusnapshot", "refused", "held")
    eventually(lambda: sorted(sim.snapshots()) == ["going", "refused"], what="one to be deleted, and one retained")
