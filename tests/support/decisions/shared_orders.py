"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot about its order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, Order, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Dependency, Readiness, Unknown, UnknownReason
from gpucloud.reconcile.order import TrackedOrder
from gpucloud.reconcile.placement import moved_message
from support.builders import NOW, START, an_object, known
from support.rows import LAB, LONG_KNOWN, NEW_KEY, OLD, WORDS, YOUNG, Row, noted, tried

AWAY = Unknown(NOW - 10, UnknownReason.UNREACHABLE, "HTTP 502")
NO_ANSWER = {"kind": ErrorKind.OUTCOME_UNKNOWN, "ambiguous": True}


def orders(k):
    ordered = Order(state=OrderState.SEEN, name=k.cloud_name, cluster="Msc1", vpc="acme")
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
            {"needs": (Dependency("GpuCloudAccount 'lab'", Readiness.DELETING, held=True),)},
            Reason.DEPENDENCY_NOT_READY,
            says="GpuCloudAccount 'lab' is being deleted and waits until this object is gone, too",
        ),
        "a recorded order of ours is acted on": Row(
            "look, record, order", {"status": k.creating, "known": k.mine}, Reason.CREATING, action=k.create
        ),
        "a record of another process is waited out": Row(
            "it may have been accepted just before: a restart shortens no wait",
            {"status": k.creating, "history": CallHistory(first_seen=NOW - 20)},
            Reason.CREATING,
            looks=False,
        ),
        "a listing older than the object is not believed": Row(
            "the order may already have been sent in an earlier life",
            {"found": Absent(NOW - 2, NOW - 2), "history": CallHistory(first_seen=NOW - 1)},
            looks=True,
        ),
        "after a lost answer: look for the grace": Row(
            "the order may have been carried out",
            {"status": k.creating, "history": tried(k.create, **NO_ANSWER)},
            Reason.API_ERROR,
            looks=False,
        ),
        "after an error that says nothing of the order: look for the grace": Row(
            "it may have been carried out",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.SERVER, ambiguous=True)},
            Reason.API_ERROR,
            looks=False,
        ),
        "an error that never ends calls a person": Row(
            "500 is how this service reports business errors too",
            {"status": k.creating, "history": tried(k.create, ago=31, kind=ErrorKind.SERVER, ambiguous=True, failures=5)},
            Reason.API_ERROR,
            progress="Stalled",
            says=WORDS,
        ),
        "accepted three times more, and never listed: a person asks why": Row(
            "each acceptance may be billed",
            {
                "status": k.creating,
                "known": known(
                    k.creating.order.model_copy(update={"state": OrderState.ACCEPTED, "reorders": 3}), ago=310, recorded=311
                ),
                "found": Absent(NOW, NOW - 300, NOW - 1),
            },
            Reason.ORDER_OVERDUE,
            progress="Stalled",
            says=("4 times", "to order again: kubectl gpucloud retry g"),
            status={"order": OrderState.OVERDUE},
        ),
        "a refused order is not repeated": Row(
            "hammering does not help",
            {"status": k.creating, "history": tried(k.create, ago=9999, kind=ErrorKind.INVALID)},
            Reason.REJECTED,
            progress="Stalled",
            says=(WORDS, "create it again, corrected: kubectl delete g", "to try it again: kubectl gpucloud retry g"),
        ),
        "a refusal outlives a restart": Row(
            "one attempt a generation, whoever runs",
            {"status": k.rejected},
            Reason.REJECTED,
            progress="Stalled",
            says="Made up.",
        ),
        "a refusal is tried again when a person asks": Row(
            "the cloud may have been wrong",
            {
                "meta": noted(RECONCILE_REQUESTED_AT="t1"),
                "status": k.rejected,
                "history": OLD,
                "found": Absent(NOW, NOW - 9, NOW - 2),
            },
            Reason.CREATING,
            records=True,
            status={"last_handled_reconcile_at": "t1"},
        ),
        "a forbidden order calls a person": Row(
            "the credential lacks a right",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.FORBIDDEN)},
            Reason.PERMISSION_DENIED,
            progress="Stalled",
            says="Grant",
        ),
        "a credential refused at the order calls a person": Row(
            "it was revoked in between",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.UNAUTHORIZED), "account": LAB},
            Reason.CREDENTIALS_REFUSED,
            progress="Stalled",
            says=("Update Secret 'lab-key' in place (do not delete it)", NEW_KEY),
        ),
        "an order that could not be sent waits": Row(
            "surely not carried out",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.NOT_SENT)},
            Reason.API_UNAVAILABLE,
        ),
        "an order that never shows calls a person at the deadline": Row(
            "it may be waited for without end",
            {
                "status": k.creating.model_copy(update={"progress_deadline_at": START + timedelta(seconds=NOW - 1)}),
                "history": tried(k.create, ago=100),
            },
            Reason.PROGRESS_DEADLINE_EXCEEDED,
            progress="Stalled",
            says="spec.progressDeadlineSeconds",
        ),
        "a throttled order waits": Row(
            "the cloud asks for patience",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.THROTTLED)},
            Reason.RATE_LIMITED,
        ),
        "no room is waited for without a deadline": Row(
            "503",
            {"status": k.creating, "history": tried(k.create, kind=ErrorKind.UNAVAILABLE)},
            Reason.WAITING_FOR_CAPACITY,
            status={"progress_deadline_at": None},
        ),
        "a record of another process is not taken over on one listing": Row(
            "one listing may be partial",
            {"status": k.creating, "history": LONG_KNOWN, "found": Absent(NOW, NOW)},
            Reason.CREATING,
            looks=True,
        ),
        "a record of another process seen only now is waited out, however long the object is known": Row(
            "its order may be under way",
            {
                "status": k.creating,
                "history": replace(OLD, first_seen=NOW - 400),
                "known": TrackedOrder(None, NOW - 400),
                "found": Absent(NOW, NOW - 399, NOW - 0.5),
            },
            Reason.CREATING,
            looks=False,
        ),
        "a record of another process is taken over after ten graces": Row(
            "never wait for a person",
            {"status": k.creating, "history": LONG_KNOWN, "found": Absent(NOW, NOW - 99, NOW - 0.5)},
            Reason.CREATING,
            records=True,
        ),
        "an old record of ours is recorded anew": Row(
            "another process may have taken over meanwhile",
            {"status": k.creating, "known": known(k.creating.order, ago=16, recorded=16)},
            Reason.CREATING,
            records=True,
        ),
        "a used record is recorded anew": Row(
            "every order has its own record",
            {"status": k.creating, "found": Absent(NOW, NOW - 50, NOW - 1), "history": tried(k.create, ago=40, **NO_ANSWER)},
            Reason.API_ERROR,
            records=True,
        ),
        "a stale listing does not show that a name is free": Row(
            "somebody may have taken it since", {"found": Absent(NOW - 11, NOW - 60, NOW - 30), "history": YOUNG}, looks=True
        ),
        "after an accepted order that does not show: keep looking": Row(
            "a listing may lag", {"status": k.creating, "history": tried(k.create, ago=100)}, Reason.CREATING, looks=False
        ),
        "a corrected spec is tried at once": Row(
            "the owner fixed it",
            {
                "meta": an_object(generation=2),
                "status": k.creating,
                "known": k.mine,
                "history": tried(k.create, ago=5, kind=ErrorKind.INVALID),
            },
            Reason.REJECTED,
            progress="Stalled",
            action=k.create,
            says=WORDS,
        ),
        "a spec that names another place than a live order calls a person, and the record is kept": Row(
            "what it names in the new place is another's",
            {
                "status": k.settled,
                "found": Unknown(NOW, UnknownReason.MOVED, moved_message(ordered, k.noun)),
            },
            Reason.INVALID_SPEC,
            "Unknown",
            "Stalled",
            says=("; the spec names another place. Adopt it in a new object. Before you delete", "kubectl gpucloud retain"),
        ),
    }
