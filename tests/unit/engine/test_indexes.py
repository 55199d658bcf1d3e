"""The indexes over cached objects miss nothing: what is found through them is what a scan of all objects finds."""

import pytest

from gpucloud.engine.cache.store import Store
from gpucloud.engine.cloud.accounts import ResolvedAccount
from gpucloud.engine.kinds import dependents, needs
from gpucloud.engine.kinds.indexes import Deleting, Named, UsesSecret
from gpucloud.engine.kinds.registry import new_listers
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.facts import AccountFacts
from support.builders import TAG
from support.dice import Dice
from support.fakes import GOING, a_resource

ACCOUNT = ResolvedAccount(AccountFacts(OWN_ACCOUNT))


def answers(it):
    """Everything that a reconcile asks about other objects."""
    for vm in it.vms:
        here = it.vm_identity(vm, vm.spec)
        yield vm.meta.uid, "dependents", tuple(dependents.dependents_of_vm(it, vm))
        yield vm.meta.uid, "needs", tuple(needs.needs_of_vm(it, vm, vm.spec, ACCOUNT))
        yield vm.meta.uid, "deletable", () if here is None else tuple(dependents.deletable_snapshots(it, vm, here))
    for vpc in it.vpcs:
        yield vpc.meta.uid, "dependents", tuple(dependents.dependents_of_vpc(it, vpc, vpc.spec))
    for snapshot in it.snapshots:
        yield snapshot.meta.uid, "dependents", tuple(dependents.dependents_of_snapshot(it, snapshot))
        yield snapshot.meta.uid, "needs", tuple(needs.needs_of_snapshot(it, snapshot, snapshot.spec, ACCOUNT))


@pytest.mark.parametrize("seed", range(60))
def test_what_the_indexes_find_is_what_a_scan_finds(seed, monkeypatch):
    dice, told = Dice(seed), 0
    for _ in range(40):
        dice.change()
        by_index = list(answers(dice.objects))
        with monkeypatch.context() as scanning:
            scanning.setattr(Store, "indexed", lambda store, *_keys: list(store))
            assert by_index == list(answers(dice.objects))
        told += sum(bool(found) for _, _, found in by_index)
    assert told > 20, "there was something to find"


def test_keys_go_with_what_they_say_and_with_the_object():
    objects = new_listers(TAG)
    objects.vpcs.put(a_resource("GpuVpc", "net", uid="u", version=1))
    assert [one.meta.name for one in objects.vpcs.indexed(Named("acme-train"), Deleting())] == ["net"]
    objects.vpcs.put(a_resource("GpuVpc", "net", uid="u", version=2, meta=GOING, spec={"name": "acme-else"}))
    assert objects.vpcs.indexed(Named("acme-train")) == []
    assert [one.meta.name for one in objects.vpcs.indexed(Named("acme-else"), Deleting())] == ["net"]
    objects.vpcs.drop("u")
    assert (objects.vpcs.indexed(Named("acme-else"), Deleting()), objects.vpcs._index) == ([], {})


def test_accounts_are_found_by_their_secret():
    objects = new_listers(TAG)
    for number, name in enumerate(("one", "two")):
        objects.accounts.put(a_resource("GpuCloudAccount", name, uid=name, version=1 + number))
    assert [one.meta.name for one in objects.accounts.indexed(UsesSecret("team", "key"))] == ["one", "two"]
