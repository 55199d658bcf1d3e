"""spec.deletion.finalSnapshot: Required: the VM is destroyed only after a listing has shown its last snapshot ready."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import FinalSnapshot
from gpucloud.reconcile import naming
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.deletion_guard import Hold
from gpucloud.reconcile.facts import Absent, Verb
from gpucloud.reconcile.gpuvm import decide
from gpucloud.reconcile.gpuvm.snapshots import SnapshotOfVm, SnapshotsOfVm, names
from gpucloud.reconcile.waiting_line import Offer
from support.builders import NOW, START, a_spec, an_object, an_order, facts, known
from support.decisions.gpuvm_final_snapshot import (
    ALONE,
    AT,
    CLOSING,
    GOES,
    NONE,
    READY,
    REQUEST,
    SNAP,
    TAKER,
    asked,
    final,
    recorded,
)
from support.decisions.gpuvm_replacement import LARGE
from support.decisions.gpuvm_replacement_saved import saved
from support.gpuvmfacts import HELD, NAME, ORDER


def test_the_record_is_written_before_it_is_requested_and_names_the_snapshot_as_soon_as_it_is_known():
    asked = decide(facts(**GOES, final=NONE)).status.final_snapshot
    assert asked == FinalSnapshot(order=ORDER.id, gpu_snapshot=TAKER, requested_at=asked.requested_at)
    named = decide(facts(**GOES | {"status": recorded(snapshot_id=None)}, final=final())).status.final_snapshot
    assert (named.snapshot_id, named.state, named.requested_at) == (SNAP, "Requested", AT)
    done = decide(facts(**GOES | {"snapshots": READY}, final=final()))
    assert (done.status.final_snapshot.state, done.status.order.state) == ("Ready", OrderState.DESTROYING)
    alone = decide(facts(**GOES, final=CLOSING)).status.final_snapshot
    assert (alone.gpu_snapshot, alone.snapshot_id, alone.requests) == (None, ALONE, 1)


def test_each_request_to_the_cloud_is_announced_with_its_number_and_time():
    given = {**GOES, **asked(2, ago=601)}
    known = decide(facts(**given)).status.final_snapshot
    assert (known.requests, known.requested_at) == (3, facts(**given).now.wall)
    most = decide(facts(**{**GOES, **asked(1000, ago=901)})).status.final_snapshot
    assert (most.requests, most.requested_at) == (1000, facts(**given).now.wall), "as many as the schema allows"


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
    first = an_object(name="t" * 200, uid="u1", deleted_at=START)
    name, alone = names(first, "tag")
    assert len(name) <= 253
    assert naming.proves(alone, "u1")
    later = START + timedelta(days=1)
    for other in (replace(first, uid="u2"), replace(first, deleted_at=later)):
        assert not {name, alone} & set(names(other, "tag"))


@pytest.mark.parametrize(
    ("trouble", "ready"), [("", True), ("NotReady: Words.", False)], ids=["being taken", "a person is needed, so others pass"]
)
def test_a_vm_that_is_replaced_keeps_its_place_in_the_line_while_its_final_snapshot_is_taken(trouble, ready):
    given = saved()
    taker = replace(given["final"].taker, stalled=trouble)
    under_way = SnapshotsOfVm((SnapshotOfVm("snap-1", deletable=False),), NOW)
    f = facts(**given | {"final": replace(given["final"], taker=taker), "snapshots": under_way})
    waits = decide(f).waits
    assert (waits.since, waits.offers, waits.ready) == (f.status.replacement.planned_at, (Offer(LARGE),), ready)
