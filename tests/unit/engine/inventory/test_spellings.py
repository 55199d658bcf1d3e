"""Each spelling of a cluster is listed by itself: a cloud may know one of them alone."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.cloud.models import Listing
from gpucloud.engine.cloud.inventory import Intervals, Inventory
from gpucloud.engine.cloud.listings import vm_identity
from gpucloud.reconcile.facts import Present, UnknownReason
from support.fakes import LoopClock, NoMeter
from support.inventoryrig import FAST, SLOW, broken, here, record

pytestmark = pytest.mark.looptime


async def of_one_spelling(cluster):
    if cluster != "Msc1":
        raise broken(ErrorKind.INVALID, f"Cluster {cluster!r} is unknown")
    return Listing((record("x"),))


@pytest.mark.parametrize("order", [("Msc1", "msc1"), ("msc1", "Msc1")], ids=" first, then ".join)
async def test_a_spelling_that_the_cloud_refuses_is_refused_alone(order):
    """Once both shared a listing: one wrong spec, and all in the cluster were refused, or the wrong one was ordered."""
    inventory = Inventory(of_one_spelling, vm_identity, clock=LoopClock(), intervals=Intervals(FAST, SLOW), meter=NoMeter())
    for cluster in order:
        inventory.watch(f"of {cluster}", here("x", cluster=cluster))
    await asyncio.sleep(1)
    right, wrong = (inventory.observe(here("x", cluster=cluster)) for cluster in ("Msc1", "msc1"))
    await inventory.aclose()
    assert isinstance(right, Present)
    assert wrong.cause is UnknownReason.REJECTED
