"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot about its order and its end."""

from __future__ import annotations

from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Dependency, Limits, Readiness, Unknown, UnknownReason
from support.builders import NOW, START
from support.rows import OLD, WORDS, Row, noted, tried

AWAY = Unknown(NOW - 10, UnknownReason.UNREACHABLE, "HTTP 502")
NO_ANSWER = {"kind": ErrorKind.OUTCOME_UNKNOWN, "ambiguous": True}


def orders(k):
    return {
        "what is free is first written down": Row(
            "a crash after an unrecorded order would buy twice, or forget whose it is",
            {},
            Reason.CREATING,
            records=True,
            status={"order": OrderState.INTENDED, "account": OWN_ACCOUNT},
        ),
        "nothing is ordered with an account that is going": Row(
            "nobody could destroy it then",
            {"needs": (Dependency("GpuCloudAccount 'lab'", Readiness.LEAVING),)},
            Reason.DEPENDENCY_NOT_READY,
            says="GpuCloudAccount 'lab'",
        ),
        "a recorded order of ours is acted on": Row(
            "look, record, order", {"status": k.creating, "known": k.mine}, Reason.CREATING, action=k.create
        ),
        "a record of another process is waited out": Row(
            "it may have been accepted just before: a restart shortens no wait",
            {"status": k.creating, "memory": CallHistory(first_seen=NOW - 20)},
            Reason.CREATING,
            looks=False,
        ),
        "a listing older than the object is not believed": Row(
            "the order may already have been sent in an earlier life",
            {"found": Absent(NOW - 2, NOW - 2), "memory": CallHistory(first_seen=NOW - 1)},
            looks=True,
        ),
        "after a lost answer: look for the grace": Row(
            "the order may have been carried out",
            {"status": k.creating, "memory": tried(k.create, **NO_ANSWER)},
            Reason.API_ERROR,
            looks=False,
        ),
        "after an error that says nothing of the order: look for the grace": Row(
            "it may have been carried out",
            {"status": k.creating, "memory": tried(k.create, kind=ErrorKind.SERVER, ambiguous=True)},
            Reason.API_ERROR,
            looks=False,
        ),
        "an error that never ends calls a person": Row(
            "500 is how this service reports business errors too",
            {"status": k.creating, "memory": tried(k.create, ago=31, kind=ErrorKind.SERVER, ambiguous=True, failures=5)},
            Reason.API_ERROR,
            progress="Stalled",
            says=WORDS,
        ),
        "a refused order is not repeated": Row(
            "hammering does not help",
            {"status": k.creating, "memory": tried(k.create, ago=9999, kind=ErrorKind.INVALID)},
            Reason.REJECTED,
            progress="Stalled",
            says=(WORDS, "create it anew"),
        ),
        "a refusal outlives a restart": Row("one attempt a generation, whoever runs", {"status": k.rejected}),
        "a refusal is tried again when a person asks": Row(
            "the cloud may have been wrong",
            {
                "meta": noted(RECONCILE_REQUESTED_AT="t1"),
                "status": k.rejected,
                "memory": OLD,
                "found": Absent(NOW, NOW - 9, NOW - 2),
            },
            Reason.CREATING,
            records=True,
            status={"last_handled_reconcile_at": "t1"},
        ),
        "a forbidden order calls a person": Row(
            "the credential lacks a right",
            {"status": k.creating, "memory": tried(k.create, kind=ErrorKind.FORBIDDEN)},
            Reason.PERMISSION_DENIED,
            progress="Stalled",
            says="Grant",
        ),
        "a credential refused at the order calls a person": Row(
            "it was revoked in between",
            {"status": k.creating, "memory": tried(k.create, kind=ErrorKind.UNAUTHORIZED)},
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says="Put a valid",
        ),
        "an order that could not be sent waits": Row(
            "surely not carried out",
            {"status": k.creating, "memory": tried(k.create, kind=ErrorKind.NOT_SENT)},
            Reason.API_UNAVAILABLE,
        ),
        "an order that never shows calls a person at the deadline": Row(
            "it may be waited for without end",
            {
                "status": k.creating.model_copy(update={"progress_deadline_at": START + timedelta(seconds=NOW - 1)}),
                "memory": tried(k.create, ago=100),
            },
            Reason.PROGRESS_DEADLINE_EXCEEDED,
            progress="Stalled",
            says="spec.progressDeadlineSeconds",
        ),
        "a throttled order waits": Row(
            "the cloud asks for patience",
            {"status": k.creating, "memory": tried(k.create, kind=ErrorKind.THROTTLED)},
            Reason.RATE_LIMITED,
        ),
        "no room is waited for without a deadline": Row(
            "503",
            {"status": k.creating, "memory": tried(k.create, kind=ErrorKind.UNAVAILABLE)},
            Reason.WAITING_FOR_CAPACITY,
            status={"progress_deadline_at": None},
        ),
    }


