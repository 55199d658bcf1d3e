"""The chain of decisions for a GpuVM, one situation a row; each row says why it matters."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import GpuVMStatus, Operation, PowerVerb
from gpucloud.kinds.meta import Annotation, ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import (
    Absent,
    AccountFacts,
    CallHistory,
    Dependency,
    KeyTrouble,
    Limits,
    Readiness,
    SSHKeys,
    Unknown,
    UnknownReason,
    Verb,
)
from gpucloud.reconcile.gpuvm import decide, identity
from gpucloud.reconcile.order import Standing
from gpucloud.reconcile.ownership import record_id
from support.builders import (
    NOW,
    START,
    TAG,
    UID,
    a_spec,
    a_status,
    an_object,
    an_order,
    facts,
    known,
    present,
)
from support.gpuvmfacts import (
    BLIND,
    BOUGHT,
    CREATING,
    INTENDED,
    MINE,
    NAME,
    OFF,
    ORDER,
    RUNNING,
    STOPPED,
)
from support.rows import LONG_KNOWN, OLD, Row, converges, ends_as_a_sentence, fixed_point, judge, noted, tried

AGAIN = INTENDED.model_copy(
    update={"id": record_id("", UID, NAME), "recorded_at": START + timedelta(seconds=NOW), "reorders": 1}
)

RESTART = Operation(verb=PowerVerb.RESTART, generation=1, id="t1", at=START + timedelta(seconds=NOW))
STOPS = Operation(verb=PowerVerb.STOP, generation=3, id="x", at=START)
REFUSED = an_order(NAME, OrderState.REFUSED, refused_generation=1)

ROWS = {
    # --- safety first
    "without our finalizer nothing happens": Row(
        "bought before the finalizer, deleted at once: leaked", {"meta": an_object(has_finalizer=False)}
    ),
    "paused keeps the last verdict and says so": Row(
        "a person's hand is on it",
        {"meta": noted(PAUSED="true"), "status": RUNNING, "found": present("OFFLINE")},
        Reason.RUNNING,
        "True",
        None,
    ),
    "paused before a new generation was seen is Unknown": Row(
        "an old Ready=True beside a new generation would lie",
        {"meta": an_object(generation=2, annotations={Annotation.PAUSED: "true"}), "status": RUNNING, "found": present()},
        Reason.PAUSED,
        "Unknown",
        None,
    ),
    "paused holds deletion": Row(
        "pause means hands off, deletion included",
        {"meta": an_object(deleting=True, annotations={Annotation.PAUSED: "true"}), "status": RUNNING, "found": present()},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="paused",
    ),
    'the value "false" does not pause': Row(
        "a template may render it",
        {"meta": noted(PAUSED="false"), "status": RUNNING, "found": present()},
        Reason.RUNNING,
        "True",
        None,
    ),
    "a value that cannot be read pauses": Row(
        'put over "true" it must not begin to act',
        {"meta": noted(PAUSED="yes", deleting=True), "status": RUNNING, "found": present()},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says=("'yes', neither 'true' nor 'false'", "Remove the annotation"),
    ),
    # --- sight
    "never looked: look": Row("no verdict without sight", {"found": Unknown(NOW, UnknownReason.NOT_LOOKED)}, looks=True),
    "a short outage leaves a running VM's verdict": Row(
        "one outage must not turn 10,000 objects red", {"status": RUNNING, "found": BLIND}
    ),
    "a long outage says so": Row(
        "Ready must not stay True for ever",
        {"status": RUNNING, "found": Unknown(NOW - 181, UnknownReason.UNREACHABLE, "HTTP 502")},
        Reason.API_UNAVAILABLE,
        "Unknown",
        says="HTTP 502",
    ),
    "a new object says quickly that the cloud is away": Row(
        "its owner is watching",
        {"found": Unknown(NOW - 7, UnknownReason.UNREACHABLE, "no route")},
        Reason.API_UNAVAILABLE,
        "Unknown",
    ),
    "a refused credential stalls a new object at once": Row(
        "a person must act",
        {"found": Unknown(NOW, UnknownReason.REFUSED, "401")},
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
    ),
    "a missing permission stalls a new object at once": Row(
        "a person must act", {"found": Unknown(NOW, UnknownReason.FORBIDDEN)}, Reason.PERMISSION_DENIED, progress="Stalled"
    ),
    "a cluster that the cloud does not know is told with those that it knows": Row(
        "a slip of the pen",
        {
            "spec": a_spec(cluster="Msc7"),
            "found": Unknown(NOW, UnknownReason.REJECTED, "no such cluster"),
            "account": AccountFacts("default", clusters=("Hou1", "Msc1")),
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        says="Unknown cluster 'Msc7' (no such cluster). Known clusters: Hou1, Msc1. Delete this object",
    ),
    "which clusters there are may take a moment to be known": Row(
        "the event, which holds the first message, is to name them", {"found": Unknown(NOW - 5, UnknownReason.REJECTED, "400")}
    ),
    "without a list of clusters the refusal is told all the same": Row(
        "the credential may not list them",
        {"found": Unknown(NOW - 7, UnknownReason.REJECTED, "400")},
        Reason.INVALID_SPEC,
        progress="Stalled",
        says="refuses to list VMs in cluster 'Msc1' (400).",
    ),
    "a listing that is refused in a cluster that the cloud knows": Row(
        "the cluster's name is right, in whatever spelling",
        {
            "spec": a_spec(cluster="msc1"),
            "found": Unknown(NOW, UnknownReason.REJECTED, "closed"),
            "account": AccountFacts("default", clusters=("Hou1", "Msc1")),
        },
        Reason.INVALID_SPEC,
        progress="Stalled",
        says="The cloud refuses to list VMs in cluster 'msc1' (closed).",
    ),
    "an implausible listing is not believed": Row(
        "half the fleet cannot have vanished",
        {"status": RUNNING, "found": Unknown(NOW - 200, UnknownReason.IMPLAUSIBLE)},
        Reason.IMPLAUSIBLE_LISTING,
        "Unknown",
        says="accept-absence",
    ),
    "a person who answered the doubt in vain is told at once": Row(
        "the annotation is no time, and nothing would be said of that for three minutes",
        {
            "meta": noted(ACCEPT_ABSENCE="true"),
            "status": RUNNING,
            "found": Unknown(NOW, UnknownReason.IMPLAUSIBLE, "It is 'true', which is no time."),
        },
        Reason.IMPLAUSIBLE_LISTING,
        "Unknown",
        says=("It is 'true', which is no time", "kubectl annotate gpuvm"),
    ),
    # --- ownership
    "a second claimant is told": Row(
        "one VM, one owner",
        {"owner": "team/first", "found": present(), "status": RUNNING},
        Reason.CONFLICT,
        progress="Stalled",
        says="team/first",
    ),
    "a taken name without an order of ours is a conflict": Row(
        "a VM of that name may hold somebody's work",
        {"spec": a_spec(vmName="theirs"), "found": present(name="theirs")},
        Reason.CONFLICT,
        progress="Stalled",
    ),
    "a taken name with an order for another name is a conflict": Row(
        "an edited status proves nothing",
        {
            "spec": a_spec(vmName="theirs"),
            "found": present(name="theirs"),
            "status": a_status(order=an_order("other", OrderState.LOST)),
        },
        Reason.CONFLICT,
        progress="Stalled",
    ),
    "our fingerprint is proof even when status was lost": Row(
        "etcd restored from a backup: the VM is found again by its name",
        {"found": present()},
        Reason.RUNNING,
        "True",
        None,
    ),
    "a spec that names another place than a live order calls a person, and the record is kept": Row(
        "what it names in the new place is another's, and ours would be forgotten",
        {"status": RUNNING, "found": Unknown(NOW, UnknownReason.MOVED, "It cannot be moved. Set the spec back.")},
        Reason.INVALID_SPEC,
        "Unknown",
        "Stalled",
        says="Set the spec back",
        status={"order": ORDER},
    ),
    "accepted, and not listed for ten graces: ordered again": Row(
        "the cloud may have lost it; the record says how often",
        {
            "status": CREATING,
            "known": known(an_order(NAME, OrderState.ACCEPTED), ago=310, recorded=311),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.CREATING,
        records=True,
        status={"order": AGAIN},
    ),
    "accepted three times more, and never listed: a person asks why": Row(
        "each acceptance may be billed",
        {
            "status": CREATING,
            "known": known(an_order(NAME, OrderState.ACCEPTED, reorders=3), ago=310, recorded=311),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.ORDER_OVERDUE,
        progress="Stalled",
        says=("4 times", "gpucloud.dev/reconcile-requested-at"),
        status={"order": OrderState.OVERDUE},
    ),
    "accepted under another id and never listed: not ordered again": Row(
        "it lives under a name of the cloud's own",
        {
            "status": CREATING,
            "known": known(an_order(NAME, OrderState.ACCEPTED, cloud_id="vm-of-its-own"), ago=310, recorded=311),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.ORDER_OVERDUE,
        progress="Stalled",
        status={"order": OrderState.OVERDUE},
    ),
    "overdue, and a person asks to order again": Row(
        "as the message says",
        {
            "meta": noted(RECONCILE_REQUESTED_AT="t1"),
            "status": CREATING,
            "known": known(an_order(NAME, OrderState.OVERDUE, reorders=3), doubtful=True),
            "found": Absent(NOW, NOW - 300, NOW - 1),
        },
        Reason.CREATING,
        records=True,
        status={"last_handled_reconcile_at": "t1"},
    ),
    "gone by its record, of an object that stays: lost": Row(
        "a backup restored the status of one that was being deleted",
        {
            "status": a_status("Deleting", order=an_order(NAME, OrderState.GONE)),
            "found": Absent(NOW, NOW - 50, NOW - 2),
            "memory": OLD,
        },
        Reason.VM_LOST,
        progress="Stalled",
        says="deleted outside Kubernetes",
    ),
    "a restart that was asked for when the record was lost counts as answered": Row(
        "nobody can know, and restarting twice loses work",
        {"meta": noted(RESTART_REQUESTED_AT="t1"), "found": present()},
        Reason.RUNNING,
        "True",
        None,
        status={"last_handled_restart_at": "t1"},
    ),
    "a restart counts as answered when the lost record is put back while nothing can be seen": Row(
        "the next pass finds a record again, and would restart once more (seeds 120424, 120558)",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1"),
            "standing": known(ORDER, ago=60, recorded=60),
            "found": Unknown(NOW - 400, UnknownReason.UNREACHABLE, "HTTP 502"),
        },
        Reason.API_UNAVAILABLE,
        "Unknown",
        status={"order": OrderState.SEEN, "last_handled_restart_at": "t1"},
    ),
    "a restart counts as answered when the lost record is put back during a pause": Row(
        "the end of the pause finds a record again",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1", PAUSED="true"),
            "standing": known(ORDER, ago=60, recorded=60),
            "found": present(),
        },
        Reason.PAUSED,
        "Unknown",
        progress=None,
        status={"order": OrderState.SEEN, "last_handled_restart_at": "t1"},
    ),
    "twins stall and nothing is touched": Row(
        "either could be the wrong one",
        {"found": present(duplicate_records=True), "status": RUNNING},
        Reason.AMBIGUOUS,
        progress="Stalled",
    ),
    # --- buying
    "a free name is first written down": Row(
        "a crash after an unrecorded order would buy twice",
        {},
        Reason.CREATING,
        records=True,
        status={"order": OrderState.INTENDED},
    ),
    "a recorded order of ours is acted on": Row(
        "look, record, buy", {"status": CREATING, "known": MINE}, Reason.CREATING, action=Verb.CREATE
    ),
    "a record of another process is waited out": Row(
        "it may have been accepted just before: a restart shortens no wait",
        {"status": CREATING, "memory": CallHistory(first_seen=NOW - 20)},
        Reason.CREATING,
        looks=False,
    ),
    "a record of another process is not taken over on one listing": Row(
        "one listing may be partial",
        {"status": CREATING, "memory": LONG_KNOWN, "found": Absent(NOW, NOW)},
        Reason.CREATING,
        looks=True,
    ),
    "a record of another process seen only now is waited out, however long the object is known": Row(
        "its order may be under way",
        {
            "status": CREATING,
            "memory": replace(OLD, first_seen=NOW - 400),
            "known": Standing(None, NOW - 400),
            "found": Absent(NOW, NOW - 399, NOW - 0.5),
        },
        Reason.CREATING,
        looks=False,
    ),
    "a chosen name wants two listings": Row(
        "a partial one may hide somebody's VM", {"spec": a_spec(vmName="ours-to-be"), "found": Absent(NOW, NOW)}, looks=True
    ),
    "a chosen name that the cloud calls taken is a conflict, and no proof stays": Row(
        "the VM of that name is not ours",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Creating", order=an_order("theirs", OrderState.INTENDED)),
            "found": Absent(NOW, NOW, NOW - 0.5),
            "memory": tried(Verb.CREATE, kind=ErrorKind.CONFLICT),
        },
        Reason.CONFLICT,
        progress="Stalled",
        status={"order": OrderState.REFUSED},
    ),
    "a chosen name that the cloud calls taken stays another's when it is seen": Row(
        "the record of an order that was refused proves nothing",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Creating", order=an_order("theirs", OrderState.INTENDED)),
            "found": present(name="theirs"),
            "memory": tried(Verb.CREATE, kind=ErrorKind.CONFLICT),
        },
        Reason.CONFLICT,
        progress="Stalled",
        status={"order": OrderState.REFUSED},
    ),
    "a chosen name that is there though our order was refused is not ours": Row(
        "somebody else made it since; deleting this object would end it",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status("Creating", order=an_order("theirs", OrderState.INTENDED)),
            "found": present(name="theirs"),
            "memory": tried(Verb.CREATE, ago=0.5, kind=ErrorKind.FORBIDDEN),
        },
        Reason.CONFLICT,
        progress="Stalled",
        says="'theirs'",
        status={"order": OrderState.REFUSED},
    ),
    "a record of another process is taken over after ten graces": Row(
        "never wait for a person",
        {"status": CREATING, "memory": LONG_KNOWN, "found": Absent(NOW, NOW - 99, NOW - 0.5)},
        Reason.CREATING,
        records=True,
    ),
    "an old record of ours is recorded anew": Row(
        "another process may have taken over meanwhile",
        {"status": CREATING, "known": known(INTENDED, ago=16, recorded=16)},
        Reason.CREATING,
        records=True,
    ),
    "a used record is recorded anew": Row(
        "every order has its own record",
        {
            "status": CREATING,
            "found": Absent(NOW, NOW - 50, NOW - 1),
            "memory": tried(
                Verb.CREATE,
                ago=40,
                kind=ErrorKind.OUTCOME_UNKNOWN,
                ambiguous=True,
            ),
        },
        Reason.API_ERROR,
        records=True,
    ),
    "a listing older than the object is not believed": Row(
        "the order may already have been sent in an earlier life",
        {"found": Absent(NOW - 2, NOW - 2), "memory": CallHistory(first_seen=NOW - 1)},
        looks=True,
    ),
    "a stale listing does not show that a name is free": Row(
        "somebody may have taken it since", {"found": Absent(NOW - 11, NOW - 50), "memory": OLD}, looks=True
    ),
    "after a lost answer: look for the grace": Row(
        "the order may have been carried out",
        {"status": CREATING, "memory": tried(Verb.CREATE, kind=ErrorKind.OUTCOME_UNKNOWN, ambiguous=True)},
        Reason.API_ERROR,
        looks=False,
    ),
    "after an accepted order that does not show: keep looking": Row(
        "a listing may lag",
        {"status": CREATING, "memory": tried(Verb.CREATE, ago=100)},
        Reason.CREATING,
        looks=False,
    ),
    "a refused order is not repeated for this generation": Row(
        "hammering does not help",
        {"status": CREATING, "memory": tried(Verb.CREATE, ago=9999, kind=ErrorKind.INVALID)},
        Reason.REJECTED,
        progress="Stalled",
        says="the cloud's own words",
    ),
    "a corrected spec is tried at once": Row(
        "the owner fixed it",
        {
            "meta": an_object(generation=2),
            "status": CREATING,
            "known": MINE,
            "memory": tried(Verb.CREATE, ago=5, kind=ErrorKind.INVALID),
        },
        Reason.REJECTED,
        progress="Stalled",
        action=Verb.CREATE,
    ),
    "a refusal outlives a restart": Row(
        "one attempt a generation, whoever runs",
        {"status": a_status("Rejected", progress="Stalled", order=REFUSED), "memory": OLD},
        Reason.REJECTED,
        progress="Stalled",
        says="Made up.",
    ),
    "a refusal still calls a person after a pause": Row(
        "a pause takes Stalled away and keeps the words (seed 500557)",
        {"status": a_status("Rejected", progress="Paused", order=REFUSED), "memory": OLD},
        Reason.REJECTED,
        progress="Stalled",
        says="Made up.",
    ),
    "a refusal is told again when an outage was told over it": Row(
        "after a restart nothing else would ever be said (seeds 120950, 121006)",
        {"status": a_status("ApiUnavailable", "Unknown", order=REFUSED), "memory": OLD},
        Reason.REJECTED,
        progress="Stalled",
        says=("refused the order for this spec", "reconcile-requested-at"),
        status={"order": OrderState.REFUSED},
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
        records=True,
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
        "another object may claim the name", {"synced": False, "status": CREATING, "known": MINE}
    ),
    # --- life
    "online as asked is Ready": Row(
        "the point of it all", {"status": CREATING, "found": present()}, Reason.RUNNING, "True", None
    ),
    "pending in the cloud is Creating": Row(
        "one work, one reason", {"status": CREATING, "found": present("PENDING")}, Reason.CREATING
    ),
    "waiting for resources is no fault": Row(
        "best effort, first come first served",
        {"status": CREATING, "found": present("PENDING_RESOURCES")},
        Reason.WAITING_FOR_CAPACITY,
    ),
    "an unknown word is shown and waited out": Row(
        "the list of states is open",
        {"status": RUNNING, "found": present("DEFROSTING")},
        Reason.UNKNOWN_STATE,
        says="DEFROSTING",
        status={"state": "DEFROSTING"},
    ),
    "no word at all is waited out": Row(
        "every field may be null", {"status": RUNNING, "found": present(None)}, Reason.UNKNOWN_STATE
    ),
    "a failed VM stalls with its price": Row(
        "it may still cost money",
        {"status": CREATING, "found": present("CREATE_FAILED"), "price_per_hour": "2.05"},
        Reason.CREATE_FAILED,
        progress="Stalled",
        says="2.05",
    ),
    "the cloud's admin is waited for by a person": Row(
        "a person must look", {"status": CREATING, "found": present("ADMIN_WAIT")}, Reason.ADMIN_WAIT, progress="Stalled"
    ),
    "stopped from outside is announced as drift": Row(
        "the owner asked for Running", {"status": RUNNING, "found": present("OFFLINE")}, Reason.DRIFTED, action=Verb.START
    ),
    "started from outside is announced as drift": Row(
        "the owner asked for Stopped",
        {"spec": STOPPED, "status": OFF, "found": present()},
        Reason.DRIFTED,
        action=Verb.STOP,
    ),
    "off as asked is Ready": Row(
        "a state left on purpose must not hang a rollout",
        {"spec": STOPPED, "status": RUNNING, "found": present("OFFLINE")},
        Reason.POWERED_OFF,
        "True",
        None,
    ),
    "asked to stop: stop": Row(
        "an edit",
        {"spec": STOPPED, "meta": an_object(generation=2), "status": RUNNING, "found": present()},
        Reason.STOPPING,
        action=Verb.STOP,
    ),
    "a stop waits until the VM is online": Row(
        "StopServer is legal only then",
        {"spec": STOPPED, "status": CREATING, "found": present("PENDING_READINESS")},
        Reason.CREATING,
    ),
    "a power call is not sent on an old look": Row(
        "the VM may have changed since",
        {
            "spec": STOPPED,
            "meta": an_object(generation=2),
            "status": RUNNING,
            "found": present(as_of=NOW - 50),
        },
        Reason.STOPPING,
        looks=True,
    ),
    "a start that was sent gets time to show": Row(
        "the listing still says OFFLINE",
        {"status": RUNNING, "found": present("OFFLINE"), "memory": tried(Verb.START)},
        Reason.DRIFTED,
        looks=False,
    ),
    "a stop right after a start is not held up by the stop before it": Row(
        "a person switches to and fro",
        {
            "spec": STOPPED,
            "meta": an_object(generation=3),
            "status": RUNNING,
            "found": present(),
            "memory": tried(Verb.START, ago=2, memory=tried(Verb.STOP, ago=5)),
        },
        Reason.STOPPING,
        action=Verb.STOP,
    ),
    "off as asked is not settled while a start may yet show": Row(
        "Ready would be said of a VM that is just starting",
        {
            "spec": STOPPED,
            "meta": an_object(generation=3),
            "status": OFF,
            "found": present("OFFLINE"),
            "memory": tried(Verb.START),
        },
        Reason.STOPPING,
        looks=False,
    ),
    "off as asked is settled once the start has had its time": Row(
        "somebody stopped it, or it came to nothing",
        {
            "spec": STOPPED,
            "meta": an_object(generation=3),
            "status": OFF,
            "found": present("OFFLINE"),
            "memory": tried(Verb.START, ago=31),
        },
        Reason.POWERED_OFF,
        "True",
        None,
    ),
    "off as asked is settled after a start that was refused": Row(
        "it will not show",
        {
            "spec": STOPPED,
            "meta": an_object(generation=3),
            "status": OFF,
            "found": present("OFFLINE"),
            "memory": tried(Verb.START, kind=ErrorKind.UNAVAILABLE),
        },
        Reason.POWERED_OFF,
        "True",
        None,
    ),
    "on as asked is not settled while a stop may yet show": Row(
        "Ready would be said of a VM that is just going down",
        {"meta": an_object(generation=3), "status": RUNNING, "found": present(), "memory": tried(Verb.STOP)},
        Reason.STARTING,
        looks=False,
    ),
    "on as asked is not settled when a process before us may have stopped it": Row(
        "it announced it, and may have sent it just before its end",
        {
            "meta": an_object(generation=3),
            "status": a_status("Stopping", operation=STOPS, **BOUGHT),
            "found": present(),
            "memory": replace(OLD, first_seen=NOW - 1),
        },
        Reason.STOPPING,
        looks=False,
    ),
    "on as asked is settled once that had its time": Row(
        "it was not sent",
        {
            "meta": an_object(generation=3),
            "status": a_status("Stopping", operation=STOPS, **BOUGHT),
            "found": present(),
            "memory": OLD,
        },
        Reason.RUNNING,
        "True",
        None,
    ),
    "a start without effect is sent again": Row(
        "it was lost",
        {"status": RUNNING, "found": present("OFFLINE"), "memory": tried(Verb.START, ago=31)},
        Reason.DRIFTED,
        action=Verb.START,
    ),
    "a refused start is sent again under the words of its refusal": Row(
        "Ready would change to and fro with each try",
        {"status": RUNNING, "found": present("OFFLINE"), "memory": tried(Verb.START, ago=31, kind=ErrorKind.UNAVAILABLE)},
        Reason.WAITING_FOR_CAPACITY,
        action=Verb.START,
        says="StartServer failed: the cloud's own words.",
    ),
    "a start without room waits": Row(
        "a stopped VM gave its GPUs back",
        {"status": RUNNING, "found": present("OFFLINE"), "memory": tried(Verb.START, kind=ErrorKind.UNAVAILABLE)},
        Reason.WAITING_FOR_CAPACITY,
    ),
    "a restart stops first": Row(
        "asked by annotation",
        {"meta": noted(RESTART_REQUESTED_AT="t1"), "status": RUNNING, "found": present()},
        Reason.RESTARTING,
        action=Verb.STOP,
        status={"operation": RESTART},
    ),
    "a restart then starts, and is answered": Row(
        "asked by annotation",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1"),
            "found": present("OFFLINE"),
            "status": a_status("Restarting", operation=RESTART, **BOUGHT),
        },
        Reason.RESTARTING,
        action=Verb.START,
        status={"operation": RESTART, "last_handled_restart_at": "t1"},
    ),
    "an answered restart is not repeated": Row(
        "the annotation stays in the manifest",
        {
            "meta": noted(RESTART_REQUESTED_AT="t1"),
            "found": present(),
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
            "spec": STOPPED,
            "status": OFF,
            "found": present("OFFLINE"),
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
        records=True,
        status={"last_handled_restart_at": "t0"},
    ),
    "a restart is answered by the write that records a lost order anew": Row(
        "nobody can know whether it was carried out before the status was lost",
        {"meta": noted(RESTART_REQUESTED_AT="t0"), "known": known(an_order(NAME)), "found": Absent(NOW, NOW - 2, NOW - 2)},
        Reason.VM_LOST,
        "Unknown",
        status={"order": OrderState.SEEN, "last_handled_restart_at": "t0"},
    ),
    "a new order costs what it asks for": Row(
        "an earlier one, never made, asked for another configuration",
        {
            "status": a_status("ApiError", order=an_order(NAME, OrderState.REFUSED), price_per_hour="2.05"),
            "known": known(an_order(NAME, OrderState.REFUSED)),
            "price_per_hour": "4.10",
        },
        Reason.CREATING,
        records=True,
        status={"price_per_hour": "4.10"},
    ),
    "an order that is sent costs what it asks for": Row(
        "the spec was changed since the order was recorded",
        {"status": CREATING.model_copy(update={"price_per_hour": "2.05"}), "known": MINE, "price_per_hour": "4.10"},
        Reason.CREATING,
        action=Verb.CREATE,
        status={"price_per_hour": "4.10"},
    ),
    "pending beyond the deadline stalls": Row(
        "a broken boot may wait for ever",
        {
            "status": a_status("Creating", progress_deadline_at=START + timedelta(seconds=NOW - 1), **BOUGHT),
            "found": present("PENDING_READINESS"),
        },
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        progress="Stalled",
    ),
    "a VM that vanished is looked for again first": Row(
        "a listing may have been partial",
        {"status": RUNNING, "found": Absent(NOW, NOW)},
        looks=True,
    ),
    "a VM that a second listing lacks may be lost": Row(
        "it is looked for until the grace is over",
        {"status": RUNNING, "found": Absent(NOW, NOW - 2, NOW - 2)},
        Reason.VM_LOST,
        "Unknown",
        looks=False,
    ),
    "a VM that the only listing of a while lacks may be lost": Row(
        "nobody can be told that it is there",
        {"status": RUNNING, "found": Absent(NOW - 7, NOW - 7)},
        Reason.VM_LOST,
        "Unknown",
        looks=True,
    ),
    "a VM that stays away is lost, and not bought again": Row(
        "its data is gone; a person decides",
        {"status": RUNNING, "found": Absent(NOW, NOW - 31, NOW - 2)},
        Reason.VM_LOST,
        progress="Stalled",
    ),
    "what the lost VM showed does not stand beside the conflict with its namesake": Row(
        "its address may be somebody else's by now",
        {
            "spec": a_spec(vmName="theirs"),
            "status": a_status(
                "VMLost",
                order=an_order("theirs", OrderState.LOST),
                vm_id="theirs",
                state="ONLINE",
                ip="198.51.100.7",
                private_ip="10.0.0.7",
                price_per_hour="2.05",
            ),
            "found": present(name="theirs", ip="198.51.100.8"),
        },
        Reason.CONFLICT,
        progress="Stalled",
        says="deleted outside Kubernetes, and another one",
        status={"vm_id": None, "state": None, "ip": None, "private_ip": None, "price_per_hour": None, "tenancy": None},
    ),
    "of a refused order no price is shown": Row(
        "nothing is billed",
        {
            "status": a_status("Creating", order=INTENDED, price_per_hour="2.05"),
            "known": known(REFUSED),
            "memory": tried(Verb.CREATE, kind=ErrorKind.INVALID),
        },
        Reason.REJECTED,
        progress="Stalled",
        status={"price_per_hour": None},
    ),
    # --- what a VM needs first
    "a GpuVpc that is not there is waited for, by name": Row(
        "it comes with the same kubectl apply",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.MISSING),)},
        Reason.DEPENDENCY_NOT_READY,
        says=("GpuVpc 'net'", "namespace 'team'"),
        status={"progress_deadline_at": None, "order": None},
    ),
    "a GpuVpc that is not ready is waited for, in its own words": Row(
        "one look at one object should do",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.PENDING, "(Conflict: it is taken.)"),)},
        Reason.DEPENDENCY_NOT_READY,
        says=("to become Ready", "it is taken."),
    ),
    "nothing is bought in a VPC that is going": Row(
        "it would hold the VPC up, or be cut off",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.LEAVING),)},
        Reason.DEPENDENCY_NOT_READY,
        says="is being deleted",
    ),
    "the first that is not ready is named": Row(
        "one thing at a time",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.READY), Dependency("GpuSnapshot 'base'", Readiness.PENDING))},
        Reason.DEPENDENCY_NOT_READY,
        says="GpuSnapshot 'base'",
    ),
    "a GpuVpc in another cluster calls a person": Row(
        "it can never serve",
        {"needs": (Dependency("GpuVpc 'net'", Readiness.ELSEWHERE, "It is in cluster 'Hou1': create one anew."),)},
        Reason.INVALID_REFERENCE,
        progress="Stalled",
        says=("GpuVpc 'net'", "'Hou1'"),
    ),
    "a record is not acted on when the VPC is not ready any more": Row(
        "between the record and the order a person deleted it",
        {"status": CREATING, "known": MINE, "needs": (Dependency("GpuVpc 'net'", Readiness.LEAVING),)},
        Reason.DEPENDENCY_NOT_READY,
        says="GpuVpc 'net'",
    ),
    "what it needed does not matter once it runs": Row(
        "its GpuVpc may be retained and gone",
        {"status": RUNNING, "found": present(), "needs": (Dependency("GpuVpc 'net'", Readiness.MISSING),)},
        Reason.RUNNING,
        "True",
        None,
    ),
    "found by its fingerprint in whatever VPC, its place is recorded": Row(
        "its GpuVpc is gone and its status was lost",
        {"identity": replace(identity(an_object(), a_spec(), GpuVMStatus(), TAG), vpc=""), "found": present()},
        Reason.RUNNING,
        "True",
        None,
        status={"order": OrderState.SEEN, "vpc": "acme"},
    ),
    # --- accounts
    "no account stalls a new object at once": Row(
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
        status={"progress_deadline_at": None},
    ),
    "an account that fails later leaves a running VM's verdict for a while": Row(
        "a key is being changed", {"status": RUNNING, "found": Unknown(NOW - 170, UnknownReason.ACCOUNT, "Waiting.")}
    ),
    "an account that stays away makes a running VM Unknown": Row(
        "Ready must not stay True for ever",
        {"status": RUNNING, "found": Unknown(NOW - 181, UnknownReason.ACCOUNT, "Waiting for the GpuCloudAccount 'lab'.")},
        Reason.ACCOUNT_NOT_READY,
        "Unknown",
    ),
    "another tenant's credential never makes a VM lost": Row(
        "all of ours looks gone with it",
        {"status": RUNNING, "found": Unknown(NOW - 181, UnknownReason.TENANT, "It is tenant 'x': put the right one back.")},
        Reason.TENANT_MISMATCH,
        "Unknown",
        "Stalled",
        says="put the right one back",
    ),
    "a refused credential whose Secret is gone is waited for": Row(
        "the Secret is what to create, not a key to put into it",
        {
            "status": a_status("CredentialsRefused", progress="Stalled", order=an_order(NAME, OrderState.NOT_ORDERED)),
            "found": Unknown(NOW - 9, UnknownReason.REFUSED, "401"),
            "needs": (Dependency("Secret 'key'", Readiness.MISSING, "Create it again.", account=True),),
        },
        Reason.ACCOUNT_NOT_READY,
        says="Waiting for Secret 'key'",
    ),
    "what may exist under a refused credential still calls a person": Row(
        "it cannot be seen or destroyed",
        {
            "status": a_status("Creating", order=an_order(NAME, OrderState.ACCEPTED)),
            "found": Unknown(NOW - 9, UnknownReason.REFUSED, "401"),
            "needs": (Dependency("Secret 'key'", Readiness.MISSING, account=True),),
        },
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
    ),
    # --- the words of the cloud, and of what is seen late
    "a new one says that nothing was ordered": Row(
        "so that it may go unseen, whoever runs then",
        {"found": Unknown(NOW, UnknownReason.REFUSED), "memory": CallHistory(first_seen=NOW - 9, seen_new=True)},
        Reason.CREDENTIALS_REFUSED,
        progress="Stalled",
        status={"order": OrderState.NOT_ORDERED},
    ),
    "what is missing in the cloud is told": Row(
        "a VPC that is named may be created yet",
        {"status": CREATING, "memory": tried(Verb.CREATE, kind=ErrorKind.NOT_FOUND)},
        Reason.NOT_FOUND,
        progress="Stalled",
        says="Create what is missing",
    ),
    "what was missing is asked for again after a restart": Row(
        "its message says so",
        {
            "status": a_status("NotFound", progress="Stalled", order=an_order(NAME, OrderState.REFUSED)),
            "found": Absent(NOW, NOW - 50, NOW - 0.5),
            "memory": OLD,
        },
        Reason.CREATING,
        records=True,
    ),
    "an order that may be under way is cleared up before anything else is said": Row(
        "else its snapshot could go while the VM is made from it",
        {
            "status": CREATING,
            "memory": tried(Verb.CREATE),
            "needs": (Dependency("GpuSnapshot 'base'", Readiness.LEAVING),),
        },
        Reason.CREATING,
        looks=False,
    ),
    "a switch without room, or throttled, or refused, is told in the words of the cloud": Row(
        "the table of refusals serves each call",
        {"status": RUNNING, "found": present("OFFLINE"), "memory": tried(Verb.START, kind=ErrorKind.THROTTLED)},
        Reason.RATE_LIMITED,
        says="the cloud's own words",
    ),
    "a VM that was settled before and moves is Provisioning": Row(
        "its first boot is over", {"status": RUNNING, "found": present("PENDING")}, Reason.PROVISIONING
    ),
    "a VM that failed stalls": Row(
        "a person must look",
        {"status": RUNNING, "found": present("FAILED")},
        Reason.VM_FAILED,
        progress="Stalled",
        says="delete this object",
    ),
    "asked to start: start": Row(
        "an edit",
        {"meta": an_object(generation=2), "status": OFF, "found": present("OFFLINE")},
        Reason.STARTING,
        action=Verb.START,
    ),
}

# What a GpuVM can say, by the steps of its chain and the table of refusals; what it says while it goes: test_gpuvm_delete.py.
REASONS = {
    *("Running", "PoweredOff", "Creating", "Starting", "Stopping", "Restarting", "Drifted", "Provisioning", "UnknownState"),
    *("WaitingForCapacity", "SSHKeysNotFound", "InvalidSSHKeys", "PossibleDuplicate", "NamespaceTerminating"),
    *("DependencyNotReady", "InvalidReference", "NoAccount", "AccountNotReady", "TenantMismatch", "CredentialsRefused"),
    *("PermissionDenied", "ImplausibleListing", "ApiUnavailable", "ApiError", "Rejected", "RateLimited", "Conflict"),
    *("Ambiguous", "CreateFailed", "VMFailed", "AdminWait", "VMLost", "ProgressDeadlineExceeded", "Paused", "ObserveOnly"),
    *("DeletionBlocked", "NotFound", "InvalidSpec", "OrderOverdue"),
}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    row = ROWS[sentence]
    judge(row, decide(facts(**row.given)))


@pytest.mark.parametrize("sentence", ROWS)
def test_it_settles_and_speaks_in_sentences(sentence):
    assert ends_as_a_sentence(decide(facts(**ROWS[sentence].given)))
    converges(ROWS[sentence].given, decide, facts)


def test_every_reason_has_a_row():
    assert {reason for row in ROWS.values() for reason in (row.reason, row.released) if reason is not None} == REASONS


@pytest.mark.parametrize("sentence", ROWS)
def test_a_settled_status_is_a_fixed_point(sentence):
    fixed_point(ROWS[sentence].given, decide, facts)


def test_paused_stands_beside_ready():
    plan = decide(facts(meta=noted(PAUSED="true"), status=RUNNING, found=present()))
    assert find(plan.status.conditions, ConditionType.PAUSED).status == "True"


def test_another_value_over_a_pause_is_said_and_deletion_keeps_the_condition():
    paused = decide(facts(meta=noted(PAUSED="true"), status=RUNNING, found=present())).status
    for meta in (noted(PAUSED="yes"), noted(PAUSED="yes", deleting=True)):
        paused = decide(facts(meta=meta, status=paused, found=present())).status
        assert "is 'yes'" in find(paused.conditions, ConditionType.PAUSED).message


def test_the_deadline_is_carried_over_and_reset_by_a_new_generation():
    first = decide(facts(status=CREATING, found=present("PENDING"))).status
    assert first.progress_deadline_at == START + timedelta(seconds=NOW + 1800)
    later = decide(facts(status=first, found=present("PENDING_READINESS"))).status
    assert later.progress_deadline_at == first.progress_deadline_at
    settled = decide(facts(status=later, found=present())).status
    assert settled.progress_deadline_at is None


def test_a_record_of_rubbish_still_fits_the_schema():
    plan = decide(facts(status=CREATING, found=present(ip="x" * 5000, gpus=10**12, image="y" * 300)))
    assert len(plan.status.ip) == 253
    assert plan.status.gpus is None
    assert GpuVMStatus.model_validate(plan.status.model_dump(mode="json", by_alias=True)) == plan.status
