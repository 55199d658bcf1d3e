"""Histories of a GpuVM before two operators at once: what the other one ordered in place of this one's VM is followed."""

from __future__ import annotations

import asyncio
import copy

import pytest

from gpucloud.kinds.gpuvm import GpuVMSpec
from gpucloud.reconcile.gpuvm import template
from gpucloud.reconcile.ownership import record_id
from support.orderrig import MakingCloud, history_over

pytestmark = pytest.mark.looptime

it = history_over(MakingCloud)
EDITS = ({"rootDiskGiB": 300}, {"sshKeys": ["ssh-ed25519 AAAAOTHER t"]})


def replaced_elsewhere(it, edit, **order):
    """Its owner has edited the spec, and the other operator has replaced the VM: the new one bears the same name."""
    body = copy.deepcopy(it.kube.bodies["u-train"])
    body["metadata"]["generation"] += 1
    body["spec"] |= edit
    made_from = list(template.of(GpuVMSpec.model_validate(body["spec"])))
    before = body["status"]["order"]
    anew = {"id": record_id("other", "u-train", before["name"]), "template": made_from}
    body["status"] |= {"order": before | anew | order}
    it._show("MODIFIED", body)


@pytest.mark.parametrize("edit", EDITS, ids=["disk", "keys"])
@pytest.mark.parametrize("state", ["Seen", "Accepted"])
async def test_a_vm_that_another_operator_has_replaced_is_not_replaced_again(it, edit, state):
    """The process that had ordered the first one believed its own record only: it destroyed the new VM with its data."""
    await it.apply(replacePolicy="Recreate", rootDiskGiB=100)
    await it.until(lambda: it.ready == "True/Running")
    await asyncio.sleep(40)
    replaced_elsewhere(it, edit, state=state, recreation=1)
    await asyncio.sleep(300)
    assert (len(it.cloud.asked("DestroyServer")), len(it.cloud.asked("CreateServer"))) == (0, 1)
    assert (it.ready, it.status["order"]["recreation"]) == ("True/Running", 1)


async def test_a_record_that_replaces_nothing_says_nothing_to_the_process_that_ordered(it):
    """A status can be put back, or edited: this process knows better what it ordered."""
    await it.apply(replacePolicy="Recreate", rootDiskGiB=100)
    await it.until(lambda: it.ready == "True/Running")
    ordered = it.status["order"]["id"]
    replaced_elsewhere(it, {}, state="Refused")
    await asyncio.sleep(60)
    assert (it.ready, it.status["order"]["id"], len(it.cloud.asked("CreateServer"))) == ("True/Running", ordered, 1)
