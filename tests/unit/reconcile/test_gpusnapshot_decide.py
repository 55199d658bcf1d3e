"""The chain of decisions for a GpuSnapshot, one situation a row; each row says why it matters."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, Order, OrderState
from gpucloud.kinds.gpusnapshot import GpuSnapshotStatus
from gpucloud.kinds.meta import Condition, ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, CallHistory, Dependency, Limits, Readiness, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpusnapshot import Source, decide
from support.builders import NOW, START, an_object, an_order, known, present
from support.rows import WORDS, Row, converges, ends_as_a_sentence, judge, noted, tried
from support.snapshotfacts import (
    NAME,
    TAKEN,
    UNPLACED,
    VM,
    a_snapshot,
    a_snapshot_spec,
    a_snapshot_status,
    snapshot_facts,
)

INTENDED = an_order(NAME, OrderState.INTENDED)
MINE = known(INTENDED, ago=1, recorded=1)
REFUSED = an_order(NAME, OrderState.REFUSED, refused_generation=1)
CREATING = a_snapshot_status("Creating", order=INTENDED, account=OWN_ACCOUNT)
SUCCEEDED = Condition(
    type=ConditionType.SUCCEEDED,
    status="True",
    reason="Completed",
    message="Made up.",
    observed_generation=1,
    last_transition_time=START,
)
COMPLETED = a_snapshot_status("Completed", "True", None, **TAKEN)
COMPLETED = COMPLETED.model_copy(update={"conditions": (*COMPLETED.conditions, SUCCEEDED)})
DESTROYING = an_order(NAME, OrderState.DESTROYING)
TOLD = known(DESTROYING, ago=5, destroyed_at=NOW - 5)
GOING = a_snapshot_status("Deleting", **TAKEN | {"order": DESTROYING})
DELETING = an_object(deleting=True)
NEW = CallHistory(first_seen=NOW - 9, seen_new=True)
RETAINS = a_snapshot_spec(deletion={"policy": "Retain"})
CHOSEN = a_snapshot_spec(snapshotName="theirs")
THEIRS = an_order("theirs", OrderState.INTENDED)
SENT = tried(Verb.CREATE_SNAPSHOT)

ROWS = {
    # --- safety first
    "without our finalizer nothing happens": Row(
        "it would leak", {"meta": an_object(has_finalizer=False), "found": a_snapshot()}
    ),
    "paused keeps the last verdict, and that it succeeded": Row(
        "a script waits for Succeeded",
        {"meta": noted(PAUSED="true"), "status": COMPLETED},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
    ),
    "paused before anything was said is Unknown": Row(
        "nobody has looked", {"meta": noted(PAUSED="true")}, Reason.PAUSED, "Unknown", None, says="paused"
    ),
    "paused holds deletion": Row(
        "pause means hands off, deletion included",
        {"meta": noted(deleting=True, PAUSED="true"), "status": COMPLETED, "found": a_snapshot()},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="remove it",
    ),
    # --- where it belongs
    "its GpuVM is not there: waited for, by name": Row(
        "it comes with the same kubectl apply",
        UNPLACED | {"memory": NEW},
        Reason.DEPENDENCY_NOT_READY,
        says=("GpuVM 'train'", "'team'"),
        status={"progress_deadline_at": None, "order": OrderState.NOT_ORDERED},
    ),
    "deleted before anything was said, its GpuVM not there: free": Row(
        "nothing is sent before our finalizer", UNPLACED | {"meta": DELETING, "memory": NEW}, released=Reason.GONE, says="No"
    ),
    "deleted after it said that nothing was ordered: free": Row(
        "whoever runs then",
        UNPLACED
        | {"meta": DELETING, "status": a_snapshot_status("DependencyNotReady", order=Order(state=OrderState.NOT_ORDERED))},
        released=Reason.GONE,
    ),
    "deleted with a stripped status, its GpuVM not there: held": Row(
        "a snapshot may live somewhere",
        UNPLACED | {"meta": DELETING},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("where it belongs is not known", "Retain"),
    ),
    "held, and still held by the next pass": Row(
        "our own words are no proof",
        UNPLACED | {"meta": DELETING, "status": a_snapshot_status("DeletionBlocked", progress="Stalled")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "nowhere, and retained: free": Row("the way out", UNPLACED | {"meta": DELETING, "spec": RETAINS}, released=Reason.RETAINED),
    # --- sight
    "never looked: look": Row("no verdict without sight", {"found": Unknown(NOW, UnknownReason.NOT_LOOKED)}, looks=True),
    "a short outage leaves the verdict": Row(
        "one outage must not turn everything red", {"status": COMPLETED, "found": Unknown(NOW - 10, UnknownReason.UNREACHABLE)}
    ),
    "a long outage says so": Row(
        "Ready must not stay True for ever",
        {"status": COMPLETED, "found": Unknown(NOW - 181, UnknownReason.UNREACHABLE, "HTTP 502")},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says=("snapshot", "HTTP 502"),
    ),
    "a refused credential stalls a new object at once": Row(
        "a person must act",
        {"found": Unknown(NOW, UnknownReason.REFUSED, "401")},
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
        says="Put a valid",
    ),
    "a missing permission stalls a new object at once": Row(
        "a person must act",
        {"found": Unknown(NOW, UnknownReason.FORBIDDEN)},
        Reason.PERMISSION_DENIED,
        progress="Stalled",
        says=("may not list snapshots", "Grant"),
    ),
    "an implausible listing is not believed": Row(
        "not all can have vanished",
        {"status": COMPLETED, "found": Unknown(NOW - 200, UnknownReason.IMPLAUSIBLE)},
        Reason.IMPLAUSIBLE_LISTING,
        "Unknown",
        says="accept-absence",
    ),
    "no account stalls at once": Row(
        "a person must create one",
        {"found": Unknown(NOW, UnknownReason.NO_ACCOUNT, "No account. Create one.")},
        Reason.NO_ACCOUNT,
        progress="Stalled",
        says="Create one.",
    ),
    "an account that is not ready is waited for": Row(
        "it says itself what is wrong",
        {"found": Unknown(NOW, UnknownReason.ACCOUNT, "Waiting for the GpuCloudAccount 'lab'.")},
        Reason.ACCOUNT_NOT_READY,
        says="'lab'",
    ),
    "another tenant's credential stalls": Row(
        "all of ours looks gone with it",
        {"status": COMPLETED, "found": Unknown(NOW - 181, UnknownReason.TENANT, "It is tenant 'x': put the right one back.")},
        Reason.TENANT_MISMATCH,
        "Unknown",
        "Stalled",
        says="put the right one back",
    ),
    # --- ownership
    "a second claimant is told": Row(
        "one snapshot, one owner",
        {"owner": "'first'", "found": a_snapshot(), "status": COMPLETED},
        Reason.CONFLICT,
        progress="Stalled",
        says=("'first'", "Delete this object"),
    ),
    "a taken name without an order of ours is a conflict": Row(
        "it is somebody's backup",
        {"spec": CHOSEN, "found": a_snapshot(id="theirs")},
        Reason.CONFLICT,
        progress="Stalled",
        says=("'theirs'", "VPC 'acme'", "another spec.snapshotName"),
    ),
    "a name that the cloud calls taken is a conflict, and no proof stays": Row(
        "the snapshot of that name is not ours",
        {
            "spec": CHOSEN,
            "status": a_snapshot_status("Creating", order=THEIRS),
            "memory": tried(Verb.CREATE_SNAPSHOT, kind=ErrorKind.CONFLICT),
        },
        Reason.CONFLICT,
        progress="Stalled",
        status={"order": OrderState.REFUSED},
        says="another spec.snapshotName",
    ),
    "a chosen name that is there though our order was refused is not ours": Row(
        "somebody else made it since; deleting this object would end it",
        {
            "spec": CHOSEN,
            "status": a_snapshot_status("Creating", order=THEIRS),
            "found": a_snapshot(id="theirs"),
            "memory": tried(Verb.CREATE_SNAPSHOT, ago=0.5, kind=ErrorKind.FORBIDDEN),
        },
        Reason.CONFLICT,
        progress="Stalled",
        says="another spec.snapshotName",
        status={"order": OrderState.REFUSED},
    ),
    "a chosen name with our order is ours": Row(
        "the name had been shown free",
        {
            "spec": CHOSEN,
            "status": a_snapshot_status("Creating", order=THEIRS),
            "found": a_snapshot(id="theirs"),
        },
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
    ),
    "our fingerprint is proof even when status was lost": Row(
        "it is found again by its name",
        {"found": a_snapshot()},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
        status={"order": OrderState.SEEN, "snapshot_id": NAME},
    ),
    "twins stall and nothing is touched": Row(
        "either could be the wrong one",
        {"found": a_snapshot(duplicate_records=True), "status": COMPLETED},
        Reason.AMBIGUOUS,
        progress="Stalled",
        says=(NAME, "by hand"),
    ),
    # --- taking it
    "a GpuVM that is going is not taken a snapshot of": Row(
        "it would fail halfway",
        {"needs": (Dependency("GpuVM 'train'", Readiness.LEAVING),)},
        Reason.DEPENDENCY_NOT_READY,
        says=("GpuVM 'train'", "being deleted"),
    ),
    "a GpuVM that can never serve calls a person": Row(
        "an account of another tenant",
        {"needs": (Dependency("GpuVM 'train'", Readiness.ELSEWHERE, "It belongs to tenant 'x': use its account."),)},
        Reason.INVALID_REFERENCE,
        progress="Stalled",
        says=("GpuVM 'train'", "use its account"),
    ),
    "an order under way is cleared up before anything is said of its VM": Row(
        "the VM may be waiting for this very snapshot",
        {"status": CREATING, "memory": SENT, "needs": (Dependency("GpuVM 'train'", Readiness.LEAVING),)},
        Reason.CREATING,
        looks=False,
    ),
    "a VM that is not there is told": Row(
        "a misspelt name",
        {"source": Source("vm", Absent(NOW, NOW))},
        Reason.SOURCE_NOT_FOUND,
        progress="Stalled",
        says=("'vm'", "VPC 'acme'", "delete this object"),
    ),
    "a VM that cannot be seen is waited for": Row(
        "a snapshot of nothing would be refused for good",
        {"source": Source("vm", Unknown(NOW, UnknownReason.UNREACHABLE))},
        Reason.DEPENDENCY_NOT_READY,
        says="VM",
    ),
    "a VM not looked for yet is looked for": Row(
        "nobody else may have asked for that listing, and its coming would wake nobody; nothing is said on the way",
        {"source": Source("vm", Unknown(NOW, UnknownReason.NOT_LOOKED))},
        looks=True,
    ),
    "a VM that is on its way is waited for": Row(
        "the cloud refuses a snapshot of it, for ever",
        {"source": Source(VM.name, present("PENDING_READINESS", name=VM.name))},
        Reason.DEPENDENCY_NOT_READY,
        says=("PENDING_READINESS", VM.name),
    ),
    "no VM known at all is waited for": Row("nobody can say which", {"source": None}, Reason.DEPENDENCY_NOT_READY),
    "of two VMs of one name no snapshot is taken": Row(
        "it would be of either",
        {"source": Source(VM.name, present(name=VM.name, duplicate_records=True))},
        Reason.DEPENDENCY_NOT_READY,
    ),
    "the source may go once the snapshot is there": Row(
        "a snapshot outlives its VM",
        {"status": COMPLETED, "found": a_snapshot(), "source": None, "needs": UNPLACED["needs"]},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
    ),
    "it is first written down": Row(
        "a crash after an unrecorded order would take two",
        {},
        Reason.CREATING,
        records=True,
        status={"order": OrderState.INTENDED, "account": OWN_ACCOUNT},
    ),
    "a recorded order of ours is acted on": Row(
        "look, record, take", {"status": CREATING, "known": MINE}, Reason.CREATING, action=Verb.CREATE_SNAPSHOT
    ),
    "a record is not acted on when the VM has gone": Row(
        "it went between the record and the order",
        {"status": CREATING, "known": MINE, "source": Source("vm", Absent(NOW, NOW))},
        Reason.SOURCE_NOT_FOUND,
        progress="Stalled",
        says="'vm'",
    ),
    "a record of another process is waited out": Row(
        "it may have been sent",
        {"status": CREATING, "memory": CallHistory(first_seen=NOW - 20)},
        Reason.CREATING,
        looks=False,
    ),
    "a listing older than the object is not believed": Row(
        "it may have been taken in an earlier life",
        {"found": Absent(NOW - 2, NOW - 2), "memory": CallHistory(first_seen=NOW - 1)},
        looks=True,
    ),
    "nothing is taken in a dying namespace": Row(
        "it would be deleted at once", {"namespace_terminating": True}, Reason.NAMESPACE_TERMINATING, says="'team'"
    ),
    "observe-only says what it would do": Row(
        "disaster recovery", {"limits": Limits(observe_only=True)}, Reason.OBSERVE_ONLY, "Unknown", says="CreateSnapshot"
    ),
    "before the first list nothing is taken": Row(
        "another object may claim the name", {"synced": False, "status": CREATING, "known": MINE}
    ),
    "a refused order is not repeated": Row(
        "hammering does not help",
        {"status": CREATING, "memory": tried(Verb.CREATE_SNAPSHOT, ago=9999, kind=ErrorKind.INVALID)},
        Reason.REJECTED,
        progress="Stalled",
        says=(WORDS, "create it anew"),
    ),
    "a refusal outlives a restart": Row(
        "one attempt a generation",
        {"status": a_snapshot_status("Rejected", progress="Stalled", order=REFUSED)},
        Reason.REJECTED,
        progress="Stalled",
        says="Made up.",
    ),
    "a VM that the cloud does not find is told": Row(
        "it went while the order was on its way",
        {"status": CREATING, "memory": tried(Verb.CREATE_SNAPSHOT, kind=ErrorKind.NOT_FOUND)},
        Reason.NOT_FOUND,
        progress="Stalled",
        says=(WORDS, "tries again"),
    ),
    "a VM that the cloud did not find is tried again after a restart": Row(
        "as the message says",
        {"status": a_snapshot_status("NotFound", progress="Stalled", order=an_order(NAME, OrderState.REFUSED))},
        Reason.CREATING,
        records=True,
    ),
    "a throttled order waits": Row(
        "the cloud asks for patience",
        {"status": CREATING, "memory": tried(Verb.CREATE_SNAPSHOT, kind=ErrorKind.THROTTLED)},
        Reason.RATE_LIMITED,
    ),
    "no room for it is waited for without a deadline": Row(
        "503",
        {"status": CREATING, "memory": tried(Verb.CREATE_SNAPSHOT, kind=ErrorKind.UNAVAILABLE)},
        Reason.WAITING_FOR_CAPACITY,
        status={"progress_deadline_at": None},
    ),
    "after a lost answer: look for the grace": Row(
        "it may have been carried out",
        {"status": CREATING, "memory": tried(Verb.CREATE_SNAPSHOT, kind=ErrorKind.SERVER, ambiguous=True)},
        Reason.API_ERROR,
        looks=False,
    ),
    # --- life
    "listed and not ready to use is Creating": Row(
        "it is being taken",
        {"status": CREATING, "found": a_snapshot(ready=False)},
        Reason.CREATING,
        status={"snapshot_id": NAME, "ready_to_use": False},
    ),
    "not said whether ready to use is Creating": Row(
        "every field may be null", {"status": CREATING, "found": a_snapshot(ready=None)}, Reason.CREATING
    ),
    "never ready to use calls a person at the deadline": Row(
        "the cloud has no word for a snapshot that failed",
        {
            "status": CREATING.model_copy(update={"progress_deadline_at": START + timedelta(seconds=NOW - 1)}),
            "found": a_snapshot(ready=False),
        },
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        progress="Stalled",
        says="spec.progressDeadlineSeconds",
    ),
    "ready to use is Ready, and has succeeded": Row(
        "the point of it all",
        {"status": CREATING, "found": a_snapshot(osImage="Ubuntu", rootDiskSize="500Gi")},
        Reason.COMPLETED,
        "True",
        None,
        beside=("Succeeded",),
        status={"source_name": VM.name, "cluster": "Msc1", "vpc": "acme", "root_disk_size": "500Gi"},
    ),
    "one that vanished is looked for again first": Row(
        "a listing may have been partial",
        {"status": COMPLETED, "found": Absent(NOW, NOW - 2, NOW - 2)},
        Reason.SNAPSHOT_LOST,
        "Unknown",
        looks=False,
    ),
    "one that stays away is lost, and not taken again": Row(
        "its VM holds other data by now",
        {"status": COMPLETED, "found": Absent(NOW, NOW - 31, NOW - 2)},
        Reason.SNAPSHOT_LOST,
        progress="Stalled",
        records=False,
        says=("deleted with its VM (spec.deletion.snapshots: Delete", "or outside", "delete this object and apply it again"),
    ),
    "one that no VM takes along was deleted outside Kubernetes": Row(
        "its owner retains it",
        {
            "spec": a_snapshot_spec(deletion={"policy": "Retain"}),
            "status": COMPLETED,
            "found": Absent(NOW, NOW - 31, NOW - 2),
        },
        Reason.SNAPSHOT_LOST,
        progress="Stalled",
        says="was deleted outside Kubernetes.",
    ),
    # --- letting go
    "deletion is announced, then sent": Row(
        "every mutation is announced",
        {"meta": DELETING, "status": COMPLETED, "found": a_snapshot()},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
    ),
    "it goes although its VM is gone": Row(
        "a snapshot outlives its VM",
        {"meta": DELETING, "status": COMPLETED, "found": a_snapshot(), "source": None},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
    ),
    "a VM that is being made from it holds it": Row(
        "the VM would never boot",
        {"meta": DELETING, "status": COMPLETED, "found": a_snapshot(), "dependents": ("GpuVM 'clone'",)},
        Reason.DELETION_BLOCKED,
        says=("GpuVM 'clone'", "as soon as"),
    ),
    "Retain lets go at once": Row(
        "the owner keeps it",
        {"meta": DELETING, "spec": RETAINS, "status": COMPLETED, "found": a_snapshot()},
        released=Reason.RETAINED,
        says=(NAME, "spec.deletion.policy"),
    ),
    "deleting what met a taken name destroys nothing": Row(
        "it was there before us",
        {"meta": DELETING, "spec": CHOSEN, "found": a_snapshot(id="theirs")},
        released=Reason.RETAINED,
        says="not created for this object",
    ),
    "deleting the loser of a conflict destroys nothing": Row(
        "it is another's",
        {"meta": DELETING, "owner": "'first'", "status": COMPLETED, "found": a_snapshot()},
        released=Reason.RETAINED,
    ),
    "deleting twins destroys neither": Row(
        "either could be the wrong one",
        {"meta": DELETING, "status": COMPLETED, "found": a_snapshot(duplicate_records=True)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="by hand",
    ),
    "a forbidden deletion keeps the object": Row(
        "no error ever frees the finalizer",
        {
            "meta": DELETING,
            "status": GOING,
            "found": a_snapshot(),
            "memory": tried(Verb.DELETE_SNAPSHOT, kind=ErrorKind.FORBIDDEN),
        },
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("Grant", "Retain"),
    ),
    "one listing without it is not proof": Row(
        "a listing may be partial",
        {
            "meta": DELETING,
            "status": GOING,
            "found": Absent(NOW, NOW),
            "known": TOLD,
            "memory": tried(Verb.DELETE_SNAPSHOT, ago=5),
        },
        Reason.DELETING,
        looks=True,
    ),
    "two listings without it are proof": Row(
        "gone",
        {"meta": DELETING, "status": GOING, "known": TOLD, "memory": tried(Verb.DELETE_SNAPSHOT, ago=5)},
        released=Reason.GONE,
        says=NAME,
    ),
    "what this process has not deleted is deleted even if not listed": Row(
        "the call is cheap, a leak is not",
        {"meta": DELETING, "status": COMPLETED},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
    ),
    "ordered and not yet listed: wait before letting go": Row(
        "it may still come", {"meta": DELETING, "status": CREATING, "memory": SENT}, Reason.DELETING, looks=False
    ),
    "never ordered and not there: free": Row("nothing was taken", {"meta": DELETING}, released=Reason.GONE, says="No snapshot"),
    "blind: not forgotten": Row(
        "gone cannot be proven",
        {"meta": DELETING, "status": GOING, "found": Unknown(NOW - 10, UnknownReason.UNREACHABLE, "HTTP 502")},
        Reason.DELETION_BLOCKED,
        says=("HTTP 502", "Retain"),
    ),
    "without an account, with something taken: held": Row(
        "no account is no proof",
        {"meta": DELETING, "status": COMPLETED, "found": Unknown(NOW, UnknownReason.NO_ACCOUNT)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "observe-only says what it would do, and lets nothing go": Row(
        "whoever restores a cluster counts these before anything is done",
        {"meta": DELETING, "spec": RETAINS, "status": COMPLETED, "limits": Limits(observe_only=True)},
        Reason.OBSERVE_ONLY,
        "Unknown",
        says=("--observe-only", "let this object go", "retained"),
    ),
    "before the first list nothing is let go": Row("whose it is is not known yet", {"meta": DELETING, "synced": False}),
}

# What a GpuSnapshot can say, by the steps of its chain and the table of refusals.
REASONS = {
    *("Completed", "Creating", "SourceNotFound", "DependencyNotReady", "InvalidReference", "SnapshotLost", "Conflict"),
    *("Ambiguous", "Deleting", "DeletionBlocked", "Paused", "ObserveOnly", "NamespaceTerminating", "NoAccount"),
    *("AccountNotReady", "TenantMismatch", "ApiUnavailable", "ImplausibleListing", "CredentialsRefused"),
    *("PermissionDenied", "Rejected", "NotFound", "RateLimited", "WaitingForCapacity", "ApiError"),
    *("ProgressDeadlineExceeded", "Retained", "Gone"),
}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    judge(ROWS[sentence], decide(snapshot_facts(**ROWS[sentence].given)))


def test_every_reason_has_a_row():
    assert {reason for row in ROWS.values() for reason in (row.reason, row.released) if reason is not None} == REASONS


def test_the_message_of_every_row_that_calls_a_person_is_read():
    assert [sentence for sentence, row in ROWS.items() if row.progress == "Stalled" and row.reason and not row.says] == []


@pytest.mark.parametrize("sentence", ROWS)
def test_it_settles_and_speaks_in_sentences(sentence):
    assert ends_as_a_sentence(decide(snapshot_facts(**ROWS[sentence].given)))
    converges(ROWS[sentence].given, decide, snapshot_facts)


def test_a_pause_does_not_move_the_time_at_which_it_succeeded():
    held = decide(snapshot_facts(meta=noted(PAUSED="true"), status=COMPLETED, found=a_snapshot())).status
    back = decide(snapshot_facts(status=held, found=a_snapshot())).status
    assert find(back.conditions, ConditionType.SUCCEEDED).last_transition_time == START


def test_a_record_of_rubbish_still_fits_the_schema():
    plan = decide(snapshot_facts(status=CREATING, found=a_snapshot(osImage="x" * 5000, creationDate="2026-01-01T00:00:00.5")))
    assert len(plan.status.os_image) == 253
    assert GpuSnapshotStatus.model_validate(plan.status.model_dump(mode="json", by_alias=True)) == plan.status
