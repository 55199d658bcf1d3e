"""Supervisor: logs and counts a background task that dies, and restarts it with backoff or ends the process.

The supervisor keeps a reference to each task. The event loop does not, so a waiting task could be garbage-collected.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = structlog.get_logger("gpucloud.supervisor")

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 60.0  # a task that ran longer than this restarts with the first delay

# All task names, so that each failure counter starts at 0.
TASKS = (
    "account-check",
    "capacity",
    "catalogue",
    "close-session",
    "deletion-guard",
    "election",
    "events",
    "evidence",
    "loop-lag",
    "offers",
    "orphans",
    "own-account",
    "poll",
    "resync",
    "sync",
    "worker",
)


class Supervisor:
    """Runs background tasks until they are cancelled."""

    def __init__(
        self,
        failed: Callable[[str], None] = lambda _name: None,
        end: Callable[[str], None] = lambda _name: None,
        jitter: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """``failed`` counts the failure of a named task, ``end`` ends the process, ``jitter`` returns a number in [0, 1)."""
        self._failed = failed
        self._end = end
        self._jitter = jitter
        self._tasks: set[asyncio.Task[None]] = set()

    def spawn(
        self,
        name: str,
        factory: Callable[[], Awaitable[None]],
        *,
        essential: bool = False,
        may_end: bool = False,
        restart: bool = True,
        **about: str,
    ) -> asyncio.Task[None]:
        """Run the awaitable that ``factory`` makes; the returned task spans all restarts and may be cancelled or awaited.

        Args:
            name: one of ``TASKS``.
            factory: called for the start, and again for each restart.
            essential: the process ends when this task dies.
            may_end: the task may return without counting as failed.
            restart: False when the caller spawns the next run itself.
            about: log fields beside the name.
        """
        run = self._run(name, factory, about, essential=essential, may_end=may_end, restart=restart)
        task = asyncio.create_task(run, name="-".join((name, *about.values())))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """Cancel all running tasks and wait for their end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(
        self,
        name: str,
        factory: Callable[[], Awaitable[None]],
        about: dict[str, str],
        *,
        essential: bool,
        may_end: bool,
        restart: bool,
    ) -> None:
        clock, deaths = asyncio.get_running_loop(), 0
        while True:
            began = clock.time()
            error = await _outcome(factory)
            if error is None and may_end:
                return
            self._failed(name)
            words = "it returned" if error is None else type(error).__name__
            if essential:
                self._end(name)
                log.critical("an essential task has died: this process ends", task=name, why=words, exc_info=error, **about)
                return
            if not restart:
                log.error("a background task has failed", task=name, why=words, exc_info=error, **about)
                return
            deaths = 0 if clock.time() - began > LONGEST_DELAY_SECONDS else deaths
            delay = min(FIRST_DELAY_SECONDS * 2.0 ** min(deaths, 16), LONGEST_DELAY_SECONDS) * (1 - self._jitter() / 2)
            deaths += 1
            again = f"{delay:.1f} s"
            log.error("a background task has died: it is restarted", task=name, why=words, after=again, exc_info=error, **about)
            await asyncio.sleep(delay)


def being_cancelled() -> bool:
    """Whether the current task is being cancelled. A CancelledError may also come from an awaited task."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _outcome(factory: Callable[[], Awaitable[None]]) -> BaseException | None:
    """The error that ended a task, or None when the task returned. An unrequested CancelledError counts as an error."""
    try:
        await factory()
    except asyncio.CancelledError as error:
        if being_cancelled():
            raise
        return error
    except Exception as error:  # noqa: BLE001 - the caller logs the error
        return error
    return None
