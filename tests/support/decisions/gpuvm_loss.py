"""Rows of a GpuVM that is lost or has failed, and whose spec asks for another one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from gpucloud.kinds.common import DestroyingCall, DestroyingPurpose, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.placement import PlacementStatus
from gpucloud.reconcile.deletion_guard import Hold
from gpucloud.reconcile.facts import Absent, Asked, Attempt, Unknown, UnknownReason, Verb
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, START, a_spec, a_status, an_order, known, present
from support.gpuvmfacts import BOUGHT, NAME, RUNNING
from support.rows import LONG_KNOWN, Row

SPEC = a_spec(onLoss="Recreate")
BOTH = a_spec(onLoss="Recreate", replacePolicy="Recreate")
LOST_STATUS = a_status("VMLost", progress="Stalled", **BOUGHT | {"order": an_order(NAME, OrderState.LOST)})
LOST = {
    "spec": SPEC,
    "status": LOST_STATUS,
    "tracked": known(an_order(NAME, OrderState.LOST), ago=60),
    "found": Absent(NOW - 0.5, NOW - 90, NOW - 3),
    "history": LONG_KNOWN,
}
FAILED_STATUS = a_status(
    "VMFailed",
    progress="Stalled",
    state="FAILED",
    failed_since=START + timedelta(seconds=NOW - 60),
    settled_generation=1,
    **BOUGHT,
)
LONG_FAILED = {"state": "FAILED", "failed_since": FAILED_STATUS.failed_since}
FAILED = {"spec": SPEC, "status": FAILED_STATUS, "found": present("FAILED"), "history": LONG_KNOWN}
GOING = {
    "spec": SPEC,
    "status": a_status("Recreating", **BOUGHT | {"order": an_order(NAME, OrderState.DESTROYING)}),
    "tracked": known(an_order(NAME, OrderState.DESTROYING), ago=5, absence_counts_from=NOW - 5),
    "history": LONG_KNOWN,
}


def called(purpose, **status):
    """A destroying call was announced for this, and may have been sent."""
    call = DestroyingCall(number=1, announced_at=START, purpose=purpose)
    order = an_order(NAME, OrderState.DESTROYING, destroying_call=call)
    return GOING | {
        "status": a_status("Recreating", **BOUGHT | {"order": order} | status),
        "tracked": known(order, ago=5, absence_counts_from=NOW - 5),
    }


DESTROYED = GOING | {
    "status": a_status("Recreating", **BOUGHT | {"order": an_order(NAME, OrderState.GONE)}),
    "tracked": known(an_order(NAME, OrderState.GONE), ago=5, absence_counts_from=NOW - 9),
    "found": Absent(NOW - 0.5, NOW - 8, NOW - 3),
}
OFFER = Offer(SPEC.configuration)
WAITING = PlacementStatus(configuration=OFFER.configuration, waiting_since=START, look_seconds=10)
RECORDED = an_order(NAME, OrderState.INTENDED, recreation=1)
WALL = START + timedelta(seconds=NOW)
OFTEN = tuple(WALL - timedelta(minutes=minutes) for minutes in (50, 30, 10))


def often(status, *times):
    return {"status": status.model_copy(update={"recreations": times})}


def refused(*times, **fields):
    order = an_order(NAME, OrderState.REFUSED, **fields)
    return {"tracked": known(order, ago=60), **often(LOST_STATUS.model_copy(update={"order": order}), *times)}


ROWS = {
    "a lost VM that is to be recreated is ordered again": Row(
        "two listings that began a grace after the loss lack it",
        LOST,
        Reason.RECREATING,
        records=True,
        says="in place of the last one, as spec.onLoss asks (1 of at most 3 within an hour)",
        status={"recreations": (WALL,)},
    ),
    "a recreation for one of two fields that ask for it names neither": Row(
        "once its order is recorded, nothing tells for which of them it was made",
        LOST | {"spec": BOTH},
        Reason.RECREATING,
        records=True,
        says="in place of the last one (1 of at most 3 within an hour)",
    ),
    "a lost VM is not recreated by listings from before the loss was known": Row(
        "what listings lacked for a grace may come back",
        LOST | {"tracked": known(an_order(NAME, OrderState.LOST), ago=10)},
        Reason.RECREATING,
        records=False,
    ),
    "a VM that two listings lack is not recreated before it is lost": Row(
        "they may be partial",
        {"spec": SPEC, "status": RUNNING, "found": Absent(NOW, NOW - 10, NOW - 2)},
        Reason.VM_LOST,
        "Unknown",
        records=False,
    ),
    "a VM that cannot be seen is not recreated": Row(
        "it may live",
        LOST | {"found": Unknown(NOW - 400, UnknownReason.UNREACHABLE)},
        Reason.API_UNAVAILABLE,
        "Unknown",
        records=False,
    ),
    "a lost VM that is to be stopped is not recreated": Row(
        "the cloud starts, and bills, what it creates",
        LOST | {"spec": a_spec(onLoss="Recreate", powerState="Stopped")},
        Reason.VM_LOST,
        progress="Stalled",
        says="recreated when spec.powerState is Running",
        records=False,
    ),
    "a VM is recreated three times within an hour": Row(
        "something destroys it again and again",
        LOST | often(LOST_STATUS, *OFTEN),
        Reason.RECREATION_LIMITED,
        progress="Stalled",
        says="3 times within an hour",
        records=False,
        wakes=601,
    ),
    "in the second in which the hour ends none is recreated": Row(
        "times are of whole seconds: the hour may end within this one",
        LOST | often(LOST_STATUS, WALL - timedelta(hours=1), *OFTEN[1:]),
        Reason.RECREATION_LIMITED,
        progress="Stalled",
        says="3 times within an hour",
        records=False,
        wakes=1,
    ),
    "after an hour a VM is recreated again": Row(
        "only the last hour counts",
        LOST | often(LOST_STATUS, WALL - timedelta(minutes=70), *OFTEN[1:]),
        Reason.RECREATING,
        records=True,
        status={"recreations": (*OFTEN[1:], WALL)},
    ),
    "a VM that has just failed is looked at once more": Row(
        "the cloud may bring it back within a grace",
        {"spec": SPEC, "status": RUNNING, "found": present("FAILED")},
        Reason.VM_FAILED,
        progress="Stalled",
        looks=False,
        says="set spec.onLoss: Fail",
    ),
    "a failure that a clock ahead of this one has recorded counts from now on": Row(
        "the wait must not last until that time",
        FAILED | {"status": FAILED_STATUS.model_copy(update={"failed_since": WALL + timedelta(hours=1)})},
        Reason.VM_FAILED,
        progress="Stalled",
        says="If it stays so",
        status={"failed_since": WALL},
    ),
    "a failed VM that is to be recreated is destroyed": Row(
        "it has failed for a grace",
        FAILED,
        Reason.RECREATING,
        says="It is being destroyed for a new one, as spec.onLoss asks (1 of",
        action=Verb.DESTROY,
        status={"order": OrderState.DESTROYING},
    ),
    "the destruction of a failed VM does not count": Row(
        "it has bought nothing, and may have no effect",
        FAILED | often(FAILED_STATUS, *OFTEN[1:]),
        Reason.RECREATING,
        action=Verb.DESTROY,
        says="3 of at most 3 within an hour",
        status={"recreations": OFTEN[1:]},
    ),
    "the order after the destruction of a failed VM counts": Row(
        "the limit is one on what is bought",
        DESTROYED | often(DESTROYED["status"], *OFTEN[1:]),
        Reason.RECREATING,
        records=True,
        status={"recreations": (*OFTEN[1:], WALL)},
    ),
    "no fourth VM is ordered within an hour though the old one is destroyed": Row(
        "its destruction was that of a deletion, which a restore of etcd has undone: the limit was not asked before it",
        DESTROYED | often(DESTROYED["status"], *OFTEN),
        Reason.RECREATION_LIMITED,
        progress="Stalled",
        says="The VM was destroyed. It was recreated 3 times within an hour.",
        records=False,
    ),
    "an announced destruction goes on though the limit is reached by now": Row(
        "it was let pass, and may have been sent; the clock of its process may differ from this one",
        GOING | {"found": present("FAILED")} | often(GOING["status"].model_copy(update=LONG_FAILED), *OFTEN),
        Reason.RECREATING,
        action=Verb.DESTROY,
        says="3 of at most 3 within an hour",
        status={"recreations": OFTEN},
    ),
    "a recreation that is recorded again counts once, and from now on": Row(
        "the first order was never made",
        LOST | refused(WALL - timedelta(minutes=50), recreation=1),
        Reason.RECREATING,
        records=True,
        says="1 of at most 3 within an hour",
        status={"recreations": (WALL,)},
    ),
    "the record of a recreation counts though its answer was lost": Row(
        "this process does not know of it, and it is in the status",
        LOST | often(LOST_STATUS.model_copy(update={"order": RECORDED}), *OFTEN),
        Reason.RECREATING,
        records=True,
        status={"recreations": (*OFTEN[:2], WALL)},
    ),
    "a failed VM is destroyed three times within an hour": Row(
        "each new one may fail, too",
        FAILED | often(FAILED_STATUS, *OFTEN),
        Reason.RECREATION_LIMITED,
        progress="Stalled",
        says="may still be billed",
    ),
    "a failed VM that the deletion guard holds is not destroyed": Row(
        "a cloud that reports every VM as failed may be wrong",
        FAILED | {"hold": Hold(8, Decimal(16), 0, timedelta(minutes=10), "--brake-vms 3")},
        Reason.DELETION_HELD,
        progress="Stalled",
        says="kubectl annotate",
        status={"deletion_held_at": WALL},
    ),
    "a failed VM whose destruction was held is destroyed when it is released": Row(
        "a person has said so",
        FAILED | {"status": FAILED_STATUS.model_copy(update={"deletion_held_at": START})},
        Reason.RECREATING,
        action=Verb.DESTROY,
        status={"deletion_held_at": None},
    ),
    "a VM that is up again is no longer held": Row(
        "a later deletion is another one",
        FAILED
        | {"found": present(), "status": FAILED_STATUS.model_copy(update={"deletion_held_at": START, "settled_generation": 1})},
        Reason.RUNNING,
        "True",
        None,
        status={"deletion_held_at": None, "failed_since": None},
    ),
    "a failed VM of which a snapshot is being taken is not destroyed": Row(
        "a GpuSnapshot needs it",
        FAILED | {"dependents": ("GpuSnapshot 'nightly'",)},
        Reason.VM_FAILED,
        progress="Stalled",
        says="as soon as GpuSnapshot 'nightly' is taken",
        wakes=60,
    ),
    "a failed VM that only the record calls ours is not destroyed": Row(
        "people can edit a status",
        FAILED
        | {
            "spec": a_spec(onLoss="Recreate", vmName="train"),
            "status": FAILED_STATUS.model_copy(update={"order": an_order("train", cloud_vpc="acme-2")}),
            "found": present("FAILED", name="train", namespace="acme-2"),
        },
        Reason.VM_FAILED,
        progress="Stalled",
        says="placed it in VPC 'acme-2', so it is not recreated",
    ),
    "a lost VM that the cloud named itself is not recreated": Row(
        "it is looked for under the ordered name: no listing would show that it is back",
        LOST | {"tracked": known(an_order(NAME, OrderState.LOST, cloud_id="srv-1"), ago=60)},
        Reason.VM_LOST,
        progress="Stalled",
        says="named it 'srv-1'",
        records=False,
    ),
    "a failed VM that the cloud placed itself is not destroyed for another one": Row(
        "once it is gone, no listing would show that it is back",
        FAILED
        | {
            "tracked": known(an_order(NAME, OrderState.SEEN, cloud_vpc="acme-2"), ago=60),
            "found": present("FAILED", namespace="acme-2"),
        },
        Reason.VM_FAILED,
        progress="Stalled",
        says="VPC 'acme-2'",
    ),
    "a lost VM of which a final snapshot was to be kept says that there is none": Row(
        "what is gone cannot be copied",
        LOST
        | {
            "spec": a_spec(onLoss="Recreate", deletion={"finalSnapshot": "Required"}),
            "tracked": known(an_order(NAME, OrderState.LOST), ago=10),
        },
        Reason.RECREATING,
        records=False,
        says="No final snapshot of the lost one could be taken.",
    ),
    "a recreation has a deadline of its own": Row(
        "the last VM's was over",
        LOST | {"status": LOST_STATUS.model_copy(update={"progress_deadline_at": START})},
        Reason.RECREATING,
        records=True,
        status={"progress_deadline_at": WALL + timedelta(seconds=1800)},
    ),
    "a recreation without capacity waits in the line": Row(
        "others have waited for longer",
        LOST | {"line": Line(behind=True, listed=frozenset({Offer(SPEC.configuration, None)}))},
        Reason.WAITING_FOR_CAPACITY,
        records=False,
    ),
    "a recreation that waits for capacity says so as its order is recorded": Row(
        "the next reconcile, right before the call, would change it: a write for nothing",
        DESTROYED
        | {
            "status": DESTROYED["status"].model_copy(update={"placement": WAITING}),
            "line": Line(listed=frozenset({OFFER}), turn=OFFER),
        },
        Reason.WAITING_FOR_CAPACITY,
        records=True,
        says="is being sent",
    ),
    "a failed VM that no fresh listing shows is looked at once more before its end is told": Row(
        "the announcement of the call tells it a moment later",
        FAILED | {"found": present("FAILED", as_of=NOW - 11)},
        looks=True,
        pending=True,
    ),
    "a failed VM that the spec retains is not destroyed": Row(
        "its disk may be wanted",
        FAILED | {"spec": a_spec(onLoss="Recreate", deletion={"policy": "Retain"})},
        Reason.VM_FAILED,
        progress="Stalled",
        says="To have it recreated, set spec.powerState: Running",
    ),
    "a VM of which the cloud's admin takes care is not destroyed": Row(
        "it may come back",
        FAILED | {"found": present("ADMIN_WAIT")},
        Reason.ADMIN_WAIT,
        progress="Stalled",
        says="Ask the cloud's support",
    ),
    "a VM that worked again after a destroying call without effect is looked at once more when it fails": Row(
        "each failure must last for a grace: this one may be a moment's",
        FAILED
        | {
            "status": FAILED_STATUS.model_copy(
                update={"order": an_order(NAME, OrderState.DESTROYING), "failed_since": WALL - timedelta(seconds=1)}
            ),
            "tracked": known(an_order(NAME, OrderState.DESTROYING), ago=7200),
            "history": replace(LONG_KNOWN, attempts={Verb.DESTROY: Attempt(Verb.DESTROY, NOW - 7200, Asked(1), unrefused=1)}),
        },
        Reason.VM_FAILED,
        progress="Stalled",
        says="If it stays so, it is destroyed and recreated.",
    ),
    "a recreation counts though somebody has wiped the status": Row(
        "this process knows that the VM was there",
        LOST | {"status": LOST_STATUS.model_copy(update={"order": None, "recreations": None})},
        Reason.RECREATING,
        records=True,
        status={"recreations": (WALL,)},
    ),
    "a failed VM that is being destroyed is awaited": Row(
        "two of one name cannot be",
        GOING | {"found": Absent(NOW - 1, NOW - 1)},
        Reason.RECREATING,
        looks=True,
        records=False,
    ),
    "a VM that shows as running while it is being destroyed is not called Ready": Row(
        "the destroying call may have been sent",
        called(DestroyingPurpose.RECREATION) | {"found": present()},
        Reason.RECREATING,
    ),
    "a VM that was recreated before is not said to be destroyed when a restore of etcd undoes a deletion": Row(
        "the last call was that of the deletion",
        called(DestroyingPurpose.DELETION, recreations=(START,)) | {"found": present()},
        Reason.RUNNING,
        "True",
        None,
    ),
    "a running VM whose deletion a restore of etcd has undone is not said to have failed": Row(
        "its status announced no destroying call for a recreation",
        GOING | {"spec": a_spec(), "found": present()},
        Reason.RUNNING,
        "True",
        None,
    ),
}
