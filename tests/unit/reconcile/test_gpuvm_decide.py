"""The chain of decisions for a GpuVM, one situation a row; each row says why it matters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import (
    Absent,
    Asked,
    Attempt,
    Blindness,
    KeyTrouble,
    Limits,
    Memory,
    Refusal,
    SSHKeys,
    Unknown,
    Verb,
)
from gpucloud.reconcile.gpuvm import decide
from support.builders import (
    NOW,
    START,
    a_spec,
    a_status,
    an_intent,
    an_object,
    facts,
    our_name,
    present,
)

NAME = our_name()
INTENT = an_intent(NAME)
MINE = Memory(first_seen=NOW - 60, intent_id="ours", intent_ids=frozenset({"ours"}), intent_recorded=NOW - 1)
OLD = Memory(first_seen=NOW - 60, intent_id="ours", intent_ids=frozenset({"ours"}))
STRANGER = Memory(first_seen=NOW - 99, stranger_id="ours", stranger_seen=NOW - 31, unclear=True)
BOUGHT = {"intent": INTENT, "vm_id": NAME}
CREATING = a_status("Creating", intent=INTENT)
RUNNING = a_status("Running", "True", None, **BOUGHT)
OFF = a_status("PoweredOff", "True", None, **BOUGHT)
DELETING = an_object(deleting=True)
GOING = a_status("Deleting", **BOUGHT)
BLIND = Unknown(NOW - 10, Blindness.UNREACHABLE, "HTTP 502")


def tried(verb, *, ago=1.0, kind=None, ambiguous=False, failures=1, retry_after=None, generation=1, memory=OLD):
    refusal = None if kind is None else Refusal(kind, "the cloud's own words", ambiguous, retry_after)
    attempt = Attempt(verb, NOW - ago, Asked(generation), refusal, failures if refusal else 0)
    return replace(memory, attempts={**memory.attempts, verb: attempt})


def noted(**annotations):
    return an_object(annotations={Annotation[name]: value for name, value in annotations.items()})


@dataclass
class Row:
    why: str
    given: dict = field(default_factory=dict)
    reason: Reason | None = None
    ready: str = "False"
    progress: str | None = "Reconciling"
    action: Verb | None = None
    released: Reason | None = None
    looks: bool | None = None  # whether a younger listing is asked for
    says: str = ""
    status: dict = field(default_factory=dict)
    intends: bool | None = None


ROWS = {
    # --- safety first
    "without our finalizer nothing happens": Row(
        "bought before the finalizer, deleted at once: leaked", {"meta": an_object(guarded=False)}
    ),
    "paused keeps the last verdict and says so": Row(
        "a person's hand is on it",
        {"meta": noted(PAUSED="true"), "status": RUNNING, "vm": present("OFFLINE")},
        Reason.RUNNING,
        "True",
        None,
    ),
    "paused before a new generation was seen is Unknown": Row(
        "an old Ready=True beside a new generation would lie",
        {"meta": an_object(generation=2, annotations={Annotation.PAUSED: "true"}), "status": RUNNING, "vm": present()},
        Reason.PAUSED,
        "Unknown",
        None,
    ),
    "paused holds deletion": Row(
        "pause means hands off, deletion included",
        {"meta": an_object(deleting=True, annotations={Annotation.PAUSED: "true"}), "status": RUNNING, "vm": present()},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="paused",
    ),
    "any other value of the annotation does not pause": Row(
        'only "true" is a yes',
        {"meta": noted(PAUSED="false"), "status": RUNNING, "vm": present()},
        Reason.RUNNING,
        "True",
        None,
    ),
    # --- sight
    "never looked: look": Row("no verdict without sight", {"vm": Unknown(NOW, Blindness.NOT_LOOKED)}, looks=True),
    "a short outage leaves a running VM's verdict": Row(
        "one outage must not turn 10,000 objects red", {"status": RUNNING, "vm": BLIND}
    ),
    "a long outage says so": Row(
        "Ready must not stay True for ever",
        {"status": RUNNING, "vm": Unknown(NOW - 181, Blindness.UNREACHABLE, "HTTP 502")},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says="HTTP 502",
    ),
    "a new object says quickly that the cloud is away": Row(
        "its owner is watching", {"vm": Unknown(NOW - 7, Blindness.UNREACHABLE, "no route")}, Reason.API_UNAVAILABLE, "Unknown"
    ),
    "a refused credential stalls a new object at once": Row(
        "a person must act", {"vm": Unknown(NOW, Blindness.REFUSED, "401")}, Reason.CREDENTIALS_REFUSED, progress="Stalled"
    ),
    "a missing permission stalls a new object at once": Row(
        "a person must act", {"vm": Unknown(NOW, Blindness.FORBIDDEN)}, Reason.PERMISSION_DENIED, progress="Stalled"
    ),
    "an implausible listing is not believed": Row(
        "half the fleet cannot have vanished",
        {"status": RUNNING, "vm": Unknown(NOW - 200, Blindness.IMPLAUSIBLE)},
        Reason.IMPLAUSIBLE_LISTING,
        "Unknown",
        says="accept-absence",
    ),
    # --- ownership
    "a second claimant is told": Row(
        "one VM, one owner",
        {"owner": "team/first", "vm": present(), "status": RUNNING},
        Reason.CONFLICT,
        progress="Stalled",
        says="team/first",
    ),
    "a taken name without our intent is a conflict": Row(
        "a VM of that name may hold somebody's work",
        {"spec": a_spec(vmName="theirs"), "vm": present(name="theirs")},
        Reason.CONFLICT,
        progress="Stalled",
    ),
    "a taken name with an intent for another name is a conflict": Row(
        "an edited status proves nothing",
        {"spec": a_spec(vmName="theirs"), "vm": present(name="theirs"), "status": a_status(intent=INTENT)},
        Reason.CONFLICT,
        progress="Stalled",
    ),
    "our fingerprint is proof even when status was lost": Row(
        "etcd restored from a backup: the VM is found again by its name",
        {"vm": present()},
        Reason.RUNNING,
        "True",
        None,
    ),
    "twins stall and nothing is touched": Row(
        "either could be the wrong one", {"vm": present(twins=True), "status": RUNNING}, Reason.AMBIGUOUS, progress="Stalled"
    ),
    # --- buying
    "a free name is first written down": Row(
        "a crash after an unrecorded order would buy twice", {}, Reason.CREATING, intends=True, status={"intent": INTENT}
    ),
    "a recorded intent of ours is acted on": Row(
        "look, record, buy", {"status": CREATING, "memory": MINE}, Reason.CREATING, action=Verb.CREATE
    ),
    "an intent that another process recorded is waited out": Row(
        "it may have been sent and be late",
        {"status": CREATING, "memory": replace(STRANGER, stranger_seen=NOW - 20)},
        Reason.CREATING,
        looks=False,
    ),
    "an intent of another process is not taken over on one listing": Row(
        "one listing may be partial",
        {"status": CREATING, "memory": STRANGER, "vm": Absent(NOW, NOW)},
        Reason.CREATING,
        looks=True,
    ),
    "an intent of another process seen only now is waited out, however long the object is known": Row(
        "its order may be under way",
        {"status": CREATING, "memory": replace(STRANGER, stranger_seen=NOW), "vm": Absent(NOW, NOW - 99, NOW - 0.5)},
        Reason.CREATING,
        looks=False,
    ),
    "a chosen name wants two listings": Row(
        "a partial one may hide somebody's VM", {"spec": a_spec(vmName="ours-to-be"), "vm": Absent(NOW, NOW)}, looks=True
    ),
    "a chosen name that the cloud calls taken is a conflict, and no proof stays": Row(
        "the VM of that name is not ours",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Creating", intent=an_intent("theirs")),
            "vm": Absent(NOW, NOW, NOW - 0.5),
            "memory": tried(Verb.CREATE, kind=ErrorKind.CONFLICT, memory=MINE),
        },
        Reason.CONFLICT,
        progress="Stalled",
        status={"intent": None},
    ),
    "a chosen name that the cloud calls taken stays another's when it is seen": Row(
        "the record of an order that was refused proves nothing",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Creating", intent=an_intent("theirs")),
            "vm": present(name="theirs"),
            "memory": tried(Verb.CREATE, kind=ErrorKind.CONFLICT, memory=MINE),
        },
        Reason.CONFLICT,
        progress="Stalled",
        status={"intent": None},
    ),
    "an intent of another process is taken over after the grace": Row(
        "never wait for a person",
        {"status": CREATING, "memory": STRANGER, "vm": Absent(NOW, NOW - 99, NOW - 0.5)},
        Reason.CREATING,
        intends=True,
    ),
    "an old intent of ours is recorded anew": Row(
        "another process may have taken over meanwhile",
        {"status": CREATING, "memory": replace(MINE, intent_recorded=NOW - 16)},
        Reason.CREATING,
        intends=True,
    ),
    "a used intent is recorded anew": Row(
        "every order has its own record",
        {
            "status": CREATING,
            "vm": Absent(NOW, NOW - 50, NOW - 1),
            "memory": tried(
                Verb.CREATE,
                ago=40,
                kind=ErrorKind.OUTCOME_UNKNOWN,
                ambiguous=True,
                memory=replace(OLD, intent_recorded=NOW - 45),
            ),
        },
        Reason.API_ERROR,
        intends=True,
    ),
    "a listing older than the object is not believed": Row(
        "the order may already have been sent in an earlier life",
        {"vm": Absent(NOW - 2, NOW - 2), "memory": Memory(first_seen=NOW - 1)},
        looks=True,
    ),
    "a stale listing does not show that a name is free": Row(
        "somebody may have taken it since", {"vm": Absent(NOW - 11, NOW - 50), "memory": OLD}, looks=True
    ),
    "after a lost answer: look for the grace": Row(
        "the order may have been carried out",
        {"status": CREATING, "memory": tried(Verb.CREATE, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True, memory=MINE)},
        Reason.API_ERROR,
        looks=False,
    ),
    "after an accepted order that does not show: keep looking": Row(
        "a listing may lag",
        {"status": CREATING, "memory": tried(Verb.CREATE, ago=100, memory=MINE)},
        Reason.CREATING,
        looks=False,
    ),
    "a refused order is not repeated for this generation": Row(
        "hammering does not help",
        {"status": CREATING, "memory": tried(Verb.CREATE, ago=9999, kind=ErrorKind.INVALID, memory=MINE)},
        Reason.REJECTED,
        progress="Stalled",
        says="the cloud's own words",
    ),
    "a corrected spec is tried at once": Row(
        "the owner fixed it",
        {
            "meta": an_object(generation=2),
            "status": CREATING,
            "memory": tried(Verb.CREATE, ago=5, kind=ErrorKind.INVALID, memory=replace(OLD, intent_recorded=NOW - 1)),
        },
        Reason.REJECTED,
        progress="Stalled",
        action=Verb.CREATE,
    ),
    "a refusal outlives a restart": Row(
        "one attempt a generation, whoever runs",
        {"status": a_status("Rejected", progress="Stalled", intent=INTENT), "memory": OLD},
    ),
    "no capacity waits without a deadline": Row(
        "scarce GPUs are waited for",
        {"status": CREATING, "memory": tried(Verb.CREATE, ago=31, kind=ErrorKind.UNAVAILABLE, ambiguous=True, failures=3)},
        Reason.WAITING_FOR_CAPACITY,
        status={"progress_deadline_at": None},
    ),
    "an error that never ends calls a person": Row(
        "500 is how this service reports business errors too",
        {"status": CREATING, "memory": tried(Verb.CREATE, ago=31, kind=ErrorKind.SERVER, ambiguous=True, failures=5)},
        Reason.API_ERROR,
        progress="Stalled",
    ),
    "a lookalike is held for a person": Row(
        "a manifest re-applied with a new UID must not buy a second VM",
        {"lookalikes": ("train-tagaa-aaaaaaaaaa",)},
        Reason.POSSIBLE_DUPLICATE,
        progress="Stalled",
        says="train-tagaa-aaaaaaaaaa",
    ),
    "a lookalike may be overridden": Row(
        "a person said to buy",
        {"lookalikes": ("train-tagaa-aaaaaaaaaa",), "meta": noted(BUY_ANYWAY="true")},
        Reason.CREATING,
        intends=True,
    ),
    "nothing is bought in a dying namespace": Row(
        "it would be destroyed at once", {"namespace_terminating": True}, Reason.NAMESPACE_TERMINATING
    ),
    "a missing Secret is waited for by name": Row(
        "it arrives with the same kubectl apply",
        {"keys": SSHKeys(trouble=KeyTrouble.MISSING, detail="Waiting for the Secret 'keys'.")},
        Reason.SSH_KEYS_NOT_FOUND,
        says="'keys'",
    ),
    "keys that are none stall": Row(
        "a person must act",
        {"keys": SSHKeys(trouble=KeyTrouble.INVALID, detail="It holds a private key.")},
        Reason.INVALID_SSH_KEYS,
        progress="Stalled",
    ),
    "observe-only says what it would do": Row(
        "disaster recovery", {"limits": Limits(observe_only=True)}, Reason.OBSERVE_ONLY, "Unknown", says="CreateServer"
    ),
    "before the first list nothing is bought": Row(
        "another object may claim the name", {"synced": False, "status": CREATING, "memory": MINE}
    ),
    # --- life
    "online as asked is Ready": Row("the point of it all", {"status": CREATING, "vm": present()}, Reason.RUNNING, "True", None),
    "pending in the cloud is Creating": Row(
        "one work, one reason", {"status": CREATING, "vm": present("PENDING")}, Reason.CREATING
    ),
    "waiting for resources is no fault": Row(
        "best effort, first come first served",
        {"status": CREATING, "vm": present("PENDING_RESOURCES")},
        Reason.WAITING_FOR_CAPACITY,
    ),
    "an unknown word is shown and waited out": Row(
        "the list of states is open",
        {"status": RUNNING, "vm": present("DEFROSTING")},
        Reason.UNKNOWN_STATE,
        says="DEFROSTING",
        status={"state": "DEFROSTING"},
    ),
    "no word at all is waited out": Row(
        "every field may be null", {"status": RUNNING, "vm": present(None)}, Reason.UNKNOWN_STATE
    ),
    "a failed VM stalls with its price": Row(
        "it may still cost money",
        {"status": CREATING, "vm": present("CREATE_FAILED"), "price_per_hour": "2.05"},
        Reason.CREATE_FAILED,
        progress="Stalled",
        says="2.05",
    ),
    "the cloud's admin is waited for by a person": Row(
        "a person must look", {"status": CREATING, "vm": present("ADMIN_WAIT")}, Reason.ADMIN_WAIT, progress="Stalled"
    ),
    "stopped from outside is announced as drift": Row(
        "the owner asked for Running", {"status": RUNNING, "vm": present("OFFLINE")}, Reason.DRIFTED, action=Verb.START
    ),
    "started from outside is announced as drift": Row(
        "the owner asked for Stopped",
        {"spec": a_spec(powerState="Stopped"), "status": OFF, "vm": present()},
        Reason.DRIFTED,
        action=Verb.STOP,
    ),
    "off as asked is Ready": Row(
        "a state left on purpose must not hang a rollout",
        {"spec": a_spec(powerState="Stopped"), "status": RUNNING, "vm": present("OFFLINE")},
        Reason.POWERED_OFF,
        "True",
        None,
    ),
    "asked to stop: stop": Row(
        "an edit",
        {"spec": a_spec(powerState="Stopped"), "meta": an_object(generation=2), "status": RUNNING, "vm": present()},
        Reason.STOPPING,
        action=Verb.STOP,
    ),
    "a stop waits until the VM is online": Row(
        "StopServer is legal only then",
        {"spec": a_spec(powerState="Stopped"), "status": CREATING, "vm": present("PENDING_READINESS")},
        Reason.CREATING,
    ),
    "a power call is not sent on an old look": Row(
        "the VM may have changed since",
        {
            "spec": a_spec(powerState="Stopped"),
            "meta": an_object(generation=2),
            "status": RUNNING,
            "vm": present(as_of=NOW - 50),
        },
        Reason.STOPPING,
        looks=True,
    ),
    "a start that was sent gets time to show": Row(
        "the listing still says OFFLINE",
        {"status": RUNNING, "vm": present("OFFLINE"), "memory": tried(Verb.START)},
        Reason.DRIFTED,
        looks=False,
    ),
    "a stop right after a start is not held up by the stop before it": Row(
        "a person switches to and fro",
        {
            "spec": a_spec(powerState="Stopped"),
            "meta": an_object(generation=3),
            "status": RUNNING,
            "vm": present(),
            "memory": tried(Verb.START, ago=2, memory=tried(Verb.STOP, ago=5)),
        },
        Reason.STOPPING,
        action=Verb.STOP,
    ),
    "a start without effect is sent again": Row(
        "it was lost",
        {"status": RUNNING, "vm": present("OFFLINE"), "memory": tried(Verb.START, ago=31)},
        Reason.DRIFTED,
        action=Verb.START,
    ),
    "a start without room waits": Row(
        "a stopped VM gave its GPUs back",
        {"status": RUNNING, "vm": present("OFFLINE"), "memory": tried(Verb.START, kind=ErrorKind.UNAVAILABLE)},
        Reason.WAITING_FOR_CAPACITY,
    ),
    "a restart stops first": Row(
        "asked by annotation",
        {"meta": noted(RESTART_REQUESTED_AT="t1"), "status": RUNNING, "vm": present()},
        Reason.RESTARTING,
        action=Verb.STOP,
        status={"restarting": "t1"},
    ),
    "a restart then starts, and is answered": Row(
        "asked by annotation",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1"),
            "vm": present("OFFLINE"),
            "status": a_status("Restarting", restarting="t1", **BOUGHT),
        },
        Reason.RESTARTING,
        action=Verb.START,
        status={"restarting": None, "last_handled_restart_at": "t1"},
    ),
    "an answered restart is not repeated": Row(
        "the annotation stays in the manifest",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1"),
            "vm": present(),
            "status": RUNNING.model_copy(update={"last_handled_restart_at": "t1"}),
        },
        Reason.RUNNING,
        "True",
        None,
    ),
    "a restart of what is asked to be off is only answered": Row(
        "spec.powerState wins",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1"),
            "spec": a_spec(powerState="Stopped"),
            "status": OFF,
            "vm": present("OFFLINE"),
        },
        Reason.POWERED_OFF,
        "True",
        None,
        status={"last_handled_restart_at": "t1"},
    ),
    "a restart asked for at birth is answered by birth": Row(
        "there is nothing to restart yet",
        {"meta": noted(RESTART_REQUESTED_AT="t0")},
        Reason.CREATING,
        intends=True,
        status={"last_handled_restart_at": "t0"},
    ),
    "pending beyond the deadline stalls": Row(
        "a broken boot may wait for ever",
        {
            "status": a_status("Creating", progress_deadline_at=START + timedelta(seconds=NOW - 1), **BOUGHT),
            "vm": present("PENDING_READINESS"),
        },
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        progress="Stalled",
    ),
    "a VM that vanished is looked for again first": Row(
        "a listing may have been partial", {"status": RUNNING, "vm": Absent(NOW, NOW)}, Reason.VM_LOST, "Unknown", looks=False
    ),
    "a VM that stays away is lost, and not bought again": Row(
        "its data is gone; a person decides",
        {"status": RUNNING, "vm": Absent(NOW, NOW - 31)},
        Reason.VM_LOST,
        progress="Stalled",
    ),
    # --- letting go
    "deletion is announced, then sent": Row(
        "every mutation is announced",
        {"meta": DELETING, "status": RUNNING, "vm": present()},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "a destroy that was accepted is not repeated": Row(
        "the record stays a while",
        {"meta": DELETING, "status": GOING, "vm": present("PENDING"), "memory": tried(Verb.DESTROY, ago=100)},
        Reason.DELETING,
    ),
    "a destroy without effect is repeated after five minutes": Row(
        "it was lost inside the cloud",
        {"meta": DELETING, "status": GOING, "vm": present(), "memory": tried(Verb.DESTROY, ago=301)},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "a lost answer to a destroy is looked for, then repeated": Row(
        "it may not have been carried out",
        {
            "meta": DELETING,
            "status": GOING,
            "vm": present(),
            "memory": tried(Verb.DESTROY, ago=31, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True),
        },
        Reason.DELETION_BLOCKED,
        action=Verb.DESTROY,
    ),
    "a forbidden destroy keeps the object": Row(
        "no error ever frees the finalizer",
        {"meta": DELETING, "status": GOING, "vm": present(), "memory": tried(Verb.DESTROY, kind=ErrorKind.FORBIDDEN)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="Retain",
    ),
    "one listing without it is not proof": Row(
        "a listing may be partial",
        {"meta": DELETING, "status": GOING, "vm": Absent(NOW, NOW), "memory": tried(Verb.DESTROY, ago=5)},
        Reason.DELETING,
        looks=True,
    ),
    "two listings without it are proof": Row(
        "gone",
        {"meta": DELETING, "status": GOING, "vm": Absent(NOW, NOW - 9, NOW - 2), "memory": tried(Verb.DESTROY, ago=5)},
        released=Reason.GONE,
    ),
    "a listing from before the destroy is no proof": Row(
        "it may have been partial",
        {"meta": DELETING, "status": GOING, "vm": Absent(NOW - 2, NOW - 9), "memory": tried(Verb.DESTROY)},
        Reason.DELETING,
        looks=True,
    ),
    "what this process has not destroyed is destroyed even if not listed": Row(
        "the call is cheap, a leak is not",
        {"meta": DELETING, "status": RUNNING, "vm": Absent(NOW, NOW - 99)},
        Reason.DELETING,
        action=Verb.DESTROY,
    ),
    "never ordered and not there: free": Row("nothing was bought", {"meta": DELETING, "memory": OLD}, released=Reason.GONE),
    "ordered with a lost answer: wait before letting go": Row(
        "it may still come",
        {"meta": DELETING, "status": CREATING, "memory": tried(Verb.CREATE, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True)},
        Reason.DELETING,
        looks=False,
    ),
    "ordered by a process before us: wait before letting go": Row(
        "it may still come",
        {"meta": DELETING, "status": CREATING, "memory": replace(STRANGER, stranger_seen=NOW - 1)},
        Reason.DELETING,
        looks=False,
    ),
    "Retain lets go at once": Row(
        "the owner keeps the VM",
        {"meta": DELETING, "spec": a_spec(deletion={"policy": "Retain"}), "status": RUNNING, "vm": present()},
        released=Reason.RETAINED,
    ),
    "Retain lets go even blind": Row(
        "the way out when the cloud is gone for good",
        {"meta": DELETING, "spec": a_spec(deletion={"policy": "Retain"}), "status": RUNNING, "vm": BLIND},
        released=Reason.RETAINED,
    ),
    "deleting the loser of a conflict destroys nothing": Row(
        "the VM is another's", {"meta": DELETING, "owner": "team/first", "vm": present()}, released=Reason.RETAINED
    ),
    "deleting what met a taken name destroys nothing": Row(
        "the VM was there before us",
        {"meta": DELETING, "spec": a_spec(vmName="theirs"), "vm": present(name="theirs")},
        released=Reason.RETAINED,
    ),
    "before the first list nothing is let go": Row(
        "nobody can say yet whose VM it is", {"meta": DELETING, "owner": "team/first", "vm": present(), "synced": False}
    ),
    "deleting twins destroys neither": Row(
        "either could be the wrong one",
        {"meta": DELETING, "status": RUNNING, "vm": present(twins=True)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
    ),
    "blind: not forgotten": Row(
        "gone cannot be proven", {"meta": DELETING, "status": GOING, "vm": BLIND}, Reason.DELETION_BLOCKED, says="Retain"
    ),
    "blind by an implausible listing: held": Row(
        "an empty listing must not free a thousand VMs",
        {"meta": DELETING, "status": GOING, "vm": Unknown(NOW, Blindness.IMPLAUSIBLE)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="accept-absence",
    ),
    "observe-only lets nothing go": Row(
        "it does nothing",
        {"meta": DELETING, "status": RUNNING, "vm": present(), "limits": Limits(observe_only=True)},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
    ),
}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    row = ROWS[sentence]
    plan = decide(facts(**row.given))
    assert plan.action == row.action, row.why
    assert (plan.release.reason if plan.release else None) == row.released, row.why
    if row.looks is not None:
        assert plan.look_after is not None, row.why
        assert (plan.look_after <= NOW) == row.looks, row.why
    if row.intends is not None:
        assert plan.record_intent == row.intends, row.why
    if row.reason is None:
        assert plan.status is None, row.why
        return
    conditions = {item.type: item for item in plan.status.conditions}
    ready = conditions[ConditionType.READY]
    assert (ready.reason, ready.status) == (row.reason, row.ready), row.why
    standing = set(conditions) - {ConditionType.READY, ConditionType.PAUSED}
    assert standing == ({row.progress} if row.progress else set()), row.why
    assert row.says in ready.message
    for name, value in row.status.items():
        got = getattr(plan.status, name)
        if name == "intent" and got is not None:
            got = got.model_copy(update={"recorded_at": value.recorded_at, "id": value.id})
        assert got == value, row.why


def test_every_message_ends_as_a_sentence():
    for sentence, row in ROWS.items():
        plan = decide(facts(**row.given))
        for condition in plan.status.conditions if plan.status else ():
            if condition.last_transition_time != START:
                assert condition.message.endswith("."), sentence


def test_a_settled_status_is_a_fixed_point():
    """Deciding again on what was just written changes nothing: no hot loop, no second write."""
    for sentence, row in ROWS.items():
        first = decide(facts(**row.given))
        if first.status is None:
            continue
        second = decide(facts(**{**row.given, "status": first.status}))
        if second.status is None:
            continue
        third = decide(facts(**{**row.given, "status": second.status}))
        verdicts = [[(c.type, c.status) for c in plan.status.conditions] for plan in (first, second)]
        assert verdicts[0] == verdicts[1], sentence
        assert third.status.conditions == second.status.conditions, sentence


def test_paused_stands_beside_ready():
    plan = decide(facts(meta=noted(PAUSED="true"), status=RUNNING, vm=present()))
    assert find(plan.status.conditions, ConditionType.PAUSED).status == "True"


def test_the_deadline_is_carried_over_and_reset_by_a_new_generation():
    first = decide(facts(status=CREATING, vm=present("PENDING"))).status
    assert first.progress_deadline_at == START + timedelta(seconds=NOW + 1800)
    later = decide(facts(status=first, vm=present("PENDING_READINESS"))).status
    assert later.progress_deadline_at == first.progress_deadline_at
    settled = decide(facts(status=later, vm=present())).status
    assert settled.progress_deadline_at is None


def test_a_record_of_rubbish_still_fits_the_schema():
    plan = decide(facts(status=CREATING, vm=present(ip="x" * 5000, gpus=10**12, image="y" * 300)))
    assert len(plan.status.ip) == 253
    assert plan.status.gpus is None
    assert GpuVMStatus.model_validate(plan.status.model_dump(mode="json", by_alias=True)) == plan.status
