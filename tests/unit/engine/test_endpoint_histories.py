"""Histories of an operator that is started with another first endpoint: what was ordered elsewhere is left alone."""

from __future__ import annotations

import asyncio

import pytest

from support.fakes import a_resource, a_secret
from support.orderrig import KEY, MakingCloud, history_over

pytestmark = pytest.mark.looptime
PROD, EU = "prod=https://prod.example", "eu=https://eu.example"


class TwoClouds(MakingCloud):
    """The cloud at ``prod``. ``other`` is the one at ``eu``, which knows the same key."""

    def __init__(self):
        super().__init__()
        self.other = MakingCloud()

    async def handle_async_request(self, request):
        if request.url.host == "eu.example":
            return await self.other.handle_async_request(request)
        return await super().handle_async_request(request)

    @property
    def changed_elsewhere(self):
        return [call for call in self.other.calls if not call[1].startswith("Get")]


it = history_over(TwoClouds)


async def test_a_vm_at_the_endpoint_of_before_is_neither_lost_nor_let_go(it):
    """It was called lost, DestroyServer went to the other cloud, and the VM stayed, billed and nobody's."""
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    assert it.status["endpoint"] == "prod"
    await it.start(endpoint=(EU, PROD))
    await it.until(lambda: it.ready == "Unknown/EndpointMismatch", 30)
    assert "Ask the administrator to make 'prod' the first --endpoint again" in it.words
    it.delete()
    await it.until(lambda: it.ready == "False/DeletionBlocked", 30)
    await asyncio.sleep(600)
    assert (it.gone, len(it.cloud.vms), it.cloud.changed_elsewhere) == (False, 1, [])
    await it.start(endpoint=(PROD, EU))
    await it.until(lambda: it.gone, 300)
    assert it.cloud.vms == {}


async def test_an_order_without_a_clear_answer_is_not_looked_for_in_another_cloud(it):
    """The record alone says where: no listing had shown the VM yet."""
    it.cloud.lag = 100.0
    await it.apply()
    await it.until(lambda: it.cloud.vms)
    await it.start(endpoint=(EU, PROD))
    await asyncio.sleep(600)
    assert (it.ready, it.cloud.changed_elsewhere) == ("Unknown/EndpointMismatch", [])
    await it.start(endpoint=(PROD, EU))
    await it.until(lambda: it.ready == "True/Running", 100)
    assert len(it.cloud.asked("CreateServer")) == 1


async def test_an_account_whose_objects_are_at_another_endpoint_says_so(it):
    def account():
        it.kube.secrets["team", "key"] = a_secret(apikey=KEY)
        it.kube.known["gpucloudaccounts"].add("u-default")
        body = it.kube.bodies["u-default"] = a_resource("GpuCloudAccount", "default", uid="u-default", version=50)
        it.engine.on_event("GpuCloudAccount", "ADDED", body)

    def verdict():
        conditions = it.kube.bodies["u-default"].get("status", {}).get("conditions", ())
        return next((f"{one['status']}/{one['reason']}" for one in conditions if one["type"] == "Ready"), "")

    account()
    await it.until(lambda: verdict() == "True/Connected")
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    assert (it.status["account"], it.status["endpoint"]) == ("default", "prod")
    del it.kube.bodies["u-default"]
    await it.start(endpoint=(EU, PROD))
    account()
    await it.until(lambda: verdict() == "Unknown/EndpointMismatch", 60)
    await it.until(lambda: it.ready == "Unknown/EndpointMismatch", 60)
    assert (len(it.cloud.vms), it.cloud.changed_elsewhere) == (1, [])


async def test_what_is_retained_is_let_go_at_another_endpoint(it):
    """The way out that an account's message names: nothing is destroyed, and the object does not wait for that endpoint."""
    await it.apply(deletion={"policy": "Retain"})
    await it.until(lambda: it.ready == "True/Running")
    await it.start(endpoint=(EU, PROD))
    await it.until(lambda: it.ready == "Unknown/EndpointMismatch", 30)
    it.delete()
    await it.until(lambda: it.gone, 60)
    assert (len(it.cloud.vms), it.cloud.changed_elsewhere) == (1, [])
