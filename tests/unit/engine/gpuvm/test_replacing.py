"""What the reconciler reads of the apiserver for a VM that is to be replaced: what the order of the new one needs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.facts import Absent, Dependency, KeyTrouble, Present, Readiness, Verb
from gpucloud.reconcile.waiting_line import Line, Offer
from support.builders import START
from support.gpuvmrig import NOW, ours

AT = "2026-01-01T00:00:00Z"
KEYS = ("secrets", "team", "keys")
SPEC = {
    "replacePolicy": "Recreate",
    "rootDiskGiB": 300,
    "sshKeys": [],
    "sshKeysFrom": [{"secretKeyRef": {"name": "keys", "key": "id.pub"}}],
}


def replaces(rig, state="Seen", account=OWN_ACCOUNT):
    """Its spec has asked for another disk for a while."""
    order = {
        "state": state,
        "id": "a-b",
        "name": ours().name,
        "cluster": "Msc1",
        "vpc": "acme",
        "template": ["rootDiskGiB=100"],
    }
    plan = {"changes": [{"name": "rootDiskGiB", "to": "300"}], "plannedAt": AT, "notBefore": AT, "finalSnapshot": False}
    rig.put(spec=SPEC, status={"observedGeneration": 1, "account": account, "order": order, "replacement": plan})


def runs(inventory):
    inventory.seen[ours()] = Present(VmRecord(id=ours().name, namespace="acme", cluster="Msc1", status="ONLINE"), NOW)


async def test_the_keys_of_the_new_vm_are_read_while_the_old_one_runs(rig):
    runs(rig.inventory)
    replaces(rig)
    facts = await rig.facts()
    assert (facts.keys.trouble, rig.kube.reads.count(KEYS)) == (KeyTrouble.MISSING, 1)


async def test_a_vm_that_is_to_be_replaced_does_not_queue_behind_those_who_were_refused(rig):
    """Its place in the line, where it needs one, is that of the replacement."""
    taken = Line(taken={Offer("A100_40GB_PCIe_1x"): START + timedelta(days=1)})
    rig.reconcilers.session.capacity.line = lambda *_: taken
    runs(rig.inventory)
    replaces(rig)
    assert not (await rig.facts()).line.behind


async def test_the_keys_of_the_new_vm_are_read_once_when_the_old_one_is_gone(rig):
    runs(rig.inventory)
    replaces(rig)
    stored = rig.reconciler.store.get("u1")
    announced = stored.order.model_copy(update={"state": OrderState.DESTROYING})
    rig.reconciler.before_recording("u1", stored.status.model_copy(update={"order": announced}))
    replaces(rig, "Destroying")
    await rig.act(Verb.DESTROY)
    rig.clock.now += 60
    rig.inventory.seen[ours()] = Absent(NOW + 59, NOW + 30, NOW + 58)
    rig.kube.reads.clear()
    facts = await rig.facts()
    assert (facts.recreates, facts.asks_replacement, rig.kube.reads.count(KEYS)) == (True, True, 1)


@pytest.mark.parametrize(
    "goes", [{"deleting": True}, {"blocker": Dependency("Secret 'key'", Readiness.DELETING, account=True)}]
)
async def test_an_account_that_goes_meanwhile_is_seen_before_a_vm_is_replaced(rig, goes):
    """Nothing would be bought with it after the destruction."""
    session = rig.reconcilers.account()
    runs(session.vms)
    replaces(rig, account="default")
    read = rig.kube.data_of

    async def meanwhile(*source):
        rig.reconcilers.account(session=session, **goes)
        return await read(*source)

    rig.kube.data_of = meanwhile
    assert [need.readiness for need in (await rig.facts()).needs] == [Readiness.DELETING]
