"""Which VMs may be billed: told by the cloud's word and the order record alone, never by a condition."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.reconcile import price
from gpucloud.reconcile.gpuvm import vm_states
from gpucloud.reconcile.ownership import record_id

UID = "u-train"


def recorded_for(uid):
    return {"state": "Seen", "name": "prod", "id": record_id("n", uid, "prod")}


# status as a document: in the cloud, may be billed, is off
STATUSES = {
    "never ordered": ({}, False, False, False),
    "ordered and not seen yet": ({"pricePerHour": "2.05"}, False, False, False),
    "waits for capacity": ({"vmId": "x", "state": "PENDING_RESOURCES"}, True, False, False),
    "boots": ({"vmId": "x", "state": "PENDING_READINESS"}, True, True, False),
    "runs": ({"vmId": "x", "state": "ONLINE"}, True, True, False),
    "runs, in another spelling": ({"vmId": "x", "state": " online"}, True, True, False),
    "is off": ({"vmId": "x", "state": "OFFLINE"}, True, False, True),
    "never came to be": ({"vmId": "x", "state": "CREATE_FAILED"}, True, False, False),
    "a word that no document lists": ({"vmId": "x", "state": "REBALANCING"}, True, True, False),
    "a record without a word": ({"vmId": "x"}, True, True, False),
    "its order is seen": ({"vmId": "x", "state": "ONLINE", "order": {"state": "Seen"}}, True, True, False),
    "its end is under way": ({"vmId": "x", "state": "ONLINE", "order": {"state": "Destroying"}}, True, True, False),
    "lost": ({"vmId": "x", "state": "ONLINE", "order": {"state": "Lost"}}, False, False, False),
    "lost while off": ({"vmId": "x", "state": "OFFLINE", "order": {"state": "Lost"}}, False, False, False),
    "gone": ({"vmId": "x", "state": "ONLINE", "order": {"state": "Gone"}}, False, False, False),
    "its record is its own": ({"vmId": "x", "state": "ONLINE", "order": recorded_for(UID)}, True, True, False),
    "restored from another object": ({"vmId": "x", "state": "ONLINE", "order": recorded_for("u-before")}, False, False, False),
    "edited by hand": ({"vmId": "x", "state": ["ONLINE"], "order": [1]}, True, True, False),
}


@pytest.mark.parametrize(("status", "in_cloud", "billed", "off"), STATUSES.values(), ids=STATUSES)
def test_of_a_document(status, in_cloud, billed, off):
    assert (price.in_cloud(status, UID), price.may_be_billed(status, UID), price.is_off(status, UID)) == (in_cloud, billed, off)


@pytest.mark.parametrize(
    ("status", "billed"),
    [
        (GpuVMStatus(), False),
        (GpuVMStatus(vm_id="x", state="ONLINE"), True),
        (GpuVMStatus(vm_id="x", state="OFFLINE"), False),
        (SimpleNamespace(vm_id="x", state="ONLINE", order=SimpleNamespace(state="Lost")), False),
    ],
)
def test_of_the_model(status, billed):
    assert price.may_be_billed(status, UID) is billed


def test_every_word_that_is_not_billed_is_a_documented_one():
    assert all(vm_states.documented(word) == word for word in price.NOT_BILLED)
    assert not [word for word in ("ONLINE", "PENDING_READINESS") if word in price.NOT_BILLED]
