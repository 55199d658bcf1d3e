"""What is read before and after each phase, and the differences. Scrapes are outside of what is measured."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench import counts, proc
from bench.quantiles import histogram_quantile
from bench.results import Phase
from controlplane.access import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.stage import Stage

QUIET_SHARE = 0.15  # of one processor: an operator that uses less has nothing left to do
QUIET_SECONDS = 1.0
QUIET_AUDIT_BYTES = 5_000  # some five requests: one that writes its Events late is not quiet


@dataclass(frozen=True)
class Reading:
    """The counters at one moment. ``pid`` is the operator's."""

    at: float
    pid: int
    steal: float
    cpu: Mapping[str, float]
    ledger: int
    audit: int


class Meter:
    """Reads one stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._scraped = counts.Metrics()
        self.entries: list[dict[str, Any]] = []  # of the ledger, of the last phase

    def begin(self) -> Reading:
        """A phase begins."""
        self._scraped = counts.Metrics(self._stage.metrics())
        return self._read()

    def end(self, name: str, before: Reading, reached: float) -> Phase:
        """A phase has ended, whose aim was reached at that monotonic time."""
        after = self._read()
        rss, peak = proc.memory_mb(after.pid)
        scraped = counts.Metrics(self._stage.metrics())
        metrics = scraped.minus(self._scraped if after.pid == before.pid else counts.Metrics())
        self.entries = self._stage.ask_cloud(f"ledger?since={before.ledger}")["entries"][: after.ledger - before.ledger]
        started = before.cpu if after.pid == before.pid else {**before.cpu, "operator": 0.0}  # a new process begins at 0
        return Phase(
            name=name,
            wall=round(reached - before.at, 3),
            steal=round(after.steal - before.steal, 2),
            cpu={process: round(spent - started[process], 2) for process, spent in after.cpu.items()},
            rss_mb=round(rss, 1),
            peak_rss_mb=round(peak, 1),
            cloud_calls=dict(counts.cloud_calls(self.entries)),
            api_requests=dict(counts.api_requests(self._audited(before.audit, after.audit), OPERATOR)),
            passes=metrics.passes,
            loop_lag_p99=histogram_quantile(metrics.lag, 0.99),
        )

    async def quiet(self, longest: float) -> float:
        """Wait until the operator has used little CPU, and sent next to nothing, for a second; answers when that began."""
        deadline = time.monotonic() + longest
        while True:
            began, spent = time.monotonic(), proc.cpu_seconds(self._stage.operator_pid)
            told = self._stage.audit_log.stat().st_size
            await asyncio.sleep(QUIET_SECONDS)
            used = proc.cpu_seconds(self._stage.operator_pid) - spent
            idle = used < QUIET_SHARE * (time.monotonic() - began)
            if (idle and self._stage.audit_log.stat().st_size - told < QUIET_AUDIT_BYTES) or time.monotonic() > deadline:
                return began

    def clock_offset(self) -> float:
        """Seconds that our clock is ahead of the simulated cloud's."""
        before = time.time()
        now = float(self._stage.ask_cloud("clock")["now"])
        return (before + time.time()) / 2 - now

    def _read(self) -> Reading:
        ledger = self._stage.ask_cloud("ledger?since=1000000000")["last"]
        pid = self._stage.operator_pid
        cpu = {process: proc.cpu_seconds(number) for process, number in {**self._stage.pids, "operator": pid}.items()}
        return Reading(time.monotonic(), pid, proc.steal_seconds(), cpu, ledger, self._stage.audit_log.stat().st_size)

    def _audited(self, begin: int, end: int) -> list[str]:
        with self._stage.audit_log.open("rb") as file:
            file.seek(begin)
            return file.read(end - begin).decode().splitlines(keepends=True)
