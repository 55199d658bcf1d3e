"""A GpuVM's standing, as the tables of decisions start from: statuses, and snapshots that hang on it."""

from __future__ import annotations

from gpucloud.reconcile.facts import Blindness, Unknown
from gpucloud.reconcile.gpuvm.facts import SnapshotOfVm, SnapshotsOfVm
from support.builders import NOW, a_spec, a_status, an_intent, an_object, our_name, present

NAME = our_name()
INTENT = an_intent(NAME)
BOUGHT = {"intent": INTENT, "vm_id": NAME}
CREATING = a_status("Creating", intent=INTENT)
RUNNING = a_status("Running", "True", None, **BOUGHT)
OFF = a_status("PoweredOff", "True", None, **BOUGHT)
STOPPED = a_spec(powerState="Stopped")
DELETING = an_object(deleting=True)
GOING = a_status("Deleting", **BOUGHT)
HELD = a_status("DeletionHeld", progress="Stalled", **BOUGHT)
BLIND = Unknown(NOW - 10, Blindness.UNREACHABLE, "HTTP 502")


def a_list(*items, as_of=NOW):
    return SnapshotsOfVm(tuple(SnapshotOfVm(name, deletable) for name, deletable in items), as_of)


WITH_SNAPSHOTS = a_spec(deletion={"snapshots": "Delete"})
TOGETHER = {"meta": DELETING, "spec": WITH_SNAPSHOTS, "status": RUNNING, "found": present(), "snapshots": a_list()}
