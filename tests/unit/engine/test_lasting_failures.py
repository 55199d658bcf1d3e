"""A cloud that fails for long, and is well again: what the operator tries every few minutes, it goes on trying."""

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


@pytest.mark.parametrize("spec", [{}, {"vmName": "prod"}])
@pytest.mark.parametrize("code", [500, 409, 503])
async def test_what_failed_for_an_hour_is_ordered_when_the_cloud_is_well(it, code, spec):
    """Passes without a cause outside were spaced so far apart that each record of an order was too old to be sent."""
    it.cloud.makes = False
    it.cloud.refuse("CreateServer", code)
    await it.apply(**spec)
    await asyncio.sleep(3600)
    before = len(it.cloud.asked("CreateServer"))
    assert before <= 20, "no hot loop"
    it.cloud.heal()
    it.cloud.makes = True
    await asyncio.sleep(900)
    assert (it.ready, len(it.cloud.asked("CreateServer")) - before) == ("True/Running", 1)
