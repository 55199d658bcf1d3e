"""Histories of a lost VM whose recreation something blocks for long: the verdict stands, and is not written again and again."""

from __future__ import annotations

import asyncio

import pytest

from support.fakes import a_resource
from support.orderrig import KEY

pytestmark = pytest.mark.looptime


async def lookalike(it):
    """Somebody leaves a VM that may be this object's."""
    it.cloud.add("train-tagaa-zzzzzzzzzz")


async def quota(it):
    """The administrator lowers the quota, and another object needs it."""
    await it.start(max_vms_per_namespace=1)
    await asyncio.sleep(30)
    it._show("ADDED", a_resource("GpuVM", name="other", uid="u-b"))


@pytest.mark.parametrize(("block", "reason"), [(lookalike, "PossibleDuplicate"), (quota, "LimitReached")])
async def test_the_verdict_that_blocks_a_recreation_is_written_once(it, block, reason):
    """Each listing that was too old wrote Recreating in its place: up to 72 writes an hour."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)
    it.cloud.vms.clear()
    await block(it)
    await it.until(lambda: it.ready == f"False/{reason}", 600)
    await asyncio.sleep(600)
    written, told = len(it.kube.statuses), len(it.kube.events)
    await asyncio.sleep(3600)
    assert (it.ready, len(it.kube.statuses) - written, len(it.kube.events) - told) == (f"False/{reason}", 0, 0)


@pytest.mark.parametrize("status", ["FAILED", None])
async def test_a_restart_costs_a_recreation_no_place_in_the_line(it, status):
    """A new process looks once more whether a failed VM is gone; meanwhile status.placement was cleared."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(60)
    row = {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "rpool": "on-demand", "available": False, "count": 0}
    it.cloud.worlds[KEY]["GetAvailability"], it.cloud.makes = [row], False
    it.cloud.refuse("CreateServer", 503)
    it._show("ADDED", a_resource("GpuVM", name="other", uid="u-b"))
    await asyncio.sleep(120)
    if status is None:
        it.cloud.vms.clear()
    for _, record in it.cloud.vms.values():
        record["status"] = status
    await it.until(lambda: it.ready == "False/WaitingForCapacity", 600)
    since = it.status["placement"]["waitingSince"]
    await asyncio.sleep(600)
    await it.start()
    for _ in range(300):
        await asyncio.sleep(1)
        assert it.status["placement"]["waitingSince"] == since
    assert it.ready == "False/WaitingForCapacity"