def fingerprint(k):
    """Of the kinds whose names in the cloud are ours: the name alone proves whose it is."""
    return {
        "our fingerprint is proof even when status was lost": Row(
            "etcd restored from a backup: it is found again by its name",
            {"found": k.found()},
            **k.ready,
            status={"order": OrderState.SEEN},
        ),
        "what this process has not destroyed is destroyed even if not listed": Row(
            "the call is cheap, a leak is not",
            k.leaving | {"found": Absent(NOW, NOW - 99)},
            Reason.DELETING,
            action=k.destroy,
        ),
        "never ordered and not there: free": Row(
            "nothing was made",
            k.deleting | {"memory": OLD},
            released=Reason.GONE,
            says=f"No {k.noun}",
        ),
    }


def deletion(k):
    gone = k.leaving | {"status": k.going, "known": k.told, "memory": tried(k.destroy, ago=5)}
    return {
        "deletion is announced, then sent": Row("every mutation is announced", k.leaving, Reason.DELETING, action=k.destroy),
        "one listing without it is not proof": Row(
            "a listing may be partial", gone | {"found": Absent(NOW, NOW)}, Reason.DELETING, looks=True
        ),
        "two listings without it are proof": Row(
            "gone", gone | {"found": Absent(NOW, NOW - 9, NOW - 2)}, released=Reason.GONE, says=k.cloud_name
        ),
        "ordered with a lost answer: wait before letting go": Row(
            "it may still come",
            k.deleting | {"status": k.creating, "memory": tried(k.create, **NO_ANSWER)},
            Reason.DELETING,
            looks=False,
        ),
        "ordered and not yet listed: wait before letting go": Row(
            "it may still come",
            k.deleting | {"status": k.creating, "memory": tried(k.create)},
            Reason.DELETING,
            looks=False,
        ),
        "a record of our own, never sent, frees even blind": Row(
            "nothing can be there",
            k.deleting | {"status": k.creating, "known": k.mine, "found": AWAY},
            released=Reason.GONE,
        ),
        "Retain lets go at once": Row(
            "the owner keeps it",
            k.leaving | {"spec": k.retains},
            released=Reason.RETAINED,
            says=(k.cloud_name, "spec.deletion.policy"),
        ),
        "Retain lets go even blind": Row(
            "the way out when the cloud is gone for good",
            k.leaving | {"spec": k.retains, "found": AWAY},
            released=Reason.RETAINED,
        ),
        "deleting the loser of a conflict destroys nothing": Row(
            f"the {k.noun} is another's",
            k.leaving | {"owner": "'first'"},
            released=Reason.RETAINED,
            says=f"{k.name} 'first' uses it",
        ),
        "deleting what met a taken name destroys nothing": Row(
            "it was there before us", k.deleting | k.another, released=Reason.RETAINED, says="not created for this object"
        ),
    }


def held(k):
    return {
        "objects that need it hold it": Row(
            "they are told by name",
            k.leaving | {"dependents": ("GpuVM 'other'",)},
            Reason.DELETION_BLOCKED,
            says=("GpuVM 'other'", "as soon as"),
        ),
        "objects that need it do not hold what stays": Row(
            "nothing happens to them",
            k.leaving | {"spec": k.retains, "dependents": ("GpuVM 'other'",)},
            released=Reason.RETAINED,
            says=(k.cloud_name, "spec.deletion.policy"),
        ),
        "blind: not forgotten": Row(
            "gone cannot be proven",
            k.leaving | {"status": k.going, "found": AWAY},
            Reason.DELETION_BLOCKED,
            says=("HTTP 502", "Retain"),
        ),
        "deleting twins destroys neither": Row(
            "either could be the wrong one",
            k.leaving | {"found": k.found(duplicate_records=True)},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says="by hand",
        ),
        "a forbidden destroy keeps the object": Row(
            "no error ever frees the finalizer",
            k.leaving | {"status": k.going, "memory": tried(k.destroy, kind=ErrorKind.FORBIDDEN)},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=("Grant", "Retain"),
        ),
        "without an account, with something made: held": Row(
            "no account is no proof",
            k.leaving | {"found": Unknown(NOW, UnknownReason.NO_ACCOUNT)},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says="Retain",
        ),
        "another tenant's credential lets nothing go": Row(
            "two listings of another tenant lack it too",
            k.leaving | {"status": k.going, "found": Unknown(NOW, UnknownReason.TENANT, "It is tenant 'x'.")},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says="tenant 'x'",
        ),
        "observe-only says what it would do, and lets nothing go": Row(
            "whoever restores a cluster counts these before anything is done",
            k.leaving | {"limits": Limits(observe_only=True)},
            Reason.OBSERVE_ONLY,
            "Unknown",
            says=("--observe-only", k.destroy.value),
        ),
        "observe-only does not even let go what is retained": Row(
            "the same",
            k.leaving | {"spec": k.retains, "limits": Limits(observe_only=True)},
            Reason.OBSERVE_ONLY,
            "Unknown",
            says=("--observe-only", "let this object go", "retained"),
        ),
        "before the first list nothing is let go": Row(
            f"nobody can say yet whose {k.noun} it is", k.leaving | {"owner": "'first'", "synced": False}
        ),
        "before the first list nothing is let go, whatever is recorded": Row(
            "whose it is is not known yet", k.deleting | {"synced": False}
        ),
        "before the first list nothing is destroyed": Row("another object may own it", k.leaving | {"synced": False}),
    }
