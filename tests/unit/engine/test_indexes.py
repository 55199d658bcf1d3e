"""The indexes over cached objects miss nothing: what is found through them is what a scan of all objects finds."""

import random

import pytest

from gpucloud.engine.cache.store import Store
from gpucloud.engine.cloud.accounts import ResolvedAccount
from gpucloud.engine.kinds import dependents, needs
from gpucloud.engine.kinds.indexes import Deleting, Named, UsesSecret
from gpucloud.engine.kinds.registry import new_listers
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.facts import AccountFacts
from gpucloud.reconcile.naming import external_name
from support.builders import TAG, an_order
from support.fakes import GOING, a_resource

SPACES, NAMES, CLUSTERS = ("team", "others"), ("a", "b"), ("Msc1", "Msc1", "MSC1")
VPCS, CLOUD_NAMES, STATES = ("acme", "beta"), ("x", "y"), (*OrderState, *[OrderState.SEEN] * 9)
OWN_NAMES = tuple(external_name("a", f"u-{kind}-{space}-a", TAG) for kind in ("GpuVM", "GpuSnapshot") for space in SPACES)
ACCOUNT = ResolvedAccount(AccountFacts(OWN_ACCOUNT))


class Dice:
    """Objects of all kinds whose names and references meet by chance."""

    def __init__(self, seed):
        self._random, self.version = random.Random(seed), 0
        self.objects = new_listers(TAG)

    def any(self, *of):
        return self._random.choice(of)

    def change(self):
        """One object comes, changes or goes."""
        kind, space, name = self.any("GpuVM", "GpuVpc", "GpuSnapshot"), self.any(*SPACES), self.any(*NAMES)
        store = {"GpuVM": self.objects.vms, "GpuVpc": self.objects.vpcs, "GpuSnapshot": self.objects.snapshots}[kind]
        uid = f"u-{kind}-{space}-{name}"
        if self.any(*range(8)) == 0:
            store.drop(uid)
            return
        self.version += 1
        spec, status = getattr(self, kind)(), self.status(kind, name, uid)
        meta = self.any({}, {}, GOING) | {"namespace": space}
        store.put(a_resource(kind, name, space, uid, self.version, spec=spec, status=status, meta=meta))

    def GpuVM(self):  # noqa: N802 - named by kind
        image = self.any(
            None, None, {"snapshotRef": {"name": self.any(*NAMES)}}, {"snapshot": self.any(*CLOUD_NAMES, *OWN_NAMES)}
        )
        place = self.any({"vpc": self.any(*VPCS)}, {"vpc": None, "vpcRef": {"name": self.any(*NAMES)}})
        return place | {"cluster": self.any(*CLUSTERS), "vmName": self.any(None, *CLOUD_NAMES), "image": image}

    def GpuVpc(self):  # noqa: N802
        return {"cluster": self.any(*CLUSTERS), "name": self.any(*VPCS)}

    def GpuSnapshot(self):  # noqa: N802
        place = {"cluster": self.any(*CLUSTERS), "vpc": self.any(*VPCS), "name": self.any(*CLOUD_NAMES, *OWN_NAMES)}
        of = self.any({"vmRef": {"name": self.any(*NAMES)}}, {"vmRef": None, "vm": place})
        return of | {"snapshotName": self.any(None, *CLOUD_NAMES)}

    def status(self, kind, name, uid):
        if self.any(True, False, False):
            return {}
        own = external_name(name, uid, TAG)
        ordered = self.any(own, own, own, external_name("other", "u-other", TAG), *CLOUD_NAMES)
        order = an_order(ordered, self.any(*STATES), self.any(*VPCS), self.any(*CLUSTERS))
        order = order.model_copy(update={"id": None, "cloud_id": self.any(None, *CLOUD_NAMES)})
        id_field = {"GpuVM": "vmId", "GpuVpc": "vpcId", "GpuSnapshot": "snapshotId"}[kind]
        found = {"order": order.model_dump(mode="json", by_alias=True, exclude_none=True), "account": OWN_ACCOUNT}
        return found | {id_field: self.any("x", ordered)}

    def answers(self):
        """Everything that a reconcile asks about other objects."""
        it = self.objects
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
        by_index = list(dice.answers())
        with monkeypatch.context() as scanning:
            scanning.setattr(Store, "indexed", lambda store, *_keys: list(store))
            assert by_index == list(dice.answers())
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
