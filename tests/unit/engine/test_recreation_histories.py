"""Histories of a GpuVM with spec.onLoss: Recreate: there is never a second VM, and none that nobody claims."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.cloud import connection as connection_module
from support.orderrig import History, MakingCloud

pytestmark = pytest.mark.looptime


class RefusingCloud(MakingCloud):
    """It does not destroy what it refuses to destroy."""

    async def handle_async_request(self, request):
        kept = dict(self.vms)
        try:
            return await super().handle_async_request(request)
        finally:
            if request.url.path.endswith("/DestroyServer") and (None, "DestroyServer") in self.refused:
                self.vms.update(kept)

    def show(self, state):
        for _, record in self.vms.values():
            record["status"] = state


@pytest.fixture
async def it(monkeypatch):
    cloud = RefusingCloud()
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


@pytest.mark.parametrize("name", [{}, {"vmName": "lasting"}], ids=["marked", "chosen"])
async def test_a_failed_vm_that_recovers_is_what_it_was(it, name):
    """Its destruction was refused. Neither a restart nor a listing that lacks it for a moment takes it for destroyed."""
    it.cloud.odd = {"private_ip": "10.0.0.5"}
    await it.apply(onLoss="Recreate", **name)
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.refuse("DestroyServer", 409)
    it.cloud.show("FAILED")
    await it.until(lambda: it.cloud.asked("DestroyServer"), 300)
    it.cloud.show("ONLINE")
    it.cloud.heal()
    await it.until(lambda: it.status["order"]["state"] == "Seen", 1200)
    assert it.ready == "True/Running"
    await it.start()
    await asyncio.sleep(60)
    assert it.ready == "True/Running"
    hidden, it.cloud.vms = it.cloud.vms, {}
    listed = len(it.cloud.asked("GetServers"))
    await it.until(lambda: len(it.cloud.asked("GetServers")) >= listed + 2, 200)
    it.cloud.vms = hidden
    await asyncio.sleep(300)
    assert len(it.cloud.asked("CreateServer")) == 1
    assert it.ready == "True/Running"
    it.delete()
    await it.until(lambda: it.gone, 900)
    assert it.cloud.vms == {}


@pytest.mark.parametrize("code", [400, 403, 409, 500, 503])
async def test_a_destruction_that_is_refused_again_and_again_changes_no_condition_to_and_fro(it, code):
    """Ready changed to Recreating before each try, and back after it: up to 24 writes an hour."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.refuse("DestroyServer", code)
    it.cloud.show("FAILED")
    await asyncio.sleep(1800)
    tried, written, said = len(it.cloud.asked("DestroyServer")), len(it.kube.statuses), it.words
    await asyncio.sleep(3600)
    assert len(it.cloud.asked("DestroyServer")) - tried in range(9, 13)
    assert (len(it.kube.statuses) - written, it.words) == (0, said)
    assert "DestroyServer failed" in said
    it.cloud.heal()
    await it.until(lambda: it.ready == "True/Running", 900)
    assert len(it.cloud.asked("CreateServer")) == 2


async def test_a_failed_vm_that_is_to_be_kept_after_all_is_told_as_failed(it):
    """Its destruction was refused, and spec.onLoss is Fail by now: nothing is being destroyed, nor created."""
    await it.apply(onLoss="Recreate")
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.refuse("DestroyServer", 409)
    it.cloud.show("FAILED")
    await it.until(lambda: it.cloud.asked("DestroyServer"), 300)
    it.change(spec={"onLoss": "Fail"})
    await it.until(lambda: it.ready == "False/VMFailed", 900)
    await asyncio.sleep(3600)
    assert it.ready == "False/VMFailed"
