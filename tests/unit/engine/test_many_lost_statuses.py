"""Two hundred GpuVMs whose statuses were lost at once, as after a restore of etcd, in a cloud of which one cluster hangs."""

import asyncio
from collections import Counter

import pytest

from gpucloud.cloud import connection as connection_module
from gpucloud.engine.cloud.inventory import LONGEST_BACKOFF_SECONDS
from support.enginerig import OWN, Rig
from support.fakes import FakeCloud

pytestmark = pytest.mark.looptime
MANY, WORKERS, CLUSTERS = 200, 4, ("Hou1", "Msc1", "Nyc1")
LOST = [f"lost-{number}" for number in range(MANY)]
VPC = {"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}
ANSWER_SECONDS = 30.0  # until the client gives up on an answer, by default


class Cloud(FakeCloud):
    """Three empty clusters; those in ``hanging`` never answer."""

    def __init__(self):
        super().__init__()
        self.hanging = set()
        self.world(OWN, GetAll=list(CLUSTERS), GetVpcs=[VPC])

    async def handle_async_request(self, request):
        if request.url.path.endswith("/GetServers") and request.url.params.get("Cluster") in self.hanging:
            self.calls.append((OWN, "GetServers", dict(request.url.params)))
            await asyncio.sleep(3600)
        return await super().handle_async_request(request)

    @property
    def listed(self):
        return Counter(call[2]["Cluster"] for call in self.asked("GetServers"))


@pytest.fixture
def cloud(monkeypatch):
    made = Cloud()
    monkeypatch.setattr(connection_module, "real_transport", lambda _options: made)
    return made


@pytest.fixture
async def rig(cloud):
    """A process starts after the restore: the first list shows all of them, with our finalizer and without a status."""
    it = Rig(cloud, workers=WORKERS, cloud_qps=1000, cloud_burst=1000, orphan_scan_seconds=0)
    await it.engine.start()
    yield it
    await it.engine.stop(1.0)


def reasons(rig):
    return Counter(rig.ready(name) for name in LOST)


def ordered(cloud):
    """The names of the VMs that were ordered."""
    return {call[2]["name"] for call in cloud.asked("CreateServer")}


async def test_one_listing_of_each_cluster_tells_all_of_them_that_their_vm_is_nowhere(rig, cloud):
    for name in LOST:
        rig.show("GpuVM", name)
    await asyncio.sleep(60)
    assert len(ordered(cloud)) == MANY
    assert len(cloud.asked("GetAll")) == 1
    assert max(cloud.listed["Hou1"], cloud.listed["Nyc1"]) <= 2, "one, and another if one object came after its begin"


async def test_a_cluster_that_hangs_holds_up_only_those_whose_vm_may_be_in_it(rig, cloud):
    cloud.hanging = {"Nyc1"}
    for name in LOST:
        rig.show("GpuVM", name)
    await asyncio.sleep(1)
    rig.show("GpuVM", "new", meta={"finalizers": []})
    await asyncio.sleep(2)
    assert [name[:4] for name in ordered(cloud)] == ["new-"], "served at once, and nothing else is bought"
    await asyncio.sleep(300)
    assert reasons(rig) == {"ApiUnavailable": MANY}
    assert cloud.listed["Nyc1"] <= 2 + 300 / (ANSWER_SECONDS + LONGEST_BACKOFF_SECONDS / 2)
    assert cloud.listed["Hou1"] <= 2 + 300 / 60
    assert len(cloud.asked("GetAll")) == 1
    cloud.hanging = set()
    await asyncio.sleep(120)
    assert len(ordered(cloud)) == 1 + MANY
