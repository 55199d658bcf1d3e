"""Rows of a GpuVM alone: its end, and that of its snapshots."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Order, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Unknown, UnknownReason, Verb
from support.builders import NOW, a_spec, a_status, an_object, an_order, present
from support.gpuvmfacts import (
    BLIND,
    CREATING,
    DELETING,
    GOING,
    HELD,
    NAME,
    RUNNING,
    TOGETHER,
    TOLD,
    a_list,
)
from support.rows import Row, tried

ROWS = {
    # --- letting go
    "deletion is told before anything was looked at": Row(
        "it was asked for after a restart",
        {"meta": an_object(deleting=True, generation=2), "status": RUNNING, "found": Unknown(NOW, UnknownReason.NOT_LOOKED)},
        Reason.DELETING,
        looks=True,
    ),
    "held before a restart, and not looked at yet": Row(
        "its status must not lose the word, nor be written twice",
        {"meta": DELETING, "status": HELD, "found": Unknown(NOW, UnknownReason.NOT_LOOKED)},
        looks=True,
    ),
    "held, and out of sight for a moment": Row(
        "a short outage leaves the last word standing",
        {"meta": DELETING, "status": HELD, "found": Unknown(NOW - 1, UnknownReason.UNREACHABLE, "HTTP 502")},
    ),
    "a destroy that was accepted is not repeated": Row(
        "the record stays a while",
        {"meta": DELETING, "status": GOING, "found": present("PENDING"), "memory": tried(Verb.DESTROY, ago=100)},
        Reason.DELETING,
    ),
    "a destroy without effect is repeated after five minutes": Row(
        "it was lost inside the cloud",
        {"meta": DELETING, "status": GOING, "found": present(), "memory": tried(Verb.DESTROY, ago=301)},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "a lost answer to a destroy is looked for, then repeated": Row(
        "it may not have been carried out",
        {
            "meta": DELETING,
            "status": GOING,
            "found": present(),
            "memory": tried(Verb.DESTROY, ago=31, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True),
        },
        Reason.DELETION_BLOCKED,
        action=Verb.DESTROY,
    ),
    "two listings after our call are proof, though it was never listed before": Row(
        "deleted within seconds of its creation: the record of the destroying call counts, not what came before",
        {
            "meta": DELETING,
            "status": CREATING,
            "known": TOLD,
            "found": Absent(NOW, NOW - 4, NOW - 2),
            "memory": tried(Verb.DESTROY, ago=5),
        },
        released=Reason.GONE,
    ),
    "told to go by a process before us: two listings a grace after our first look": Row(
        "its call may have been sent just before its end",
        {
            "meta": DELETING,
            "status": GOING,
            "found": Absent(NOW, NOW - 29, NOW - 2),
            "memory": CallHistory(first_seen=NOW - 31),
            "spec": a_spec(vmName=NAME),
        },
        Reason.DELETING,
        looks=True,
    ),
    "gone, says a status that another process wrote: looked for once more": Row(
        "people can edit a status, and the VM may live",
        {
            "meta": DELETING,
            "status": a_status("Deleting", order=an_order(NAME, OrderState.GONE)),
            "found": Absent(NOW, NOW - 5, NOW - 2),
            "memory": CallHistory(first_seen=NOW - 9),
        },
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "a spec that names another place: not forgotten": Row(
        "what stands in the new place is another's",
        {"meta": DELETING, "status": GOING, "found": Unknown(NOW, UnknownReason.MOVED, "It cannot be moved.")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("cannot be moved", "Retain"),
    ),
    "a listing from before the destroy is no proof": Row(
        "it may have been partial",
        {"meta": DELETING, "status": GOING, "found": Absent(NOW - 2, NOW - 9), "memory": tried(Verb.DESTROY)},
        Reason.DELETING,
        looks=True,
    ),
    "ordered by a process before us: wait before letting go": Row(
        "it may still come",
        {"meta": DELETING, "status": CREATING, "memory": CallHistory(first_seen=NOW - 1)},
        Reason.DELETING,
        looks=False,
    ),
    "blind by an implausible listing: held": Row(
        "an empty listing must not free a thousand VMs",
        {"meta": DELETING, "status": GOING, "found": Unknown(NOW, UnknownReason.IMPLAUSIBLE)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="accept-absence",
    ),
    # --- letting go: who needs it, and with what it goes
    "without an account, with nothing begun: free": Row(
        "a namespace must be able to go",
        {
            "meta": DELETING,
            "status": a_status("NoAccount", order=Order(state=OrderState.NOT_ORDERED)),
            "found": Unknown(NOW, UnknownReason.NO_ACCOUNT),
        },
        released=Reason.GONE,
        says="No VM",
    ),
    "without an account, seen new by this process: free": Row(
        "nothing is sent before our finalizer",
        {
            "meta": DELETING,
            "found": Unknown(NOW, UnknownReason.NO_ACCOUNT),
            "memory": CallHistory(first_seen=NOW - 9, seen_new=True),
        },
        released=Reason.GONE,
    ),
    "a credential refused, with a status that was stripped: held": Row(
        "a re-apply took the record of a VM that lives",
        {"meta": DELETING, "status": a_status("CredentialsRefused"), "found": Unknown(NOW, UnknownReason.REFUSED)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "a stripped status does not undo what this process remembers": Row(
        "it saw the object new, and then bought",
        {
            "meta": DELETING,
            "found": Unknown(NOW, UnknownReason.REFUSED),
            "memory": replace(tried(Verb.CREATE), seen_new=True),
        },
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        status={"order": OrderState.ACCEPTED},
        says="Retain",
    ),
    "a record of our own that was sent does not": Row(
        "it may be there",
        {"meta": DELETING, "status": CREATING, "memory": tried(Verb.CREATE), "found": BLIND},
        Reason.DELETION_BLOCKED,
        says="Retain",
    ),
    "snapshots stay by default": Row(
        "they are backups",
        {"meta": DELETING, "status": RUNNING, "found": present(), "snapshots": a_list(("s", True))},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "all its snapshots ours: they go with it": Row(
        "one call", TOGETHER | {"snapshots": a_list(("s", True), ("t", True))}, Reason.DELETING, action=Verb.DESTROY
    ),
    "no snapshots: it goes alone": Row("nothing to take along", TOGETHER, Reason.DELETING, action=Verb.DESTROY),
    "only foreign snapshots: it goes alone": Row(
        "DeleteSnapshots would take them",
        TOGETHER | {"snapshots": a_list(("theirs", False))},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "one foreign or retained among them: ours go first, by name": Row(
        "DeleteSnapshots would take that one too",
        TOGETHER | {"snapshots": a_list(("s", True), ("theirs", False), ("t", True))},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
        targets=("s", "t"),
    ),
    "snapshots that were told to go get time": Row(
        "the listing shows them for a while",
        TOGETHER | {"snapshots": a_list(("s", True), ("theirs", False)), "memory": tried(Verb.DELETE_SNAPSHOT, ago=2)},
        Reason.DELETING,
        looks=False,
    ),
    "snapshots that were told to go are looked for by a younger listing": Row(
        "the last one is from before",
        TOGETHER
        | {"snapshots": a_list(("s", True), ("theirs", False), as_of=NOW - 3), "memory": tried(Verb.DELETE_SNAPSHOT, ago=2)},
        Reason.DELETING,
        looks=True,
    ),
    "snapshots that do not go are told again": Row(
        "it was lost inside the cloud",
        TOGETHER | {"snapshots": a_list(("s", True), ("theirs", False)), "memory": tried(Verb.DELETE_SNAPSHOT, ago=31)},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
        targets=("s",),
    ),
    "snapshots that may not be deleted hold it": Row(
        "a person must grant it, or keep them",
        TOGETHER
        | {
            "snapshots": a_list(("s", True), ("theirs", False)),
            "memory": tried(Verb.DELETE_SNAPSHOT, kind=ErrorKind.FORBIDDEN),
        },
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Grant",
    ),
    "a foreign snapshot that came meanwhile stays": Row(
        "ours are gone, and DeleteSnapshots would take that one",
        TOGETHER | {"snapshots": a_list(("new", False)), "memory": tried(Verb.DELETE_SNAPSHOT, ago=9)},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "snapshots not listed yet: look": Row(
        "a foreign one may be among them", TOGETHER | {"snapshots": None}, Reason.DELETING, looks=True
    ),
    "snapshots listed too long ago: look": Row(
        "one may have come since", TOGETHER | {"snapshots": a_list(as_of=NOW - 11)}, Reason.DELETING, looks=True
    ),
    "snapshots that cannot be listed hold it": Row(
        "unknown is not none",
        TOGETHER | {"snapshots": Unknown(NOW, UnknownReason.FORBIDDEN, "403")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("403", "Keep"),
    ),
    "a VM that is not listed does not take foreign snapshots along either": Row(
        "the listing of VMs may be partial",
        TOGETHER | {"found": Absent(NOW, NOW - 99), "snapshots": a_list(("s", True), ("theirs", False))},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
        targets=("s",),
    ),
}
