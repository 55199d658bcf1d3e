"""The queue's contract is client-go's: once however often added, never twice at once, again if touched meanwhile."""

import asyncio
from collections import Counter

import pytest

from gpucloud.engine.runtime.workqueue import Flow, Key, Lane, WorkQueue
from support.fakes import LoopClock, NoMeter

pytestmark = pytest.mark.looptime


@pytest.fixture
async def queue():
    made = WorkQueue(LoopClock(), NoMeter(), 50, placed)
    yield made
    made.close()


def key(name, namespace="a"):
    return Key("GpuVM", namespace, name, f"uid-{namespace}-{name}")


def placed(key_):
    """A key's flow: its name says the cluster, before the dash."""
    return Flow(key_.namespace, key_.name.partition("-")[0])


async def taken(queue):
    async with asyncio.timeout(0.001):
        return await queue.take()


async def names(queue, count):
    found = []
    for _ in range(count):
        item = await taken(queue)
        found.append(item.name)
        queue.done(item)
    return found


async def nothing(queue):
    try:
        await taken(queue)
    except TimeoutError:
        return True
    return False


async def test_a_key_added_often_is_handed_out_once(queue):
    for _ in range(3):
        queue.add(key("x"))
    assert await names(queue, 1) == ["x"]
    assert await nothing(queue)
    assert len(queue) == 0


async def test_a_key_is_never_worked_on_twice_at_once(queue):
    queue.add(key("x"))
    first = await taken(queue)
    queue.add(key("x"))
    queue.add(key("x"), Lane.PEOPLE)
    assert await nothing(queue)
    queue.done(first)
    assert await names(queue, 1) == ["x"]
    assert await nothing(queue)


async def test_what_was_touched_by_a_person_meanwhile_comes_back_in_the_lane_of_people(queue):
    queue.add(key("x"))
    first = await taken(queue)
    queue.add(key("other"))
    queue.add(key("x"), Lane.PEOPLE)
    queue.add(key("x"), Lane.POLLS)
    queue.done(first)
    assert await names(queue, 2) == ["x", "other"]


async def test_people_go_before_polls(queue):
    queue.add(key("poll"))
    queue.add(key("person"), Lane.PEOPLE)
    assert await names(queue, 2) == ["person", "poll"]


async def test_a_queued_poll_is_promoted_by_a_person_and_not_doubled(queue):
    for name in ("p1", "p2", "x"):
        queue.add(key(name))
    queue.add(key("x"), Lane.PEOPLE)
    queue.add(key("x"), Lane.POLLS)  # never back again
    assert await names(queue, 3) == ["x", "p1", "p2"]
    assert await nothing(queue)


async def test_namespaces_take_turns(queue):
    for number in range(3):
        queue.add(key(f"big{number}", "big"))
    queue.add(key("small", "small"))
    assert await names(queue, 4) == ["big0", "small", "big1", "big2"]


async def test_a_namespace_that_keeps_adding_cannot_starve_another(queue):
    queue.add(key("n0", "noisy"))
    queue.add(key("q0", "quiet"))
    queue.add(key("q1", "quiet"))
    got = []
    for number in range(4):
        queue.add(key(f"n{number + 1}", "noisy"))
        got += await names(queue, 1)
    assert got == ["n0", "q0", "n1", "q1"]


async def test_wake_ups_come_at_their_time_and_in_order(queue):
    loop = asyncio.get_running_loop()
    start = loop.time()
    for name, after in (("late", 5), ("early", 2), ("middle", 3)):
        queue.requeue_at(key(name), start + after)
    found = []
    for _ in range(3):
        item = await queue.take()
        found.append((item.name, round(loop.time() - start)))
        queue.done(item)
    assert found == [("early", 2), ("middle", 3), ("late", 5)]


@pytest.mark.parametrize(
    ("settings", "comes_after"),
    [
        ((5, 2), 2),  # sooner replaces
        ((2, 5), 5),  # later replaces too: there is one wake-up a key
        ((2, 2), 2),  # the same again is the same
        ((2, 5, 2), 2),  # back to the first
    ],
)
async def test_a_wake_up_replaces_the_one_before(queue, settings, comes_after):
    loop = asyncio.get_running_loop()
    start = loop.time()
    for after in settings:
        queue.requeue_at(key("x"), start + after)
    item = await queue.take()
    assert round(loop.time() - start, 3) == comes_after
    queue.done(item)
    await asyncio.sleep(20)
    assert len(queue) == 0


async def test_none_cancels_a_wake_up(queue):
    queue.requeue_at(key("x"), asyncio.get_running_loop().time() + 2)
    queue.requeue_at(key("x"), None)
    await asyncio.sleep(10)
    assert len(queue) == 0


async def test_a_time_that_has_passed_is_now(queue):
    queue.requeue_at(key("x"), asyncio.get_running_loop().time() - 100)
    await asyncio.sleep(0.01)
    assert await names(queue, 1) == ["x"]


async def test_a_wake_up_while_being_worked_on_comes_afterwards(queue):
    queue.add(key("x"))
    item = await taken(queue)
    queue.requeue_at(key("x"), asyncio.get_running_loop().time() + 1)
    await asyncio.sleep(3)
    assert await nothing(queue)
    queue.done(item)
    assert await names(queue, 1) == ["x"]


async def test_the_oldest_wait_and_the_longest_work_are_told(queue):
    queue.add(key("worked"))
    item = await taken(queue)
    await asyncio.sleep(3)
    queue.add(key("waiting"))
    await asyncio.sleep(4)
    waiting, worked = queue.oldest()
    assert (round(waiting), round(worked)) == (4, 7)
    queue.done(item)
    assert round(queue.oldest()[1]) == 0


