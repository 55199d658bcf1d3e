"""Listings that lack too many records at once are not believed."""

import asyncio

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.cluster_records import EVERYTHING
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from support.inventoryrig import FAST, INSIDE, SLOW, broken, here, record

pytestmark = pytest.mark.looptime


@pytest.fixture
def fleet(rig):
    """Makes an inventory where ``size`` VMs are expected and watched. Each listing lacks so many of them, the first ones."""

    def make(size, *lacking):
        records = [record(f"vm{number}") for number in range(size)]
        it = rig(*(records[count:] for count in lacking))
        it.expected = {here(f"vm{number}") for number in range(size)}
        it.inventory._expected = lambda _cluster, _shown: it.expected
        for number in range(size):
            it.inventory.watch(f"uid{number}", here(f"vm{number}"))
        return it

    return make


async def test_a_record_that_implausible_listings_lacked_has_returned_doubtfully(fleet):
    it = fleet(4, 0, 4, 4, 0)
    await asyncio.sleep(SLOW + 1.5 * FAST)  # while listings are not believed, they come at the pending interval
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE
    await asyncio.sleep(FAST)
    seen = it.sees("vm0").presence
    assert (seen.lacked_until, seen.away_until) == (it.fetch.began[3], None)


async def test_the_log_of_an_implausible_listing_names_the_host(fleet, logs):
    fleet(4, 0, 4)
    await asyncio.sleep(SLOW + 1.5 * FAST)
    assert {line.get("host") for line in logs if line["event"].startswith("implausible listing")} == {"cloud.example"}


@pytest.mark.parametrize(
    ("known", "vanish", "believed"),
    [
        (1, 1, True),
        (2, 2, True),  # under three: always believed, or a small account could never see a loss
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
async def test_how_much_may_vanish_at_once(fleet, known, vanish, believed):
    it = fleet(known, 0, vanish)
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


async def test_what_we_destroy_is_not_counted_as_missing(fleet):
    it = fleet(4, 0, 4)
    await asyncio.sleep(1)
    it.expected -= {here("vm0"), here("vm1")}  # destroyed by us
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees("vm3"), Absent)


async def test_records_are_unknown_until_the_fleet_is_listed_again(fleet):
    it = fleet(5, 0, 5, 5, 0)
    await asyncio.sleep(SLOW + FAST + 1)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE
    it.woken.clear()
    await asyncio.sleep(FAST)
    assert isinstance(it.sees("vm0"), Present)
    assert sorted(it.woken) == [f"uid{number}" for number in range(5)]


async def test_what_an_outage_hid_and_no_listing_is_believed_of_is_unknown_since_before_the_outage(rig):
    """Simulated world, seed 1300574: Ready stood through both waits, one after the other."""
    records = [record(f"vm{number}") for number in range(4)]
    it = rig(records, broken(ErrorKind.UNAVAILABLE), [], broken(ErrorKind.UNAVAILABLE))
    it.inventory._expected = lambda _cluster, _shown: {here(one.id) for one in records}
    it.inventory.watch("uid0", here("vm0"))
    causes = set()
    for _ in range(100):
        await asyncio.sleep(FAST / 2)
        seen = it.sees("vm0")
        if isinstance(seen, Unknown):
            causes.add(seen.cause)
            assert seen.since == it.fetch.began[0]
    assert causes == {UnknownReason.UNREACHABLE, UnknownReason.IMPLAUSIBLE}


async def test_an_implausible_listing_is_not_the_first_of_two_that_prove_an_absence(rig):
    """What is destroyed would count as gone, and a name as free, by one listing that may be partial."""
    ours, others = record("ours"), [record(f"vm{number}") for number in range(4)]
    it = rig([ours, *others], [], others)
    it.inventory._expected = lambda _cluster, _shown: {here(one.id) for one in others}
    it.inventory.watch("uid", here("ours"))
    await asyncio.sleep(SLOW + 1.5 * FAST)
    assert it.sees("ours") == Absent(it.fetch.began[2], it.fetch.began[1])
    assert it.sees("ours", accepted_until=it.fetch.began[1]).confirmed == it.fetch.began[1], "a person says that it is gone"
    it.inventory.refresh_after("uid", it.fetch.began[2] + 0.1)
    await asyncio.sleep(FAST)
    assert it.sees("ours").confirmed == it.fetch.began[2]


@pytest.mark.parametrize(
    ("elsewhere", "second", "believed"),
    [
        (4, 0, False),  # simulated world, seeds 70018346 and 70039473: an empty listing let go of the only VM of a namespace
        (4, 4, True),  # it alone is gone
        (4, 3, True),  # two of five are gone
        (0, 0, True),  # the credential shows nothing else
    ],
)
async def test_what_a_listing_has_shown_of_others_objects_counts_when_it_vanishes_with_ours(rig, elsewhere, second, believed):
    ours, others = record("ours"), [record(f"vm{number}") for number in range(4)]
    it = rig([ours, *others[:elsewhere]], others[:second], others[:second])
    it.inventory._expected = lambda _cluster, shown: {here("ours"), *shown}
    it.inventory.watch("uid", here("ours"))
    await asyncio.sleep(SLOW + 1.5 * FAST)
    assert isinstance(it.sees("ours"), Absent) is believed


async def test_others_objects_that_no_listing_has_shown_are_not_missed(rig):
    """They are in another tenant: this credential will never show them."""
    ours, others = record("ours"), {here(f"vm{number}") for number in range(4)}
    it = rig([ours], [], [])
    it.inventory._expected = lambda _cluster, shown: {here("ours")} | (others & set(shown))
    it.inventory.watch("uid", here("ours"))
    await asyncio.sleep(SLOW + 1.5 * FAST)
    assert isinstance(it.sees("ours"), Absent)


async def test_one_odd_listing_does_not_make_a_real_loss_doubtful_for_ever(fleet):
    """One of three was destroyed outside, and the first listing since then showed none."""
    it = fleet(3, 0, 3, 1)
    await asyncio.sleep(SLOW + 1)
    assert it.sees("vm1").cause is UnknownReason.IMPLAUSIBLE
    await asyncio.sleep(SLOW - 1)
    assert isinstance(it.sees("vm1"), Present), "a doubt is cleared up at once, and not at the usual pace"
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE, "the listing may be filling up"
    await asyncio.sleep(5)
    assert isinstance(it.sees("vm0"), Absent)
    assert it.sees("vm0").confirmed is not None


async def test_a_listing_that_fills_up_again_is_doubted_until_it_lacks_the_same_for_long(fleet):
    it = fleet(9, 0, 9, *(lacking for lacking in (2, 1) for _ in range(int(SLOW / FAST) - 1)), 1)
    await asyncio.sleep(3 * SLOW - 5)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees("vm0"), Absent)


