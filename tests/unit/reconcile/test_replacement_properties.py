"""What holds of every GpuVM that may be replaced, whatever the facts."""

from __future__ import annotations

import random
from dataclasses import replace

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.recreation import ReplacePolicy
from gpucloud.reconcile.conditions import is_ready
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.gpuvm import decide, template
from gpucloud.reconcile.gpuvm.snapshots import replacement_of
from gpucloud.reconcile.pause import is_paused
from support.anyfacts import any_vm

SITUATIONS = 1500
THERE = {OrderState.SEEN, OrderState.DESTROYING}  # an announced destruction may have had no effect
OTHER = "A100_40GB_PCIe_4x"  # no spec names it


def situations():
    """Facts and the plan for them, where it has a status."""
    for seed in range(SITUATIONS):
        f = any_vm(random.Random(seed))
        plan = decide(f)
        if plan.status is not None:
            yield seed, f, plan


def differs(f):
    order = f.tracked.order
    made_from = None if order is None else order.template
    return made_from is not None and set(made_from) != set(template.of(f.spec))


def test_no_vm_that_was_made_from_another_spec_is_ready():
    met = 0
    for seed, f, plan in situations():
        if differs(f) and f.tracked.order.state in THERE and not is_paused(f.meta.annotations):
            met += 1
            assert not is_ready(plan.status.conditions), f"seed {seed}: {plan.status.conditions}"
    assert met > 20, "the facts that are drawn are too tame"


def test_a_plan_to_replace_a_vm_stands_only_while_that_is_asked_for_or_under_way():
    met = 0
    for seed, f, plan in situations():
        if plan.status.replacement is None:
            continue
        met += 1
        under_way = f.tracked.order is not None and f.tracked.order.state in {OrderState.DESTROYING, OrderState.GONE}
        assert not f.meta.deleting, f"seed {seed}"
        asked = f.spec.replace_policy == "Recreate" and differs(f) and not is_paused(f.meta.annotations)
        assert under_way or asked, f"seed {seed}"
    assert met > 20, "the facts that are drawn are too tame"


def test_what_was_requested_for_a_plan_is_on_record_only_while_that_plan_stands():
    met, dropped = 0, 0
    for seed, f, plan in situations():
        before, after = f.status.final_snapshot, plan.status.final_snapshot
        dropped += before is not None and "-replaced-" in before.order and after is None
        if after is not None and after.state == "Requested" and "-replaced-" in after.order:
            met += 1
            assert plan.status.replacement is not None, f"seed {seed}"
            assert after.order == replacement_of(f.order.id, plan.status.replacement), f"seed {seed}"
    assert min(met, dropped) > 2, "the facts that are drawn are too tame"


def told_otherwise():
    """Facts of a created VM that is there, whose order's record names another configuration than the cloud shows."""
    for seed in range(SITUATIONS):
        f = any_vm(random.Random(seed))
        order = f.tracked.order
        if order is None or order.state is not OrderState.SEEN or f.adopted or f.configuration_in_use is None:
            continue
        named = next(one for one in (f.spec.configuration, OTHER) if one != f.configuration_in_use)
        yield seed, replace(f, tracked=replace(f.tracked, order=order.model_copy(update={"configuration": named})))


def test_a_record_that_the_cloud_contradicts_destroys_no_vm_and_makes_none_ready_that_the_spec_does_not_name():
    met = 0
    for seed, f in told_otherwise():
        plan = decide(f)
        if plan.status is None or f.meta.deleting or f.replaces_failed or is_paused(f.meta.annotations):
            continue
        met += 1
        assert plan.action is not Verb.DESTROY, f"seed {seed}"
        if f.spec.replace_policy is ReplacePolicy.NEVER:
            continue  # no record is compared then
        assert plan.status.replacement is None, f"seed {seed}"
        if f.configuration_in_use != f.spec.configuration and isinstance(f.found, Present):
            assert not is_ready(plan.status.conditions), f"seed {seed}: {plan.status.conditions}"
    assert met > 20, "the facts that are drawn are too tame"
