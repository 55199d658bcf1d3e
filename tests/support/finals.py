"""spec.deletion.finalSnapshot of a GpuVM, as tests let one be taken and deleted."""

from __future__ import annotations

from support.manifests import gpuvm
from support.waiting import eventually, gone, reach

REQUIRED = {"finalSnapshot": "Required"}


def final_snapshot(here, vm="train"):
    """Return the GpuSnapshot that takes a VM's final snapshot, once there is one."""

    def find():
        return next((it for it in here.list("gpusnapshot") if it["metadata"]["name"].startswith(f"{vm}-final-")), None)

    return eventually(find, what="a final snapshot to be requested")


def let_a_final_snapshot_be_taken(here, **spec):
    """A VM that needs one goes, and the snapshot is deleted after it: nothing is left."""
    here.apply(gpuvm("short-lived", deletion=REQUIRED, **spec))
    reach(here, "gpuvm", "short-lived", "True/Running")
    here.ok("delete", "gpuvm/short-lived", "--wait=false")
    gone(here, "gpuvm", "short-lived")
    name = final_snapshot(here, "short-lived")["metadata"]["name"]
    reach(here, "gpusnapshot", name, "True/Completed")
    here.patch("gpusnapshot", name, {"spec": {"deletion": {"policy": "Delete"}}})
    here.ok("delete", f"gpusnapshot/{name}", "--wait=false")
    gone(here, "gpusnapshot", name)
