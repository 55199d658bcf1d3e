"""Histories of a GpuVM that only one node can hold, beside one of its pool that takes any."""

from __future__ import annotations

import asyncio
import json

import pytest

from support.fakes import a_resource
from support.orderrig import KEY, MakingCloud, failed, history_over

pytestmark = pytest.mark.looptime
ROW = {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "rpool": "res"}


class FullNode(MakingCloud):
    """The node of the pinned GpuVM is full; the pool is not."""

    async def handle_async_request(self, request):
        if request.url.path.endswith("CreateServer") and json.loads(await request.aread()).get("selectedNode"):
            return failed(503, "node n-1 is full")
        return await super().handle_async_request(request)


it = history_over(FullNode)


@pytest.mark.parametrize(
    "row",
    [
        {"available": True, "count": 1},
        {"available": True, "count": 1, "availableNodeNames": ["n-2"]},
        {"available": True, "count": 1, "availableNodeNames": ["n-1"]},
        {"available": True},
        None,
    ],
)
async def test_a_gpuvm_whose_node_is_full_does_not_keep_the_pool_from_others(it, row):
    """It took the only turn every minute and was refused, and the refusal counted for the whole pool."""
    it.cloud.worlds[KEY]["GetAvailability"] = [] if row is None else [ROW | row]
    it._show("ADDED", a_resource("GpuVM", name="pinned", uid="u-a", spec={"nodeName": "n-1", "resourcePool": "res"}))
    await asyncio.sleep(300)
    it._show("ADDED", a_resource("GpuVM", name="free", uid="u-b", spec={"resourcePool": "res"}))
    await it.until(lambda: it.kube.bodies["u-b"].get("status", {}).get("state") == "ONLINE", 120)
    assert it.kube.bodies["u-a"]["status"]["order"]["state"] != "Seen"
