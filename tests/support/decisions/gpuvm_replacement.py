"""Rows of a GpuVM whose spec changed what the cloud cannot change in place, and asks for another VM."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.recreation import Replacement
from gpucloud.reconcile.deletion_guard import Hold
from gpucloud.reconcile.facts import Absent, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import template
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import NOW, START, a_spec, a_status, an_order, known, present
from support.gpuvmfacts import NAME
from support.rows import LONG_KNOWN, Row

WALL = START + timedelta(seconds=NOW)
LARGE = "A100_40GB_PCIe_2x"
OLD = template.of(a_spec(replacePolicy="Recreate"))
SPEC = a_spec(replacePolicy="Recreate", rootDiskGiB=300)
OTHER = a_spec(replacePolicy="Recreate", configuration=LARGE)


def ordered(state=OrderState.SEEN):
    return an_order(NAME, state, template=OLD)


def planned(*fields, ago=60, saves=False):
    return Replacement(fields=fields, planned_at=WALL - timedelta(seconds=ago), final_snapshot=saves)


def stands(spec=SPEC, plan=None, **more):
    """The VM runs, and was made from the old spec."""
    fields = {"order": ordered(), "vm_id": NAME, "settled_generation": 1, "replacement": plan}
    status = a_status("Running" if plan is None else "Replacing", "True" if plan is None else "False", None, **fields)
    return {"spec": spec, "status": status, "found": present(), "history": LONG_KNOWN, "known": known(ordered())} | more


DISK, CONFIGURATION = planned("rootDiskGiB"), planned("configuration")
GONE = {
    "spec": SPEC,
    "status": a_status("Replacing", order=ordered(OrderState.GONE), replacement=DISK, recreations=(WALL,)),
    "tracked": known(ordered(OrderState.GONE), ago=5, absence_counts_from=NOW - 9),
    "found": Absent(NOW - 0.5, NOW - 8, NOW - 3),
    "history": LONG_KNOWN,
}

ROWS = {
    "a replacement is planned before anything happens": Row(
        "a person may put the spec back",
        stands(),
        Reason.REPLACING,
        says=("spec.rootDiskGiB", "To keep it, put the old value back"),
        status={"replacement": Replacement(fields=("rootDiskGiB",), planned_at=WALL), "order": OrderState.SEEN},
        wakes=30,
    ),
    "a plan says that a final snapshot comes first": Row(
        "it is a part of the plan",
        stands(a_spec(replacePolicy="Recreate", rootDiskGiB=300, deletion={"finalSnapshot": "Required"})),
        Reason.REPLACING,
        says="after a final snapshot of it",
        status={"replacement": Replacement(fields=("rootDiskGiB",), planned_at=WALL, final_snapshot=True)},
    ),
    "a plan is kept while its grace lasts": Row(
        "a restart shortens no wait", stands(plan=planned("rootDiskGiB", ago=10)), Reason.REPLACING, wakes=20
    ),
    "a plan that a clock ahead of this one has recorded counts from now on": Row(
        "the wait must not last until that time",
        stands(plan=planned("rootDiskGiB", ago=-3600)),
        Reason.REPLACING,
        status={"replacement": planned("rootDiskGiB", ago=0)},
        wakes=30,
    ),
    "another edit is planned anew": Row(
        "its grace begins again",
        stands(a_spec(replacePolicy="Recreate", rootDiskGiB=300, configuration=LARGE), DISK),
        Reason.REPLACING,
        status={"replacement": Replacement(fields=("configuration", "rootDiskGiB"), planned_at=WALL)},
    ),
    "an edit that is taken back replaces nothing": Row(
        "the VM is as the spec says",
        stands(a_spec(replacePolicy="Recreate"), DISK),
        Reason.RUNNING,
        "True",
        None,
        status={"replacement": None},
    ),
    "a policy that is taken back replaces nothing": Row(
        "it counts as it stands now", stands(a_spec(rootDiskGiB=300), DISK), Reason.RUNNING, "True", None
    ),
    "a VM is destroyed for another one when the grace is over": Row(
        "nothing holds it",
        stands(plan=DISK),
        Reason.REPLACING,
        action=Verb.DESTROY,
        status={"order": OrderState.DESTROYING, "recreations": (WALL,), "replacement": DISK},
    ),
    "a VM that is retained is not replaced": Row(
        "the spec keeps it",
        stands(a_spec(replacePolicy="Recreate", rootDiskGiB=300, deletion={"policy": "Retain"})),
        Reason.REPLACING,
        progress="Stalled",
        says="spec.deletion.policy: Retain",
    ),
    "a VM that the deletion guard holds is not replaced": Row(
        "an edit of many specs may be a mistake",
        stands(plan=DISK, hold=Hold(8, Decimal(16), 0, timedelta(minutes=10), "--brake-vms 3")),
        Reason.DELETION_HELD,
        progress="Stalled",
        says="kubectl annotate",
    ),
    "a VM of which a snapshot is being taken is not replaced": Row(
        "a GpuSnapshot needs it",
        stands(plan=DISK, dependents=("GpuSnapshot 'nightly'",)),
        Reason.REPLACING,
        says="as soon as GpuSnapshot 'nightly' is taken",
    ),
    "a VM is replaced three times within an hour": Row(
        "specs that change again and again would buy without end",
        stands(plan=DISK)
        | {
            "status": stands(plan=DISK)["status"].model_copy(
                update={"recreations": tuple(WALL - timedelta(minutes=minutes) for minutes in (50, 30, 10))}
            )
        },
        Reason.RECREATION_LIMITED,
        progress="Stalled",
        says="3 times within an hour",
    ),
    "a VM is not destroyed without room for the other one": Row(
        "the old one is better than none",
        stands(OTHER, CONFIGURATION, line=Line(listed=frozenset({Offer(LARGE)}))),
        Reason.WAITING_FOR_CAPACITY,
        says=LARGE,
    ),
    "a VM is destroyed when there is room for the other one": Row(
        "it has the turn in the line",
        stands(OTHER, CONFIGURATION, line=Line(listed=frozenset({Offer(LARGE)}), turn=Offer(LARGE))),
        Reason.REPLACING,
        action=Verb.DESTROY,
    ),
    "a destruction that is announced does not ask for room again": Row(
        "the announcement may have been sent",
        stands(OTHER, CONFIGURATION, line=Line(listed=frozenset({Offer(LARGE)})))
        | {
            "status": a_status(
                "Replacing", order=ordered(OrderState.DESTROYING), replacement=CONFIGURATION, recreations=(WALL,), vm_id=NAME
            )
        },
        Reason.REPLACING,
        action=Verb.DESTROY,
        status={"recreations": (WALL,)},
    ),
    "a VM is replaced where the cloud lists no room of the other one": Row(
        "nothing can be known", stands(OTHER, CONFIGURATION), Reason.REPLACING, action=Verb.DESTROY
    ),
    "a VM that cannot be seen is not replaced": Row(
        "nothing proves what is there",
        stands(plan=DISK, found=Unknown(NOW - 400, UnknownReason.UNREACHABLE)),
        Reason.API_UNAVAILABLE,
        "Unknown",
    ),
    "a VM that is being destroyed for another one is awaited": Row(
        "two of one name cannot be",
        stands(plan=DISK, found=Absent(NOW - 1, NOW - 1))
        | {
            "status": a_status("Replacing", order=ordered(OrderState.DESTROYING), replacement=DISK),
            "known": known(ordered(OrderState.DESTROYING), ago=5, absence_counts_from=NOW - 5),
        },
        Reason.REPLACING,
        looks=True,
        records=False,
    ),
    "the other one is ordered when the old one is gone": Row(
        "two listings lack it",
        GONE,
        Reason.RECREATING,
        records=True,
        status={"replacement": None, "recreations": (WALL,)},
    ),
    "the other one is ordered though the policy was taken back meanwhile": Row(
        "the old one is gone", GONE | {"spec": a_spec(rootDiskGiB=300)}, Reason.RECREATING, records=True
    ),
}
