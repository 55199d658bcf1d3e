"""One operator: as ``app`` runs it, in a simulated process; when that has ended or was killed, another is started."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING

from gpucloud.engine.manager.health import ailment
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.manager.ports import Ports
from simulation.feeder import Feeder
from simulation.links import CloudLink, KubeLink
from simulation.process import Process, SeededEntropy, VirtualClock

if TYPE_CHECKING:
    from gpucloud.settings import Settings
    from simulation.world import World

DRAIN_SECONDS = 35.0  # as in app
RESTART_SECONDS = 2.0
PROBE_SECONDS, PROBES = 10.0, 3  # of the chart


class Login:
    """The connection of a pod; there is nothing to connect to."""

    server, proxy_url = "https://apiserver.invalid", None

    def as_http_headers(self) -> dict[str, str]:
        """A token."""
        return {"Authorization": "Bearer made-up"}

    def as_ssl_context(self) -> None:
        """No trust is needed."""


class Replica:
    """One after the other, the processes of one pod."""

    def __init__(self, world: World, number: int, settings: Settings) -> None:
        self._world = world
        self._number = number
        self._settings = settings
        self._generation = 0
        self.process = Process("nobody", alive=False)
        self.engine: Engine | None = None
        self.dead_for_good = False

    def start(self) -> None:
        """Start the next process."""
        if self.dead_for_good:
            return
        self._generation += 1
        world = self._world
        skew = world.choices.choose("skew", (0.0, 0.0, 0.0, 90.0, -90.0, 3600.0), None)
        self.process = Process(f"operator-{self._number}.{self._generation}", skew=skew)
        world.began(self)
        world.tell(self.process.name, "starts")
        world.loop.call_in(self.process, self._begin)
        world.later(PROBE_SECONDS, self._probe, self.process, 0)

    def _probe(self, process: Process, failed: int) -> None:
        """The kubelet asks whether a process is alive, and ends one that is not."""
        if process is not self.process or not process.alive:
            return
        trouble = "" if self.engine is None or process.asleep else ailment(self.engine)
        failed = failed + 1 if trouble else 0
        if failed < PROBES:
            self._world.later(PROBE_SECONDS, self._probe, process, failed)
            return
        self._world.judge.sometimes["ended by its probe"] += 1
        self._world.tell(process.name, "is ended by its probe", trouble)
        process.kill(asyncio.all_tasks(self._world.loop))
        self._world.judge.died(process)
        self._world.later(RESTART_SECONDS, self.start)

    def _begin(self) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(), name="main")
        task.add_done_callback(functools.partial(self._ended, self.process))

    def _ended(self, process: Process, task: asyncio.Task[None]) -> None:
        """In the process itself: it has come to its end."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._world.judge.broke(process, error)
        self._world.judge.ended()
        process.kill(asyncio.all_tasks())
        self._world.tell(process.name, "ends", "" if error is None else repr(error))
        self._world.judge.died(process)
        self._world.later(RESTART_SECONDS, self.start)

    async def _serve(self) -> None:
        world, process = self._world, self.process
        entropy = SeededEntropy(process.name, functools.partial(world.choices.draw, f"entropy {process.name}"))
        ports = Ports(functools.partial(KubeLink, world, process), functools.partial(CloudLink, world, process), entropy)
        engine = self.engine = self._made(VirtualClock(world.loop, process), ports)
        try:
            await engine.start()
            if not engine.leading:
                await self._watch(engine, engine.standby_over, acting=False)
            if not engine.ending.is_set():
                await self._watch(engine, engine.ending, acting=True)
        finally:
            await engine.stop(DRAIN_SECONDS)

    def _made(self, clock: VirtualClock, ports: Ports) -> Engine:
        """The engine of the next process."""
        return Engine(self._settings, Login, clock, ports)

    def _feeder(self, engine: Engine, *, acting: bool) -> Feeder:
        """What feeds it."""
        return Feeder(self._world, engine, KubeLink(self._world, self.process), acting=acting)

    async def _watch(self, engine: Engine, until: asyncio.Event, *, acting: bool) -> None:
        feeder = self._feeder(engine, acting=acting)
        tasks = feeder.start()
        ended = asyncio.create_task(until.wait(), name="until")
        done, _ = await asyncio.wait([*tasks, ended], return_when=asyncio.FIRST_COMPLETED)
        await feeder.stop([*tasks, ended])
        for task in done - {ended}:
            task.result()  # a watch never ends by itself