async def test_close_lets_every_worker_end_and_rings_no_more(queue):
    waiting = [asyncio.create_task(queue.take()) for _ in range(3)]
    queue.requeue_at(key("x"), asyncio.get_running_loop().time() + 1)
    await asyncio.sleep(0)
    queue.close()
    assert await asyncio.gather(*waiting) == [None, None, None]
    await asyncio.sleep(5)
    assert await queue.take() is None


async def test_after_close_what_is_queued_is_left(queue):
    queue.add(key("x"))
    queue.close()
    assert await queue.take() is None
    assert await queue.take() is None


async def test_what_is_announced_goes_before_people_and_polls(queue):
    queue.add(key("poll"))
    queue.add(key("person"), Lane.PEOPLE)
    queue.add(key("call"), Lane.ANNOUNCED)
    assert await names(queue, 3) == ["call", "person", "poll"]


async def test_an_announced_key_leaves_its_lane_for_nobody(queue):
    for name in ("p1", "p2", "x"):
        queue.add(key(name), Lane.PEOPLE)
    queue.add(key("x"), Lane.ANNOUNCED)
    queue.add(key("x"), Lane.PEOPLE)
    assert await names(queue, 3) == ["x", "p1", "p2"]
    assert await nothing(queue)


async def test_a_closed_queue_hands_out_what_is_announced_and_nothing_else(queue):
    queue.add(key("under-way"))
    under_way = await taken(queue)
    queue.add(key("announced"), Lane.ANNOUNCED)
    queue.add(key("person"), Lane.PEOPLE)
    queue.close()
    queue.add(key("under-way"), Lane.ANNOUNCED)  # a pass that was under way has just announced its call
    announced = await taken(queue)
    queue.done(announced)
    queue.done(under_way)
    queue.add(key("late"), Lane.PEOPLE)
    assert announced.name == "announced"
    assert await names(queue, 1) == ["under-way"]
    assert [await taken(queue) for _ in range(3)] == [None, None, None]


async def test_a_closed_queue_sets_no_timer(queue):
    queue.close()
    queue.requeue_at(key("x"), asyncio.get_running_loop().time() + 1)
    await asyncio.sleep(5)
    assert len(queue) == 0


async def test_a_failing_wake_up_takes_no_other_with_it():
    class Meter(NoMeter):
        failures = 1

        def added(self, _depth):
            if self.failures:
                self.failures -= 1
                raise RuntimeError("a defect")

    it = WorkQueue(LoopClock(), Meter(), 50, placed)
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    for name, after in (("first", 1), ("second", 2)):
        it.requeue_at(key(name), asyncio.get_running_loop().time() + after)
    await asyncio.sleep(5)
    assert len(it) == 2
    it.close()


def crowd(queue, cluster, count, namespace="a"):
    for number in range(count):
        queue.add(key(f"{cluster}-{number}", namespace))


async def all_taken(queue):
    found = []
    while not await nothing_after(queue, found):
        pass
    return found


async def nothing_after(queue, found):
    try:
        found.append(await taken(queue))
    except TimeoutError:
        return True
    return False


@pytest.mark.parametrize(
    ("workers", "queued", "expected", "why"),
    [
        (8, {"b": 9}, {"b": 4}, "a flow takes no more workers than it leaves"),
        (8, {"b": 9, "c": 9}, {"b": 4, "c": 2}, "and the next one no more than half of those"),
        (8, {"b": 9, "c": 9, "d": 9, "e": 9}, {"b": 4, "c": 2, "d": 1, "e": 1}, "so several that hang leave some for a while"),
        (8, {"b": 2, "c": 9}, {"b": 2, "c": 3}, "what a flow does not need is another's"),
        (1, {"b": 2}, {"b": 1}, "one worker works"),
        (2, {"b": 2}, {"b": 1}, "of two one is for others"),
    ],
)
async def test_a_flow_that_hangs_leaves_workers_for_others(workers, queued, expected, why):
    """60 calls for one cluster that answered nothing held all 50 workers until their deadline, 30 seconds later."""
    it = WorkQueue(LoopClock(), NoMeter(), workers, placed)
    found = Counter()
    for cluster, count in queued.items():
        crowd(it, cluster, count)
        found.update(placed(one).cluster for one in await all_taken(it))
    assert found == expected, why
    it.close()


async def test_when_a_worker_of_a_crowded_flow_is_free_it_goes_on_with_that_flow():
    it = WorkQueue(LoopClock(), NoMeter(), 4, placed)
    crowd(it, "b", 3)
    first, second = await all_taken(it)
    waiting = asyncio.create_task(it.take())
    await asyncio.sleep(1)
    assert not waiting.done()
    it.done(first)
    assert (await waiting).name == "b-2"
    it.done(second)
    it.close()


async def test_a_crowded_flow_loses_no_turn_of_its_namespace():
    it = WorkQueue(LoopClock(), NoMeter(), 4, placed)
    crowd(it, "b", 3)
    crowd(it, "c", 1)
    assert [one.name for one in await all_taken(it)] == ["b-0", "c-0", "b-1"]
    it.close()


async def test_the_turn_of_a_worker_that_is_cancelled_is_another_s(queue):
    waiting = [asyncio.create_task(queue.take()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add(key("x"))
    waiting[0].cancel()  # it has been woken, and has not taken the key yet
    assert (await waiting[1]).name == "x"
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]


async def test_a_closed_queue_hands_out_announced_calls_of_a_crowded_flow_too():
    it = WorkQueue(LoopClock(), NoMeter(), 2, placed)
    for number in range(2):
        it.add(key(f"b-{number}"), Lane.ANNOUNCED)
    assert (await taken(it)).name == "b-0"
    assert await nothing(it)
    it.close()
    assert (await taken(it)).name == "b-1"
