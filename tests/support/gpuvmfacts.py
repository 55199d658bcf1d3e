"""A GpuVM's standing, as the tables of decisions start from: statuses, and snapshots that hang on it."""

from __future__ import annotations

from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.gpuvm.snapshots import SnapshotOfVm, SnapshotsOfVm
from support.builders import NOW, a_spec, a_status, an_object, an_order, known, our_name, present

NAME = our_name()
ORDER = an_order(NAME)
BOUGHT = {"order": ORDER, "vm_id": NAME}
INTENDED = an_order(NAME, OrderState.INTENDED)
CREATING = a_status("Creating", order=INTENDED)
MINE = known(INTENDED, ago=1, recorded=1)  # this process has just written the record, and may act on it
RUNNING = a_status("Running", "True", None, settled_generation=1, **BOUGHT)
OFF = a_status("PoweredOff", "True", None, settled_generation=1, **BOUGHT)
STOPPED = a_spec(powerState="Stopped")
DELETING = an_object(deleting=True)
DESTROYING = an_order(NAME, OrderState.DESTROYING)
GOING = a_status("Deleting", **BOUGHT | {"order": DESTROYING})
TOLD = known(DESTROYING, ago=5, absence_counts_from=NOW - 5)  # this process has told it to go, and has had the answer
REJECTED = a_status("Rejected", progress="Stalled", order=an_order(NAME, OrderState.REFUSED, refused_generation=1))
RETAINS = a_spec(deletion={"policy": "Retain"})
HELD = a_status("DeletionHeld", progress="Stalled", **BOUGHT)
BLIND = Unknown(NOW - 10, UnknownReason.UNREACHABLE, "HTTP 502")


def a_list(*items, as_of=NOW, confirmed=NOW):
    return SnapshotsOfVm(tuple(SnapshotOfVm(name, deletable) for name, deletable in items), as_of, confirmed)


WITH_SNAPSHOTS = a_spec(deletion={"snapshots": "Delete"})
TOGETHER = {"meta": DELETING, "spec": WITH_SNAPSHOTS, "status": RUNNING, "found": present(), "snapshots": a_list()}
