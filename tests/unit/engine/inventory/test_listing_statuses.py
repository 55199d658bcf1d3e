"""The age and the count of listings as metrics show them."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from support.inventoryrig import SLOW, broken, here, record

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize(
    ("answers", "age", "count", "why"),
    [
        (([record()], broken(ErrorKind.SERVER)), 200, 1, "since the last good listing"),
        (
            (broken(ErrorKind.SERVER),),
            200,
            None,
            "never seen: since it is needed, or a restart in an outage would end an alert",
        ),
        ((broken(ErrorKind.UNAUTHORIZED),), 200, None, "a wrong key from the start"),
        ((broken(ErrorKind.FORBIDDEN),), 200, None, "and a right that is missing"),
        (([], broken(ErrorKind.INVALID)), 200, 0, "refused, but once it was seen"),
        (([record(), record("y")],), 20, 2, "seen every 60 s"),
    ],
)
async def test_how_old_and_how_much_is_told_of_what_is_seen(rig, answers, age, count, why):
    it = rig(*answers)
    it.inventory.watch("a", here())
    await asyncio.sleep(200.5)
    listing_status = it.inventory.listing_statuses()["Msc1"]
    assert (round(listing_status.age, -1), listing_status.count, listing_status.doubted) == (age, count, False), why


async def test_what_was_just_opened_is_young(rig):
    it = rig(broken(ErrorKind.SERVER))
    await asyncio.sleep(1000)
    it.inventory.watch("a", here())
    assert it.inventory.listing_statuses()["Msc1"].age == 0
    await asyncio.sleep(5)
    assert it.inventory.listing_statuses()["Msc1"].age == pytest.approx(5)


async def test_a_cluster_that_only_a_spec_knows_is_not_told_of(rig):
    """Its name is free text: else anybody could raise a critical alert. The object says InvalidSpec."""
    it = rig(broken(ErrorKind.INVALID))
    it.inventory.watch("a", here(cluster="a-typo"))
    await asyncio.sleep(1000)
    assert it.inventory.listing_statuses() == {}


async def test_nothing_is_told_of_what_nobody_needs_any_more(rig):
    everything = [record(f"vm{number}") for number in range(3)]
    it = rig(everything, [])
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(3)}
    it.inventory.watch("a", here("vm0"))
    await asyncio.sleep(SLOW + 5)
    assert it.inventory.listing_statuses()["Msc1"].doubted
    it.inventory.unwatch("a")
    assert it.inventory.listing_statuses() == {}
