"""The waiting lines of a credential: one query of the availability for all who wait in a cluster, and none when nobody does."""

import asyncio
from datetime import timedelta

import pytest

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import AvailabilityRecord, Listing
from gpucloud.engine.cloud.capacity import Capacity
from gpucloud.engine.runtime.supervisor import Supervisor
from gpucloud.reconcile.waiting_line import Line, Offer, Waiter
from support.builders import START
from support.fakes import LoopClock

pytestmark = pytest.mark.looptime
A, B = Offer("a", "p"), Offer("b", "p")
LOOK = 10.0


class Client:
    """A cloud with some room, or with an error as its answer."""

    def __init__(self):
        self.room, self.error, self.asked = {A: 0, B: 0}, None, []

    async def get_availability(self, *, cluster):
        self.asked.append((asyncio.get_running_loop().time(), cluster))
        await asyncio.sleep(0.1)
        if self.error is not None:
            raise self.error
        return Listing(
            tuple(
                AvailabilityRecord(
                    configuration=one.configuration, cluster=cluster, rpool=one.resource_pool, available=n > 0, count=n
                )
                for one, n in self.room.items()
            )
        )


class Rig:
    def __init__(self):
        self.client, self.woken = Client(), []
        self.capacity = Capacity(self.client, LoopClock(), Supervisor(), self.woken.append, fast_poll=2.0)

    def join(self, uid, *, since=0, cluster="Msc1", **more):
        place = Waiter(uid, START + timedelta(seconds=since), (A, B), **more)
        self.capacity.join(cluster, place)
        return place

    def turn(self, place, cluster="Msc1"):
        return self.capacity.line(cluster, place).turn

    def asked_after(self, seconds=0.0):
        return [at for at, _ in self.client.asked if at >= seconds]


@pytest.fixture
async def rig():
    it = Rig()
    yield it
    await it.capacity.aclose()


async def test_nobody_waits_and_nothing_is_asked(rig):
    place = Waiter("x", START, (A,))
    await asyncio.sleep(600)
    assert rig.client.asked == []
    assert rig.capacity.line("Msc1", place) == Line(looking=True)


@pytest.mark.parametrize("waiting", [1, 3, 200])
async def test_one_query_serves_all_who_wait(rig, waiting):
    for number in range(waiting):
        rig.join(f"u{number}", since=number)
    await asyncio.sleep(61)
    assert rig.asked_after() == pytest.approx([10.0, 20.1, 30.2, 40.3, 50.4, 60.5])


async def test_each_cluster_has_its_line_by_any_spelling_of_its_name(rig):
    one, two, other = rig.join("one"), rig.join("two", since=1, cluster="MSC1"), rig.join("other", cluster="Hou1")
    rig.client.room = {A: 1, B: 0}
    await asyncio.sleep(11)
    assert sorted(cluster for _, cluster in rig.client.asked) == ["Hou1", "Msc1"]
    assert [rig.turn(one), rig.turn(two), rig.turn(other, "Hou1")] == [A, None, A]


async def test_what_comes_free_goes_to_who_waits_longest_and_wakes_nobody_else(rig):
    late, early = rig.join("late", since=5), rig.join("early", since=1)
    await asyncio.sleep(11)
    assert sorted(rig.woken) == ["early", "late"], "the first answer tells both what is listed"
    assert rig.capacity.line("Msc1", early) == Line(listed=frozenset({A, B}))
    rig.woken.clear()
    rig.client.room[B] = 1
    await asyncio.sleep(10)
    assert (rig.woken, rig.turn(early), rig.turn(late)) == (["early"], B, None)
    rig.capacity.leave("Msc1", "early")
    await asyncio.sleep(10)
    assert (rig.woken, rig.turn(early), rig.turn(late)) == (["early", "late"], None, B)


async def test_a_turn_stands_while_the_next_query_is_under_way(rig):
    """Between the announcement of a start and its call there would be no turn else, and it would queue again."""
    rig.client.room[A] = 1
    place = rig.join("x")
    await asyncio.sleep(20.15)
    assert (len(rig.client.asked), rig.turn(place)) == (2, A)


async def test_before_the_first_answer_the_line_says_so(rig):
    place = rig.join("x")
    assert rig.capacity.line("Msc1", place) == Line(looking=True)
    await asyncio.sleep(11)
    assert not rig.capacity.line("Msc1", place).looking


async def test_those_that_waited_before_a_restart_join_before_the_first_answer_gives_their_place_away(rig):
    """A new process reconciles its objects one after the other."""
    rig.client.room[A] = 1
    newcomer = rig.join("newcomer", since=100)
    await asyncio.sleep(8)
    old = rig.join("old", since=1)
    await asyncio.sleep(3)
    assert (rig.turn(old), rig.turn(newcomer)) == (A, None)


