"""Listings that lack too many records at once are not believed."""

import asyncio

import pytest

from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from support.inventoryrig import FAST, SLOW, here, record

pytestmark = pytest.mark.looptime


async def test_what_comes_back_after_an_implausible_listing_has_returned_doubtfully(rig):
    fleet = [record(f"vm{number}") for number in range(4)]
    it = rig(fleet, [], [], fleet)
    it.inventory._expected = lambda _cluster: [here(f"vm{number}") for number in range(4)]
    for number in range(4):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(SLOW + 1.5 * FAST)  # while listings are not believed, they come at the pending interval
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE
    await asyncio.sleep(FAST)
    assert (it.sees("vm0").returned, it.sees("vm0").doubtful) == (it.fetch.began[3], True)


@pytest.mark.parametrize(
    ("known", "vanish", "believed"),
    [
        (1, 1, True),
        (2, 2, True),  # under three: no brake, or a small account could never see a loss
        (3, 3, False),
        (9, 2, True),
        (9, 3, False),  # 33 %
        (10, 3, True),  # exactly 30 %
        (10, 4, False),
        (100, 30, True),
        (100, 31, False),
        (100, 100, False),
    ],
)
async def test_how_much_may_vanish_at_once(rig, known, vanish, believed):
    everything = [record(f"vm{number}") for number in range(known)]
    it = rig(everything, everything[vanish:])
    identities = {here(f"vm{number}") for number in range(known)}
    it.inventory._expected = lambda _cluster: identities
    for number in range(known):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(SLOW + 1)
    seen = it.sees("vm0")
    assert isinstance(seen, Absent) is believed
    if not believed:
        assert seen.cause is UnknownReason.IMPLAUSIBLE
        assert isinstance(it.sees("vm0", accepted_until=seen.since), Absent)
    assert it.meter.listings[-1] == ("Msc1", believed)
    assert it.inventory.listing_statuses()["Msc1"].doubted is not believed
    if vanish < known:
        assert isinstance(it.sees(f"vm{vanish}"), Present), "what is there is seen all the same"


async def test_what_we_destroy_does_not_count(rig):
    everything = [record(f"vm{number}") for number in range(4)]
    it = rig(everything, [])
    expected = {here(f"vm{number}") for number in range(4)}
    it.inventory._expected = lambda _cluster: expected
    for number in range(4):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(1)
    expected -= {here("vm0"), here("vm1")}  # destroyed by us
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees("vm3"), Absent)


async def test_a_doubt_lasts_until_the_fleet_is_back(rig):
    everything = [record(f"vm{number}") for number in range(5)]
    it = rig(everything, [], [], everything)
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(5)}
    for number in range(5):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(SLOW + FAST + 1)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE
    it.woken.clear()
    await asyncio.sleep(FAST)
    assert isinstance(it.sees("vm0"), Present)
    assert sorted(it.woken) == [f"uid{number}" for number in range(5)]


async def test_one_odd_listing_does_not_make_a_real_loss_doubtful_for_ever(rig):
    """One of three was destroyed outside, and the first listing since then showed none."""
    everything = [record(f"vm{number}") for number in range(3)]
    it = rig(everything, [], everything[1:])
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(3)}
    for number in range(3):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(SLOW + 1)
    assert it.sees("vm1").cause is UnknownReason.IMPLAUSIBLE
    await asyncio.sleep(SLOW - 1)
    assert isinstance(it.sees("vm1"), Present), "a doubt is cleared up at once, and not at the usual pace"
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE, "the listing may be filling up"
    await asyncio.sleep(5)
    assert isinstance(it.sees("vm0"), Absent)
    assert it.sees("vm0").confirmed is not None


async def test_a_listing_that_fills_up_again_is_doubted_until_it_lacks_the_same_for_long(rig):
    everything = [record(f"vm{number}") for number in range(9)]
    filling = [everything[lacking:] for lacking in (2, 1) for _ in range(int(SLOW / FAST) - 1)]
    it = rig(everything, [], *filling, everything[1:])
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(9)}
    for number in range(9):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(3 * SLOW - 5)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees("vm0"), Absent)


async def test_what_is_too_much_to_be_believed_stays_so_however_long_it_lasts(rig):
    everything = [record(f"vm{number}") for number in range(9)]
    it = rig(everything, everything[3:])
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(9)}
    it.inventory.watch("uid0", here("vm0"))
    await asyncio.sleep(100 * SLOW)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE


async def test_what_vanished_after_a_person_accepted_is_a_doubt_of_its_own(rig):
    """The word covers what was missing when it was given, not what the same doubtful listings lack later."""
    everything = [record(f"vm{number}") for number in range(9)]
    it = rig(everything, everything[4:], everything[5:])
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(9)}
    for number in range(9):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(SLOW + 1)
    doubted = it.sees("vm0").since
    assert isinstance(it.sees("vm0", accepted_until=doubted - 0.1), Unknown)
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees("vm0", accepted_until=doubted), Absent)
    assert it.sees("vm4", accepted_until=doubted).cause is UnknownReason.IMPLAUSIBLE


async def test_losses_one_by_one_are_each_believed(rig):
    everything = [record(f"vm{number}") for number in range(5)]
    it = rig(*[everything[gone:] for gone in range(6)])
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(5)}
    for number in range(5):
        it.inventory.watch(f"uid{number}", here(f"vm{number}"))
    await asyncio.sleep(5 * SLOW + 5)
    assert all(isinstance(it.sees(f"vm{number}"), Absent) for number in range(5))


async def test_an_empty_first_listing_after_a_restart_is_doubted(rig):
    """The expectation comes from status, so a new process is as careful as the old one."""
    it = rig([])
    it.inventory._expected = lambda _cluster: {here(f"vm{number}") for number in range(5)}
    it.inventory.watch("a", here("vm0"))
    await asyncio.sleep(1)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE
