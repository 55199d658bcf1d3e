"""One history: the operator between an apiserver and a cloud in memory, people, strangers and faults, all drawn by a seed."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gpucloud.kinds import crd
from gpucloud.kinds.definitions import ALL_DEFINITIONS
from simulation import ignored_pairs, links, scenario
from simulation.actors import Actors
from simulation.apiserver.garbage import GarbageCollector
from simulation.apiserver.namespaces import NamespaceController
from simulation.apiserver.resources import served
from simulation.apiserver.server import ApiServer
from simulation.arranged import Arranged
from simulation.choices import Choices, fraction
from simulation.cloud import Cloud
from simulation.deeds import Deeds
from simulation.judge import Judge
from simulation.logs import SimulatedLog
from simulation.loop import VirtualLoop
from simulation.process import EPOCH, PROCESS, Process
from simulation.records import Trace
from simulation.replica import Replica
from simulation.weather import Weather

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulation.choices import Key

RESOURCES = served(crd.custom_resource_definition(item) for item in ALL_DEFINITIONS)
FINALLYS = 50  # one within the other, at most
DEATHS = 3  # of processes, in one history
NAMESPACES = ("team", "other")


class World:
    """Everything there is. ``run`` lets the history take place, and answers the judge."""

    def __init__(
        self,
        seed: int,
        deviations: Mapping[Key, object] | None = None,
        *,
        keep: bool = False,
        chosen: scenario.Scenario | None = None,
    ) -> None:
        self.choices = Choices(seed, deviations)
        self.trace = Trace(keep=keep)
        self.loop = VirtualLoop(seed)
        self.context = contextvars.Context()
        self.context.run(PROCESS.set, self.loop.world)
        self.weather = Weather(self.choices)
        self.scenario = chosen or scenario.draw(self.choices)
        self.grace = self.scenario.grace
        self.respelled = self.weather.has("spelling")
        self.cloud_names: dict[str, str] = {}  # that the cloud gave, to the names that were asked for
        self._commits: dict[int, tuple[str, Callable[[], None]]] = {}
        self._numbers = 0
        self.acts_to_come = 0
        self.healed_at = math.inf
        self._deaths = 0
        self.processes: list[Process] = []
        self._outages = {what: self._outage(what) for what in ("kube-outage", "cloud-outage")}
        self.api = ApiServer(RESOURCES, now=self.now, new_uid=self._new_uid)
        self.api.subscribe(self._committed)
        self._namespaces, self._garbage = NamespaceController(self.api), GarbageCollector(self.api)
        self.judge = Judge(self)
        self.cloud = Cloud(self)
        self.replicas = [Replica(self, number, self.scenario.settings) for number in range(self.scenario.replicas)]
        self.arranged = Arranged(self)
        self.actors = Actors(self)
        self.deeds = Deeds(self)
        self.loop.on_death = self.kill

    def tidy(self) -> None:
        """Let the controllers of Kubernetes do what is left for them to do."""
        while self._namespaces.step():
            pass
        self._garbage.step()

    def now(self) -> Any:
        """The apiserver's wall clock."""
        return EPOCH + timedelta(seconds=self.loop.time())

    def stamp(self, ahead: float = 0.0) -> str:
        """The present time by the clock of the operator that leads, as people write it into an annotation."""
        leading = next((one for one in self.replicas if self.judge.is_leader(one.process)), self.replicas[0])
        return f"{self.now() + timedelta(seconds=leading.process.skew + ahead):%Y-%m-%dT%H:%M:%SZ}"

    def run(self) -> Judge:
        """From the beginning to the end."""
        try:
            with ignored_pairs.watched(lambda pair: self.judge.found("ignored pair", pair)):
                self.loop.run_until_complete(self._live())
        except Exception as error:  # noqa: BLE001 - whatever ends a history is a finding
            self.judge.broke(self.loop.current, error)
        finally:
            self._bury()
        return self.judge

    async def _live(self) -> None:
        PROCESS.set(self.loop.world)
        self.actors.prepare()
        for replica in self.replicas:
            replica.start()
        self.judge.begin()
        await self.actors.act(self.scenario.stormy)
        self.weather.over, self.healed_at = True, self.loop.time()
        self.judge.disturbed()  # the shorter delays count from here on
        self.tell("world", "faults are over")
        for replica in self.replicas:
            self.wake(replica.process)
        await self.judge.end()

    def _bury(self) -> None:
        """Let go of everything; what is unfinished is closed here, and not whenever memory is tidied up."""
        self.judge.rest()
        SimulatedLog.world = None
        asyncio.events._set_running_loop(self.loop)
        for task in asyncio.all_tasks(self.loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            for _ in range(FINALLYS):  # a ``finally`` that waits is closed where it waits
                with contextlib.suppress(BaseException):
                    task.get_coro().close()  # type: ignore[union-attr]
                    break
        asyncio.events._set_running_loop(None)
        self.loop.close()

    def tell(self, who: str, what: str, answer: str = "", note: Callable[[], str] | None = None) -> None:
        """Something happened."""
        self.trace.add(self.loop.time(), who, what, answer, note)

    def later(self, seconds: float, callback: Callable[..., Any], *args: Any) -> None:
        """Do something in the world, whatever becomes of the process under way."""
        self.loop.call_later(seconds, callback, *args, context=self.context)

    def carry(self, _what: str, seconds: float, callback: Callable[..., Any], *args: Any) -> None:
        """Bring something over a link; its name matters only where every order is tried."""
        self.later(seconds, callback, *args)

    def act_later(self, seconds: float, callback: Callable[..., Any], *args: Any) -> None:
        """Somebody acts later; the history does not end before that."""
        self.acts_to_come += 1

        def act() -> None:
            self.acts_to_come -= 1
            callback(*args)

        self.later(seconds, act)

    def latency(self, domain: str) -> float:
        """Seconds that something takes on its way."""
        return links.latency(self, domain, slow=False)

    def on_commit(self, plural: str, callback: Callable[[], None]) -> Callable[[], None]:
        """Call this after each change of such objects in the apiserver; answers how to end that."""
        self._numbers += 1
        number = self._numbers
        self._commits[number] = (plural, callback)
        return lambda: self._commits.pop(number, None) and None

    def _committed(self) -> None:
        self.judge.committed()
        self.stir(self.api.commits[-1].plural)

    def stir(self, plural: str = "") -> None:
        """Let the streams of such objects, or all, see what is new."""
        for where, callback in list(self._commits.values()):
            if plural in {"", where}:
                self.context.copy().run(callback)

    def _new_uid(self) -> str:
        self._numbers += 1
        digits = f"{int(fraction(self.choices.seed, 'uid', self._numbers) * 2**53):014x}"
        return f"00000000-0000-4000-{self._numbers:04x}-{digits[-12:]}"

    def _outage(self, what: str) -> tuple[float, float]:
        if not self.weather.has(what):
            return (0.0, 0.0)
        begin = self.choices.choose(f"{what} begins", (0.0, 0.2, 0.5, 0.8)) * self.scenario.stormy
        return (begin, begin + self.choices.choose(f"{what} lasts", (0.5, 2.0, 8.0)) * self.grace)

    def kube_away_since(self, at: float) -> float:
        """When the outage of the apiserver began, if it lasted beyond this time; else never."""
        begin, end = self._outages["kube-outage"]
        return begin if end > at else math.inf

    def kube_back_at(self) -> float:
        """When the outage of the apiserver ends, or ended; before all times where none has begun."""
        begin, end = self._outages["kube-outage"]
        return min(end, self.healed_at) if end > begin and self.loop.time() >= begin else -math.inf

    def kube_is_down(self) -> bool:
        """Whether nobody reaches the apiserver now."""
        return self._is_out("kube-outage")

    def cloud_is_out(self, begin: float, end: float) -> None:
        """Let nobody reach the cloud for a while."""
        self._outages["cloud-outage"] = (begin, end)

    def cloud_is_down(self) -> bool:
        """Whether nobody reaches the cloud now."""
        return self._is_out("cloud-outage")

    def _is_out(self, what: str) -> bool:
        begin, end = self._outages[what]
        return not self.weather.over and begin <= self.loop.time() < end

    def death(self, process: Process, domain: str) -> str:
        """Whether the sender of this request is to die, and where on its way."""
        rate = self.weather.rates.get("crash-at-call", 0.0)
        if not rate or self.weather.over or self._deaths >= DEATHS or not process.alive:
            return ""
        return self.choices.choose(f"death {domain}", links.DEATHS, (1 - rate / 2, rate / 6, rate / 6, rate / 6))

    def kill(self, process: Process, why: str) -> None:
        """Kill -9. Another process takes its place, soon or late or, where there is a second replica, never."""
        if not process.alive or self._deaths >= DEATHS or self.weather.over:
            return
        self._deaths += 1
        self.weather.met["killed"] += 1
        process.kill(asyncio.all_tasks(self.loop))
        self.tell(process.name, "is killed", why)
        self.judge.died(process)
        for replica in self.replicas:
            if replica.process is process:
                others = [one for one in self.replicas if one is not replica and not one.dead_for_good]
                after = self.choices.choose("restart after", (2.0, 0.1, 20.0, 90.0, -1.0), (5, 2, 1, 1, 1 if others else 0))
                replica.dead_for_good = after < 0
                self.later(max(0.0, after), self._start_again, replica)

    def _start_again(self, replica: Replica) -> None:
        """A killed process is followed by another. Where nobody else ran, nobody could write a status until now."""
        if not any(one.process.alive for one in self.replicas):
            self.judge.disturbed()
        replica.start()

    def pause(self, process: Process, seconds: float) -> None:
        """Put a process to sleep for a while."""
        if process.alive and not process.asleep:
            self.tell(process.name, f"is paused for {seconds:g} s")
            process.sleep(self.loop.time())
            self.judge.died(process)
            self.later(seconds, self.wake, process)

    def wake(self, process: Process) -> None:
        """Let it go on."""
        if process.alive and process.asleep:
            self.tell(process.name, "goes on")
            self.judge.woke()
            for handle in process.wake(self.loop.time()):
                self.loop._ready.append(handle)

    def began(self, replica: Replica) -> None:
        """A process has been started. Even when it is dead nobody may tidy it up, as that would run what it left unfinished."""
        self.processes.append(replica.process)
        self.judge.collecting.began(replica.process)
        if self.weather.has("crash") and self._deaths < DEATHS:
            after = self.choices.pick("dies after callbacks", 0, lambda part: int(20 * 300**part))
            replica.process.dies_at = after
