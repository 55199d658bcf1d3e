"""When the cloud is listed: one listing for everybody, sooner when somebody waits, later when listings fail."""

import asyncio
import itertools

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.inventory import LONGEST_BACKOFF_SECONDS, REJECTED_BACKOFF_SECONDS
from gpucloud.engine.cloud.listing_spacing import BURST, LEAST_SPACING_SECONDS, LONGEST_SPACING_SECONDS
from gpucloud.reconcile.facts import Present, UnknownReason
from support.inventoryrig import FAST, SLOW, broken, here, record

pytestmark = pytest.mark.looptime


async def test_one_listing_an_interval_whatever_the_number_of_objects(rig):
    it = rig([record()])
    for number in range(500):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(10 * SLOW + 1)
    assert it.count == 11


async def test_every_cluster_in_use_has_its_own_listings(rig):
    it = rig([])
    it.inventory.watch("a", here(cluster="Msc1"))
    it.inventory.watch("b", here(cluster="Hou1"))
    await asyncio.sleep(1)


async def test_fast_while_anything_is_pending_and_slow_again_after(rig):
    it = rig([record()])
    it.inventory.watch("a", here())
    it.inventory.watch("b", here("y"))
    await asyncio.sleep(1)
    it.inventory.expect_change("a", True)
    it.inventory.expect_change("b", True)
    await asyncio.sleep(10 * FAST)
    assert 10 <= it.count <= 12
    it.inventory.expect_change("a", False)
    await asyncio.sleep(10 * FAST)
    assert 20 <= it.count <= 22, "b is still pending"
    it.inventory.expect_change("b", False)
    await asyncio.sleep(FAST)
    before = it.count
    await asyncio.sleep(10 * SLOW)
    assert it.count - before in {10, 11}


@pytest.mark.parametrize(("takes", "told"), [(12.0, 12.0), (900.0, 30.0)])
async def test_how_long_listings_take_is_told_by_the_last_two_up_to_what_one_call_may_take(rig, takes, told):
    """A single slow one may be one during which the process was suspended, and what it shows is old."""
    it = rig([record()], takes=takes)
    it.inventory.watch("a", here())
    it.inventory.expect_change("a", True)
    assert it.inventory.pace("Msc1").shorter == 0.0
    await asyncio.sleep(takes + 1)
    assert it.count == 1
    assert it.inventory.pace("Msc1").shorter == 0.0
    await asyncio.sleep(2 * takes + 30)
    assert it.inventory.pace("Msc1") == pytest.approx((told, told))
    assert it.inventory.pace("elsewhere") == (0.0, 0.0)


async def test_a_pending_object_that_is_gone_slows_the_poll_down(rig):
    it = rig([record()])
    it.inventory.watch("a", here())
    it.inventory.watch("b", here("y"))
    it.inventory.expect_change("a", True)
    await asyncio.sleep(5)
    it.inventory.unwatch("a")
    await asyncio.sleep(FAST)
    before = it.count
    await asyncio.sleep(5 * SLOW)
    assert it.count - before <= 6


async def test_many_who_want_a_look_share_one_listing(rig):
    it = rig([record()], takes=0.05)
    for number in range(100):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(10)
    assert it.count == 1
    it.woken.clear()
    now = asyncio.get_running_loop().time()
    for number in range(100):
        it.inventory.refresh_after(f"uid{number}", now)
    await asyncio.sleep(1)
    assert sorted(it.woken) == sorted(f"uid{number}" for number in range(100))
    assert it.fetch.began[-1] >= now


async def test_a_listing_that_is_wanted_ahead_is_made_once_for_all_and_wakes_nobody(rig):
    it = rig([])
    for number in range(50):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(1)
    it.woken.clear()
    now = asyncio.get_running_loop().time()
    for number in range(50):
        it.inventory.list_after(f"uid{number}", now)
    await asyncio.sleep(0.1)
    assert (it.count, it.woken) == (2, [])
    it.inventory.list_after("uid0", now)
    await asyncio.sleep(SLOW / 2)


async def test_looks_that_come_one_after_the_other_are_spaced(rig):
    it = rig([record()])
    it.inventory.watch("a", here())
    loop = asyncio.get_running_loop()
    for _ in range(500):
        it.inventory.refresh_after("a", loop.time())
        await asyncio.sleep(0.01)
    gaps = [later - sooner for sooner, later in zip(it.fetch.began, it.fetch.began[1:], strict=False)]
    assert min(gaps) >= LEAST_SPACING_SECONDS
    assert it.count > 15


async def test_after_a_long_sleep_of_the_process_the_cloud_is_soon_looked_at(rig):
    it = rig([record()], takes=900.0)  # suspended for a quarter of an hour while a listing was on its way
    it.inventory.watch("a", here())
    it.inventory.expect_change("a", True)
    await asyncio.sleep(900.0 + LONGEST_BACKOFF_SECONDS + 1)


