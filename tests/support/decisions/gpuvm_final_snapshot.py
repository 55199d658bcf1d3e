"""Rows of a GpuVM that is being deleted, and must not go without a final snapshot: what comes before its destruction."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import FinalSnapshot, FinalSnapshotState
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import gpusnapshot
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, CallHistory, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm.snapshots import FinalSnapshotFacts, Requests, SnapshotOfVm, SnapshotsOfVm, Taker
from support.builders import NOW, START, a_spec, an_order, known, present
from support.gpuvmfacts import DELETING, DESTROYING, GOING, NAME, ORDER, RUNNING
from support.rows import LAB, LAB_LOGIN, NEW_LOGIN, WORDS, Row, noted, tried
from support.snapshotfacts import CREATING, snapshot_facts

REQUIRED = a_spec(deletion={"finalSnapshot": "Required"})
TAKER, ALONE = "train-final-abcde", "final-abcde-train-tag-id"
SNAP = "train-final-abcde-tag-id"
NONE, CLOSING = FinalSnapshotFacts(TAKER, ALONE), FinalSnapshotFacts(TAKER, ALONE, terminating=True)
AT = START + timedelta(seconds=NOW - 60)
AGO = NOW - 40
BEGUN = CallHistory(first_seen=NOW - 600, deletion_seen=NOW - 60)
REQUEST, TAKE = Verb.REQUEST_SNAPSHOT, Verb.CREATE_SNAPSHOT
WAY_OUT = "set spec.deletion.finalSnapshot: None"


def final(**taker):
    return FinalSnapshotFacts(TAKER, ALONE, Taker(**{"made_for_vm": True, "deleting": False, "snapshot_id": SNAP} | taker))


def stalled_snapshot(**given):
    """What a GpuSnapshot says that was asked to take the final snapshot, and is Stalled."""
    status = gpusnapshot.decide(snapshot_facts(**{"status": CREATING, **given})).status
    found = find(status.conditions, ConditionType.STALLED)
    return f"{found.reason}: {found.message}"


def listed(*items, as_of=NOW):
    return SnapshotsOfVm(tuple(SnapshotOfVm(name, deletable=False, ready=ready) for name, ready in items), as_of)


def recorded(state=FinalSnapshotState.REQUESTED, base=RUNNING, **fields):
    given = {"order": ORDER.id, "gpu_snapshot": TAKER, "snapshot_id": SNAP, "requested_at": AT} | fields
    return base.model_copy(update={"final_snapshot": FinalSnapshot(state=state, **given)})


NOT_CREATED = (
    "The GpuSnapshot for the final snapshot cannot be created; it is tried again. The apiserver says: \"the apiserver's own "
    'words".'
)


def did(verb, ago, kind=None, failures=1):
    words = NOT_CREATED if verb is REQUEST else WORDS
    return tried(verb, ago=ago, kind=kind, failures=failures, history=BEGUN, targets=(ALONE,), words=words)


READY, TAKING = listed((SNAP, True)), listed((SNAP, False))
GOES = {"meta": DELETING, "spec": REQUIRED, "status": RUNNING, "found": present(), "history": BEGUN, "snapshots": listed()}
UNSAID = RUNNING.model_copy(update={"observed_generation": 0})  # of its deletion nothing was said yet
OF_ANOTHER = recorded(order="of-an-earlier-vm")
LOST = known(an_order(NAME, OrderState.LOST), ago=400)
GONE = GOES | {"tracked": LOST, "found": Absent(NOW, NOW - 50, NOW - 30)}
DONE = recorded(FinalSnapshotState.READY, GOING)


def asked(requests, announced=0, ago=50):
    """The status announces so many requests to the cloud; this process has announced one, or first saw the last ``ago``."""
    known = Requests(NOW - ago, announced, NOW - ago)
    status = recorded(gpu_snapshot=None, snapshot_id=ALONE, requests=requests)
    return {"final": replace(CLOSING, requests=known), "status": status}


def taking(why, says, action=None, records=None, **given):
    """The snapshot is awaited; the way out is always told."""
    targets = {None: (), REQUEST: (TAKER,), TAKE: (ALONE,)}[action]
    return Row(
        why, GOES | given, Reason.TAKING_FINAL_SNAPSHOT, action=action, targets=targets, says=(says, WAY_OUT), records=records
    )


def blocked(why, says, action=None, progress="Stalled", records=None, **given):
    """A person should look."""
    row = taking(why, says, action, records, **given)
    return replace(row, reason=Reason.DELETION_BLOCKED, progress=progress)


def looking(why, **given):
    """The last verdict stands while a listing is asked for."""
    return Row(why, GOES | given, None, looks=True)


def goes(why, **given):
    """The VM is destroyed."""
    return Row(why, GOES | given, Reason.DELETING, action=Verb.DESTROY, says="is being destroyed")


ROWS = {
    "a final snapshot is requested first": taking(
        "nothing takes one yet", f"requested as GpuSnapshot {TAKER!r}", REQUEST, final=NONE
    ),
    "a request is not repeated at once": taking("the watch may not show it yet", TAKER, final=NONE, history=did(REQUEST, 5)),
    "a request without effect is repeated": taking(
        "it never came, or somebody deleted it", TAKER, REQUEST, final=NONE, history=did(REQUEST, 31)
    ),
    "a request that is refused is told": blocked(
        "a missing right", NOT_CREATED, final=NONE, history=did(REQUEST, 5, ErrorKind.FORBIDDEN)
    ),
    "a request that was refused is made again": blocked(
        "the right may be there by now", NOT_CREATED, REQUEST, final=NONE, history=did(REQUEST, 400, ErrorKind.FORBIDDEN)
    ),
    "no final snapshot is requested by an old listing of the VM": taking(
        "it may be gone", TAKER, found=present(as_of=AGO), final=NONE
    ),
    "no final snapshot is requested by an old listing of snapshots": looking(
        "one may be there", final=NONE, snapshots=listed(as_of=AGO)
    ),
    "the first listing of snapshots is awaited": taking(
        "it has not come", "Looking for", final=NONE, snapshots=None, status=UNSAID
    ),
    "snapshots that cannot be listed hold the VM": blocked(
        "nothing is proven",
        "The final snapshot cannot be seen: the credential lacks the permission to list. Ask the administrator to grant it.",
        final=NONE,
        snapshots=Unknown(NOW, UnknownReason.FORBIDDEN),
    ),
    "snapshots that a refused credential does not list hold the VM": blocked(
        "the credential is replaced before anything is given up",
        "The final snapshot cannot be seen: the credential is refused. Ask the administrator to replace",
        final=NONE,
        snapshots=Unknown(NOW, UnknownReason.REFUSED),
    ),
    "a final snapshot that is ordered is awaited": taking(
        "no listing shows it yet", f"GpuSnapshot {TAKER!r} takes", final=final()
    ),
    "a final snapshot that is being taken is awaited": taking(
        "the cloud may still fail", f"GpuSnapshot {TAKER!r} takes", final=final(), snapshots=TAKING
    ),
    "the VM goes when its final snapshot is ready": goes("what was promised is kept", final=final(), snapshots=READY),
    "an old listing proves no final snapshot": looking(
        "it may have been deleted since", final=final(), snapshots=listed((SNAP, True), as_of=AGO)
    ),
    "another snapshot is no final one": taking("it is older", TAKER, final=final(), snapshots=listed(("another", True))),
    "a GpuSnapshot that is Stalled holds the VM": blocked(
        "its trouble is told where the person looks",
        "says: PermissionDenied: The credential of account 'lab' lacks the permission to list snapshots. Grant it in",
        final=final(stalled=stalled_snapshot(found=Unknown(NOW, UnknownReason.FORBIDDEN), account=LAB)),
    ),
    "a GpuSnapshot that is Stalled, whose message ends in a command: nothing spoils it": blocked(
        "each command can be pasted",
        f"says: CredentialsRefused: CreateSnapshot failed: \"{WORDS}\". Update Secret 'lab-key' in place",
        final=final(stalled=stalled_snapshot(history=tried(TAKE, kind=ErrorKind.UNAUTHORIZED), account=LAB)),
    ),
    "a GpuSnapshot that the cloud refuses to take holds the VM": blocked(
        "the two commands of its message stand apart",
        f'says: Rejected: CreateSnapshot failed: "{WORDS}". Delete this object',
        final=final(stalled=stalled_snapshot(history=tried(TAKE, kind=ErrorKind.INVALID))),
    ),
    "a GpuSnapshot of somebody else takes no final snapshot": blocked(
        "its snapshot may be of any time",
        f"first: kubectl gpucloud retain gsnap/{TAKER} --namespace=team; ",
        final=final(made_for_vm=False),
        snapshots=READY,
    ),
    "a GpuSnapshot that is being deleted is awaited": taking(
        "two of one name cannot be", "is being deleted", final=final(deleting=True)
    ),
    "a final snapshot whose GpuSnapshot was deleted is requested again": taking(
        "no listing shows one", TAKER, REQUEST, final=NONE, status=recorded()
    ),
    "a final snapshot goes on without its GpuSnapshot": taking(
        "it is retained", repr(SNAP), final=NONE, status=recorded(), snapshots=TAKING
    ),
    "a final snapshot counts without its GpuSnapshot": goes(
        "the record names it", final=NONE, status=recorded(), snapshots=READY
    ),
    "the record of an earlier VM proves nothing": taking(
        "a backup brings such records back", TAKER, REQUEST, final=NONE, status=OF_ANOTHER, snapshots=READY
    ),
    "in a namespace that is being deleted the cloud takes it": taking(
        "no GpuSnapshot can be made", "without a GpuSnapshot", TAKE, records=True, final=CLOSING
    ),
    "it is asked for when this process has announced it": taking(
        "the record stands", "without a GpuSnapshot", TAKE, records=False, **asked(1, announced=1)
    ),
    "what another process has announced is not asked for at once": taking(
        "it may have asked right before its end", "without a GpuSnapshot", **asked(1)
    ),
    "what another process has announced and never showed is asked for again": taking(
        "it may have died before", "without a GpuSnapshot", TAKE, records=True, **asked(1, ago=301)
    ),
    "what others have asked for in vain is asked for ever more rarely": taking(
        "the cloud does not take it", "without a GpuSnapshot", **asked(2, ago=301)
    ),
    "the record of an earlier announcement of this process is no announcement of this request": taking(
        "another process has announced since", "without a GpuSnapshot", **asked(2, announced=1)
    ),
    "no snapshot is asked for while the VM changes": taking(
        "the cloud refuses that", "on or off", final=CLOSING, found=present("PENDING")
    ),
    "a snapshot that was accepted is awaited": taking(
        "a listing shows it soon", "without a GpuSnapshot", history=did(TAKE, 5), **asked(1, announced=1)
    ),
    "a snapshot that never showed is announced and asked for again": taking(
        "under the same name",
        "without a GpuSnapshot",
        TAKE,
        records=True,
        history=did(TAKE, 301),
        **asked(1, announced=1, ago=302),
    ),
    "a snapshot that the cloud refuses holds the VM": blocked(
        "a person decides",
        f'CreateSnapshot failed: "{WORDS}". The operator does not ask again by itself. To ask again: kubectl annotate',
        history=did(TAKE, 5, ErrorKind.INVALID),
        **asked(1, announced=1),
    ),
    "a snapshot that the cloud refuses is asked for again where a person says so": blocked(
        "with the command of the message",
        f'CreateSnapshot failed: "{WORDS}".',
        TAKE,
        records=False,
        meta=noted(deleting=True, RECONCILE_REQUESTED_AT="2026-01-01T00:00:00Z"),
        history=did(TAKE, 5, ErrorKind.INVALID),
        **asked(1, announced=1),
    ),
    "a snapshot that the credential may not take holds the VM": blocked(
        "the permission is the way to keep the data",
        "Grant the credential this permission; the operator tries again every 5 minutes.",
        history=did(TAKE, 5, ErrorKind.FORBIDDEN),
        **asked(1, announced=1),
    ),
    "a snapshot that a refused credential does not take holds the VM": blocked(
        "another key is the way to keep the data",
        "Ask the administrator to replace the operator's own credential.",
        history=did(TAKE, 5, ErrorKind.UNAUTHORIZED),
        **asked(1, announced=1),
    ),
    "a snapshot that a refused login does not take holds the VM": blocked(
        "the Secret to update is known",
        f"Update Secret 'lab-key' in place (do not delete it): {NEW_LOGIN}; To destroy",
        history=did(TAKE, 5, ErrorKind.LOGIN),
        account=LAB_LOGIN,
        **asked(1, announced=1),
    ),
    "a snapshot that failed again and again, as the cloud says why, holds the VM": blocked(
        "what helps is for the cloud to say",
        f'No final snapshot: CreateSnapshot failed 5 times or more: "{WORDS}". Do as the cloud says, or ask its support; the',
        history=did(TAKE, 5, ErrorKind.SERVER, failures=5),
        **asked(1, announced=1),
    ),
    "a snapshot that had no usable answer again and again holds the VM": blocked(
        "something in between may be broken",
        "Check the cloud, network and any proxy; the operator tries again. To destroy the VM without it, set",
        history=did(TAKE, 5, ErrorKind.OUTCOME_UNKNOWN, failures=5),
        **asked(1, announced=1),
    ),
    "a snapshot whose order is led elsewhere holds the VM": blocked(
        "the administrator names the endpoint",
        "Ask the administrator to correct the endpoint's URL. To destroy the VM without it, set",
        history=did(TAKE, 5, ErrorKind.REDIRECTED),
        **asked(1, announced=1),
    ),
    "a snapshot of what the cloud does not find is asked for again": blocked(
        "this object is being deleted already, so that to delete it is no way out",
        "The operator tries again every few minutes.",
        history=did(TAKE, 5, ErrorKind.NOT_FOUND),
        **asked(1, announced=1),
    ),
    "a snapshot for which there was no room is asked for again": blocked(
        "room comes back, and nothing was taken under the announcement",
        f'failed: "{WORDS}"',
        TAKE,
        "Reconciling",
        records=False,
        history=did(TAKE, 400, ErrorKind.UNAVAILABLE),
        **asked(1, announced=1, ago=401),
    ),
    "a snapshot that shows without a record is awaited": taking(
        "its name proves it", repr(ALONE), final=CLOSING, snapshots=listed((ALONE, False))
    ),
    "a snapshot that shows ready without a record counts": goes(
        "its name is of this deletion", final=CLOSING, snapshots=listed((ALONE, True))
    ),
    "a wish that is given up holds nothing": goes(
        "the owner changed his mind while it was taken", spec=a_spec(), status=recorded()
    ),
    "a pause holds a final snapshot, too": Row(
        "nothing at all is done",
        GOES | {"final": NONE, "meta": noted(deleting=True, PAUSED="true")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="paused",
    ),
    "a destroying call that may have been sent is repeated": goes(
        "the snapshot is still there", final=final(), status=DONE, tracked=known(DESTROYING, ago=40), snapshots=READY
    ),
    "an announced destruction waits again for a snapshot that was deleted since": taking(
        "a record is no snapshot", TAKER, REQUEST, final=NONE, status=DONE, tracked=known(DESTROYING, ago=40)
    ),
    "a record of a ready snapshot is not enough before the call": taking(
        "a listing proves it", TAKER, REQUEST, final=NONE, status=recorded(FinalSnapshotState.READY)
    ),
    "a VM that was lost before a final snapshot was taken": Row(
        "its owner counts on one",
        GONE | {"final": NONE},
        released=Reason.GONE,
        says="No final snapshot was taken of it.",
    ),
    "a final snapshot whose GpuSnapshot was deleted": Row(
        "it is billed, and no object stands for it",
        GONE | {"final": NONE, "status": recorded()},
        released=Reason.GONE,
        says=f"Its final snapshot {SNAP!r} stays in the cloud, and is billed.",
    ),
    "a VM that is not listed is not destroyed without its snapshot": Row(
        "it cannot be copied unseen",
        GOES | {"final": NONE, "found": Absent(NOW, NOW - 5)},
        Reason.DELETING,
        says="Looking for VM",
    ),
    "a VM that is not listed is destroyed when its snapshot is ready": goes(
        "the listing may be partial", final=final(), found=Absent(NOW, NOW - 5), snapshots=READY
    ),
}
