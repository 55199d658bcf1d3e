"""An asyncio event loop on virtual time.

Nothing ready means that time jumps to the exact time of the next timer. Timers of one time ring in an order that the seed
draws. There are no threads, no sockets and no signals: whoever asks for one gets an error. When nothing is ready and no
timer is set, nothing can ever happen again, and ``DeadlockError`` says who waits.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
from asyncio import events
from typing import TYPE_CHECKING, Any

from simulation.process import PROCESS, Process

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context

_ODD, _MASK = 0x9E3779B97F4A7C15, 0xFFFF0000  # shuffles the order of timers that ring at one time
HOT_CALLBACKS = 1_000  # at one instant: a loop that never comes to rest


class DeadlockError(RuntimeError):
    """Nothing is ready, no timer is set, and the world is not done."""


class HotLoopError(RuntimeError):
    """Too many callbacks at one virtual instant."""


class Handle(events.Handle):
    """asyncio's own, made without asking whether to keep a traceback: every callback is one."""

    __slots__ = ()

    def __init__(self, callback: Any, args: Any, loop: VirtualLoop, context: Context) -> None:
        self._context = context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = None
        self._source_traceback = None


class Timer(Handle, events.TimerHandle):
    """The same for what rings later."""

    __slots__ = ()

    def __init__(self, when: float, callback: Any, args: Any, loop: VirtualLoop, context: Context) -> None:
        super().__init__(callback, args, loop, context)
        self._when = when
        self._scheduled = False


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs callbacks in FIFO order, as asyncio promises, and timers in virtual time.

    Each callback belongs to a process (``PROCESS`` in its context). That of a dead process is dropped when its turn comes;
    that of a paused one is kept until the process goes on.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._now = 0.0
        self._mix = seed * _ODD
        self._timers: list[tuple[float, int, int, asyncio.TimerHandle]] = []
        self._sequence = 0
        self.current = Process("world")
        self.world = self.current
        self.callbacks = 0
        self.hottest = 0
        self.hot_callbacks = HOT_CALLBACKS
        self._instant = 0
        self.on_death: Callable[[Process, str], None] | None = None
        self.failures: list[dict[str, Any]] = []
        self.set_exception_handler(lambda _loop, context: self.failures.append(context))

    def time(self) -> float:
        """Virtual seconds since the beginning."""
        return self._now

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Run it after all that is ready."""
        handle = Handle(callback, args, self, contextvars.copy_context() if context is None else self._own(context))
        self._ready.append(handle)
        return handle

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        """Run it at that time, or now if it has passed."""
        timer = Timer(when, callback, args, self, contextvars.copy_context() if context is None else self._own(context))
        self._sequence += 1
        heapq.heappush(self._timers, (when, (self._sequence * _ODD ^ self._mix) & _MASK, self._sequence, timer))
        return timer

    def call_later(self, delay: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        """Run it after so many seconds."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_in(self, process: Process, callback: Any, *args: Any) -> asyncio.Handle:
        """Run it as a callback of that process, in a context of its own."""
        context = contextvars.Context()
        context.run(PROCESS.set, process)
        return self.call_soon(callback, *args, context=context)

    def _own(self, context: Context) -> Context:
        """The context with a process in it: a fresh one belongs to whoever made it."""
        if context.get(PROCESS) is None:
            context.run(PROCESS.set, self.current)
        return context

    def _run_once(self) -> None:
        if not self._ready:
            self._jump()
        ready = self._ready
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:
                continue
            process = handle._context.get(PROCESS) or self.world
            if not process.runs(handle):
                continue
            self.current = process
            self.callbacks += 1
            self._instant += 1
            process.callbacks += 1
            if self._instant > self.hot_callbacks:
                self.hottest = self._instant
                raise HotLoopError(
                    f"{self._instant} callbacks at {self._now:.3f} s; the last one is {handle!r} of {process.name}"
                )
            handle._run()
            if process.callbacks == process.dies_at and self.on_death is not None:
                self.on_death(process, f"at its callback {process.callbacks}")
            if self._stopping:
                break
        self.current = self.world

    def _jump(self) -> None:
        timers = self._timers
        while timers and timers[0][3]._cancelled:
            heapq.heappop(timers)
        if not timers:
            raise DeadlockError("nothing is ready and no timer is set")
        when = timers[0][0]
        if when > self._now:
            self._now = when
            self.hottest = max(self.hottest, self._instant)
            self._instant = 0
        while timers and timers[0][0] <= self._now:
            timer = heapq.heappop(timers)[3]
            if not timer._cancelled:
                self._ready.append(timer)

    def drain(self) -> None:
        """Run all that is ready, and what becomes ready by that; time stands still."""
        events._set_running_loop(self)
        try:
            while self._ready:
                self._run_once()
        finally:
            events._set_running_loop(None)

    def advance(self) -> None:
        """Let the next timers ring."""
        self._jump()
        self.drain()

    def timers(self) -> list[tuple[float, Any]]:
        """What is going to ring, and when, in order."""
        return sorted(((when, timer) for when, _, _, timer in self._timers if not timer._cancelled), key=lambda item: item[0])

    def next_timer(self) -> float | None:
        """When the next timer rings; None when there is none."""
        while self._timers and self._timers[0][3]._cancelled:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def _timer_handle_cancelled(self, handle: Any) -> None:
        """A cancelled timer is skipped when its turn comes."""

    def _asyncgen_finalizer_hook(self, _agen: Any) -> None:
        """What a killed process left half-way stays so."""

    def _write_to_self(self) -> None:
        """Nothing waits in a system call that would have to be woken."""

    def _process_events(self, event_list: Any) -> None:
        """There are none."""

    def call_soon_threadsafe(self, *_args: Any, **_more: Any) -> Any:
        """There are no threads."""
        raise RuntimeError("a thread has no place in the simulated world")

    def run_in_executor(self, *_args: Any, **_more: Any) -> Any:
        """There are no threads."""
        raise RuntimeError("an executor has no place in the simulated world")

    async def getaddrinfo(self, *_args: Any, **_more: Any) -> Any:
        """There is no network."""
        raise RuntimeError("the network has no place in the simulated world")

    create_connection = create_server = getnameinfo = getaddrinfo  # type: ignore[assignment]
