"""Simulated processes: every callback belongs to one, which can be killed, put to sleep, and has clocks of its own."""

from __future__ import annotations

import math
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
PROCESS: ContextVar[Process | None] = ContextVar("simulated_process", default=None)


@dataclass(eq=False)
class Process:
    """One process. ``graveyard`` keeps what a killed one had in hand, as closing a coroutine would run its ``finally``."""

    name: str
    skew: float = 0.0  # seconds by which its wall clock is ahead
    alive: bool = True
    asleep: bool = False
    callbacks: int = 0
    dies_at: int = 0  # at which callback it is killed; 0 for none
    naps: list[tuple[float, float]] = field(default_factory=list)  # from when to when it slept
    held: list[asyncio.Handle] = field(default_factory=list)
    graveyard: list[Any] = field(default_factory=list)

    def runs(self, handle: asyncio.Handle) -> bool:
        """Whether this callback may run now; else it is dropped, or kept for later."""
        if self.alive and not self.asleep:
            return True
        (self.held if self.alive else self.graveyard).append(handle)
        return False

    def kill(self, tasks: Iterable[object] = ()) -> None:
        """As kill -9 does: no callback of it runs any more, and no ``finally`` either. ``tasks``: what it may have had."""
        self.alive = False
        self.graveyard += tasks
        self.graveyard += self.held
        self.held.clear()

    def sleep(self, now: float) -> None:
        """As a stopped process, or a suspended machine."""
        self.asleep = True
        self.naps.append((now, math.inf))

    def wake(self, now: float) -> list[asyncio.Handle]:
        """Go on; answers the callbacks that have become due meanwhile."""
        self.asleep = False
        self.naps[-1] = (self.naps[-1][0], now)
        due, self.held = self.held, []
        return due

    def slept_within(self, now: float, awake: float) -> float:
        """For how long it slept since it was awake ``awake`` seconds ago: what it does now may be older by that."""
        slept = 0.0
        for begun, ended in reversed(self.naps):
            if ended <= now - awake - slept:
                break
            slept += min(ended, now) - begun
        return slept


class VirtualClock:
    """The product's clock in one process: wall time may be skewed, monotonic time is the loop's."""

    def __init__(self, loop: asyncio.AbstractEventLoop, process: Process) -> None:
        self._loop = loop
        self._process = process

    def instant(self) -> datetime:
        """UTC, as this process believes."""
        return EPOCH + timedelta(seconds=self._loop.time() + self._process.skew)

    def wall(self) -> datetime:
        """UTC, to the second."""
        return self.instant().replace(microsecond=0)

    def mono(self) -> float:
        """Virtual seconds."""
        return self._loop.time()


class SeededEntropy:
    """The product's entropy in one process: numbers that repeat with the seed."""

    def __init__(self, name: str, draw: Any) -> None:
        self.instance = name
        self._draw = draw

    def token_hex(self, octets: int) -> str:
        """Hexadecimal text."""
        return f"{int(self._draw() * 16**12):012x}".rjust(2 * octets, "0")[-2 * octets :]

    def jitter(self) -> float:
        """A number from 0 to 1."""
        return float(self._draw())
