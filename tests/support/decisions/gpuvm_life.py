"""Rows of a GpuVM alone: its life, its power state, its loss."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import Operation, PowerVerb
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import (
    Absent,
    Unknown,
    UnknownReason,
    Verb,
)
from support.builders import (
    NOW,
    START,
    a_spec,
    a_status,
    an_object,
    an_order,
    known,
    present,
)
from support.gpuvmfacts import (
    BOUGHT,
    CREATING,
    INTENDED,
    MINE,
    NAME,
    OFF,
    RUNNING,
    STOPPED,
)
from support.rows import OLD, Row, noted, tried

RESTART = Operation(verb=PowerVerb.RESTART, generation=1, id="t1", at=START + timedelta(seconds=NOW))
STOPS = Operation(verb=PowerVerb.STOP, generation=3, id="x", at=START)
REFUSED = an_order(NAME, OrderState.REFUSED, refused_generation=1)
WALL = START + timedelta(seconds=NOW)
BILLED = RUNNING.model_copy(update={"billed_since": WALL - timedelta(hours=1), "billed_seconds": 60})

ROWS = {
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
        says="'DEFROSTING', which this version does not know; the operator waits",
        status={"state": "DEFROSTING"},
    ),
    "no word at all is waited out": Row(
        "every field may be null", {"status": RUNNING, "found": present(None)}, Reason.UNKNOWN_STATE, says="reports no state"
    ),
    "a VM that is first seen on begins to be billed": Row(
        "its cost is told from then on",
        {"status": CREATING, "found": present()},
        Reason.RUNNING,
        "True",
        None,
        status={"billed_since": WALL, "billed_seconds": None},
    ),
    "a VM costs what it cost when it was bought": Row(
        "the catalogue has another price by now, which is for new VMs",
        {"status": RUNNING.model_copy(update={"price_per_hour": "2.05"}), "found": present(), "price_per_hour": "4.10"},
        Reason.RUNNING,
        "True",
        None,
        status={"price_per_hour": "2.05"},
    ),
    "a VM that is seen off was billed until now": Row(
        "the hours before are kept",
        {"spec": STOPPED, "status": BILLED, "found": present("OFFLINE")},
        Reason.POWERED_OFF,
        "True",
        None,
        status={"billed_since": None, "billed_seconds": 3660},
    ),
    "a VM that cannot be seen is billed on": Row(
        "nobody knows that it is off",
        {"status": BILLED, "found": Unknown(NOW - 500, UnknownReason.UNREACHABLE, "HTTP 502")},
        Reason.API_UNAVAILABLE,
        "Unknown",
        status={"billed_since": WALL - timedelta(hours=1), "billed_seconds": 60},
    ),
    "a failed VM stalls with its price": Row(
        "it may still cost money",
        {"status": CREATING, "found": present("CREATE_FAILED"), "price_per_hour": "2.05"},
        Reason.CREATE_FAILED,
        progress="Stalled",
        says="2.05",
    ),
    "the cloud's admin is waited for by a person": Row(
        "a person must look",
        {"status": CREATING, "found": present("ADMIN_WAIT")},
        Reason.ADMIN_WAIT,
        progress="Stalled",
        says="ADMIN_WAIT",
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
        {"status": RUNNING, "found": present("OFFLINE"), "history": tried(Verb.START)},
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
            "history": tried(Verb.START, ago=2, history=tried(Verb.STOP, ago=5)),
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
            "history": tried(Verb.START),
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
            "history": tried(Verb.START, ago=31),
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
            "history": tried(Verb.START, kind=ErrorKind.UNAVAILABLE),
        },
        Reason.POWERED_OFF,
        "True",
        None,
    ),
    "on as asked is not settled while a stop may yet show": Row(
        "Ready would be said of a VM that is just going down",
        {"meta": an_object(generation=3), "status": RUNNING, "found": present(), "history": tried(Verb.STOP)},
        Reason.STARTING,
        looks=False,
    ),
    "on as asked is not settled when a process before us may have stopped it": Row(
        "it announced it, and may have sent it just before its end",
        {
            "meta": an_object(generation=3),
            "status": a_status("Stopping", operation=STOPS, **BOUGHT),
            "found": present(),
            "history": replace(OLD, first_seen=NOW - 1),
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
            "history": OLD,
        },
        Reason.RUNNING,
        "True",
        None,
    ),
    "a start without effect is sent again": Row(
        "it was lost",
        {"status": RUNNING, "found": present("OFFLINE"), "history": tried(Verb.START, ago=31)},
        Reason.DRIFTED,
        action=Verb.START,
    ),
    "a refused start is sent again under the words of its refusal": Row(
        "Ready would change to and fro with each try",
        {"status": RUNNING, "found": present("OFFLINE"), "history": tried(Verb.START, ago=31, kind=ErrorKind.SERVER)},
        Reason.API_ERROR,
        action=Verb.START,
        says='StartServer failed: "the cloud\'s own words".',
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
            "status": a_status(
                "Creating",
                progress_deadline_at=START + timedelta(seconds=NOW - 1),
                billed_since=START + timedelta(seconds=NOW - 1800),
                **BOUGHT,
            ),
            "found": present("PENDING_READINESS"),
        },
        Reason.PROGRESS_DEADLINE_EXCEEDED,
        progress="Stalled",
        says="(spec.progressDeadlineSeconds); the operator keeps trying. If this goes on, ask the cloud's support. Last:",
        action=Verb.READ_BOOT_LOG,
    ),
    "a VM that vanished is looked for again first": Row(
        "a listing may have been partial",
        {"status": RUNNING, "found": Absent(NOW, NOW)},
        looks=True,
    ),
    "a VM that the only listing of a while lacks may be lost": Row(
        "nobody can be told that it is there",
        {"status": RUNNING, "found": Absent(NOW - 7, NOW - 7)},
        Reason.VM_LOST,
        "Unknown",
        looks=True,
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
                billed_since=START,
                billed_seconds=60,
            ),
            "found": present(name="theirs", ip="198.51.100.8"),
        },
        Reason.CONFLICT,
        progress="Stalled",
        says="the VM of this object was lost",
        status=dict.fromkeys(
            ("vm_id", "state", "ip", "private_ip", "price_per_hour", "billed_since", "billed_seconds", "tenancy")
        ),
    ),
    "of a refused order no price is shown": Row(
        "nothing is billed",
        {
            "status": a_status("Creating", order=INTENDED, price_per_hour="2.05"),
            "known": known(REFUSED),
            "history": tried(Verb.CREATE, kind=ErrorKind.INVALID),
        },
        Reason.REJECTED,
        progress="Stalled",
        status={"price_per_hour": None},
        says="create it again",
    ),
}
