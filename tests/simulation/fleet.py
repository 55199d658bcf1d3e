"""Many GpuVMs applied in one moment, in a world without faults: all become Ready, are deleted, and are gone; what each cost.

The judge looks on as in every history. The request budget is out of the way: what is tried is the operator's own queues.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.settings import Credentials, Settings
from simulation import single
from simulation.credentials import KEYS
from simulation.logs import SimulatedLog
from simulation.rates import passes_of
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

SPEC = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": ["ssh-ed25519 AAAA a@b"]}
NO_BUDGET = {"cloud_qps": 1e6, "cloud_burst": 10**6}
CALLBACKS_EACH = 100  # at one instant: every object may be looked at in it
LONGEST_SECONDS = 3600.0  # virtual
MOST_WRITES = 5.0  # of an object, from apply to gone; Events are not counted
WRITES = ("PUT gpuvms", "PATCH gpuvms")


class Phase(NamedTuple):
    """What came of one phase: virtual seconds, and what the operator sent meanwhile, by operation."""

    name: str
    seconds: float
    sent: Counter[str]
    passes: float


class Fleet(World):
    """A world in which one owner has many VMs."""

    def __init__(self, objects: int) -> None:
        settings = Settings(endpoint=(f"default={ENDPOINT}",), credentials=Credentials(api_key=KEYS["good"]), **NO_BUDGET)
        self.objects = objects
        self.phases: list[Phase] = []
        self._sent: Counter[str] = Counter()
        super().__init__(0, {}, chosen=Scenario(settings, replicas=1, own_account=True, stormy=0.0, slots=0))
        self.loop.hot_callbacks = CALLBACKS_EACH * objects

    async def _live(self) -> None:
        self.actors.prepare()
        self.cloud.set_capacity(self.objects)
        self.replicas[0].start()
        self.judge.begin()
        self.weather.over, self.healed_at = True, 0.0
        await self._phase("create", self._apply, lambda: self._standing({"True/Running"}) == self.objects)
        await self._phase("delete", self._delete, lambda: not self._standing() and not self._vms())

    async def _phase(self, name: str, act: Callable[[], None], done: Callable[[], bool]) -> None:
        began, sent, passes = self.loop.time(), self._sent.copy(), self._passes()
        act()
        while not done():
            if self.loop.time() - began > LONGEST_SECONDS:
                self.judge.found("liveness", f"{name}: {self._standing()} objects stand after {LONGEST_SECONDS:g} s")
                break
            await asyncio.sleep(1.0)
        self.phases.append(Phase(name, self.loop.time() - began, self._sent - sent, self._passes() - passes))

    def _apply(self) -> None:
        for number in range(self.objects):
            self.actors.owner.create("GpuVM", "team", f"vm-{number}", SPEC)

    def _delete(self) -> None:
        for item in self.actors.owner.all("GpuVM"):
            self.actors.owner.delete(item)

    def _standing(self, ready: frozenset[str] | set[str] = frozenset()) -> int:
        return sum(not ready or life.ready in ready for life in self.judge.books.standing())

    def _vms(self) -> int:
        return sum(table == "vms" for table, _, _ in self.cloud.live())

    def _passes(self) -> float:
        engine = self.replicas[0].engine
        return 0.0 if engine is None else passes_of(engine.metrics.registry)

    def tell(self, who: str, what: str, answer: str = "", note: Any = None) -> None:
        """Something happened; what the operator sends is counted."""
        if who.startswith("operator"):
            words = what.split()
            self._sent[f"{words[0]} {resource(words[1])}" if words[1:] and "/" in words[1] else words[0]] += 1
        super().tell(who, what, answer, note)

    def each(self) -> dict[str, float]:
        """What an object cost from apply to gone."""
        sent = sum((phase.sent for phase in self.phases), Counter[str]())
        reads = sum(count for what, count in sent.items() if what.startswith("Get"))
        changes = sent["CreateServer"] + sent["DestroyServer"]
        return {
            "writes": sum(sent[what] for what in WRITES) / self.objects,
            "passes": sum(phase.passes for phase in self.phases) / self.objects,
            "cloud calls": (reads + changes) / self.objects,
        }


def resource(path: str) -> str:
    """The plural of the resource that a path of the apiserver names."""
    parts = path.split("?", maxsplit=1)[0].strip("/").split("/")
    after = parts.index("namespaces") + 2 if "namespaces" in parts else 3
    return parts[after] if len(parts) > after else parts[-1]


def run(objects: int) -> int:
    """Let it take place, and print it; the exit code is 0 when no rule is broken, and no object cost too many writes."""
    single.quieten()
    began, fleet = time.monotonic(), Fleet(objects)
    SimulatedLog.world, SimulatedLog.searched = fleet, False
    judge = fleet.run()
    for phase in fleet.phases:
        sent = ", ".join(f"{what} {count}" for what, count in sorted(phase.sent.items()))
        print(f"{phase.name}: {phase.seconds:.0f} virtual s, {phase.passes / objects:.1f} passes an object; {sent}")
    each = fleet.each()
    print(", ".join(f"{what} {value:.2f}" for what, value in each.items()), "an object from apply to gone")
    for violation in judge.violations:
        print(violation)
    print(f"{objects} objects, {len(judge.violations)} violations, {time.monotonic() - began:.0f} s")
    return 1 if judge.violations or each["writes"] > MOST_WRITES else 0
