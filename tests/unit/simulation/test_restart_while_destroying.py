"""A restart between two destroying calls shortens no wait: the same engine, in a world whose cloud carries none of them out."""

import asyncio

import pytest

from gpucloud.settings import Credentials, Settings
from simulation.credentials import KEYS
from simulation.fleet import NO_BUDGET, SPEC
from simulation.logs import SimulatedLog
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

SETTLED = 60.0
TEN_GRACES, TWICE, LONGEST = 300.0, 600.0, 900.0  # between the first two calls, and the next ones


class Restarted(World):
    """A GpuVM that is deleted; ``kills``: whether the operator is killed right after each destroying call."""

    def __init__(self, *, kills):
        self.kills, self.calls, self.writes = kills, [], 0
        settings = Settings(endpoint=(f"default={ENDPOINT}",), credentials=Credentials(api_key=KEYS["good"]), **NO_BUDGET)
        super().__init__(0, {}, chosen=Scenario(settings, replicas=1, own_account=True, stormy=0.0, slots=0))
        self.carry_out, self.cloud.carry_out = self.cloud.carry_out, self._note_or_carry_out

    def _note_or_carry_out(self, process, operation, request, fault):
        if operation == "DestroyServer":
            self.calls.append(self.loop.time())
            if self.kills:
                self.later(1.0, self.kill, self.replicas[0].process, "after its call")
        return self.carry_out(process, operation, request, fault)

    async def _live(self):
        self.actors.prepare()
        self.replicas[0].start()
        self.judge.begin()
        item = self.actors.owner.create("GpuVM", "team", "a", SPEC)
        await asyncio.sleep(SETTLED)
        self.cloud.only_pretends = True
        self.actors.owner.delete(item)
        await asyncio.sleep(TEN_GRACES + TWICE + SETTLED)
        (self.life,) = [one for one in self.judge.books.standing() if one.kind == "GpuVM"]
        self.recorded = self.life.status["order"]
        self.weather.over, self.healed_at = True, self.loop.time()
        await asyncio.sleep(LONGEST + SETTLED)


@pytest.mark.parametrize("kills", [False, True])
def test_it_is_destroyed_again_as_late_as_without_a_restart(kills):
    world = Restarted(kills=kills)
    SimulatedLog.world, SimulatedLog.searched = world, False
    world.run()
    waits = [later - earlier for earlier, later in zip(world.calls, world.calls[1:], strict=False)]
    assert waits == pytest.approx([TEN_GRACES, TWICE, LONGEST], abs=5.0)
    assert world.recorded["destroyingCall"]["number"] == 3
    assert world.judge.violations == []
