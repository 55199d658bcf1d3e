"""Rows of a GpuVpc alone: its end, which waits until it is empty."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState, Origin
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, CallHistory, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvpc import Occupants
from support.builders import NOW, an_object, an_order, known
from support.rows import LONG_KNOWN, OLD, WORDS, Row, tried
from support.vpcfacts import (
    ADOPTS,
    CREATING,
    DELETING,
    EMPTIED,
    EMPTY,
    NAME,
    ORDER,
    REFUSED_FOR_CERTAIN,
    RENUMBERED,
    RETAINS,
    TAKEN_OVER,
    TOLD,
    a_vpc,
    a_vpc_spec,
    a_vpc_status,
)

AT_2 = an_object(deleting=True, generation=2)
DELETES = a_vpc_spec(adoption="IfExists", deletion={"policy": "Delete"})
GONE_FOR_LONG = {"found": Absent(NOW, NOW - 99, NOW - 2)}
ACCEPTED = known(an_order(NAME, OrderState.ACCEPTED, vpc=NAME, cloud_id="vpc-1"), ago=5, recorded=6)
LOST = known(an_order(NAME, OrderState.LOST, vpc=NAME, cloud_id="vpc-1"))
LOST_ADOPTED = known(an_order(NAME, OrderState.LOST, vpc=NAME, cloud_id="vpc-1", origin=Origin.ADOPTED))
LOST_BY_NAME = known(an_order(NAME, OrderState.LOST, vpc=NAME, cloud_id=NAME))

ROWS = {
    # --- letting go
    "what is in it must be known": Row("somebody's VM may be", EMPTIED | {"occupants": None}, looks=True),
    "what is in it must be known of now": Row(
        "a VM may have come since", EMPTIED | {"occupants": Occupants((), NOW - 11, NOW - 12)}, looks=True
    ),
    "not looked into yet: look": Row(
        "somebody's VM may be in it", EMPTIED | {"occupants": Unknown(NOW, UnknownReason.NOT_LISTED)}, looks=True
    ),
    "not looked into yet, and nothing was said of the deletion: say so": Row(
        "Ready stood before",
        EMPTIED | {"meta": AT_2, "occupants": Unknown(NOW, UnknownReason.NOT_LISTED)},
        Reason.DELETING,
        looks=True,
    ),
    "one listing that shows it empty is not proof": Row(
        "a listing may lag or be partial", EMPTIED | {"occupants": Occupants((), NOW)}, looks=True
    ),
    "two that show it empty, the first long ago, are not proof": Row(
        "somebody may have moved in since, and the second be partial",
        EMPTIED | {"occupants": Occupants((), NOW, NOW - 21)},
        looks=True,
    ),
    "two that show it empty in a row are proof": Row(
        "nobody is cut off",
        EMPTIED | {"occupants": Occupants((), NOW, NOW - 19)},
        Reason.DELETING,
        action=Verb.DESTROY_VPC,
    ),
    "anything in it holds it, whoever owns it": Row(
        "the VM would be cut off",
        EMPTIED | {"occupants": Occupants(("VM 'a'", "snapshot 'b'"), NOW)},
        Reason.DELETION_BLOCKED,
        says=("VM 'a', snapshot 'b'. It is destroyed once", "kubectl gpucloud explain DeletionBlocked", "Retain"),
    ),
    "what needs it is to be deleted, and what it ordered goes, too": Row(
        "a GpuVM in it is destroyed with its object",
        EMPTIED | {"dependents": ("GpuVM 'a'", "GpuSnapshot 'b'"), "dependents_to_delete": ("gpuvm/a", "gpusnapshot/b")},
        Reason.DELETION_BLOCKED,
        says="too (that destroys what they ordered): kubectl delete gpuvm/a gpusnapshot/b --namespace=team",
    ),
    "what needs it and is being deleted is left out of the command": Row(
        "nothing is to be done about it",
        EMPTIED | {"dependents": ("GpuVM 'a'", "GpuSnapshot 'b'"), "dependents_to_delete": ("gpuvm/a",)},
        Reason.DELETION_BLOCKED,
        says="ordered): kubectl delete gpuvm/a --namespace=team",
    ),
    "all that needs it is being deleted": Row(
        "nothing is to be done",
        EMPTIED | {"dependents": ("GpuVM 'a'",)},
        Reason.DELETION_BLOCKED,
        says="still needed by GpuVM 'a', and is destroyed as soon as nothing needs it.",
    ),
    "what needs it is in another namespace": Row(
        "its name is nobody's business here, so there is no command",
        EMPTIED | {"dependents": ("a GpuVM in another namespace",), "dependents_to_delete": None},
        Reason.DELETION_BLOCKED,
        says="nothing needs it. Delete that object, too (that destroys what it ordered).",
    ),
    "many need it": Row(
        "a command that deletes five of seven ends no wait",
        EMPTIED
        | {
            "dependents": tuple(f"GpuVM {name!r}" for name in "abcdefg"),
            "dependents_to_delete": tuple(f"gpuvm/{name}" for name in "abcdefg"),
        },
        Reason.DELETION_BLOCKED,
        says="(that destroys what they ordered). To see them: kubectl gpucloud status gvpc/",
    ),
    "many in it are counted": Row(
        "a message for people",
        EMPTIED | {"occupants": Occupants(tuple(f"VM {name!r}" for name in "abcdefg"), NOW)},
        Reason.DELETION_BLOCKED,
        says="VM 'a', VM 'b', VM 'c', VM 'd', VM 'e' and 2 more",
    ),
    "what cannot be listed holds it": Row(
        "unknown is not empty",
        EMPTIED | {"occupants": Unknown(NOW, UnknownReason.FORBIDDEN, "403")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("403", "Ask the administrator to grant it.", "Retain"),
    ),
    "the VPC stays": Row(
        "it was there before",
        {"meta": DELETING, "spec": ADOPTS, "status": TAKEN_OVER, "found": a_vpc()},
        released=Reason.RETAINED,
        says=(NAME, "adopted"),
    ),
    "what was adopted goes where the spec says so": Row(
        "the owner's word",
        {"meta": DELETING, "spec": DELETES, "status": TAKEN_OVER, "found": a_vpc(), "occupants": EMPTY},
        Reason.DELETING,
        action=Verb.DESTROY_VPC,
    ),
    "one that shows only while this object is being deleted is not adopted": Row(
        "it would be adopted to be destroyed",
        {"meta": DELETING, "spec": DELETES, "found": a_vpc(), "occupants": EMPTY},
        released=Reason.RETAINED,
        says=(NAME, "was not created for this object"),
    ),
    "one that takes the name of what was lost is not adopted during deletion": Row(
        "what was ours is gone",
        EMPTIED | {"known": LOST_ADOPTED, "spec": DELETES, "found": a_vpc("vpc-2")},
        released=Reason.RETAINED,
        says=(NAME, "is not destroyed"),
    ),
    "what was created goes although adoption was allowed": Row(
        "else it would leak", EMPTIED | {"spec": ADOPTS}, Reason.DELETING, action=Verb.DESTROY_VPC
    ),
    "deleting what was refused for certain destroys nothing that bears the name": Row(
        "it is somebody else's", EMPTIED | {"status": CREATING, "history": REFUSED_FOR_CERTAIN}, released=Reason.RETAINED
    ),
    "deleting one re-made by a stranger destroys nothing": Row(
        "another id for a grace: it is not the one that we made",
        EMPTIED | {"found": a_vpc("vpc-2"), "known": RENUMBERED, "history": replace(OLD, deletion_seen=NOW - 30)},
        released=Reason.RETAINED,
        says="is not destroyed",
    ),
    "deleting waits when one listing shows another id": Row(
        "seed 92306602: it was an old one, and ours was left behind",
        EMPTIED | {"found": a_vpc("vpc-2"), "known": known(ORDER, ago=5, recorded=6)},
        None,
    ),
    "deleting says that it looks while listings show another id": Row(
        "its acceptance is waited for, up to ten graces",
        {"meta": AT_2, "found": a_vpc("vpc-2"), "status": CREATING, "known": ACCEPTED},
        Reason.DELETING,
        looks=False,
        says="Looking for VPC",
        status={"vpc_id": None},
    ),
    "deleting what is retained waits for no second listing": Row(
        "it stays, whatever it is",
        {"meta": DELETING, "spec": RETAINS, "found": a_vpc("vpc-2"), "status": CREATING, "known": ACCEPTED},
        released=Reason.RETAINED,
    ),
    "deleting waits for a second listing at once where that is enough": Row(
        "the one that raised the doubt ends it no more, and would wake the object again and again",
        EMPTIED | {"found": a_vpc("vpc-2", NOW - 1), "known": TOLD},
        None,
        looks=True,
        asks_from=NOW,
    ),
    "lost before, and a listing shows another id: looked for again": Row(
        "listings may have been partial before, and this one may be old",
        EMPTIED | {"found": a_vpc("vpc-2"), "known": LOST, "history": replace(OLD, deletion_seen=NOW - 29)},
        Reason.DELETING,
        looks=False,
        says="looking again",
    ),
    "lost before, and listings of a grace show another id: let go": Row(
        "what has the name is another's",
        EMPTIED | {"found": a_vpc("vpc-2"), "known": LOST, "history": replace(OLD, deletion_seen=NOW - 30)},
        released=Reason.RETAINED,
        says="is not destroyed",
    ),
    "deleting beside a twin lets nothing go": Row(
        "the stranger's is listed first, and ours may be the other",
        EMPTIED | {"found": a_vpc("vpc-2", duplicate_records=True)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=(NAME, "Destroy yours in the cloud"),
    ),
    "the cloud's refusal keeps the object": Row(
        "no error ever frees the finalizer",
        EMPTIED | {"history": tried(Verb.DESTROY_VPC, kind=ErrorKind.INVALID)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=(WORDS, "Retain"),
    ),
    "the cloud's refusal is met with another try, when it is empty still": Row(
        "a VM that was going is gone now",
        EMPTIED | {"history": tried(Verb.DESTROY_VPC, ago=400, kind=ErrorKind.INVALID)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        action=Verb.DESTROY_VPC,
        says="Retain",
    ),
    "another try looks inside again": Row(
        "somebody moved in meanwhile",
        EMPTIED | {"history": tried(Verb.DESTROY_VPC, ago=400), "occupants": Occupants(("VM 'late'",), NOW)},
        Reason.DELETION_BLOCKED,
        says="'late'",
    ),
    "two listings from before the destroy are none": Row(
        "they may have been partial",
        EMPTIED | {"found": Absent(NOW, NOW - 9, NOW - 8), "known": TOLD, "history": tried(Verb.DESTROY_VPC, ago=5)},
        Reason.DELETING,
    ),
    "what went without our call is missed for the grace before it is let go": Row(
        "only its record tells the id to destroy it by, and a listing may lag",
        EMPTIED | {"found": Absent(NOW, NOW - 20, NOW - 2)},
        Reason.DELETING,
        looks=False,
    ),
    "one listing after the grace is not proof": Row(
        "a listing may be partial", EMPTIED | {"found": Absent(NOW, NOW - 99)}, Reason.DELETING, looks=True
    ),
    "two listings after the grace and the deletion are proof": Row(
        "somebody destroyed it outside",
        EMPTIED | GONE_FOR_LONG | {"history": replace(OLD, deletion_seen=NOW - 2), "occupants": Occupants(("VM 'a'",), NOW)},
        released=Reason.GONE,
        says=NAME,
    ),
    "one listing after the deletion is not proof": Row(
        "those before may have been partial",
        EMPTIED | GONE_FOR_LONG | {"history": replace(OLD, deletion_seen=NOW - 1)},
        Reason.DELETING,
        looks=True,
        says="looking again",
    ),
    "lost, and this process knows the id: destroyed unseen": Row(
        "a listing may be partial, and the id is no other's",
        EMPTIED | GONE_FOR_LONG | {"known": LOST},
        Reason.DELETING,
        action=Verb.DESTROY_VPC,
    ),
    "lost, and the id is of a VPC that was adopted: not destroyed unseen": Row(
        "this process did not order it",
        EMPTIED | GONE_FOR_LONG | {"known": LOST_ADOPTED, "spec": DELETES},
        Reason.DELETING,
        looks=True,
        says="looking again",
    ),
    "lost, and its id is but its name: not destroyed unseen": Row(
        "somebody else's VPC may have the name by now",
        EMPTIED | GONE_FOR_LONG | {"known": LOST_BY_NAME},
        Reason.DELETING,
        looks=True,
        says="looking again",
    ),
    "lost, and not to be seen any more": Row(
        "a listing that is not believed proves nothing",
        EMPTIED | {"known": LOST, "found": Unknown(NOW - 99, UnknownReason.IMPLAUSIBLE)},
        Reason.DELETION_BLOCKED,
        says="accept-absence",
        progress="Stalled",
    ),
    "lost, and something may stand in it": Row(
        "what stands in it shows that it stands",
        EMPTIED | GONE_FOR_LONG | {"known": LOST, "dependents": ("GpuVM 'train'",)},
        Reason.DELETION_BLOCKED,
        says="GpuVM 'train'",
    ),
    "nothing is recorded: free, and told": Row(
        "the status may be wiped",
        {"meta": DELETING},
        released=Reason.RETAINED,
        says="may be your VPC. If so, destroy it in the cloud",
    ),
    "never ordered: free": Row(
        "nothing was made",
        {"meta": DELETING, "history": CallHistory(first_seen=NOW - 9, seen_new=True)},
        released=Reason.GONE,
        says="No VPC was created",
    ),
    "ordered by a process before us and not there after the grace: free": Row(
        "two listings that began late enough",
        {"meta": DELETING, "status": CREATING, "history": CallHistory(first_seen=NOW - 310, deletion_seen=NOW - 310)},
        released=Reason.GONE,
        says="No VPC was created for this object",
    ),
    "a record of another process does not": Row(
        "it may have been sent",
        {"meta": DELETING, "status": CREATING, "history": LONG_KNOWN, "found": Unknown(NOW - 99, UnknownReason.UNREACHABLE)},
        Reason.DELETION_BLOCKED,
        says=("VPC", "Retain"),
    ),
    "without an account, of one that was made and lost its order: held": Row(
        "the id says that it was seen",
        EMPTIED
        | {"status": a_vpc_status("Deleting", vpc_id="vpc-1"), "spec": DELETES, "found": Unknown(NOW, UnknownReason.ACCOUNT)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
}
