"""One `kubectl apply` of a GpuCloudAccount and its first objects, in an operator that has an account of its own.

Each kind has a watch of its own, so the news of the account may come after those of the objects.
"""

import asyncio

import pytest

from gpucloud.settings import Credentials, Settings
from simulation.credentials import KEYS, Callers, secret_data
from simulation.fleet import SPEC
from simulation.logs import SimulatedLog
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

LONGEST_SECONDS, LOOK_SECONDS = 3600.0, 0.1  # virtual
THEIRS = "key other"


class LateAccount(World):
    """Two GpuVMs; the account's news come ``late`` seconds after theirs.

    ``callers``: whose credentials bore the creating calls.
    """

    def __init__(self, late):
        self.late, self.callers, self._known = late, [], Callers()
        settings = Settings(endpoint=(f"default={ENDPOINT}",), credentials=Credentials(api_key=KEYS["good"]))
        super().__init__(0, {}, chosen=Scenario(settings, replicas=1, own_account=True, stormy=0.0, slots=0))
        self.carry_out, self.cloud.carry_out = self.cloud.carry_out, self._note

    def _note(self, process, operation, request, fault):
        if operation.startswith("Create"):
            self.callers.append(self._known.of(request))
        return self.carry_out(process, operation, request, fault)

    async def _live(self):
        self.actors.prepare()
        self.replicas[0].start()
        self.judge.begin()
        await asyncio.sleep(30)
        self.arranged.late_news("gpucloudaccounts", self.late, begin=0.0, end=LONGEST_SECONDS)
        owner = self.actors.owner
        self.actors.admin.put_secret("team", "key", secret_data("other", "key"))
        owner.create("GpuCloudAccount", "team", "default", {"secretRef": {"name": "key"}})
        for name in ("a", "b"):
            owner.create("GpuVM", "team", name, SPEC)
        began = self.loop.time()
        while len(self.callers) < 2:
            assert self.loop.time() - began < LONGEST_SECONDS
            await asyncio.sleep(LOOK_SECONDS)
        self.weather.over, self.healed_at = True, self.loop.time()


@pytest.mark.parametrize("late", [0.0, 1.0, 300.0])
def test_what_is_applied_with_an_account_is_bought_with_it(late):
    world = LateAccount(late)
    SimulatedLog.world, SimulatedLog.searched = world, False
    world.run()
    assert world.callers == [THEIRS] * 2
