"""One listing for everybody, and what may be concluded from it. Time is the loop's, which looptime moves."""

import asyncio
import itertools

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import Listing, VmRecord
from gpucloud.engine.cloud.cluster_records import ANYWHERE, EVERYTHING
from gpucloud.engine.cloud.inventory import (
    LEAST_SPACING_SECONDS,
    LONGEST_BACKOFF_SECONDS,
    REJECTED_BACKOFF_SECONDS,
    Intervals,
    Inventory,
)
from gpucloud.engine.cloud.listings import vm_identity
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason
from gpucloud.reconcile.naming import Identity
from support.fakes import Fetch, LoopClock, NoMeter

pytestmark = pytest.mark.looptime
FAST, SLOW = 2.0, 60.0


def here(name="x", vpc="acme", cluster="Msc1"):
    return Identity(cluster, vpc, name)


def record(name="x", vpc="acme", cluster="Msc1", status="ONLINE"):
    return VmRecord(id=name, namespace=vpc, cluster=cluster, status=status)


def broken(kind, message="the cloud's own words"):
    return CloudError(kind, message)


class Rig:
    def __init__(self, *answers, takes=0.01):
        self.fetch = Fetch(*answers, takes=takes)
        self.meter = NoMeter()
        self.woken = []
        given = {"clock": LoopClock(), "intervals": Intervals(FAST, SLOW), "meter": self.meter, "wake": self.woken.append}
        self.inventory = Inventory(self.fetch, vm_identity, **given)

    def sees(self, name="x", **more):
        return self.inventory.observe(here(name), **more)

    @property
    def count(self):
        return len(self.fetch.began)


@pytest.fixture
async def rig():
    made = []

    def make(*answers, **more):
        made.append(Rig(*answers, **more))
        return made[-1]

    yield make
    for item in made:
        await item.inventory.aclose()


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
    assert it.count == 2


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
async def test_how_long_a_listing_took_is_told_up_to_what_one_call_may_take(rig, takes, told):
    """A longer one is one during which we were asleep, and what it shows is old."""
    it = rig([record()], takes=takes)
    it.inventory.watch("a", here())
    assert it.inventory.last_duration("Msc1") == 0.0
    await asyncio.sleep(takes + 1)
    assert it.inventory.last_duration("Msc1") == pytest.approx(told)
    assert it.inventory.last_duration("elsewhere") == 0.0


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
    assert it.count == 2
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
    assert it.count == 2, "a listing that began since is there"


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
    assert it.count == 2


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


async def test_of_what_is_to_go_only_the_end_wakes_its_object_until_that_is_reconciled(rig):
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


async def test_what_is_to_go_and_shows_again_after_a_listing_without_it_wakes_its_object_when_it_is_gone(rig):
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


