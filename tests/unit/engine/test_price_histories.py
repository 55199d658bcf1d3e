"""Histories of a GpuVM's price: the catalogue cannot be read when the VM is bought."""

import asyncio

import pytest

from gpucloud.engine.cloud.catalogue import RETRY_SECONDS
from support.orderrig import KEY

pytestmark = pytest.mark.looptime


async def test_a_ready_vm_gets_its_price_when_the_catalogue_can_be_read_again(it):
    """Seed 9000217: nothing reconciled the VM any more, so its status had no price until somebody changed it."""
    it.cloud.worlds[KEY]["GetConfigurations"] = [{"id": 7, "name": "A100_40GB_PCIe_1x", "price": 2.05, "clusters": ["Msc1"]}]
    it.cloud.refuse("GetConfigurations", 503)
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(10)
    assert "pricePerHour" not in it.status
    it.cloud.heal()
    await it.until(lambda: it.status.get("pricePerHour") == "2.05", RETRY_SECONDS + 15)


async def test_a_vm_that_is_ready_before_the_catalogue_answers_gets_its_price(it):
    """Seed 92030301: the good key came back, the VM was Ready at once, and the catalogue was read half a second later."""
    it.cloud.worlds[KEY]["GetConfigurations"] = [{"id": 7, "name": "A100_40GB_PCIe_1x", "price": 2.05, "clusters": ["Msc1"]}]
    it.cloud.takes["GetConfigurations"] = 25.0
    await it.apply()
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(10)
    assert "pricePerHour" not in it.status
    await it.until(lambda: it.status.get("pricePerHour") == "2.05", 25)
