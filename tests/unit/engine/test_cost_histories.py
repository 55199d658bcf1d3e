"""Histories of what a VM costs in the metrics, while the catalogue's price changes and another VM takes its place."""

from __future__ import annotations

import asyncio

import pytest

from support.orderrig import KEY, MakingCloud, history_over

pytestmark = pytest.mark.looptime
SMALL, LARGE = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_8x"
HOUR = 3600


def costs(cloud, small, large=9.0):
    cloud.worlds[KEY]["GetConfigurations"] = [{"name": SMALL, "price": small}, {"name": LARGE, "price": large}]


def priced_cloud():
    cloud = MakingCloud()
    costs(cloud, 2.05)
    return cloud


it = history_over(priced_cloud)


def shown(it, name):
    """The values of a metric, by state; a VM that is counted twice is two here."""
    families = {family.name: family.samples for family in it.engine.metrics.registry.collect()}
    return {sample.labels.get("state", ""): round(sample.value, 2) for sample in families[name]}


async def fails(it):
    for _, record in it.cloud.vms.values():
        record["status"] = "FAILED"


async def vanishes(it):
    it.cloud.vms.clear()


async def edited(it):
    it.cloud.odd = {"configuration": LARGE}
    it.change(spec={"configuration": LARGE})


@pytest.mark.parametrize(
    ("replace", "price", "why"),
    [
        (fails, 4.0, "a failed VM is destroyed, and the new one is bought at the price of today"),
        (vanishes, 4.0, "so is one in place of a lost one"),
        (edited, 9.0, "another configuration has another price"),
    ],
)
async def test_a_new_vm_counts_at_its_own_price_from_its_own_beginning(it, replace, price, why):
    await it.apply(configuration=SMALL, onLoss="Recreate", replacePolicy="Recreate")
    await it.until(lambda: it.ready == "True/Running", 300)
    costs(it.cloud, 4.0)
    await asyncio.sleep(2 * HOUR)
    assert shown(it, "gpucloud_price_dollars_per_hour") == {"ONLINE": 2.05}, "the price when it was bought"
    assert shown(it, "gpucloud_accrued_cost_dollars")[""] == pytest.approx(4.1, abs=0.05)
    await replace(it)
    await it.until(lambda: it.ready != "True/Running", 600)
    await it.until(lambda: it.ready == "True/Running", 1800)
    await asyncio.sleep(HOUR)
    assert shown(it, "gpucloud_vms") == {"ONLINE": 1}
    assert shown(it, "gpucloud_price_dollars_per_hour") == {"ONLINE": price}, why
    assert shown(it, "gpucloud_accrued_cost_dollars")[""] == pytest.approx(price, abs=0.05), why
