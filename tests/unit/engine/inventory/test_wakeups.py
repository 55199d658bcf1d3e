"""Which objects a listing wakes."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.listing_spacing import LEAST_SPACING_SECONDS
from support.inventoryrig import FAST, INSIDE, SLOW, SOMEWHERE, broken, here, record

pytestmark = pytest.mark.looptime


async def test_an_object_is_woken_only_when_its_own_record_changes(rig):
    it = rig(
        [record("x"), record("y")], [record("x"), record("y", status="OFFLINE")], [record("x"), record("y", status="OFFLINE")]
    )
    it.inventory.watch("a", here("x"))
    it.inventory.watch("b", here("y"))
    await asyncio.sleep(1)
    assert sorted(it.woken) == ["a", "b"]
    it.woken.clear()
    await asyncio.sleep(SLOW)
    assert it.woken == ["b"]
    await asyncio.sleep(3 * SLOW)
    assert it.woken == ["b"]


async def test_while_an_end_is_expected_only_it_wakes_the_object_until_that_is_reconciled(rig):
    it = rig([record()], [record(status="DESTROYING")], [record(status="FAILED")], [record(status="DESTROYING")], [])
    it.inventory.watch("uid", here())
    it.inventory.expect_change("uid", pending=True)
    await asyncio.sleep(0.1)
    it.woken.clear()
    it.inventory.expect_end("uid")
    await asyncio.sleep(FAST)
    assert it.woken == []
    it.inventory.expect_change("uid", pending=True)
    await asyncio.sleep(FAST)
    assert it.woken == ["uid"], "it was reconciled meanwhile, and wants to know of every change again"
    it.inventory.expect_end("uid")
    await asyncio.sleep(FAST)
    assert it.woken == ["uid"]
    listed = it.count
    await asyncio.sleep(FAST + 2 * LEAST_SPACING_SECONDS)
    assert it.woken == ["uid", "uid"]
    assert it.count == listed + 2, "one listing alone proves no end: the second follows at once"


async def test_an_expected_end_wakes_the_object_though_the_record_came_back_once(rig):
    it = rig([record()], [], [record()], [], [])
    it.inventory.watch("uid", here())
    it.inventory.expect_change("uid", pending=True)
    await asyncio.sleep(0.1)
    it.woken.clear()
    it.inventory.expect_end("uid")
    await asyncio.sleep(FAST + 2 * LEAST_SPACING_SECONDS)
    assert (it.count, it.woken) == (3, ["uid"]), "it is another number of records than before"
    await asyncio.sleep(3 * FAST)
    assert it.woken == ["uid", "uid"], "two listings in a row lack it"


async def test_an_object_is_woken_when_its_record_vanishes_and_when_it_comes_back(rig):
    it = rig([record("x"), record("y")], [record("y")], [record("y")], [record("x"), record("y")])
    it.inventory.watch("a", here("x"))
    it.inventory.watch("b", here("y"))
    await asyncio.sleep(1)
    it.woken.clear()
    await asyncio.sleep(SLOW)
    assert it.woken == ["a"]
    await asyncio.sleep(2 * SLOW)
    assert it.woken == ["a", "a"]


async def test_an_outage_keeps_its_beginning_and_wakes_once(rig):
    down = broken(ErrorKind.SERVER)
    it = rig([record()], down, down, down)
    it.inventory.watch("a", here())
    await asyncio.sleep(1)
    it.woken.clear()
    await asyncio.sleep(5 * SLOW)
    assert it.sees().since == it.fetch.began[0]
    assert it.woken == ["a"]


async def test_an_outage_of_another_cause_wakes_again(rig):
    it = rig([record()], broken(ErrorKind.SERVER), broken(ErrorKind.FORBIDDEN))
    it.inventory.watch("a", here())
    await asyncio.sleep(1)
    it.woken.clear()
    await asyncio.sleep(SLOW + 20)
    assert it.woken == ["a", "a"]


async def test_a_change_of_a_record_that_names_no_vpc_wakes_too(rig):
    it = rig([record("x", vpc=None, status="PENDING")], [record("x", vpc=None, status="ONLINE")])
    it.inventory.watch("a", here())
    await asyncio.sleep(SLOW / 2)
    it.woken.clear()
    await asyncio.sleep(SLOW)
    assert it.woken == ["a"]


@pytest.mark.parametrize(
    ("identity", "first", "second", "woken", "why"),
    [
        (INSIDE, [record("x")], [record("x"), record("y")], True, "something came"),
        (INSIDE, [record("x")], [], True, "something went"),
        (INSIDE, [record("x")], [record("x", vpc=None)], True, "it says no more where it is"),
        (INSIDE, [record("x")], [record("x"), record("y", vpc="acme-train")], False, "something came elsewhere"),
        (SOMEWHERE, [], [record("x", vpc="acme-train")], True, "found, wherever"),
        (SOMEWHERE, [record("x")], [record("x", vpc="acme-train")], True, "it moved"),
        (SOMEWHERE, [record("x")], [record("x"), record("y")], False, "another name"),
    ],
)
async def test_who_watches_a_vpc_or_all_is_woken_by_what_concerns_it(rig, identity, first, second, woken, why):
    it = rig(first, second)
    it.inventory.watch("a", identity)
    await asyncio.sleep(1)
    it.woken.clear()
    await asyncio.sleep(SLOW)
    assert it.woken == (["a"] if woken else []), why


async def test_an_object_that_goes_right_after_it_asked_for_a_listing_leaves_no_poller(rig):
    """asyncio.wait_for drops a cancellation that comes in the turn of the loop in which what it waits for ends."""
    it = rig([record()])
    it.inventory.watch("uid", here())
    await asyncio.sleep(1)
    (poller,) = it.inventory._pollers.values()
    it.inventory.refresh_after("uid", it.inventory._clock.mono())
    await asyncio.sleep(0)
    it.inventory.unwatch("uid")
    await asyncio.sleep(1)
    assert poller.cancelled()
    listed = it.count
    await asyncio.sleep(3 * SLOW)
    assert it.count == listed, "nobody is left to list for"
