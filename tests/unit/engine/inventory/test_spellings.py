"""A cluster in two spellings is one cluster: it is listed once, and shown to everybody who asks in either."""

import asyncio

import pytest

from gpucloud.engine.cloud.inventory import Intervals, Inventory
from gpucloud.engine.cloud.listings import vm_identity
from gpucloud.reconcile.facts import Present
from support.fakes import Fetch, LoopClock, NoMeter
from support.inventoryrig import FAST, SLOW, here, record

pytestmark = pytest.mark.looptime
OTHER = "mSC1"  # of Msc1


async def test_it_is_listed_once_for_all_who_watch_it(rig):
    """Seed 92316958: specs said msc1, the cloud's acceptances Msc1, and each was polled as often as one may be."""
    it = rig([record("x"), record("y")])
    it.inventory.watch("first", here("x"))
    it.inventory.watch("second", here("y", cluster=OTHER))
    it.inventory.expect_change("second", pending=True)
    await asyncio.sleep(SLOW)
    assert it.inventory.clusters == {"Msc1"}
    assert it.count <= SLOW / FAST + 1
    for cluster in ("Msc1", OTHER):
        assert isinstance(it.inventory.observe(here("y", cluster=cluster)), Present)
        assert it.inventory.shows(here("y", cluster=cluster))
        assert it.inventory.shown_now()(here("y", cluster=cluster))
        assert it.inventory.within(cluster, "acme").records == (record("x"), record("y"))
        assert it.inventory.pace(cluster).longer > 0
    assert {"first", "second"} <= set(it.woken)


async def test_it_is_listed_as_long_as_anybody_watches_it_in_either_spelling(rig):
    it = rig([record("x")])
    it.inventory.watch("first", here("x"))
    it.inventory.watch("second", here("x", cluster=OTHER))
    it.inventory.unwatch("first")
    await asyncio.sleep(1)
    assert isinstance(it.inventory.observe(here("x", cluster=OTHER)), Present)
    it.inventory.unwatch("second")
    assert it.inventory.clusters == frozenset()


async def test_an_object_that_is_told_the_clouds_spelling_keeps_what_is_known_of_it(rig):
    """Else its poller began anew when the order was accepted."""
    it = rig([record("x")])
    it.inventory.watch("uid", here("x", cluster=OTHER))
    await asyncio.sleep(1)
    it.inventory.watch("uid", here("x"))
    assert (it.count, isinstance(it.inventory.observe(here("x")), Present)) == (1, True)


async def test_who_looks_in_it_finds_each_record_once(rig):
    it = rig([record("x")])
    it.inventory.seek("uid", frozenset({"Msc1", OTHER}))
    assert it.inventory.clusters == {"Msc1"}
    asked = [it.inventory.sought("uid", cluster, "x", 0.0) for cluster in ("Msc1", OTHER)]
    await asyncio.sleep(1)
    found = [it.inventory.sought("uid", cluster, "x", 0.0) for cluster in ("Msc1", OTHER)]
    assert (len(asked), found, it.count) == (2, 2 * [(here("x"),)], 1)
    it.inventory.seek("uid", frozenset())
    assert it.inventory.clusters == frozenset()


async def test_what_is_expected_in_another_spelling_has_not_vanished():
    names = [f"vm-{number}" for number in range(5)]
    fetch = Fetch([record(name) for name in names])
    inventory = Inventory(
        fetch,
        vm_identity,
        clock=LoopClock(),
        intervals=Intervals(FAST, SLOW),
        meter=NoMeter(),
        expected=lambda _cluster, _shown: {here(name, cluster=OTHER) for name in names},
    )
    inventory.watch("uid", here(names[0]))
    await asyncio.sleep(1)
    listed = await inventory.listing(OTHER)
    await inventory.aclose()
    assert {one.name for one in listed.records} == set(names), "the listing is believed, and serves the other spelling"
    assert len(fetch.began) == 1
