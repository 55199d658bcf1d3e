"""The phases of one measurement, one after the other on the same objects."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from bench.counts import cloud_calls, first_calls
from bench.errors import BenchError
from bench.fleet import RESTART
from bench.quantiles import p50_p99

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from bench.driver import Driver
    from bench.meter import Meter, Reading
    from bench.operators import Operator
    from bench.results import Phase
    from bench.stage import Stage

EDITS = 100  # single edits, and so samples of their latency
EDIT_INTERVAL_SECONDS = 0.05
TOUCH = {"metadata": {"annotations": {"bench.gpucloud.dev/touched": "1"}}}
STOP = {"spec": {"powerState": "Stopped"}}


class Experiment:
    """One operator and so many objects; ``phases`` is what has been measured so far."""

    def __init__(self, stage: Stage, driver: Driver, meter: Meter, operator: Operator, count: int) -> None:
        self._stage, self._driver, self._meter, self._operator = stage, driver, meter, operator
        self._names = [f"vm-{number:05}" for number in range(count)]
        self._patience = 120.0 + 0.3 * count
        self.phases: list[Phase] = []

    async def run(self, told: Callable[[Phase], None]) -> None:
        """Measure all phases that this operator can do.

        Raises:
            BenchError: one did not come to its end.
        """
        steps: list[Callable[[], Awaitable[Phase]]] = [self._start, self._create, self._idle, self._touch]
        steps += [self._single_edits, self._power_off] if self._operator.can_power else []
        steps += [self._restart, self._delete]
        for step in steps:
            self.phases.append(await step())
            told(self.phases[-1])

    def judge(self) -> str:
        """What is wrong in the end: every VM must have been created once and destroyed once, and none be left."""
        entries = self._stage.ask_cloud("ledger")["entries"]
        left, calls, count = self._stage.ask_cloud("world")["vms"], Counter(cloud_calls(entries)), len(self._names)
        wrong = [f"{len(left)} VMs are left"] if left else []
        wrong += [f"{calls[name]} {name} for {count} VMs" for name in ("CreateServer", "DestroyServer") if calls[name] != count]
        return ", ".join(wrong)

    async def _start(self) -> Phase:
        """Of the operator, before there is any object: what it takes by itself."""
        return await self._from_its_start("start")

    async def _create(self) -> Phase:
        driver, before = self._driver, self._meter.begin()
        await driver.create(self._names)
        ready = driver.fleet.first_ready
        phase = await self._until("create", before, lambda: len(ready) == len(self._names), "all objects are Ready")
        first, last = self._since(driver.fleet.first_status), self._since(ready)
        return replace(phase, seconds={**p50_p99("first_status", first), **p50_p99("ready", last)})

    async def _idle(self) -> Phase:
        before = self._meter.begin()
        await asyncio.sleep(self._stage.around.steady_seconds)
        return self._meter.end("idle", before, time.monotonic())

    async def _touch(self) -> Phase:
        """An annotation on each object that means nothing to anybody."""
        before = self._meter.begin()
        await self._driver.edit(self._names, TOUCH)
        return self._meter.end("touch", before, await self._meter.quiet(self._patience))

    async def _single_edits(self) -> Phase:
        """Restarts of a few VMs, asked for one by one while all others are idle."""
        stamp, chosen = str(time.time()), self._names[:EDITS]
        before = self._meter.begin()
        for name in chosen:
            await self._driver.edit([name], {"metadata": {"annotations": {RESTART: stamp}}})
            await asyncio.sleep(EDIT_INTERVAL_SECONDS)

        def done() -> bool:
            views = (self._driver.fleet.views[name] for name in chosen)
            return all(view.ready and view.restarted == stamp for view in views)

        phase = await self._until("edit", before, done, "the edited VMs are restarted and Ready")
        return self._with_latency(phase, chosen)

    async def _power_off(self) -> Phase:
        before = self._meter.begin()
        await self._driver.edit(self._names, STOP)

        def off() -> bool:
            return self._driver.fleet.count(lambda view: view.ready and view.reason == "PoweredOff") == len(self._names)

        phase = await self._until("power off", before, off, "all VMs are powered off")
        return self._with_latency(phase, self._names)

    async def _restart(self) -> Phase:
        """Of the operator, which is killed; all objects are as they should be."""
        self._stage.kill_operator()
        return await self._from_its_start("restart")

    async def _from_its_start(self, name: str) -> Phase:
        before = self._meter.begin()
        self._stage.start_operator()
        return self._meter.end(name, before, await self._started())

    async def _delete(self) -> Phase:
        driver, before = self._driver, self._meter.begin()
        await driver.delete(self._names)
        gone = driver.fleet.gone
        phase = await self._until("delete", before, lambda: len(gone) == len(self._names), "all objects are gone")
        return replace(phase, seconds=p50_p99("gone", self._since(gone)))

    async def _started(self) -> float:
        """Wait until the operator watches and has nothing left to do; answers since when."""
        deadline = time.monotonic() + self._patience
        while not self._stage.operator_started():
            if time.monotonic() > deadline:
                raise BenchError(f"{self._operator.name} has not started within {self._patience:.0f} s.")
            await asyncio.sleep(0.05)
        return await self._meter.quiet(self._patience)

    async def _until(self, name: str, before: Reading, met: Callable[[], bool], what: str) -> Phase:
        await self._driver.until(met, self._patience, what)
        reached = time.monotonic()
        await self._meter.quiet(self._patience)
        return self._meter.end(name, before, reached)

    def _since(self, times: Mapping[str, float]) -> list[float]:
        return [times[name] - self._driver.sent[name] for name in self._names]

    def _with_latency(self, phase: Phase, names: Iterable[str]) -> Phase:
        """With the time from each edit to the call that it causes."""
        ahead, calls = self._meter.clock_offset(), first_calls(self._meter.entries, "StopServer")
        vms = ((name, self._driver.fleet.views[name].vm_id) for name in names)
        return replace(phase, seconds=p50_p99("call", [calls[vm] + ahead - self._driver.sent[name] for name, vm in vms]))
