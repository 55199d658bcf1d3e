"""One history, and what came of it, in a form that can be sent between processes."""

from __future__ import annotations

import gc
import logging
import signal
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from simulation.logs import SimulatedLog
from simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulation.choices import Deviations, Key
    from simulation.records import Line
    from simulation.witness import Violation


SEARCHED = 20  # of so many histories one has its log and metrics searched for keys


@dataclass(slots=True)
class Outcome:
    """What came of one history."""

    seed: int
    digest: str
    violations: list[Violation]
    deviations: Deviations
    met: Counter[str] = field(default_factory=Counter)
    sometimes: Counter[str] = field(default_factory=Counter)
    lines: list[Line] = field(default_factory=list)
    callbacks: int = 0
    seconds: float = 0.0  # virtual

    @property
    def oracle(self) -> str:
        """Which oracle failed first; empty for none."""
        return self.violations[0].oracle if self.violations else ""


def quieten() -> None:
    """No log is written; errors that the product logs are found by the judge. For a process that does nothing else."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")  # of what a killed process leaves behind
    structlog.configure(wrapper_class=SimulatedLog, cache_logger_on_first_use=True)


def settle_down() -> None:
    """Prepare a process for many histories: what stands by then is never looked at again when memory is tidied up."""
    quieten()
    live(0)
    gc.collect()
    gc.freeze()
    gc.disable()


def begin_worker() -> None:
    """Prepare a worker process. An interrupt from the keyboard is its parent's affair, which ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settle_down()


def live(seed: int, deviations: Mapping[Key, object] | None = None, *, keep: bool = False) -> Outcome:
    """Let one history take place."""
    world = World(seed, deviations, keep=keep)
    SimulatedLog.world, SimulatedLog.searched = world, seed % SEARCHED == 0
    judge = world.run()
    return Outcome(
        seed,
        world.trace.digest(),
        judge.violations,
        world.choices.deviations,
        world.weather.met,
        judge.sometimes,
        world.trace.lines,
        world.loop.callbacks,
        world.loop.time(),
    )
