"""The end of a GpuVM, one situation a row; each row says why it matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Order, OrderState
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Absent, CallHistory, Limits, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import decide, with_snapshots
from support.builders import NOW, a_spec, a_status, an_object, an_order, facts, present
from support.gpuvmfacts import (
    BLIND,
    CREATING,
    DELETING,
    GOING,
    HELD,
    MINE,
    NAME,
    RUNNING,
    TOGETHER,
    TOLD,
    a_list,
)
from support.rows import OLD, Row, converges, ends_as_a_sentence, fixed_point, judge, tried

ROWS = {
    # --- letting go
    "deletion is announced, then sent": Row(
        "every mutation is announced",
        {"meta": DELETING, "status": RUNNING, "found": present()},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
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
    "a forbidden destroy keeps the object": Row(
        "no error ever frees the finalizer",
        {"meta": DELETING, "status": GOING, "found": present(), "memory": tried(Verb.DESTROY, kind=ErrorKind.FORBIDDEN)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "one listing without it is not proof": Row(
        "a listing may be partial",
        {"meta": DELETING, "status": GOING, "found": Absent(NOW, NOW), "known": TOLD, "memory": tried(Verb.DESTROY, ago=5)},
        Reason.DELETING,
        looks=True,
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
    "two listings without it are proof": Row(
        "gone",
        {
            "meta": DELETING,
            "status": GOING,
            "found": Absent(NOW, NOW - 9, NOW - 2),
            "known": TOLD,
            "memory": tried(Verb.DESTROY, ago=5),
        },
        released=Reason.GONE,
    ),
    "a listing from before the destroy is no proof": Row(
        "it may have been partial",
        {"meta": DELETING, "status": GOING, "found": Absent(NOW - 2, NOW - 9), "memory": tried(Verb.DESTROY)},
        Reason.DELETING,
        looks=True,
    ),
    "what this process has not destroyed is destroyed even if not listed": Row(
        "the call is cheap, a leak is not",
        {"meta": DELETING, "status": RUNNING, "found": Absent(NOW, NOW - 99)},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "never ordered and not there: free": Row(
        "nothing was bought", {"meta": DELETING, "memory": replace(OLD, seen_new=True)}, released=Reason.GONE
    ),
    "nothing recorded, and another process may have ordered: one listing may be partial": Row(
        "somebody has lost or edited the status while the operator was restarted",
        {"meta": DELETING, "memory": OLD},
        Reason.DELETING,
        looks=True,
    ),
    "nothing recorded, and two listings lack it": Row(
        "no listing lies twice in a row",
        {"meta": DELETING, "memory": OLD, "found": Absent(NOW, NOW - 9, NOW - 2)},
        released=Reason.GONE,
    ),
    "ordered with a lost answer: wait before letting go": Row(
        "it may still come",
        {"meta": DELETING, "status": CREATING, "memory": tried(Verb.CREATE, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True)},
        Reason.DELETING,
        looks=False,
    ),
    "ordered by a process before us: wait before letting go": Row(
        "it may still come",
        {"meta": DELETING, "status": CREATING, "memory": CallHistory(first_seen=NOW - 1)},
        Reason.DELETING,
        looks=False,
    ),
    "Retain lets go at once": Row(
        "the owner keeps the VM",
        {"meta": DELETING, "spec": a_spec(deletion={"policy": "Retain"}), "status": RUNNING, "found": present()},
        released=Reason.RETAINED,
    ),
    "Retain lets go even blind": Row(
        "the way out when the cloud is gone for good",
        {"meta": DELETING, "spec": a_spec(deletion={"policy": "Retain"}), "status": RUNNING, "found": BLIND},
        released=Reason.RETAINED,
    ),
    "deleting the loser of a conflict destroys nothing": Row(
        "the VM is another's", {"meta": DELETING, "owner": "team/first", "found": present()}, released=Reason.RETAINED
    ),
    "deleting what met a taken name destroys nothing": Row(
        "the VM was there before us",
        {"meta": DELETING, "spec": a_spec(vmName="theirs"), "found": present(name="theirs")},
        released=Reason.RETAINED,
    ),
    "before the first list nothing is let go": Row(
        "nobody can say yet whose VM it is", {"meta": DELETING, "owner": "team/first", "found": present(), "synced": False}
    ),
    "deleting twins destroys neither": Row(
        "either could be the wrong one",
        {"meta": DELETING, "status": RUNNING, "found": present(duplicate_records=True)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
    ),
    "blind: not forgotten": Row(
        "gone cannot be proven", {"meta": DELETING, "status": GOING, "found": BLIND}, Reason.DELETION_BLOCKED, says="Retain"
    ),
    "blind by an implausible listing: held": Row(
        "an empty listing must not free a thousand VMs",
        {"meta": DELETING, "status": GOING, "found": Unknown(NOW, UnknownReason.IMPLAUSIBLE)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="accept-absence",
    ),
    "observe-only says what it would do, and lets nothing go": Row(
        "whoever restores a cluster counts these before anything is done",
        {"meta": DELETING, "status": RUNNING, "found": present(), "limits": Limits(observe_only=True)},
        Reason.OBSERVE_ONLY,
        "Unknown",
        says=("--observe-only", "DestroyServer"),
    ),
    # --- letting go: who needs it, and with what it goes
    "a snapshot that is being taken of it holds it": Row(
        "the snapshot would fail",
        {"meta": DELETING, "status": RUNNING, "found": present(), "dependents": ("GpuSnapshot 's'",)},
        Reason.DELETION_BLOCKED,
        says=("GpuSnapshot 's'", "as soon as they are gone"),
    ),
    "those who need it do not hold what is retained": Row(
        "nothing happens to them",
        {
            "meta": DELETING,
            "spec": a_spec(deletion={"policy": "Retain"}),
            "status": RUNNING,
            "found": present(),
            "dependents": ("GpuSnapshot 's'",),
        },
        released=Reason.RETAINED,
    ),
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
    "without an account, with something begun: held": Row(
        "no account is no proof",
        {"meta": DELETING, "status": RUNNING, "found": Unknown(NOW, UnknownReason.NO_ACCOUNT)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "another tenant's credential lets nothing go": Row(
        "two listings of another tenant lack it too",
        {"meta": DELETING, "status": GOING, "found": Unknown(NOW, UnknownReason.TENANT, "It is tenant 'x'.")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="tenant 'x'",
    ),
    "a record of our own, never sent, frees even blind": Row(
        "nothing can be there",
        {"meta": DELETING, "status": CREATING, "known": MINE, "found": BLIND},
        released=Reason.GONE,
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


# What a GpuVM can say while it goes, and of its end.
REASONS = {"Deleting", "DeletionBlocked", "Gone", "ObserveOnly", "Retained"}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    row = ROWS[sentence]
    judge(row, decide(facts(**row.given)))


@pytest.mark.parametrize("sentence", ROWS)
def test_it_settles_and_speaks_in_sentences(sentence):
    assert ends_as_a_sentence(decide(facts(**ROWS[sentence].given)))
    converges(ROWS[sentence].given, decide, facts)


@pytest.mark.parametrize("sentence", ROWS)
def test_a_settled_status_is_a_fixed_point(sentence):
    fixed_point(ROWS[sentence].given, decide, facts)


def test_every_reason_has_a_row():
    assert {reason for row in ROWS.values() for reason in (row.reason, row.released) if reason is not None} == REASONS


@pytest.mark.parametrize(
    ("snapshots", "taken_along"),
    [
        (a_list(("s", True), ("t", True)), True),
        (a_list(), False),  # nothing to take: the safer call
        (a_list(("s", True), ("theirs", False)), False),
        (a_list(("theirs", False)), False),
        (a_list(("s", True), as_of=NOW - 11), False),  # a foreign one may have come since
        (Unknown(NOW, UnknownReason.UNREACHABLE), False),
        (None, False),
    ],
)
def test_when_the_destroying_call_takes_the_snapshots_along(snapshots, taken_along):
    assert with_snapshots(facts(**TOGETHER | {"snapshots": snapshots})) is taken_along
    assert not with_snapshots(facts(**TOGETHER | {"snapshots": snapshots, "spec": a_spec()}))


def test_an_id_that_somebody_wrote_into_a_status_is_not_destroyed():
    """The spec names 'mine'; that 'victim' is its VM stands in the status alone, which people can edit."""
    forged = a_status("Running", "True", None, order=an_order("mine", cloud_id="victim"), vm_id="victim")
    given = {"spec": a_spec(vmName="mine"), "status": forged, "found": present(name="victim")}
    plan = decide(facts(meta=DELETING, **given))
    assert (plan.action, plan.release) == (None, None)
    assert find(plan.status.conditions, ConditionType.READY).reason == Reason.DELETION_BLOCKED
    alive = decide(facts(meta=an_object(generation=2), **given | {"spec": a_spec(vmName="mine", powerState="Stopped")}))
    assert alive.action is None
    assert find(alive.status.conditions, ConditionType.READY).reason == Reason.CONFLICT
