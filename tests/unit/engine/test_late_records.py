"""A record of another process that the watch brings late tells where the resource is; only listings of that place count."""

from __future__ import annotations

import pytest

from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.facts import Absent, Present
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.ownership import record_id
from support.builders import an_order

NOW = 1000.0
UNSENT = {"id": record_id("n", "u-train", "web")}


def recorded(state, **fields):
    return {"order": an_order("web", state, **UNSENT, **fields).model_dump(mode="json", by_alias=True, exclude_none=True)}


@pytest.mark.parametrize("state", [OrderState.ACCEPTED, OrderState.SEEN])
async def test_what_the_cloud_named_itself_is_not_missed_under_the_ordered_name(reconcilers, state):
    """Seed 92238909: the VM was there, two listings lacked the name that was ordered, and its VM was called lost."""
    spec = {"vmName": "web"}
    inventory = reconcilers.session.vms
    inventory.seen[Identity("Msc1", "acme", "web")] = Absent(NOW, NOW - 60, NOW - 50)
    inventory.seen[Identity("Msc1", "acme", "srv-2")] = Present(VmRecord(id="srv-2", namespace="acme", status="ONLINE"), NOW)
    reconcilers.put("GpuVM", spec=spec, status=recorded(OrderState.INTENDED))
    assert (await reconcilers.facts("GpuVM")).state is not OrderState.SEEN
    reconcilers.put("GpuVM", spec=spec, status=recorded(state, cloud_id="srv-2"))
    facts = await reconcilers.facts("GpuVM")
    assert (facts.identity.name, facts.state) == ("srv-2", OrderState.SEEN)
    assert facts.order.missing_since is None
