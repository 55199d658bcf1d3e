"""etcd was restored from before a VM was replaced: what the page on disaster recovery says of that, tried.

The cloud tells no disk, so nothing shows that the VM is already as the newer manifest says.
"""

import asyncio

import pytest

from gpucloud.settings import Credentials, Settings
from simulation.credentials import KEYS
from simulation.fleet import NO_BUDGET, SPEC
from simulation.logs import SimulatedLog
from simulation.people import MERGE
from simulation.scenario import ENDPOINT, Scenario
from simulation.world import World

STATUS = "/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/a/status"
SETTLED = 60.0


class Restored(World):
    """A VM whose record is older than its spec; ``forgets``: whether the administrator takes the template out of the record."""

    def __init__(self, *, forgets):
        self.forgets = forgets
        settings = Settings(endpoint=(f"default={ENDPOINT}",), credentials=Credentials(api_key=KEYS["good"]), **NO_BUDGET)
        super().__init__(0, {}, chosen=Scenario(settings, replicas=1, own_account=True, stormy=0.0, slots=0))

    async def _live(self):
        self.actors.prepare()
        self.replicas[0].start()
        self.judge.begin()
        spec = SPEC | {"replacePolicy": "Recreate", "rootDiskGiB": 100}
        item = self.actors.owner.create("GpuVM", "team", "a", spec)
        await asyncio.sleep(SETTLED)
        self.kill(self.replicas[0].process, "stopped before etcd is restored")
        self.actors.owner.patch(item, {"spec": {"rootDiskGiB": 300}})
        if self.forgets:
            assert self.actors.admin.call("PATCH", STATUS, {"status": {"order": {"template": None}}}, MERGE)
        self.weather.over, self.healed_at = True, self.loop.time()
        await asyncio.sleep(5 * SETTLED)


@pytest.mark.parametrize(("forgets", "ordered"), [(True, 1), (False, 2)], ids=["forgotten", "kept"])
def test_a_vm_is_kept_where_its_record_does_not_tell_an_older_spec(forgets, ordered):
    world = Restored(forgets=forgets)
    SimulatedLog.world, SimulatedLog.searched = world, False
    world.run()
    (life,) = [one for one in world.judge.books.standing() if one.kind == "GpuVM"]
    assert life.ready == "True/Running"
    assert len(world.cloud.orders.of(life.uid)) == ordered
