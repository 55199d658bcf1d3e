"""spec.deletion.finalSnapshot: Required: the VM is destroyed only after a listing has shown its last snapshot ready."""

from datetime import timedelta

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import FinalSnapshot, FinalSnapshotState
from gpucloud.reconcile import naming
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.deletion_guard import Hold
from gpucloud.reconcile.facts import Absent, Asked, Attempt, CallHistory, Refusal, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import decide
from gpucloud.reconcile.gpuvm.snapshots import FinalSnapshotFacts, SnapshotOfVm, SnapshotsOfVm, Taker, names
from support.builders import NOW, START, a_spec, an_object, an_order, facts, known, present
from support.gpuvmfacts import DELETING, DESTROYING, GOING, HELD, NAME, ORDER, RUNNING

REQUIRED = a_spec(deletion={"finalSnapshot": "Required"})
TAKER, ALONE = "train-final-abcde", "final-train-alone"
SNAP = "train-final-abcde-tag-id"
NONE, CLOSING = FinalSnapshotFacts(TAKER, ALONE), FinalSnapshotFacts(TAKER, ALONE, terminating=True)
AT = START + timedelta(seconds=NOW - 60)


def final(**taker):
    return FinalSnapshotFacts(TAKER, ALONE, Taker(**{"made_for_vm": True, "deleting": False, "snapshot_id": SNAP} | taker))


def listed(*items, as_of=NOW):
    return SnapshotsOfVm(tuple(SnapshotOfVm(name, deletable=False, ready=ready) for name, ready in items), as_of)


def recorded(state=FinalSnapshotState.REQUESTED, base=RUNNING, **fields):
    given = {"order": ORDER.id, "gpu_snapshot": TAKER, "snapshot_id": SNAP, "requested_at": AT} | fields
    return base.model_copy(update={"final_snapshot": FinalSnapshot(state=state, **given)})


def did(verb, ago, kind=None, *, ambiguous=False):
    refusal = None if kind is None else Refusal(kind, "no", ambiguous)
    attempt = Attempt(verb, NOW - ago, Asked(1), refusal, int(refusal is not None), 1, (ALONE,))
    return CallHistory(first_seen=NOW - 600, deletion_seen=NOW - 60, attempts={verb: attempt})


BEGUN = CallHistory(first_seen=NOW - 600, deletion_seen=NOW - 60)
GOES = {"meta": DELETING, "spec": REQUIRED, "status": RUNNING, "found": present(), "history": BEGUN, "snapshots": listed()}
READY, TAKING = listed((SNAP, True)), listed((SNAP, False))
REQUEST, TAKE, DESTROY = Verb.REQUEST_SNAPSHOT, Verb.CREATE_SNAPSHOT, Verb.DESTROY
ANY, BLOCKED = "TakingFinalSnapshot", "DeletionBlocked"
OLD_ID = {"status": recorded(order="of-an-earlier-vm")}
AGO = NOW - 40