async def test_a_loss_beyond_the_limit_is_not_believed_however_long_it_lasts(fleet):
    it = fleet(9, 0, 3)
    await asyncio.sleep(100 * SLOW)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE


async def test_what_vanished_after_a_person_accepted_is_not_covered_by_the_acceptance(fleet):
    """The word covers what was missing when it was given, not what the same doubtful listings lack later."""
    it = fleet(9, 0, 4, 5)
    await asyncio.sleep(SLOW + 1)
    doubted = it.sees("vm0").since
    assert isinstance(it.sees("vm0", accepted_until=doubted - 0.1), Unknown)
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees("vm0", accepted_until=doubted), Absent)
    assert it.sees("vm4", accepted_until=doubted).cause is UnknownReason.IMPLAUSIBLE


async def test_losses_one_by_one_are_each_believed(fleet):
    it = fleet(5, *range(6))
    await asyncio.sleep(5 * SLOW + 5)
    assert all(isinstance(it.sees(f"vm{number}"), Absent) for number in range(5))


async def test_an_empty_first_listing_after_a_restart_is_doubted(fleet):
    """The expectation comes from status, so a new process is as careful as the old one."""
    it = fleet(5, 5)
    await asyncio.sleep(1)
    assert it.sees("vm0").cause is UnknownReason.IMPLAUSIBLE


async def test_an_implausible_listing_makes_no_vpc_empty(fleet):
    it = fleet(3, 0, 3)
    it.inventory.watch("a", INSIDE)
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.within("Msc1", "acme").cause is UnknownReason.IMPLAUSIBLE


async def test_an_implausible_listing_does_not_confirm_that_a_vpc_is_empty(rig):
    """It lacked everything; the next one is believed, and lacks only what nobody expects."""
    ours, foreign = [record(f"vm{number}") for number in range(4)], record("foreign", vpc="acme-train")
    it = rig([*ours, foreign], [], ours, ours)
    it.inventory._expected = lambda _cluster, _shown: {here(f"vm{number}") for number in range(4)}
    it.inventory.watch("a", here(EVERYTHING, vpc="acme-train"))
    await asyncio.sleep(SLOW + 1.5 * FAST)
    began = it.fetch.began
    inside = it.inventory.within("Msc1", "acme-train")
    assert (inside.records, inside.as_of, inside.confirmed) == ((), began[2], None)
    await asyncio.sleep(SLOW)
    assert it.inventory.within("Msc1", "acme-train").confirmed == began[2]
