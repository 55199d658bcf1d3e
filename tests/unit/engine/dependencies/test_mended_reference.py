"""What a GpuVM says of a reference that cannot be used, and what it does once it can."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.fakes import a_resource
from support.orderrig import MakingCloud, history_over
from support.referrers import FROM_SNAPSHOT, status

pytestmark = pytest.mark.looptime
it = history_over(MakingCloud)


def golden(cluster):
    """A GpuSnapshot whose snapshot is there, in this cluster."""
    uid = f"u-golden-{cluster}"
    order = an_order(external_name("golden", uid, TAG), cluster=cluster)
    seen = status("Completed", "True", None, order=order, snapshotId=order.name, cluster=cluster, vpc="acme", tenancy="acme")
    return a_resource("GpuSnapshot", "golden", uid=uid, spec={"vmRef": {"name": "other"}}, status=seen)


async def test_a_vm_goes_on_by_itself_when_its_snapshot_is_made_again_in_its_cluster(it):
    """Nobody touches the GpuVM: the GpuSnapshot that it names was in another cluster, and one of its own takes the name."""
    elsewhere, here = golden("Hou1"), golden("Msc1")
    it.engine.on_event("GpuSnapshot", "ADDED", elsewhere)
    await it.apply(**FROM_SNAPSHOT)
    await it.until(lambda: it.ready == "False/InvalidReference")
    assert "spec.cluster: Hou1" in it.words
    it.engine.on_event("GpuSnapshot", "DELETED", elsewhere)
    await it.until(lambda: it.ready == "False/DependencyNotReady")
    assert it.cloud.asked("CreateServer") == []
    it.engine.on_event("GpuSnapshot", "ADDED", here)
    await it.until(lambda: it.ready == "True/Running", 100)
    ((_, _, ordered),) = it.cloud.asked("CreateServer")
    assert ordered["snapshotName"] == external_name("golden", "u-golden-Msc1", TAG)


async def test_no_vm_is_ordered_without_the_snapshot_that_it_is_made_from(it):
    """A status that says Completed, and whose record is lost, names no snapshot: the VM was bought with another disk."""
    lost = golden("Msc1")
    del lost["status"]["order"]
    await it.apply(**FROM_SNAPSHOT)
    await it.until(lambda: it.ready == "False/DependencyNotReady")
    it.engine.on_event("GpuSnapshot", "ADDED", lost)
    await asyncio.sleep(120)
    assert (it.ready, it.cloud.asked("CreateServer")) == ("False/DependencyNotReady", [])
    assert it.words == (
        "Waiting for the name of GpuSnapshot 'golden' in the cloud: its status lost the record of its order. To do without "
        "that GpuSnapshot, delete this object and create it again with spec.image.snapshot: "
        f"{external_name('golden', 'u-golden-Msc1', TAG)!r}."
    )
