"""The clean-ups of a deleted object: each is needed, and none can be forgotten."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gpucloud.engine.kinds.registry import observers
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.naming import external_name
from gpucloud.reconcile.quota import Quota
from support.builders import TAG, an_order
from support.fakes import GOING
from support.graph import mentions

ALL = ("claim", "watches", "dependents", "references", "VPCs")
DECLARED = {
    "GpuVM": (*ALL, "quota usage", "deletion guard", "connection"),
    "GpuVpc": ALL,
    "GpuSnapshot": ALL,
    "GpuHost": ("claim", "watches", "references"),
}
QUOTAS = (Quota("account", vms=9), Quota("namespace", price=Decimal(99)))


class Rig:
    """A GpuVM 'train' in deletion that takes part in everything; a namesake waits for it, and a VPC that is deleted, too."""

    def __init__(self, make_reconcilers):
        self.all = make_reconcilers(rule=Rule(vms=9), quotas=QUOTAS)
        name = external_name("train", "u-train", TAG)
        order = an_order(name, OrderState.SEEN).model_dump(mode="json", by_alias=True)
        held = {"order": order, "account": "(operator)", "pricePerHour": "1.50"}
        self.all.put("GpuVpc", "net", meta=GOING, spec={"name": "acme"})
        self.all.put("GpuVM", spec={"vpcRef": {"name": "net"}}, meta=GOING, status=held)
        self.all.put("GpuVM", "copy", spec={"vmName": name, "vpcRef": {"name": "net"}})
        self.all.put("GpuSnapshot", "daily", spec={"vmRef": {"name": "train"}})
        self.vms = self.all.vms
        self.vms._publisher._publishers.add("u-train")
        self.all.quiet()

    def delete(self, *, without=""):
        """Delete it; return where it is still named, and who was woken."""
        steps = self.vms.cleanups()
        self.vms.cleanups = lambda: tuple(step for step in steps if step.name != without)
        self.all.drop("GpuVM")
        kept = mentions([self.vms, self.all.session.vms.__dict__], "u-train")
        return sorted(kept), self.all.woken_names


@pytest.fixture
def rig(make_reconcilers):
    return Rig(make_reconcilers)


@pytest.mark.parametrize("kind", DECLARED)
def test_a_kind_declares_its_steps_in_this_order_each_with_a_reason(make_reconcilers, kind):
    made = make_reconcilers()
    steps = (made.by_kind | observers(made.tools))[kind].cleanups()
    assert tuple(step.name for step in steps) == DECLARED[kind]
    assert all(len(step.why) > 20 for step in steps)


def test_nothing_is_kept_of_a_deleted_object_and_who_waited_is_woken(rig):
    assert len(mentions(rig.vms, "u-train")) > 5
    assert rig.delete() == ([], ["copy", "daily", "net", "net"])


@pytest.mark.parametrize("name", DECLARED["GpuVM"])
def test_without_a_step_something_is_kept_or_somebody_is_not_woken(rig, name):
    assert rig.delete(without=name) != ([], ["copy", "daily", "net", "net"])


@pytest.mark.parametrize("kind", DECLARED)
def test_every_part_that_can_drop_an_object_is_asked_to(make_reconcilers, kind):
    """A new part of a reconciler that keeps objects by UID fails here until a step names it."""
    made = make_reconcilers()
    reconciler, asked = (made.by_kind | observers(made.tools))[kind], set()
    parts = {name for name, part in vars(reconciler).items() if hasattr(part, "drop")} - {"store"}
    for name in parts:
        vars(reconciler)[name] = Recorder(vars(reconciler)[name], asked, name)
    reconciler.on_delete(Key(kind, "team", "train", "u-train"))
    assert parts >= {"_ownership", "_watches"}
    assert asked == parts


class Recorder:
    """A part that notes that it was asked to drop an object."""

    def __init__(self, part, asked, name):
        self._part, self._asked, self._name = part, asked, name

    def __getattr__(self, name):
        if name == "drop":
            self._asked.add(self._name)
        return getattr(self._part, name)
