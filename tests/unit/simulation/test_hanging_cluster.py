"""A cluster that answers nothing holds up what is in it, and nothing else: the same engine, in a world without faults."""

import asyncio
import json

import pytest

from gpucloud.settings import Credentials, Settings
from simulation.credentials import KEYS
from simulation.fleet import NO_BUDGET, SPEC
from simulation.logs import SimulatedLog
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

WELL, HANGING = "Msc1", "Hou1"
OTHERS = 60  # more than there are workers
UNDER_WAY = 5.0  # seconds: by then the calls hang; none is given up yet
LOOKS = 1200  # twice a second: ten minutes
READS = ("GetServers", "GetSnapshots", "GetVpcs", "GetAvailability")


class TwoClusters(World):
    """The life of one GpuVM, while calls for many others in another cluster are answered by nothing.

    ``hangs``: these calls, where they name the other cluster. ``act``: what the owner does to the others before that life
    begins; nothing: there are none.
    """

    def __init__(self, act, hangs):
        self.act, self.hangs, self.took = act, hangs, {}
        settings = Settings(endpoint=(f"default={ENDPOINT}",), credentials=Credentials(api_key=KEYS["good"]), **NO_BUDGET)
        super().__init__(0, {}, chosen=Scenario(settings, replicas=1, own_account=True, stormy=0.0, slots=0))
        self.loop.hot_callbacks *= OTHERS
        self.carry_out, self.cloud.carry_out = self.cloud.carry_out, self._hang_or_carry_out

    def _hang_or_carry_out(self, process, operation, request, fault):
        said = dict(request.query) | (json.loads(request.body) if request.body else {})
        hangs = operation in self.hangs and HANGING in said.values()
        return None if hangs else self.carry_out(process, operation, request, fault)

    async def _live(self):
        self.actors.prepare()
        self.cloud.make_vpc("acme", HANGING, "the tenant")
        self.cloud.set_capacity(2 * OTHERS)
        self.replicas[0].start()
        self.judge.begin()
        self.weather.over, self.healed_at = True, 0.0
        await self._disturb()
        owner = self.actors.owner
        item = owner.create("GpuVM", "team", "a", SPEC)
        await self._reaches("created", "True/Running")
        owner.patch(item, {"spec": {"powerState": "Stopped"}})
        await self._reaches("stopped", "True/PoweredOff")
        owner.delete(item)
        await self._reaches("deleted", None)

    async def _disturb(self):
        owner = self.actors.owner
        others = [f"b-{number}" for number in range(OTHERS if self.act else 0)]
        made = [owner.create("GpuVM", "team", name, SPEC | {"cluster": HANGING}) for name in others]
        await asyncio.sleep(0.0 if self.act == "apply" else 60.0)
        for item in made:
            if self.act == "stop":
                owner.patch(item, {"spec": {"powerState": "Stopped"}})
            if self.act == "delete":
                owner.delete(item)
        await asyncio.sleep(UNDER_WAY)

    async def _reaches(self, what, ready):
        began = self.loop.time()
        for _ in range(LOOKS):
            if self._ready() == ready:
                break
            await asyncio.sleep(0.5)
        self.took[what] = self.loop.time() - began

    def _ready(self):
        return next((one.ready for one in self.judge.books.standing() if one.name == "GpuVM team/a"), None)


def lived(act, hangs):
    world = TwoClusters(act, hangs)
    SimulatedLog.world, SimulatedLog.searched = world, False
    world.run()
    return world


@pytest.fixture(scope="module")
def alone():
    """How long it takes where no other cluster is in use."""
    return lived("", ()).took


@pytest.mark.parametrize(
    ("act", "hangs"),
    [
        *(("apply", (read,)) for read in READS),
        *(("watch", (read,)) for read in READS),
        ("apply", READS),
        ("apply", ("CreateServer",)),
        ("stop", ("StopServer",)),
        ("delete", ("DestroyServer",)),
        ("delete", (*READS, "DestroyServer")),
    ],
)
def test_a_cluster_that_answers_nothing_holds_up_no_vm_elsewhere(alone, act, hangs):
    assert max(alone.values()) < 30.0
    assert lived(act, hangs).took == alone