async def test_a_look_that_a_past_listing_serves_wakes_at_once_and_lists_nothing(rig):
    it = rig([record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(5)
    it.woken.clear()
    it.inventory.refresh_after("a", 0.0)
    assert it.woken == ["a"]
    await asyncio.sleep(5)
    assert it.count == 1


async def test_a_look_into_the_future_lists_no_sooner(rig):
    it = rig([record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(1)
    wanted = asyncio.get_running_loop().time() + 7
    it.inventory.refresh_after("a", wanted)
    it.woken.clear()
    await asyncio.sleep(10)
    assert it.woken == ["a"]
    assert min(began for began in it.fetch.began if began >= wanted) < wanted + FAST + 0.1


async def test_a_listing_is_awaited_unless_it_is_there_or_fails_or_nobody_looks(rig):
    it = rig([record()], broken(ErrorKind.SERVER))
    assert not it.inventory.awaits_listing("uid", 0.0)
    it.inventory.watch("uid", here())
    assert it.inventory.awaits_listing("uid", 0.0)
    await asyncio.sleep(0.1)
    assert not it.inventory.awaits_listing("uid", 0.0)
    assert it.inventory.awaits_listing("uid", 1.0)
    it.inventory.refresh_after("uid", 0.1)
    await asyncio.sleep(1.0)
    assert not it.inventory.awaits_listing("uid", 1.0), "the last one has failed"


async def test_failing_listings_back_off_until_one_succeeds(rig):
    down = broken(ErrorKind.SERVER)
    it = rig(down, down, down, down, down, down, [record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(300)
    gaps = [round(b - a) for a, b in zip(it.fetch.began[:6], it.fetch.began[1:7], strict=False)]
    assert gaps == [4, 8, 16, 30, 30, 30]
    assert isinstance(it.sees(), Present)
    assert it.woken[-1] == "a"


@pytest.mark.parametrize(
    ("seen_before", "longest", "why"),
    [
        (False, REJECTED_BACKOFF_SECONDS, "a name that somebody made up must not eat the budget of all"),
        (True, LONGEST_BACKOFF_SECONDS, "a cluster that there is, and an answer that will pass"),
    ],
)
async def test_how_long_a_cluster_that_the_cloud_rejects_is_left_alone(rig, seen_before, longest, why):
    rejected = broken(ErrorKind.INVALID)
    it = rig(*([[record()]] if seen_before else []), rejected)
    it.inventory.watch("a", here())
    await asyncio.sleep(SLOW + 20 * REJECTED_BACKOFF_SECONDS)
    gaps = [round(later - sooner) for sooner, later in itertools.pairwise(it.fetch.began[seen_before:])]
    assert max(gaps) == longest, why
    assert gaps[:3] == [4, 8, 16]


async def test_nobody_can_make_a_failing_cloud_be_asked_faster(rig):
    it = rig(broken(ErrorKind.SERVER))
    it.inventory.watch("a", here())
    for _ in range(60):
        it.inventory.refresh_after("a", asyncio.get_running_loop().time())
        await asyncio.sleep(1)
    assert it.count <= 6


async def test_the_last_object_of_a_cluster_takes_its_poller_with_it(rig):
    it = rig([record()])
    it.inventory.watch("a", here())
    it.inventory.watch("b", here("y"))
    await asyncio.sleep(1)
    it.inventory.unwatch("a")
    await asyncio.sleep(SLOW)
    it.inventory.unwatch("b")
    it.inventory.unwatch("b")  # nobody minds
    await asyncio.sleep(10 * SLOW)
    assert it.sees().cause is UnknownReason.NOT_LISTED
    it.inventory.watch("c", here())
    await asyncio.sleep(1)
    assert isinstance(it.sees(), Present)


async def test_has_listed_since(rig):
    it = rig([], broken(ErrorKind.SERVER))
    it.inventory.watch("a", here())
    assert not it.inventory.has_listed_since("a", 0.0)
    await asyncio.sleep(1)
    began = it.fetch.began[0]
    assert [it.inventory.has_listed_since("a", at) for at in (began, began + 0.1)] == [True, False]
    assert it.inventory.has_listed_since("nobody", 0.0), "nobody waits for it"
    await asyncio.sleep(SLOW)
    assert not it.inventory.has_listed_since("a", began), "the last listing failed: the records before it do not count"


@pytest.mark.parametrize(
    ("records", "watched", "spacing", "why"),
    [
        (10, 1, LEAST_SPACING_SECONDS, "so few cost nothing"),
        (1000, 1, 1.5, "in proportion to what a listing holds"),
        (10, 1000, 1.5, "and to what is looked for in it: in a storm of orders it holds little yet"),
        (20_000, 1, LONGEST_SPACING_SECONDS, "a status is never older than that for this reason"),
    ],
)
async def test_listings_that_objects_ask_for_all_the_time_are_spaced_by_their_size(rig, records, watched, spacing, why):
    it = rig([record(f"vm{number}") for number in range(records)])
    for number in range(watched):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    it.inventory.watch("a", here("vm0"))
    await asyncio.sleep(1)
    for _ in range(int(60 / 0.1)):
        it.inventory.refresh_after("a", asyncio.get_running_loop().time())
        await asyncio.sleep(0.1)
    gaps = [later - earlier for earlier, later in itertools.pairwise(it.fetch.began)]
    assert max(gaps[1:BURST]) < 0.5, "the first few follow at once"
    assert [round(gap, 1) for gap in gaps[-3:]] == pytest.approx([spacing] * 3, abs=0.3), why


async def test_after_large_listings_a_small_one_may_follow_soon(rig):
    """A cloud that shows nothing for a moment, or a storm that is over: what was paid for others holds nobody back."""
    it = rig(*[[record(f"vm{number}") for number in range(5000)]] * 9, [record("vm0")])
    it.inventory.watch("a", here("vm0"))
    await asyncio.sleep(1)
    while it.count < 12:
        it.inventory.refresh_after("a", asyncio.get_running_loop().time())
        await asyncio.sleep(0.1)
    assert it.fetch.began[11] - it.fetch.began[10] < 1
