"""Each spelling that a spec names is listed by itself: a cloud may know but one. The cloud's own shares what is listed."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.cloud.models import Listing
from gpucloud.engine.cloud.inventory import Inventory
from gpucloud.engine.cloud.listing_spacing import Intervals
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


@pytest.mark.parametrize(
    ("answers", "watched", "shared", "why"),
    [
        ([[record()]], ("msc1",), "msc1", "the cloud has answered it"),
        ([broken(ErrorKind.INVALID)], ("msc1",), "Msc1", "the cloud refuses it: nothing would ever be found"),
        ([broken(ErrorKind.SERVER)], ("msc1",), "Msc1", "nobody knows yet whether the cloud takes it"),
        ([[record()], broken(ErrorKind.INVALID)], ("msc1",), "Msc1", "the cloud takes it no more"),
        ([[record()], broken(ErrorKind.SERVER)], ("msc1",), "msc1", "a cloud that is away answers no other spelling either"),
        ([[record()]], ("Msc1", "msc1"), "Msc1", "both are listed anyway"),
        ([[record()]], ("Hou1",), "Msc1", "it is another cluster"),
        ([[record()]], (), "Msc1", "nobody lists it"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_clouds_spelling_shares_what_the_cloud_answers(rig, answers, watched, shared, why):
    it = rig(*answers)
    for cluster in watched:
        it.inventory.watch(f"of {cluster}", here("x", cluster=cluster))
    await asyncio.sleep(SLOW + FAST)
    assert it.inventory.spelling("Msc1") == shared, why


async def test_a_spelling_that_has_not_been_answered_yet_is_not_shared(rig):
    it = rig([record()])
    it.inventory.watch("uid", here("x", cluster="msc1"))
    assert it.inventory.spelling("Msc1") == "Msc1"


async def test_what_is_only_looked_into_gives_way_to_what_objects_watch(rig):
    """A search began before the listing of the object's own spelling had come."""
    it = rig([record()])
    it.inventory.seek("search", frozenset({"Msc1"}))
    await asyncio.sleep(1)
    it.inventory.watch("uid", here("x", cluster="msc1"))
    await asyncio.sleep(1)
    assert it.inventory.spelling("Msc1") == "msc1"
