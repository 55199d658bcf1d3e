"""Histories of a GpuVM with spec.onLoss: Recreate: there is never a second VM, and none that nobody claims."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.cloud import connection as connection_module
from support.orderrig import History, MakingCloud

pytestmark = pytest.mark.looptime


@pytest.fixture
async def it(monkeypatch):
    cloud = MakingCloud()
    monkeypatch.setattr(connection_module, "real_transport", lambda _options: cloud)
    made = await History(cloud).start()
    yield made
    await made.engine.stop(1.0)


@pytest.mark.parametrize("odd", [{"id": "srv-1"}, {"namespace": "acme-2"}, {}], ids=["named", "placed", "as ordered"])
async def test_a_lost_vm_that_is_listed_again_is_not_bought_twice(it, odd):
    """Under a name or in a place of the cloud's choice it is not looked for once it is lost."""
    it.cloud.odd = odd
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    hidden, it.cloud.vms = it.cloud.vms, {}
    await it.until(lambda: it.status["order"]["state"] == "Lost", 600)
    await asyncio.sleep(3)
    it.cloud.odd = {"id": "srv-2"} if "id" in odd else odd
    it.cloud.vms = hidden
    await asyncio.sleep(300)
    assert len(it.cloud.asked("CreateServer")) == 1
    assert it.ready == ("False/VMLost" if odd else "True/Running")