async def test_one_that_was_away_for_a_listing_that_proves_nothing_has_returned_doubtfully(rig):
    """Not believed, or one alone: somebody may have made another of its name meanwhile, or it was never away."""
    it = rig([record()], [], [record()], [], [], [record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(2 * SLOW + 5)
    assert (it.sees().returned, it.sees().doubtful) == (it.fetch.began[2], True)
    await asyncio.sleep(3 * SLOW)
    assert (it.sees().returned, it.sees().doubtful) == (it.fetch.began[5], False)


async def test_what_two_listings_in_a_row_lacked_says_so_when_it_is_shown(rig):
    it = rig([], [record()], [], [], [record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(SLOW + 5)
    assert it.sees().lacked is None
    await asyncio.sleep(3 * SLOW)
    assert it.sees().lacked == it.fetch.began[2]


async def test_since_when_it_is_shown_is_counted_anew_when_it_was_away_or_nobody_watched_it(rig):
    it = rig([record(), record("y")], [record(), record("y")], [record("y")], [record(), record("y")])
    it.inventory.watch("a", here())
    it.inventory.watch("b", here("y"))
    await asyncio.sleep(SLOW + 5)
    assert it.sees().shown_since == it.fetch.began[0]
    await asyncio.sleep(2 * SLOW)
    assert it.sees().shown_since == it.fetch.began[3]
    assert it.sees("y").shown_since == it.fetch.began[0]
    it.inventory.unwatch("b")
    await asyncio.sleep(SLOW)
    it.inventory.watch("b", here("y"))
    assert it.sees("y").shown_since == it.fetch.began[4]


async def test_since_when_it_is_shown_is_counted_anew_after_a_listing_that_failed(rig):
    it = rig([record()], CloudError(ErrorKind.SERVER, "down"), [record()])
    it.inventory.watch("a", here())
    await asyncio.sleep(2 * SLOW + 5)
    assert it.sees().shown_since == it.fetch.began[2]


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


async def test_as_of_is_the_beginning_of_the_listing(rig):
    it = rig([record()], takes=3.0)
    it.inventory.watch("a", here())
    await asyncio.sleep(1)
    assert it.sees().cause is UnknownReason.NOT_LISTED
    await asyncio.sleep(3)
    assert it.sees("other") == Absent(it.fetch.began[0], it.fetch.began[0])
    assert it.sees().as_of == it.fetch.began[0]


async def test_absent_since_the_first_listing_that_lacks_it_and_confirmed_by_the_one_before(rig):
    it = rig([record()], [], [], [record()], [])
    it.inventory.watch("a", here())
    await asyncio.sleep(2 * SLOW + 5)
    assert it.sees() == Absent(it.fetch.began[2], it.fetch.began[1], confirmed=it.fetch.began[1])
    await asyncio.sleep(SLOW)
    assert isinstance(it.sees(), Present)
    await asyncio.sleep(SLOW)
    assert it.sees() == Absent(it.fetch.began[4], it.fetch.began[4])


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (broken(ErrorKind.SERVER), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.NOT_SENT), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.MALFORMED), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.THROTTLED), UnknownReason.UNREACHABLE),
        (broken(ErrorKind.NOT_FOUND), UnknownReason.UNREACHABLE),  # a listing that is "not found" proves nothing of a VM
        (broken(ErrorKind.UNAUTHORIZED), UnknownReason.REFUSED),
        (broken(ErrorKind.LOGIN), UnknownReason.REFUSED),
        (broken(ErrorKind.FORBIDDEN), UnknownReason.FORBIDDEN),
        (Listing((), complete=False), UnknownReason.UNREACHABLE),
        (Listing((record("another"),), complete=False), UnknownReason.UNREACHABLE),  # of which some entries could be read
        (RuntimeError("a defect of ours"), UnknownReason.UNREACHABLE),
    ],
)
async def test_a_listing_that_failed_makes_nothing_absent(rig, answer, cause):
    it = rig([record()], answer)
    it.inventory.watch("a", here())
    await asyncio.sleep(SLOW + 1)
    seen = it.sees()
    assert isinstance(seen, Unknown)
    assert (seen.cause, seen.since) == (cause, it.fetch.began[0])
    assert it.meter.failures


async def test_blindness_keeps_its_beginning_and_wakes_once(rig):
    down = broken(ErrorKind.SERVER)
    it = rig([record()], down, down, down)
    it.inventory.watch("a", here())
    await asyncio.sleep(1)
    it.woken.clear()
    await asyncio.sleep(5 * SLOW)
    assert it.sees().since == it.fetch.began[0]
    assert it.woken == ["a"]


async def test_another_cause_of_blindness_is_told(rig):
    it = rig([record()], broken(ErrorKind.SERVER), broken(ErrorKind.FORBIDDEN))
    it.inventory.watch("a", here())
    await asyncio.sleep(1)
    it.woken.clear()
    await asyncio.sleep(SLOW + 20)
    assert it.woken == ["a", "a"]


async def test_failing_listings_back_off_and_sight_returns(rig):
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


async def test_a_record_without_a_vpc_may_be_the_one(rig):
    it = rig([record("x", vpc=None)])
    it.inventory.watch("a", here("x"))
    await asyncio.sleep(1)
    assert isinstance(it.sees("x"), Present)


async def test_a_change_of_a_record_that_names_no_vpc_wakes_too(rig):
    it = rig([record("x", vpc=None, status="PENDING")], [record("x", vpc=None, status="ONLINE")])
    it.inventory.watch("a", here())
    await asyncio.sleep(SLOW / 2)
    it.woken.clear()
    await asyncio.sleep(SLOW)
    assert it.woken == ["a"]


@pytest.mark.parametrize("second", [record("x"), record("x", vpc=None)])
async def test_two_records_of_one_identity_are_twins(rig, second):
    it = rig([record("x"), second])
    it.inventory.watch("a", here("x"))
    await asyncio.sleep(1)
    assert it.sees("x").duplicate_records


@pytest.mark.parametrize("other", [record("x", cluster="Hou1"), record("x", vpc="acme-train")])
async def test_a_record_of_another_place_is_not_ours(rig, other):
    it = rig([other])
    it.inventory.watch("a", here("x"))
    await asyncio.sleep(1)
    assert isinstance(it.sees("x"), Absent)