async def test_nothing_is_asked_while_nobody_could_order(rig):
    rig.join("x", ready=False)
    await asyncio.sleep(300)
    assert rig.client.asked == []
    place = rig.join("x")
    await asyncio.sleep(1)
    assert rig.asked_after() == pytest.approx([300.0]), "at once: the last query is long ago"
    assert rig.capacity.line("Msc1", place).listed == {A, B}


async def test_when_the_last_one_leaves_nothing_is_asked_any_more(rig):
    place = rig.join("x")
    await asyncio.sleep(11)
    rig.capacity.leave("Msc1", "x")
    await asyncio.sleep(600)
    assert len(rig.client.asked) == 1
    assert rig.capacity.line("Msc1", place) == Line(looking=True)
    rig.join("x")
    await asyncio.sleep(11)
    assert len(rig.client.asked) == 2


async def test_a_query_that_fails_once_or_twice_ends_nobodys_wait(rig):
    """If it did, all would order at once, in no order."""
    place = rig.join("x")
    await asyncio.sleep(11)
    rig.client.error = CloudError(ErrorKind.UNAVAILABLE, "try again later")
    rig.woken.clear()
    await asyncio.sleep(20)
    assert (len(rig.client.asked), rig.woken) == (3, [])
    assert rig.capacity.line("Msc1", place) == Line(listed=frozenset({A, B}))
    await asyncio.sleep(10.3)
    assert (rig.capacity.line("Msc1", place), rig.woken) == (Line(), ["x"])


async def test_before_the_first_answer_one_failure_ends_no_wait_either(rig):
    rig.client.error = CloudError(ErrorKind.UNAVAILABLE, "try again later")
    place = rig.join("x")
    await asyncio.sleep(21)
    assert (len(rig.client.asked), rig.capacity.line("Msc1", place)) == (2, Line(looking=True))
    await asyncio.sleep(10)
    assert rig.capacity.line("Msc1", place) == Line()


async def test_without_an_answer_nobody_has_a_turn_and_the_queries_become_rare(rig):
    rig.client.room[A] = 1
    place = rig.join("x")
    await asyncio.sleep(11)
    assert rig.turn(place) == A
    rig.client.error = CloudError(ErrorKind.FORBIDDEN, "not permitted")
    rig.woken.clear()
    await asyncio.sleep(3600)
    assert rig.capacity.line("Msc1", place) == Line()
    assert rig.woken == ["x"], "once: what was listed is not listed any more"
    assert len(rig.asked_after(1800)) <= 6
    rig.client.error = None
    await asyncio.sleep(330)
    assert rig.turn(place) == A


async def test_a_place_that_was_refused_though_it_is_listed_as_free_is_left_alone_for_a_minute(rig):
    rig.client.room[A] = 1
    await asyncio.sleep(5)
    rig.capacity.refused("Msc1", A, "first")
    second = rig.join("second", since=2)
    for _ in range(5):
        await asyncio.sleep(10.2)
        assert rig.turn(second) is None
    await asyncio.sleep(20)
    assert rig.turn(second) == A


async def test_a_refusal_is_forgotten_when_the_cloud_has_shown_that_it_knows(rig):
    rig.capacity.refused("Msc1", A, "first")
    second = rig.join("second", since=2)
    await asyncio.sleep(11)
    rig.client.room[A] = 1
    await asyncio.sleep(10)
    assert rig.turn(second) == A


async def test_a_refusal_is_forgotten_when_an_order_is_accepted(rig):
    rig.capacity.refused("Msc1", A, "first")
    rig.capacity.accepted("MSC1", A)
    rig.client.room[A] = 1
    second = rig.join("second", since=2)
    await asyncio.sleep(11)
    assert rig.turn(second) == A


async def test_a_refusal_ends_the_turns_of_all_who_would_order_the_same(rig):
    """The cloud listed room for two, and refuses the first."""
    rig.client.room[A] = 2
    first, second = rig.join("first", since=1), rig.join("second", since=2)
    await asyncio.sleep(11)
    assert (rig.turn(first), rig.turn(second)) == (A, A)
    rig.capacity.refused("Msc1", A, "first")
    assert (rig.turn(first), rig.turn(second)) == (None, None)


@pytest.mark.parametrize(
    ("cluster", "offer", "uid", "taken", "why"),
    [
        ("MSC1", A, "other", True, "another was refused the same"),
        ("Msc1", A, "x", False, "its own refusal has a backoff of its own"),
        ("Hou1", A, "other", False, "in another cluster"),
        ("Msc1", B._replace(resource_pool="q"), "other", False, "in another pool"),
    ],
)
async def test_what_others_were_refused_counts_as_taken_for_a_minute(rig, cluster, offer, uid, taken, why):
    """Whether anybody waits, and whether the cloud lists the offer."""
    place = Waiter("x", START, (Offer("a"), B), default_pool="p")
    rig.capacity.refused(cluster, offer, uid)
    until = START + timedelta(seconds=60)
    assert rig.capacity.line("Msc1", place).taken == ({Offer("a"): until} if taken else {}), why
    await asyncio.sleep(60)
    assert rig.capacity.line("Msc1", place).taken == {}
