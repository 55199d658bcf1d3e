"""The virtual-time loop and its processes."""

import asyncio
import contextvars

import pytest

from simulation.loop import DeadlockError, HotLoopError, VirtualLoop
from simulation.process import EPOCH, PROCESS, Process, VirtualClock


def run(main, seed=0):
    loop = VirtualLoop(seed)
    try:
        return loop.run_until_complete(main(loop)), loop
    finally:
        loop.close()


def test_time_jumps_to_the_exact_time_of_the_next_timer():
    async def main(loop):
        began = loop.time()
        await asyncio.sleep(3600.1)
        return loop.time() - began

    slept, loop = run(main)
    assert slept == 3600.1
    assert loop.callbacks < 10


def test_what_is_ready_runs_in_the_order_in_which_it_became_ready():
    async def main(loop):
        said = []
        for number in range(20):
            loop.call_soon(said.append, number)
        await asyncio.sleep(0)
        return said

    assert run(main)[0] == list(range(20))


def test_timers_of_one_time_ring_in_an_order_that_the_seed_draws():
    async def main(loop):
        said = []
        for number in range(20):
            loop.call_at(5.0, said.append, number)
        await asyncio.sleep(6)
        return said

    orders = [run(main, seed)[0] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(20))


def test_a_cancelled_timer_neither_rings_nor_moves_time():
    async def main(loop):
        loop.call_at(5.0, pytest.fail).cancel()
        await asyncio.sleep(10)
        return loop.time()

    assert run(main)[0] == 10.0


def test_nothing_that_could_ever_happen_is_a_deadlock():
    async def main(loop):
        await loop.create_future()

    with pytest.raises(DeadlockError):
        run(main)


def test_a_loop_that_never_rests_is_stopped():
    async def main(_loop):
        while True:  # noqa: ASYNC110 - that is the point
            await asyncio.sleep(0)

    with pytest.raises(HotLoopError):
        run(main)


@pytest.mark.parametrize("ask", ["run_in_executor", "call_soon_threadsafe"])
def test_there_are_no_threads(ask):
    loop = VirtualLoop()
    with pytest.raises(RuntimeError):
        getattr(loop, ask)(None, print)
    loop.close()


async def knocking(said, name):
    try:
        while True:
            await asyncio.sleep(1)
            said.append((name, asyncio.get_running_loop().time()))
    finally:
        said.append((name, "finally"))


def test_a_killed_process_stops_at_once_and_runs_no_finally():
    async def main(loop):
        said, one, two = [], Process("one"), Process("two")
        for process in (one, two):
            loop.call_in(process, lambda name=process.name: said.append(loop.create_task(knocking(said, name))))
        await asyncio.sleep(2.5)
        one.kill(asyncio.all_tasks(loop))
        await asyncio.sleep(2)
        return [item for item in said if isinstance(item, tuple)]

    said, _ = run(main)
    assert sorted(said) == [("one", 1.0), ("one", 2.0), ("two", 1.0), ("two", 2.0), ("two", 3.0), ("two", 4.0)]


def test_a_paused_process_does_what_was_due_when_it_goes_on():
    async def main(loop):
        said, process = [], Process("one")
        loop.call_in(process, lambda: said.append(loop.create_task(knocking(said, "one"))))
        await asyncio.sleep(1.5)
        process.sleep(loop.time())
        await asyncio.sleep(10)
        for handle in process.wake(loop.time()):
            loop._ready.append(handle)
        await asyncio.sleep(1.2)
        return [item for item in said if isinstance(item, tuple)]

    assert run(main)[0] == [("one", 1.0), ("one", 11.5), ("one", 12.5)]


def test_what_a_process_begins_belongs_to_it_even_in_a_context_of_its_own():
    async def main(loop):
        found, process = [], Process("one")

        async def inner():
            found.append(PROCESS.get())

        def begin():
            found.append(loop.create_task(inner(), context=contextvars.Context()))
            loop.call_later(1, lambda: found.append(PROCESS.get()))

        loop.call_in(process, begin)
        await asyncio.sleep(2)
        return [item for item in found if isinstance(item, Process)], process

    (found, process), _ = run(main)
    assert found == [process, process]


def test_a_process_dies_at_the_callback_that_was_drawn():
    async def main(loop):
        said, process = [], Process("one", dies_at=3)
        loop.on_death = lambda which, why: (which.kill(asyncio.all_tasks(loop)), said.append(why))
        loop.call_in(process, lambda: said.append(loop.create_task(knocking(said, "one"))))
        await asyncio.sleep(10)
        return said

    said, _ = run(main)
    assert said[-1] == "at its callback 3"
    assert len(said) <= 3


def test_a_skewed_clock_shows_in_wall_time_only():
    loop, process = VirtualLoop(), Process("one", skew=90.0)
    clock = VirtualClock(loop, process)
    assert (clock.wall() - EPOCH).total_seconds() == 90.0
    assert clock.mono() == 0.0
    loop.close()