async def test_the_last_object_of_a_cluster_takes_its_poller_with_it(rig):
    it = rig([record()])
    it.inventory.watch("a", here())
    it.inventory.watch("b", here("y"))
    await asyncio.sleep(1)
    it.inventory.unwatch("a")
    await asyncio.sleep(SLOW)
    assert it.count == 2
    it.inventory.unwatch("b")
    it.inventory.unwatch("b")  # nobody minds
    await asyncio.sleep(10 * SLOW)
    assert it.count == 2
    assert it.sees().cause is UnknownReason.NOT_LISTED
    it.inventory.watch("c", here())
    await asyncio.sleep(1)
    assert isinstance(it.sees(), Present)


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


# --- a whole VPC, and any VPC

INSIDE, SOMEWHERE = here(EVERYTHING), here("x", vpc=ANYWHERE)


async def test_what_is_within_a_vpc(rig):
    it = rig([record("x"), record("y", vpc="acme-train"), record("z", vpc=None)])
    it.inventory.watch("a", INSIDE)
    assert it.inventory.within("Msc1", "acme").cause is UnknownReason.NOT_LISTED
    await asyncio.sleep(1)
    records, as_of = it.inventory.within("Msc1", "acme")
    assert [item.id for item in records] == ["x", "z"], "one that names no VPC may be in it"
    assert as_of == it.fetch.began[0]
    assert it.inventory.within("Msc1", "empty")[0] == (it.inventory.within("Msc1", "acme")[0][1],)


async def test_the_names_of_a_base_are_those_of_the_last_listing(rig):
    base, first, second = "train-tag1-", "aaaaaaaaaa", "bbbbbbbbbb"
    alike = [record(f"{base}{first}-more"), record(f"{base}short"), record(f"{base}{first}", vpc="other"), record(first)]
    it = rig([record(base + first), *alike], [record(base + second)])
    assert it.inventory.names("Msc1", "acme", base) == []
    it.inventory.watch("a", here(base + first))
    await asyncio.sleep(1)
    assert it.inventory.names("Msc1", "acme", base) == [base + first]
    assert it.inventory.names("Hou1", "acme", base) == []
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.names("Msc1", "acme", base) == [base + second]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (broken(ErrorKind.FORBIDDEN), UnknownReason.FORBIDDEN),
        (broken(ErrorKind.SERVER), UnknownReason.UNREACHABLE),
        (Listing((), complete=False), UnknownReason.UNREACHABLE),
    ],
)
async def test_a_failed_listing_makes_no_vpc_empty(rig, answer, cause):
    it = rig([], answer)
    it.inventory.watch("a", INSIDE)
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.within("Msc1", "acme").cause is cause


async def test_an_implausible_listing_makes_no_vpc_empty(rig):
    it = rig([record(name) for name in "xyz"], [])
    it.inventory._expected = lambda _cluster: {here(name) for name in "xyz"}
    it.inventory.watch("a", INSIDE)
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.within("Msc1", "acme").cause is UnknownReason.IMPLAUSIBLE


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


async def test_a_name_is_found_in_any_vpc_and_two_of_it_are_twins(rig):
    it = rig([record("x", vpc="acme-train")], [record("x"), record("x", vpc="acme-train")])
    it.inventory.watch("a", SOMEWHERE)
    await asyncio.sleep(1)
    assert it.inventory.observe(SOMEWHERE).record.namespace == "acme-train"
    await asyncio.sleep(SLOW)
    assert it.inventory.observe(SOMEWHERE).duplicate_records


async def test_absent_from_all_vpcs_is_confirmed_by_two_listings(rig):
    it = rig([record("x", vpc="acme-train")], [], [])
    it.inventory.watch("a", SOMEWHERE)
    await asyncio.sleep(SLOW + 1)
    assert it.inventory.observe(SOMEWHERE) == Absent(it.fetch.began[1], it.fetch.began[1])
    await asyncio.sleep(SLOW)
    assert it.inventory.observe(SOMEWHERE).confirmed == it.fetch.began[1]


async def test_whether_a_look_has_been_taken(rig):
    it = rig([], broken(ErrorKind.SERVER))
    it.inventory.watch("a", here())
    assert not it.inventory.has_listed_since("a", 0.0)
    await asyncio.sleep(1)
    began = it.fetch.began[0]
    assert [it.inventory.has_listed_since("a", at) for at in (began, began + 0.1)] == [True, False]
    assert it.inventory.has_listed_since("nobody", 0.0), "nobody waits for it"
    await asyncio.sleep(SLOW)
    assert not it.inventory.has_listed_since("a", began), "the last listing failed: the records before it do not count"
