"""What is decided alike for a GpuVM, a GpuVpc and a GpuSnapshot about its end."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, Order, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Absent, AccountFacts, CallHistory, Limits, ResourceOwner, Unknown, UnknownReason
from gpucloud.reconcile.placement import moved_message
from gpucloud.reconcile.tenancy import check_tenant
from support.builders import NOW, an_object
from support.decisions.shared_announced import announced, announced_unlisted
from support.decisions.shared_doubted import doubted
from support.decisions.shared_refused import refused
from support.rows import OLD, Row, tried

NOT_ORDERED = Order(state=OrderState.NOT_ORDERED)
OTHERS = Order(state=OrderState.SEEN, id="backup-aaaaaaaaaa", name="another", cluster="Msc1", vpc="acme")
AWAY = Unknown(NOW - 10, UnknownReason.UNREACHABLE, "HTTP 502")
OTHER_TENANT = check_tenant(Absent(NOW, NOW - 99), "acme", AccountFacts("lab", frozenset({"other"})), NOW - 9)
LOOKING = "in the cloud before this object is deleted"  # nothing is sent, so nothing "is being destroyed"
NO_ANSWER = {"kind": ErrorKind.OUTCOME_UNKNOWN, "ambiguous": True}


def told_unrecorded(k, ago):
    """What no record told of, told to go so many seconds ago: this process knows no more than its name."""
    order = k.told.order.model_copy(update={"cloud_id": None})
    known = replace(k.told, order=order, since=NOW - ago, unresolved=True, absence_counts_from=NOW - ago)
    return {"known": known, "history": tried(k.destroy, ago=ago)}


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
        **announced_unlisted(k),
        **{
            f"its cluster lacks it, and {why}": Row(
                "an older record, or none: it may be where the spec said before",
                k.deleting | {"history": replace(OLD, seen_new=True), "unsearched": Unknown(NOW, cause, where)},
                reason,
                progress=progress,
                says=says,
            )
            for why, cause, where, reason, progress, says in (
                ("no other was searched", UnknownReason.NOT_LISTED, "", Reason.DELETING, "Reconciling", "in every cluster"),
                (
                    "another does not answer",
                    UnknownReason.UNREACHABLE,
                    "Hou1",
                    Reason.DELETION_BLOCKED,
                    "Reconciling",
                    (f"Cluster 'Hou1' cannot be searched for {k.noun} ", "The operator keeps trying. To delete"),
                ),
                (
                    "another may not be listed",
                    UnknownReason.FORBIDDEN,
                    "Hou1",
                    Reason.DELETION_BLOCKED,
                    "Stalled",
                    ("Cluster 'Hou1'", "lacks the permission to list). Ask the administrator to grant it. To delete"),
                ),
                (
                    "nobody knows which others there are",
                    UnknownReason.REFUSED,
                    "",
                    Reason.DELETION_BLOCKED,
                    "Stalled",
                    (f"No cluster can be searched for {k.noun} ", "credential is refused). Ask the administrator to replace"),
                ),
            )
        },
        "no cluster needs a search for what is retained": Row(
            "nothing is destroyed",
            k.leaving | {"spec": k.retains, "unsearched": Unknown(NOW, UnknownReason.UNREACHABLE, "Hou1")},
            released=Reason.RETAINED,
        ),
        "never ordered and not there: free": Row(
            "nothing was made",
            k.deleting | {"history": replace(OLD, seen_new=True)},
            released=Reason.GONE,
            says=f"No {k.noun}",
        ),
        "nothing recorded, and another process may have ordered: it is destroyed even if not listed": Row(
            "somebody has lost or edited the status while the operator was restarted",
            k.deleting | {"history": OLD, "found": Absent(NOW, NOW - 9, NOW - 2)},
            Reason.DELETING,
            action=k.destroy,
            status={"order": OrderState.DESTROYING, "account": OWN_ACCOUNT},
        ),
        "another object's record gives way to that of the destruction": Row(
            "a restart must know of the call; the other record says nothing of what bears this object's mark",
            k.deleting
            | {
                "history": OLD,
                "found": Absent(NOW, NOW - 9, NOW - 2),
                "status": k.settled.model_copy(update={"order": OTHERS}),
            },
            Reason.DELETING,
            action=k.destroy,
            status={"order": OrderState.DESTROYING},
        ),
        "nothing recorded, told to go, and one listing lacks it": Row(
            "one listing may be partial",
            k.deleting | told_unrecorded(k, 5) | {"found": Absent(NOW, NOW)},
            Reason.DELETING,
            looks=True,
        ),
        "nothing recorded, told to go, and two listings lack it that began before the answer": Row(
            "what was accepted before may not have been listed yet",
            k.deleting | told_unrecorded(k, 1) | {"found": Absent(NOW, NOW - 9, NOW - 2)},
            Reason.DELETING,
            looks=True,
        ),
        "nothing recorded, told to go, and two listings lack it within a grace": Row(
            "the answer that nobody recorded may have hidden a success, which shows within a grace",
            k.deleting
            | told_unrecorded(k, 5)
            | {
                "history": tried(k.destroy, ago=5, history=replace(OLD, first_seen=NOW - 10)),
                "found": Absent(NOW, NOW - 9, NOW - 2),
            },
            Reason.DELETING,
            looks=False,
        ),
        "nothing recorded, told to go, and two listings lack it": Row(
            "no listing lies twice in a row",
            k.deleting | told_unrecorded(k, 5) | {"found": Absent(NOW, NOW - 9, NOW - 2)},
            released=Reason.GONE,
        ),
        "in an outage, seen new, but ordered before with an account": Row(
            "the account is recorded with the first order: somebody has edited the record of it",
            k.deleting
            | {
                "found": AWAY,
                "status": k.settled.model_copy(update={"order": NOT_ORDERED, "account": "lab"}),
                "history": CallHistory(first_seen=NOW - 9, seen_new=True),
            },
            Reason.DELETION_BLOCKED,
            says="cannot be seen",
        ),
        "in an outage, seen new by this process and never ordered: held, and no bill is spoken of": Row(
            "a backup may have taken the finalizer and the status off an object that has bought, before this process saw it",
            k.deleting | {"found": AWAY, "history": CallHistory(first_seen=NOW - 9, seen_new=True)},
            Reason.DELETION_BLOCKED,
            says=(
                "This object is deleted when a listing shows no",
                "To delete this object now, set spec.deletion.policy: Retain: kubectl gpucloud retain g",
            ),
        ),
        **doubted(k),
        "in an outage, recorded as never ordered, and not seen new: held, and no bill is spoken of": Row(
            "somebody may have edited the record before this process began",
            k.deleting | {"found": AWAY, "status": k.settled.model_copy(update={"order": NOT_ORDERED, "account": None})},
            Reason.DELETION_BLOCKED,
            says=(
                "This object is deleted when a listing shows no",
                "To delete this object now, set spec.deletion.policy: Retain: kubectl gpucloud retain g",
            ),
        ),
    }


def deletion(k):
    gone = k.leaving | {"status": k.going, "known": k.told, "history": tried(k.destroy, ago=5)}
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
            k.deleting | {"status": k.creating, "history": tried(k.create, **NO_ANSWER)},
            Reason.DELETING,
            looks=False,
            says=LOOKING,
        ),
        "ordered and not yet listed: wait before letting go": Row(
            "it may still come",
            k.deleting | {"status": k.creating, "history": tried(k.create)},
            Reason.DELETING,
            looks=False,
            says=LOOKING,
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
            k.leaving | {"owner": ResourceOwner(k.name, "team", "first")},
            released=Reason.RETAINED,
            says=f"{k.name} 'first' uses it",
        ),
        "deleting what met a taken name destroys nothing": Row(
            "it was there before us", k.deleting | k.another, released=Reason.RETAINED, says="not created for this object"
        ),
        "deletion is told before anything was looked at": Row(
            "it was asked for after a restart",
            k.leaving
            | {
                "meta": an_object(deleting=True, generation=2),
                "status": k.settled,
                "found": Unknown(NOW, UnknownReason.NOT_LISTED),
            },
            Reason.DELETING,
            looks=True,
        ),
        **announced(k),
        "a lost answer to a destroy is looked for, then repeated": Row(
            "it may not have been carried out",
            k.leaving | {"status": k.going, "history": tried(k.destroy, ago=31, **NO_ANSWER)},
            Reason.DELETION_BLOCKED,
            action=k.destroy,
        ),
        "two listings after our call are proof, though it was never listed before": Row(
            "deleted within seconds of its creation",
            k.deleting
            | {
                "status": k.creating,
                "known": k.told,
                "found": Absent(NOW, NOW - 4, NOW - 2),
                "history": tried(k.destroy, ago=5),
            },
            released=Reason.GONE,
        ),
        "a listing from before the destroy is no proof": Row(
            "it may have been partial",
            k.leaving | {"status": k.going, "found": Absent(NOW - 2, NOW - 9), "history": tried(k.destroy)},
            Reason.DELETING,
            looks=True,
        ),
        "ordered by a process before us: wait before letting go": Row(
            "it may still come",
            k.deleting | {"status": k.creating, "history": CallHistory(first_seen=NOW - 1)},
            Reason.DELETING,
            looks=False,
            says=LOOKING,
        ),
        "without an account, seen new by this process: free": Row(
            "nothing is sent before our finalizer",
            k.deleting
            | {"found": Unknown(NOW, UnknownReason.NO_ACCOUNT), "history": CallHistory(first_seen=NOW - 9, seen_new=True)},
            released=Reason.GONE,
            says=f"No {k.noun}",
        ),
    }


def held(k):
    moved = moved_message(Order(state=OrderState.SEEN, name=k.cloud_name, cluster="Msc1", vpc="acme"), k.noun)
    return {
        "objects that need it hold it": Row(
            "they are told by name",
            k.leaving | {"dependents": (k.user,)},
            Reason.DELETION_BLOCKED,
            says=(k.user, "as soon as"),
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
            says=("Destroy yours in the cloud", "set spec.deletion.policy: Retain"),
        ),
        "a forbidden destroy keeps the object": Row(
            "no error ever frees the finalizer",
            k.leaving | {"status": k.going, "history": tried(k.destroy, kind=ErrorKind.FORBIDDEN)},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=("Grant", "Retain"),
        ),
        "a refused credential is replaced before anything is given up": Row(
            f"Retain leaves the {k.noun} behind",
            k.leaving | {"found": Unknown(NOW, UnknownReason.REFUSED, "401"), "account": AccountFacts("lab")},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=("Update the Secret of account 'lab' in place", "Retain"),
        ),
        **refused(k),
        "a permission to list is granted before anything is given up": Row(
            f"Retain leaves the {k.noun} behind",
            k.leaving | {"found": Unknown(NOW, UnknownReason.FORBIDDEN, "403")},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says=('lacks the permission to list ("403"). Ask the administrator to grant it.', "Retain"),
        ),
        "another tenant's credential lets nothing go": Row(
            "two listings of another tenant lack it too",
            k.leaving | {"status": k.going, "found": OTHER_TENANT},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says="has a key of tenant 'other'",
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
            says=("--observe-only", "remove its finalizer", "retained"),
        ),
        "before the first list nothing is let go": Row(
            f"nobody can say yet whose {k.noun} it is",
            k.leaving | {"owner": ResourceOwner(k.name, "team", "first"), "synced": False},
        ),
        "before the first list nothing is released, whatever is recorded": Row(
            "whose it is is not known yet", k.deleting | {"synced": False, "history": replace(OLD, seen_new=True)}
        ),
        "before the first list nothing is destroyed": Row("another object may own it", k.leaving | {"synced": False}),
        **{
            f"a spec that names another place{whose}: not forgotten": Row(
                "what stands in the new place is another's",
                k.leaving | {"status": k.going, "found": Unknown(NOW, UnknownReason.MOVED, moved), "owner": owner},
                Reason.DELETION_BLOCKED,
                progress="Stalled",
                says=("the spec names another place", "Retain"),
            )
            for whose, owner in {
                "": None,
                ", which another object has (2100416)": ResourceOwner(k.name, "team", "first"),
            }.items()
        },
        "blind by an implausible listing: held": Row(
            "an empty listing must not free a thousand",
            k.leaving | {"status": k.going, "found": Unknown(NOW, UnknownReason.IMPLAUSIBLE)},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            says="accept-absence",
        ),
        "a stripped status does not undo what this process remembers": Row(
            "it saw the object new, and then bought",
            k.deleting | {"found": Unknown(NOW, UnknownReason.REFUSED), "history": replace(tried(k.create), seen_new=True)},
            Reason.DELETION_BLOCKED,
            progress="Stalled",
            status={"order": OrderState.ACCEPTED},
            says="Retain",
        ),
        "a record of our own that was sent does not free blind": Row(
            "it may be there",
            k.deleting | {"status": k.creating, "history": tried(k.create), "found": AWAY},
            Reason.DELETION_BLOCKED,
            says="Retain",
        ),
    }
