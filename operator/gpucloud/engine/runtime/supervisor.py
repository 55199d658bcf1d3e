"""Supervision of background tasks: a dead task is logged, counted, and restarted with backoff, or it ends the process.

The supervisor keeps a reference to each task, as the event loop does not, so none is collected as garbage while it waits.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

log = structlog.get_logger("gpucloud.supervisor")

FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 60.0  # a task that has run for longer than this begins again with the first delay

# Every task of the operator, so that each is counted from 0.
TASKS = (
    "account-check",
    "brake",
    "catalogue",
    "close-session",
    "election",
    "events",
    "evidence",
    "loop-lag",
    "orphans",
    "own-account",
    "poll",
    "roll-call",
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
        """``failed`` counts a death and ``end`` ends the process, by the task's name; ``jitter`` answers a number in [0, 1)."""
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
        """Run what ``factory`` makes; the answered task stands for all its restarts, and may be cancelled or waited for.

        Args:
            name: one of ``TASKS``.
            factory: called for the start, and again for each restart.
            essential: the process ends when this task dies.
            may_end: to return is no death.
            restart: False where whoever needs the task's result spawns the next one.
            about: what the log says beside the name.
        """
        run = self._run(name, factory, about, essential=essential, may_end=may_end, restart=restart)
        task = asyncio.create_task(run, name="-".join((name, *about.values())))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """Cancel all that still run, and wait for their end."""
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
                log.critical("an essential task has died: this process ends", task=name, why=words, exc_info=error, **about)
                self._end(name)
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
    """Whether the current task was asked to end. A CancelledError may also come out of what it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _outcome(factory: Callable[[], Awaitable[None]]) -> BaseException | None:
    """What a task died of; None: it returned. A cancellation that nobody asked this task for is a death, too."""
    try:
        await factory()
    except asyncio.CancelledError as error:
        if being_cancelled():
            raise
        return error
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told by the caller
        return error
    return None
