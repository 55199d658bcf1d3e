"""Histories of what listings lacked for a while although it was there: its object's deletion looks again."""

from __future__ import annotations

import asyncio

import pytest

from support.fakes import FakeCloud
from support.orderrig import KEY, VPC, history_over

pytestmark = pytest.mark.looptime


class VpcCloud(FakeCloud):
    """Makes and destroys one VPC beside another one; ``hides``: its listings lack it although it stands."""

    def __init__(self):
        super().__init__()
        self.vpcs, self.hides = {}, False
        self.world(KEY)

    async def handle_async_request(self, request):
        operation, here = request.url.path.rsplit("/", 1)[1], self.worlds[KEY]
        if operation == "CreateVpc":
            self.vpcs["8"] = {"id": "8", "name": "acme-train", "cluster": "Msc1", "tenancyName": "acme"}
            here[operation] = self.vpcs["8"]
        if operation == "DestroyVpc" and (None, operation) not in self.refused:
            self.vpcs.pop(request.url.params["Id"], None)
            here[operation] = {"status": "accepted"}
        here["GetVpcs"] = [VPC] if self.hides else [VPC, *self.vpcs.values()]
        return await super().handle_async_request(request)


it = history_over(VpcCloud, "GpuVpc")


async def lost(it):
    """The VPC stands, and all listings of some minutes lack it."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Available")
    it.cloud.hides = True
    await it.until(lambda: it.ready == "False/VPCLost", 600)


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_vpc_that_listings_lacked_until_its_object_was_deleted_is_destroyed(it, restarted):
    """Chaos, reads that are empty: it was let go upon the listings of before, and its VPC stayed."""
    await lost(it)
    if restarted:
        await it.start()
        await asyncio.sleep(60)
    it.cloud.hides = False
    it.delete()
    await it.until(lambda: it.gone, 300)
    assert it.cloud.vpcs == {}


async def test_a_vpc_that_listings_go_on_to_lack_is_destroyed_by_its_id(it):
    """Chaos, reads that are empty for long: the process that ordered it knows its unique id, which nobody else can have."""
    await lost(it)
    it.delete()
    await it.until(lambda: it.gone, 300)
    assert (it.cloud.vpcs, len(it.cloud.asked("DestroyVpc"))) == ({}, 1)


async def test_a_vpc_of_an_id_that_only_the_status_tells_is_not_destroyed_by_it(it):
    """People can edit a status; a new process has seen no listing with it."""
    await lost(it)
    await it.start()
    await asyncio.sleep(60)
    it.delete()
    await it.until(lambda: it.gone, 300)
    assert it.cloud.asked("DestroyVpc") == []


async def test_a_lost_vpc_is_let_go_after_two_listings(it):
    await lost(it)
    it.cloud.vpcs.clear()
    await it.start()
    await asyncio.sleep(60)
    before = len(it.cloud.asked("GetVpcs"))
    it.delete()
    assert await it.until(lambda: it.gone, 10) < 2
    assert (len(it.cloud.asked("GetVpcs")) - before, it.cloud.asked("DestroyVpc")) == (2, [])


async def test_a_lost_vpc_stays_while_it_cannot_be_looked_for(it):
    """And says why, and what to do."""
    await lost(it)
    it.cloud.refuse("GetVpcs", 500)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 300)
    assert "spec.deletion.policy: Retain" in it.words
    it.cloud.heal()
    it.cloud.hides = False
    await it.until(lambda: it.gone, 300)
    assert it.cloud.vpcs == {}


@pytest.mark.parametrize("code", [400, 403, 409])
async def test_a_refused_destroying_call_is_no_proof_that_it_is_gone(it, code):
    """The cloud says that it stands, whatever listings lack: the call is sent again."""
    await lost(it)
    it.cloud.refuse("DestroyVpc", code)
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 60)
    assert "DestroyVpc failed" in it.words
    await asyncio.sleep(100)
    assert not it.gone
    it.cloud.heal()
    await it.until(lambda: it.gone, 600)
    assert it.cloud.vpcs == {}


async def test_what_the_cloud_refuses_for_ever_to_destroy_and_no_listing_shows_goes_with_a_warning(it):
    await lost(it)
    it.cloud.vpcs.clear()
    it.cloud.refuse("DestroyVpc", 403)
    it.delete()
    await it.until(lambda: it.gone, 900)
    await asyncio.sleep(1)  # Events are sent beside the work
    event = [event for event in it.kube.events if event["reason"] == "Gone"][-1]
    assert event["type"] == "Warning"
    assert "DestroyVpc failed" in event["note"]
