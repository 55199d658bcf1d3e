"""An event loop in a thread of its own, in which other threads run coroutines. It knows nothing of the cloud.

A forked process has a copy of the loop, but not the thread that runs it, and of the lock a copy that may stay locked. So there
nothing is begun, and nothing is waited for.
"""

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_CANCELLATION_SECONDS = 1.0


class LoopEndedError(Exception):
    """The loop was stopped, so the work was not begun."""


class LoopForkedError(Exception):
    """The loop runs in the process that forked this one, so the work was not begun."""


class LoopThread:
    """Runs coroutines for any number of threads until ``stop``. The thread keeps no program alive."""

    def __init__(self, name: str) -> None:
        """Start the thread."""
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._stopped = False
        # No work is begun after the stop: nobody would carry it out, or answer. Code that interrupts a thread in here, a signal
        # handler or ``__del__``, may run work of its own, too.
        self._order = threading.RLock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in the loop and return its result.

        When the waiting thread is interrupted, as by Ctrl-C, the coroutine is cancelled before the exception goes on.
        SystemExit in the coroutine is raised here, and ends neither the loop nor other coroutines.

        Raises:
            LoopEndedError: the loop was stopped, and nothing was begun.
            LoopForkedError: this process was forked from the loop's, and nothing was begun.
        """
        job = _Job(work, self._tasks)
        try:
            self._begin(job)
            return job.result.result()
        except (LoopEndedError, LoopForkedError):
            raise
        except BaseException:
            if not job.result.done():
                self._loop.call_soon_threadsafe(job.cancel)
                concurrent.futures.wait([job.result], timeout=_CANCELLATION_SECONDS)
            raise
        finally:
            del job  # its result holds the exception, whose traceback holds this frame

    @property
    def is_current(self) -> bool:
        """Whether the caller is in the loop's own thread, where ``run`` would wait for ever."""
        return threading.current_thread() is self._thread and not self._is_forked

    def stop(self) -> None:
        """Let nothing new begin. The loop ends when what is under way has ended. Does nothing in a forked process."""
        if self._is_forked:
            return
        with self._order:
            if not self._stopped:
                self._stopped = True
                self._loop.call_soon_threadsafe(self._stopping.set)

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the loop; not in its own thread or in a forked process, where that could never come."""
        if not self.is_current and not self._is_forked:
            self._thread.join(timeout)

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process

    def _begin(self, job: "_Job[Any]") -> None:
        if self._is_forked:
            raise LoopForkedError("the loop runs in the process that forked this one")
        with self._order:
            if self._stopped:
                raise LoopEndedError("the loop was stopped")
            self._loop.call_soon_threadsafe(job.start)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            loop = runner.get_loop()
            end = loop.create_task(self._until_stopped())
            while not end.done():
                with contextlib.suppress(
                    SystemExit, KeyboardInterrupt
                ):  # the caller's, who gets it; asyncio leaves the loop, too
                    loop.run_until_complete(end)

    async def _until_stopped(self) -> None:
        await self._stopping.wait()
        while self._tasks:
            await asyncio.wait(self._tasks)


class _Job(Generic[T]):
    """One piece of work, in the loop and for the thread that waits for it."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], tasks: set[asyncio.Task[Any]]) -> None:
        self.result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._work, self._tasks = work, tasks
        self._task: asyncio.Task[T] | None = None

    def start(self) -> None:
        """Begin, in the loop."""
        self._task = asyncio.get_running_loop().create_task(self._work())
        self._tasks.add(self._task)
        self._task.add_done_callback(self._ended)

    def cancel(self) -> None:
        """Cancel what was begun, in the loop."""
        if self._task is not None:
            self._task.cancel()

    def _ended(self, task: asyncio.Task[T]) -> None:
        self._tasks.discard(task)
        error = concurrent.futures.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self.result.set_result(task.result())
        else:
            self.result.set_exception(error)
