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
async def test_the_age_and_the_count_of_a_listing(rig, answers, age, count, why):
    it = rig(*answers)
    it.inventory.watch("a", here())
    await asyncio.sleep(200.5)
    listing_status = it.inventory.listing_statuses()["Msc1"]
    assert (round(listing_status.age, -1), listing_status.count, listing_status.doubted) == (age, count, False), why


async def test_the_age_of_a_cluster_never_listed_counts_from_its_first_watcher(rig):
    it = rig(broken(ErrorKind.SERVER))
    await asyncio.sleep(1000)
    it.inventory.watch("a", here())
    assert it.inventory.listing_statuses()["Msc1"].age == 0
    await asyncio.sleep(5)
    assert it.inventory.listing_statuses()["Msc1"].age == pytest.approx(5)


async def test_a_cluster_that_the_cloud_rejects_has_no_status(rig):
    """Its name is free text: else anybody could raise a critical alert. The object says InvalidSpec."""
    it = rig(broken(ErrorKind.INVALID))
    it.inventory.watch("a", here(cluster="a-typo"))
    await asyncio.sleep(1000)
    assert it.inventory.listing_statuses() == {}


async def test_a_cluster_without_watchers_has_no_status(rig):
    everything = [record(f"vm{number}") for number in range(3)]
    it = rig(everything, [])
    it.inventory._expected = lambda _cluster, _shown: {here(f"vm{number}") for number in range(3)}
    it.inventory.watch("a", here("vm0"))
    await asyncio.sleep(SLOW + 5)
    assert it.inventory.listing_statuses()["Msc1"].doubted
    it.inventory.unwatch("a")
    assert it.inventory.listing_statuses() == {}
