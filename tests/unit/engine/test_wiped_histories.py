"""Histories of a VM of the operator's own account whose status is wiped, in a namespace that has an account by then."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.cloud import connection as connection_module
from support.fakes import DOWN, GOING, a_resource, a_secret
from support.orderrig import KEY, VPC, History, MakingCloud

pytestmark = pytest.mark.looptime
THEIRS = "their-made-up-key"


class TwoTenants(MakingCloud):
    """``theirs`` is what the key of the namespace's own account sees: another tenant, without any VM of ours."""

    def __init__(self):
        super().__init__()
        self.theirs = MakingCloud()
        self.theirs.world(KEY, GetVpcs=[VPC | {"tenancyName": "other"}])
        self.theirs.worlds[THEIRS], self.theirs.odd = self.theirs.worlds[KEY], {"tenancy_name": "other"}

    async def handle_async_request(self, request):
        key = request.headers.get("Authorization", "").removeprefix("ApiKey ")
        if key == THEIRS:
            return await self.theirs.handle_async_request(request)
        return await super().handle_async_request(request)

    @property
    def changed_with_theirs(self):
        return [call for call in self.theirs.calls if not call[1].startswith("Get")]


@pytest.fixture
async def it(monkeypatch):
    cloud = TwoTenants()
    monkeypatch.setattr(connection_module, "real_transport", lambda _options: cloud)
    made = await History(cloud).start()
    yield made
    await made.engine.stop(1.0)


def account(it):
    """The namespace gets an account of another tenant."""
    it.kube.secrets["team", "key"] = a_secret(apikey=THEIRS)
    it.kube.known["gpucloudaccounts"].add("u-default")
    body = it.kube.bodies["u-default"] = a_resource("GpuCloudAccount", "default", uid="u-default", version=50)
    it.engine.observe("GpuCloudAccount", "ADDED", body)


async def wiped(it, **deleting):
    """A new process: an account ``default``, and a status that says nothing."""
    it.kube.bodies["u-train"].pop("status")
    it.kube.bodies["u-train"]["metadata"] |= deleting
    bodies, it.bodies = it.bodies, {}
    await it.start()
    account(it)
    for body in it.bodies.values() or bodies.values():
        it._show("ADDED", body)


@pytest.mark.parametrize("chosen", [{}, {"vmName": "prod"}])
async def test_no_second_vm_is_bought_with_another_account(it, chosen):
    """A second VM was bought with the namespace's account, and the first one was nobody's."""
    await it.apply(**chosen)
    await it.until(lambda: it.ready == "True/Running")
    await wiped(it)
    await it.until(lambda: it.ready == ("False/Conflict" if chosen else "True/Running"), 300)
    await asyncio.sleep(600)
    assert (len(it.cloud.vms), it.cloud.changed_with_theirs) == (1, [])
    assert it.status.get("account") == (None if chosen else "(operator)")
    it.delete()
    await it.until(lambda: it.gone, 300)
    assert (len(it.cloud.vms), it.cloud.changed_with_theirs) == (1 if chosen else 0, [])


async def test_an_object_that_is_deleted_takes_its_vm_along(it):
    """DestroyServer was sent with the namespace's account, the object went, and the VM stayed."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await wiped(it, **GOING)
    await it.until(lambda: it.gone, 300)
    assert (it.cloud.vms, it.cloud.changed_with_theirs) == ({}, [])


async def test_nothing_is_bought_while_the_operators_own_account_shows_nothing(it):
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    it.cloud.refuse("GetServers", 500)
    await wiped(it)
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.changed_with_theirs) == ("Unknown/ApiUnavailable", [])
    it.cloud.heal()
    await it.until(lambda: it.ready == "True/Running", 100)


async def test_what_was_never_ordered_is_bought_with_the_namespaces_account(it):
    """Its process ended before the first status, so the operator's own account is asked first."""
    it.kube.replace_status = refused
    await it.apply()
    await asyncio.sleep(1)
    it.kube.bodies["u-train"]["status"] = {}
    await wiped(it)
    await it.until(lambda: it.cloud.theirs.vms, 200)
    await it.until(lambda: it.status.get("account") == "default" and it.ready == "True/Running", 100)
    assert it.cloud.vms == {}


async def refused(*_args):
    raise DOWN