# the facts, the action, the reason, what the message says, and why
TABLE = [
    (GOES | {"final": NONE}, REQUEST, ANY, f"requested as GpuSnapshot {TAKER!r}", "nothing takes one yet"),
    (GOES | {"final": NONE, "history": did(REQUEST, 5)}, None, ANY, TAKER, "the watch may not show it yet"),
    (GOES | {"final": NONE, "history": did(REQUEST, 31)}, REQUEST, ANY, TAKER, "it never came, or somebody deleted it"),
    (GOES | {"final": NONE, "history": did(REQUEST, 5, ErrorKind.FORBIDDEN)}, None, BLOCKED, "no", "a missing right is told"),
    (GOES | {"final": NONE, "history": did(REQUEST, 400, ErrorKind.FORBIDDEN)}, REQUEST, BLOCKED, "no", "and tried again"),
    (GOES | {"final": NONE, "found": present(as_of=AGO)}, None, ANY, TAKER, "not by an old listing"),
    (GOES | {"final": NONE, "snapshots": listed(as_of=AGO)}, None, ANY, "Looking for", "nor while one may be there"),
    (GOES | {"final": NONE, "snapshots": None}, None, ANY, "Looking for", "the first listing has not come"),
    (GOES | {"final": NONE, "snapshots": Unknown(NOW, UnknownReason.FORBIDDEN)}, None, BLOCKED, "cannot be listed", "blind"),
    (GOES | {"final": final()}, None, ANY, f"GpuSnapshot {TAKER!r} takes", "ordered, not shown"),
    (GOES | {"final": final(), "snapshots": TAKING}, None, ANY, f"GpuSnapshot {TAKER!r} takes", "shown, not ready"),
    (GOES | {"final": final(), "snapshots": READY}, DESTROY, "Deleting", "is being destroyed", "ready"),
    (GOES | {"final": final(), "snapshots": listed((SNAP, True), as_of=AGO)}, None, ANY, "Looking for", "an old listing"),
    (GOES | {"final": final(), "snapshots": listed(("another", True))}, None, ANY, TAKER, "another snapshot is no promise"),
    (GOES | {"final": final(stalled="Rejected: quota.")}, None, BLOCKED, "Stalled (Rejected: quota)", "its trouble is told"),
    (GOES | {"final": final(made_for_vm=False), "snapshots": READY}, None, BLOCKED, "was not made for", "another's"),
    (GOES | {"final": final(deleting=True)}, None, ANY, "is being deleted", "a person deletes it: wait for its end"),
    (GOES | {"final": NONE, "status": recorded()}, REQUEST, ANY, TAKER, "and then request another"),
    (GOES | {"final": NONE, "status": recorded(), "snapshots": TAKING}, None, ANY, repr(SNAP), "retained, it goes on"),
    (GOES | {"final": NONE, "status": recorded(), "snapshots": READY}, DESTROY, "Deleting", "", "and counts"),
    (GOES | {"final": NONE, "snapshots": READY} | OLD_ID, REQUEST, ANY, TAKER, "a record of an earlier VM proves nothing"),
    (GOES | {"final": CLOSING}, TAKE, ANY, "without a GpuSnapshot", "a namespace that closes takes no object"),
    (GOES | {"final": CLOSING, "found": present("PENDING")}, None, ANY, "on or off", "not while the VM changes"),
    (GOES | {"final": CLOSING, "history": did(TAKE, 5)}, None, ANY, "without a GpuSnapshot", "accepted: it shows soon"),
    (GOES | {"final": CLOSING, "history": did(TAKE, 301)}, TAKE, ANY, "without a GpuSnapshot", "it never showed: once more"),
    (GOES | {"final": CLOSING, "history": did(TAKE, 5, ErrorKind.INVALID)}, None, BLOCKED, "CreateSnapshot failed: no", "told"),
    (GOES | {"final": CLOSING, "history": did(TAKE, 400, ErrorKind.UNAVAILABLE)}, TAKE, BLOCKED, "failed: no", "full: again"),
    (GOES | {"final": CLOSING, "snapshots": listed((ALONE, False))}, None, ANY, repr(ALONE), "it is being taken"),
    (GOES | {"final": CLOSING, "snapshots": listed((ALONE, True))}, DESTROY, "Deleting", "", "it is ready, without any record"),
    (GOES | {"spec": a_spec()}, DESTROY, "Deleting", "", "the wish is given up"),
    (GOES | {"spec": a_spec(), "final": NONE, "status": recorded()}, DESTROY, "Deleting", "", "also while one is being taken"),
    (GOES | {"final": NONE, "meta": an_object(deleting=True, annotations={"gpucloud.dev/paused": "true"})}, None, BLOCKED, "",
     "a pause holds this, too"),
    (GOES | {"final": NONE, "status": recorded(FinalSnapshotState.READY, GOING), "tracked": known(DESTROYING, ago=40)}, DESTROY,
     "Deleting", "", "the destroying call may have been sent: it is sent again, though the snapshot was deleted since"),
    (GOES | {"final": NONE, "status": recorded(FinalSnapshotState.READY)}, REQUEST, ANY, TAKER, "before it, one looks"),
    (GOES | {"final": NONE, "found": Absent(NOW, NOW - 5)}, None, "Deleting", "Looking for the VM", "not destroyed unseen"),
    (GOES | {"final": final(), "found": Absent(NOW, NOW - 5), "snapshots": READY}, DESTROY, "Deleting", "", "or is safe"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "action", "reason", "says"), [row[:4] for row in TABLE], ids=[row[4] for row in TABLE])
