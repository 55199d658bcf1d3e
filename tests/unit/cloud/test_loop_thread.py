"""The thread of the sync client, used by code that interrupts a thread which is using it."""

import asyncio
import gc
import threading

import pytest

from gpucloud.cloud.loop_thread import LoopThread


@pytest.fixture
def loop():
    made = LoopThread("loop-of-a-test")
    yield made
    made.stop()
    made.join()


async def number():
    return 1


def test_code_that_python_runs_in_between_may_use_it(loop):
    """A signal handler, or the ``__del__`` of an object that Python collects, waited for a lock of its own thread for ever.

    Here it runs at every allocation, so also while the lock is held.
    """
    inner, outer = [], []

    def interrupt(phase, _info):
        if phase == "start" and threading.current_thread() is worker:
            inner.append(loop.run(number))

    def work():
        outer.append(loop.run(number))

    worker = threading.Thread(target=work, daemon=True)
    before = gc.get_threshold()
    gc.callbacks.append(interrupt)
    gc.set_threshold(1)
    try:
        worker.start()
        worker.join(20)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(interrupt)
    assert not worker.is_alive()
    assert (outer, set(inner)) == ([1], {1})


async def test_it_may_be_used_from_a_running_event_loop_by_other_threads(loop):
    assert await asyncio.gather(*(asyncio.to_thread(loop.run, number) for _ in range(8))) == [1] * 8
