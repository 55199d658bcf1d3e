"""A task that dies is restarted with backoff and counted, or it ends the process; nothing dies unseen."""

import asyncio
import gc
from itertools import pairwise

import pytest

from gpucloud.engine.runtime.supervisor import FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS, TASKS, Supervisor

pytestmark = pytest.mark.looptime


class Rig:
    """A supervisor without jitter, and tasks that die of what they are told; it remembers every start."""

    def __init__(self):
        self.failed, self.ended, self.starts = [], [], []
        self.tasks = Supervisor(self.failed.append, self.ended.append, lambda: 0.0)

    def task(self, *deaths, lives=0.0):
        """Dies of each in turn, None being a return; then it lives for ever."""
        left = list(deaths)

        async def run():
            self.starts.append(asyncio.get_running_loop().time())
            await asyncio.sleep(lives)
            if not left:
                await asyncio.get_running_loop().create_future()
            death = left.pop(0)
            if death is not None:
                raise death

        return run


@pytest.fixture
async def rig():
    made = Rig()
    yield made
    await made.tasks.aclose()


@pytest.mark.parametrize(
    ("death", "why"),
    [
        (RuntimeError("a defect"), "RuntimeError"),
        (asyncio.CancelledError(), "CancelledError"),  # of something it awaited: nobody has cancelled the task
        (None, "it returned"),
    ],
)
async def test_a_death_is_counted_told_and_followed_by_a_restart(rig, logs, death, why):
    rig.tasks.spawn("poll", rig.task(death), cluster="Msc1")
    await asyncio.sleep(FIRST_DELAY_SECONDS + 0.1)
    assert (len(rig.starts), rig.failed, rig.ended) == (2, ["poll"], [])
    (line,) = [line for line in logs if line["log_level"] == "error"]
    assert (line["task"], line["cluster"], line["why"], line["exc_info"]) == ("poll", "Msc1", why, death)


async def test_restarts_back_off_up_to_the_longest_delay(rig):
    rig.tasks.spawn("poll", rig.task(*[RuntimeError()] * 12))
    await asyncio.sleep(600)
    gaps = [later - sooner for sooner, later in pairwise(rig.starts)]
    assert gaps[:4] == pytest.approx([0.5, 1, 2, 4])
    assert gaps[-1] == pytest.approx(LONGEST_DELAY_SECONDS)


async def test_jitter_shortens_a_delay_by_half_at_most(rig):
    rig.tasks = Supervisor(jitter=lambda: 0.999)
    rig.tasks.spawn("poll", rig.task(RuntimeError()))
    await asyncio.sleep(1)
    assert rig.starts[1] - rig.starts[0] == pytest.approx(FIRST_DELAY_SECONDS / 2, rel=0.01)


async def test_one_that_has_lived_long_begins_with_the_first_delay_again(rig):
    rig.tasks.spawn("poll", rig.task(*[RuntimeError()] * 5, lives=LONGEST_DELAY_SECONDS + 1))
    await asyncio.sleep(400)
    assert {round(later - sooner, 3) for sooner, later in pairwise(rig.starts)} == {61.5}


async def test_a_task_that_may_end_ends_and_one_that_failed_is_repeated_until_then(rig):
    task = rig.tasks.spawn("sync", rig.task(RuntimeError(), None), may_end=True)
    await asyncio.wait_for(task, 10)
    assert (len(rig.starts), rig.failed) == (2, ["sync"])


async def test_one_that_others_ask_for_again_is_not_restarted(rig):
    task = rig.tasks.spawn("catalogue", rig.task(RuntimeError()), may_end=True, restart=False)
    await asyncio.wait_for(task, 1)
    await asyncio.sleep(100)
    assert (len(rig.starts), rig.failed) == (1, ["catalogue"])


@pytest.mark.parametrize("death", [RuntimeError("a defect"), None])
async def test_the_death_of_an_essential_task_ends_the_process_and_says_why(rig, logs, death):
    rig.tasks.spawn("election", rig.task(death), essential=True)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (rig.ended, len(rig.starts)) == (["election"], 1)
    assert [line["task"] for line in logs if line["log_level"] == "critical"] == ["election"]


async def test_a_cancelled_task_is_no_death(rig):
    task = rig.tasks.spawn("poll", rig.task())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.sleep(100)
    assert (task.cancelled(), rig.failed) == (True, [])


async def test_a_task_is_kept_from_the_garbage_collector(rig):
    """The event loop holds a waiting task by a weak reference only."""
    waits = []

    async def wait_for_nobody():
        waits.append(1)
        try:
            await asyncio.Future()  # nothing but the task refers to it
        finally:
            waits.append("collected")

    rig.tasks.spawn("poll", wait_for_nobody)
    await asyncio.sleep(1)
    gc.collect()
    await asyncio.sleep(1)
    assert waits == [1]


async def test_closing_leaves_no_task(rig):
    for name in TASKS:
        rig.tasks.spawn(name, rig.task(RuntimeError()))
    await asyncio.sleep(0.1)
    await rig.tasks.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}