def test_what_comes_before_the_destruction(given, action, reason, says):
    plan = decide(facts(**given))
    ready = find(plan.status.conditions, "Ready")
    assert (plan.action, ready.reason) == (action, reason), ready.message
    assert says in ready.message
    if reason in {ANY, BLOCKED} and "aused" not in ready.message:
        assert "set spec.deletion.finalSnapshot: None" in ready.message, "the way out is always told"


def test_the_record_is_written_before_it_is_requested_and_names_the_snapshot_as_soon_as_it_is_known():
    asked = decide(facts(**GOES, final=NONE)).status.final_snapshot
    assert asked == FinalSnapshot(order=ORDER.id, gpu_snapshot=TAKER, requested_at=asked.requested_at)
    named = decide(facts(**GOES | {"status": recorded(snapshot_id=None)}, final=final())).status.final_snapshot
    assert (named.snapshot_id, named.state, named.requested_at) == (SNAP, "Requested", AT)
    done = decide(facts(**GOES | {"snapshots": READY}, final=final()))
    assert (done.status.final_snapshot.state, done.status.order.state) == ("Ready", OrderState.DESTROYING)
    alone = decide(facts(**GOES, final=CLOSING)).status.final_snapshot
    assert (alone.gpu_snapshot, alone.snapshot_id) == (None, ALONE)


def test_its_snapshots_are_not_deleted_before_the_final_one_is_ready():
    spec = a_spec(deletion={"finalSnapshot": "Required", "snapshots": "Delete"})
    deletable = SnapshotsOfVm((SnapshotOfVm("mine", deletable=True),), NOW)
    assert decide(facts(**GOES | {"spec": spec, "snapshots": deletable}, final=NONE)).action is REQUEST
    both = SnapshotsOfVm((SnapshotOfVm("mine", deletable=True), SnapshotOfVm(SNAP, deletable=False, ready=True)), NOW)
    plan = decide(facts(**GOES | {"spec": spec, "snapshots": both}, final=final()))
    assert (plan.action, plan.targets) == (Verb.DELETE_SNAPSHOT, ("mine",))


def test_a_held_deletion_takes_no_snapshot():
    plan = decide(facts(**GOES | {"status": HELD}, final=NONE, hold=Hold()))
    assert (plan.action, find(plan.status.conditions, "Ready").reason) == (None, "DeletionHeld")


LOST = known(an_order(NAME, OrderState.LOST), ago=400)
GONE = Absent(NOW, NOW - 50, NOW - 30)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tracked": LOST, "final": NONE}, "No final snapshot was taken of it."),
        ({"tracked": LOST, "final": NONE, "status": recorded()}, f"{SNAP!r} stays in the cloud"),
        ({"tracked": LOST, "final": CLOSING, "status": recorded(gpu_snapshot=None, snapshot_id=ALONE)}, f"{ALONE!r} stays"),
    ],
    ids=["lost before any", "its GpuSnapshot was deleted", "none could be made"],
)
def test_a_release_names_what_no_object_stands_for(given, says):
    release = decide(facts(**GOES | {"found": GONE} | given)).release
    assert release.warning
    assert says in release.note


def test_a_release_says_nothing_where_the_gpusnapshot_stands():
    release = decide(facts(**GOES | {"found": GONE, "status": recorded(), "tracked": LOST}, final=final())).release
    assert not release.warning


def test_the_names_are_of_one_object_and_fit():
    long = "t" * 300
    name, alone = names(long, "u1", "tag")
    assert len(name) <= 253
    assert naming.proves(alone, "u1")
    assert names(long, "u2", "tag")[0] != name
