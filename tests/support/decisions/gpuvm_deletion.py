"""Rows of a GpuVM alone: its end, and that of its snapshots."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Order, OrderState
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.deletion_guard import OLDER, Hold, release
from gpucloud.reconcile.facts import Absent, CallHistory, Unknown, UnknownReason, Verb
from support.builders import NOW, START, a_spec, a_status, an_object, an_order, known, present
from support.gpuvmfacts import (
    DELETING,
    GOING,
    HELD,
    NAME,
    RUNNING,
    TOGETHER,
    TOLD,
    a_list,
)
from support.rows import OLD, Row, tried

AT_FIRST = {"meta": an_object(deleting=True, generation=2)}  # no verdict of this deletion stands yet
LOOKED_FOR = Absent(NOW, NOW - 99, NOW - 2)
UNMADE = {
    state: {"meta": DELETING, "known": known(an_order(NAME, state), earlier_unclear=True), "found": LOOKED_FOR}
    for state in (OrderState.REFUSED, OrderState.OVERDUE)
}
DEAR = Hold(12, Decimal("361.5"), 10, timedelta(minutes=10), "--brake-price-per-hour 50")


def told(*snapshots, ago):
    """A memory in which the deletion of these snapshots was accepted."""
    return tried(Verb.DELETE_SNAPSHOT, ago=ago, targets=snapshots)


ROWS = {
    # --- letting go
    "held before a restart, and not looked at yet": Row(
        "its status must not lose the word, nor be written twice",
        {"meta": DELETING, "status": HELD, "found": Unknown(NOW, UnknownReason.NOT_LISTED)},
        looks=True,
    ),
    "held, and out of sight for a moment": Row(
        "a short outage leaves the last word standing",
        {"meta": DELETING, "status": HELD, "found": Unknown(NOW - 1, UnknownReason.UNREACHABLE, "HTTP 502")},
    ),
    "told to go by a process before us: two listings a grace after our first look": Row(
        "its call may have been sent just before its end",
        {
            "meta": DELETING,
            "status": GOING,
            "found": Absent(NOW, NOW - 29, NOW - 2),
            "history": CallHistory(first_seen=NOW - 31),
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
            "history": CallHistory(first_seen=NOW - 9),
        },
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    **{
        f"{state}, as listings before the deletion showed: looked for again": Row(
            "they may have been partial, and a listing may show it now",
            given | {"history": replace(OLD, deletion_seen=NOW - 1)},
            Reason.DELETING,
            looks=True,
        )
        for state, given in UNMADE.items()
        if state is not OrderState.OVERDUE
    },
    **{
        f"{state}, and two listings after the deletion lack it": Row(
            "what was maybe ordered was not made",
            given | {"history": replace(OLD, deletion_seen=NOW - 2)},
            released=Reason.GONE,
        )
        for state, given in UNMADE.items()
        if state is not OrderState.OVERDUE
    },
    "a VM waits for what is being taken of it, and says to delete none of it": Row(
        "that ends by itself, and a person would delete a backup",
        {"meta": DELETING, "status": RUNNING, "found": present(), "dependents": ("GpuSnapshot 'a'", "GpuSnapshot 'b'")},
        Reason.DELETION_BLOCKED,
        says=(
            "as soon as GpuSnapshot 'a', GpuSnapshot 'b', which are being taken of it, are Ready.",
            "Nothing to do, unless one is Stalled or paused.",
        ),
    ),
    "accepted, and never listed: destroyed by its name": Row(
        "it may appear later, and nobody would know whose it is",
        UNMADE[OrderState.OVERDUE] | {"history": replace(OLD, deletion_seen=NOW - 2)},
        Reason.DELETING,
        action=Verb.DESTROY,
        status={"order": OrderState.DESTROYING},
    ),
    "a chosen name, accepted, and never listed: let go with a warning": Row(
        "what appears under the name may be somebody else's, so nothing is destroyed unseen",
        UNMADE[OrderState.OVERDUE] | {"spec": a_spec(vmName=NAME), "history": replace(OLD, deletion_seen=NOW - 2)},
        released=Reason.RETAINED,
        says="it is billed: destroy it in the cloud",
    ),
    "retained, and never ordered: nothing is said to stay": Row(
        "people would look for a VM that is billed",
        {"meta": DELETING, "status": a_status("DependencyNotReady", order=Order(state=OrderState.NOT_ORDERED))}
        | {"spec": a_spec(deletion={"policy": "Retain"})},
        released=Reason.GONE,
        says="No VM was created",
    ),
    "retained, and lost before: nothing is said to stay": Row(
        "the same",
        {"meta": DELETING, "known": known(an_order(NAME, OrderState.LOST)), "spec": a_spec(deletion={"policy": "Retain"})},
        released=Reason.RETAINED,
        says="Nothing is destroyed",
    ),
    "a chosen name, Refused as listings before the deletion showed: looked for again": Row(
        "if it shows now, its owner must be told",
        UNMADE[OrderState.REFUSED] | {"spec": a_spec(vmName=NAME), "history": replace(OLD, deletion_seen=NOW - 1)},
        Reason.DELETING,
        looks=True,
    ),
    "a chosen name, Refused, and two listings after the deletion lack it": Row(
        "what was maybe ordered was not made",
        UNMADE[OrderState.REFUSED] | {"spec": a_spec(vmName=NAME), "history": replace(OLD, deletion_seen=NOW - 2)},
        released=Reason.GONE,
    ),
    "retained when its destroying call had been announced: let go, and told": Row(
        "nobody can take back a call that was sent",
        {
            "meta": DELETING,
            "known": known(an_order(NAME, OrderState.DESTROYING)),
            "found": present(),
            "spec": a_spec(deletion={"policy": "Retain"}),
        },
        released=Reason.RETAINED,
        says="may be destroyed all the same",
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
    **{
        f"nothing recorded, and {refused or 'no refusal'} when it was destroyed by its name: let go": Row(
            "what the cloud refuses to destroy may be there, whatever listings lack: its owner must hear of it",
            {
                "meta": DELETING,
                "status": GpuVMStatus(),
                "found": Absent(NOW, NOW - 90, NOW - 1),
                "history": tried(Verb.DESTROY, ago=40, kind=refused, history=CallHistory(first_seen=NOW - 90)),
                "known": replace(TOLD, unresolved=True, absence_counts_from=NOW - 40),
            },
            released=Reason.GONE,
            says="DestroyServer failed" if refused else "is gone from the cloud",
        )
        for refused in (None, ErrorKind.FORBIDDEN)
    },
    "a chosen name whose destruction was refused: looked for when listings without it count": Row(
        "until then no listing ends the wait, and each would be asked for in vain (seed 92261010)",
        {
            "meta": DELETING,
            "spec": a_spec(vmName=NAME),
            "found": Absent(NOW, NOW - 160, NOW - 1),
            "history": tried(Verb.DESTROY, ago=180, kind=ErrorKind.THROTTLED),
            "known": replace(TOLD, since=NOW - 180, absence_counts_from=NOW + 120),
        },
        Reason.DELETION_BLOCKED,
        looks=False,
        says="DestroyServer failed",
    ),
    "a chosen name, placed elsewhere, that no listing shows: not destroyed unseen": Row(
        "somebody else may have the name there by now",
        {
            "meta": DELETING,
            "spec": a_spec(vmName=NAME),
            "known": known(an_order(NAME, OrderState.SEEN, cloud_vpc="acme-2"), recorded=99),
            "found": Absent(NOW, NOW - 5),
        },
        Reason.DELETING,
    ),
    "a credential refused, with a status that was stripped: held": Row(
        "a re-apply took the record of a VM that lives",
        {"meta": DELETING, "status": a_status("CredentialsRefused"), "found": Unknown(NOW, UnknownReason.REFUSED)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
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
        TOGETHER | {"snapshots": a_list(("s", True), ("theirs", False)), "history": told("s", ago=2)},
        Reason.DELETING,
        looks=False,
    ),
    "snapshots that were told to go are looked for by a younger listing": Row(
        "the last one is from before",
        TOGETHER | {"snapshots": a_list(("s", True), ("theirs", False), as_of=NOW - 3), "history": told("s", ago=2)},
        Reason.DELETING,
        looks=True,
    ),
    "snapshots that do not go are told again": Row(
        "it was lost inside the cloud",
        TOGETHER | {"snapshots": a_list(("s", True), ("theirs", False)), "history": told("s", ago=301)},
        Reason.DELETION_BLOCKED,
        action=Verb.DELETE_SNAPSHOT,
        targets=("s",),
        progress="Stalled",
        says=("still lists the VM's snapshots 's'", "spec.deletion.snapshots: Keep"),
    ),
    "snapshots that do not go are told again after minutes only": Row(
        "an acceptance that has no effect is no reason for a loop",
        TOGETHER | {"snapshots": a_list(("s", True), ("theirs", False)), "history": told("s", ago=299)},
        Reason.DELETING,
        looks=False,
        says="before the VM",
    ),
    "a snapshot that may be deleted since then does not wait for the others": Row(
        "its GpuSnapshot was retained before",
        TOGETHER | {"snapshots": a_list(("s", True), ("t", True), ("theirs", False)), "history": told("s", ago=31)},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
        targets=("s", "t"),
    ),
    "snapshots that may not be deleted hold it": Row(
        "a person must grant it, or keep them",
        TOGETHER
        | {
            "snapshots": a_list(("s", True), ("theirs", False)),
            "history": tried(Verb.DELETE_SNAPSHOT, kind=ErrorKind.FORBIDDEN),
        },
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("Grant", "To keep the snapshots, set spec.deletion.snapshots: Keep."),
    ),
    "a foreign snapshot that came meanwhile stays": Row(
        "ours are gone, and DeleteSnapshots would take that one",
        TOGETHER | {"snapshots": a_list(("new", False)), "history": tried(Verb.DELETE_SNAPSHOT, ago=9)},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "snapshots not listed yet: look": Row(
        "a foreign one may be among them", TOGETHER | AT_FIRST | {"snapshots": None}, Reason.DELETING, looks=True
    ),
    "snapshots that are all ours by one listing: look again": Row(
        "it may be partial",
        TOGETHER | AT_FIRST | {"snapshots": a_list(("s", True), confirmed=None)},
        Reason.DELETING,
        looks=True,
    ),
    "snapshots listed too long ago: look": Row(
        "one may have come since", TOGETHER | AT_FIRST | {"snapshots": a_list(as_of=NOW - 11)}, Reason.DELETING, looks=True
    ),
    "snapshots listed before the deletion: look": Row(
        "somebody may have made one right before it",
        TOGETHER | AT_FIRST | {"snapshots": a_list(("s", True), as_of=NOW - 2), "history": replace(OLD, deletion_seen=NOW - 1)},
        Reason.DELETING,
        looks=True,
    ),
    "snapshots that cannot be listed hold it": Row(
        "unknown is not none",
        TOGETHER | {"snapshots": Unknown(NOW, UnknownReason.FORBIDDEN, "403")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("The VM's snapshots cannot be listed: ", "Ask the administrator to grant it. To keep the snapshots", "Keep"),
    ),
    "a VM that is not listed does not take foreign snapshots along either": Row(
        "the listing of VMs may be partial",
        TOGETHER | {"found": Absent(NOW, NOW - 99), "snapshots": a_list(("s", True), ("theirs", False))},
        Reason.DELETING,
        action=Verb.DELETE_SNAPSHOT,
        targets=("s",),
    ),
    "held by the deletion guard: not destroyed": Row(
        "too many VMs entered deletion at once",
        TOGETHER | {"hold": Hold(8, Decimal(16), 0, timedelta(minutes=10), "--brake-vms 3")},
        Reason.DELETION_HELD,
        progress="Stalled",
        says=("exceed --brake-vms 3.", "kubectl annotate", "spec.deletion.policy: Retain"),
    ),
    "held, and the namespace was released before: the command once more": Row(
        "a release is of the deletions before it",
        TOGETHER | {"hold": Hold(trouble=OLDER)},
        Reason.DELETION_HELD,
        progress="Stalled",
        says=("The namespace's annotation is too old to count. To keep it", "kubectl annotate namespace"),
    ),
    "held by what is dear, of which some has no price: the longest message": Row(
        "all figures are told",
        TOGETHER | {"hold": DEAR},
        Reason.DELETION_HELD,
        progress="Stalled",
        says="Held: 12 VMs (361.50 dollars an hour, 10 unpriced) deleted in 600 s exceed --brake-price-per-hour 50. To keep it",
    ),
    **{
        f"held, and the annotation is {what}": Row(
            "what is wrong with it is told before the figures",
            TOGETHER | {"hold": replace(DEAR, trouble=release(value, START, "namespace 'team'").trouble)},
            Reason.DELETION_HELD,
            progress="Stalled",
            says=f"Held by --brake-price-per-hour 50. Annotation brake-released-at on namespace 'team' is {value!r}, {what}.",
        )
        for value, what in (("now", "not a time"), ("2031-01-01T00:00:00Z", "in the future"))
    },
    "held by a deletion guard that was switched off since: not destroyed": Row(
        "nobody has released it", TOGETHER | {"hold": Hold()}, Reason.DELETION_HELD, progress="Stalled", says="kubectl annotate"
    ),
}
