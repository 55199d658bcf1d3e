"""Rows of a GpuVM that is replaced after a final snapshot, and of plans that are given up."""

from __future__ import annotations

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import FinalSnapshot, FinalSnapshotState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.gpuvm.snapshots import FinalSnapshotFacts, SnapshotOfVm, SnapshotsOfVm, Taker, replacement_of
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, START, a_spec
from support.decisions.gpuvm_replacement import DISK, GONE, GROWN, LARGE, LARGER, planned, stands
from support.rows import Row, noted


def taken_for(order, plan, state=FinalSnapshotState.REQUESTED):
    """The record of a final snapshot that was requested for this plan."""
    owner, names = replacement_of(order.id, plan), {"gpu_snapshot": "train-final", "snapshot_id": "snap-1"}
    return FinalSnapshot(order=owner, requested_at=START, state=state, **names)


def saved():
    """Its final snapshot is ready, and the waiting line no longer has room for the other one."""
    plan = planned(LARGER, saves=True)
    given = stands(a_spec(replacePolicy="Recreate", configuration=LARGE, deletion={"finalSnapshot": "Required"}), plan)
    order = given["status"].order
    taken = taken_for(order, plan)
    taker = Taker(made_for_vm=True, deleting=False, snapshot_id="snap-1")
    return given | {
        "status": given["status"].model_copy(update={"final_snapshot": taken}),
        "final": FinalSnapshotFacts("train-final", "unattended", taker),
        "snapshots": SnapshotsOfVm((SnapshotOfVm("snap-1", deletable=False, ready=True),), NOW),
        "line": Line(listed=frozenset({Offer(LARGE)})),
    }


def saved_for_another(spec, plan, **more):
    """Its final snapshot was taken for a plan of hours ago, and the listing shows it ready."""
    given = stands(a_spec(replacePolicy="Recreate", deletion={"finalSnapshot": "Required"}, **spec), plan, **more)
    taken = taken_for(given["status"].order, planned(LARGER, ago=7200, saves=True))
    return given | {
        "status": given["status"].model_copy(update={"final_snapshot": taken}),
        "final": FinalSnapshotFacts("train-final-2", "unattended"),
        "snapshots": SnapshotsOfVm((SnapshotOfVm("snap-1", deletable=False, ready=True),), NOW),
    }


ROWS = {
    "a VM whose final snapshot is taken does not wait for room again": Row(
        "the snapshot would grow old",
        saved(),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a plan has a final snapshot of its own": Row(
        "the VM has gone on since one was taken for a plan that was given up",
        saved_for_another({"rootDiskGiB": 300}, planned(GROWN, saves=True)),
        Reason.TAKING_FINAL_SNAPSHOT,
        says="'train-final-2'",
        action=Verb.REQUEST_SNAPSHOT,
        targets=("train-final-2",),
    ),
    "a final snapshot of a plan that was given up does not make room": Row(
        "only one that is taken for this plan must not grow old",
        saved_for_another({"configuration": LARGE}, planned(LARGER, saves=True), line=Line(listed=frozenset({Offer(LARGE)}))),
        Reason.WAITING_FOR_CAPACITY,
        says=LARGE,
        status={"final_snapshot": None},
    ),
    "an edit that is taken back leaves no record of its final snapshot": Row(
        "it does not count for a later plan",
        saved_for_another({}, planned(LARGER, saves=True)),
        Reason.RUNNING,
        "True",
        None,
        status={"replacement": None, "final_snapshot": None},
    ),
    "another edit leaves no record of the final snapshot before": Row(
        "the VM goes on for another grace",
        saved_for_another({"rootDiskGiB": 300}, planned(LARGER, ago=3600, saves=True)),
        Reason.REPLACING,
        says="after a final snapshot of it",
        status={"replacement": planned(GROWN, ago=0, saves=True), "final_snapshot": None},
    ),
    "a VM that is paused has no plan": Row(
        "a pause may last for days, and what was planned and saved before is old then",
        saved() | {"meta": noted(PAUSED="true")},
        Reason.REPLACING,
        progress=None,
        status={"replacement": None, "final_snapshot": None, "order": OrderState.SEEN},
    ),
    "a pause ends no replacement whose destruction is announced": Row(
        "the call may have been sent, and then the new VM is ordered afterwards",
        GONE | {"meta": noted(PAUSED="true")},
        Reason.REPLACING,
        progress=None,
        status={"replacement": DISK, "order": OrderState.GONE},
    ),
}
