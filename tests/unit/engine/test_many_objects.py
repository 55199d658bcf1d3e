"""Five thousand objects applied at once: each is bought once, with few writes, however long the queue is."""

import asyncio
from collections import Counter

import pytest

from gpucloud.engine.manager.manager import Engine
from gpucloud.settings import Credentials, Settings
from support.builders import TAG
from support.fakes import FakeKube, LoopClock, a_resource, at

pytestmark = pytest.mark.looptime
KEY, MANY, WRITES_EACH = "own-made-up-key", 5000, 3


class SlowKube(FakeKube):
    """Each answer takes so long that one turn of all objects takes longer than an order's record may be acted upon."""

    def __init__(self):
        super().__init__()
        self.written = Counter()

    async def replace_status(self, plural, kind, owner, status):
        await asyncio.sleep(0.14)
        self.written[owner["uid"]] += 1
        return await super().replace_status(plural, kind, owner, status)


async def test_every_one_of_five_thousand_is_ordered_once_with_few_writes(cloud):
    vpc = {"id": "7", "name": "acme", "cluster": "Msc1", "tenancyName": "acme"}
    cloud.world(KEY, GetVpcs=[vpc])
    kube, own = SlowKube(), Credentials(api_key=KEY)
    given = {"endpoint": ("prod=https://prod.example",), "install_tag": TAG, "workers": 16, "orphan_scan_seconds": 0}
    settings = Settings(**given, cloud_qps=1e6, cloud_burst=10**6, credentials=own)
    engine = Engine(settings, lambda: None, LoopClock(), at(kube))
    await engine.start()
    for meta in ({"finalizers": []}, {}):  # the watch shows each as applied, and a moment later with its finalizer
        for number in range(MANY):
            kube.version += 1
            body = a_resource("GpuVM", f"vm-{number}", uid=f"u-{number}", version=kube.version, meta=dict(meta))
            kube.bodies[f"u-{number}"] = body
            engine.on_event("GpuVM", "ADDED", body)
        await asyncio.sleep(3)
    await asyncio.sleep(240)
    orders = Counter(body["name"] for _, _, body in cloud.asked("CreateServer"))
    assert (len(orders), max(orders.values())) == (MANY, 1)
    assert max(kube.written.values()) <= WRITES_EACH
    await engine.stop(1.0)
