"""The offers of a GpuVM: which comes next, and that another one is ordered only after a certain refusal."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.reconcile import gpuvm
from gpucloud.reconcile.gpuvm.offers import next_offer, offers, ordered_offer
from gpucloud.reconcile.waiting_line import Offer
from support.anyfacts import any_vm
from support.builders import a_spec, a_status, an_order, facts
from support.decisions.gpuvm_placement import ONE, POOLED, SPEC, TWO, in_hand, refused
from support.gpuvmfacts import NAME

STORIES = 30_000
ALLOWS_ANOTHER = {OrderState.NOT_ORDERED, OrderState.REFUSED, OrderState.LOST, OrderState.GONE}


@pytest.mark.parametrize(
    ("fields", "expected", "why"),
    [
        ({}, [(ONE, None)], "without alternatives there is the spec's own"),
        ({"resourcePool": "p"}, [(ONE, "p")], "in its pool"),
        ({"placement": {"alternatives": [{"configuration": TWO}]}}, [(ONE, None), (TWO, None)], "the spec's own is first"),
        (
            {"resourcePool": "p", "placement": {"alternatives": [{"configuration": TWO}, {"resourcePool": "q"}]}},
            [(ONE, "p"), (TWO, "p"), (ONE, "q")],
            "what an alternative leaves out is the spec's",
        ),
        (
            {"placement": {"alternatives": [{"configuration": ONE}, {"configuration": TWO}, {"configuration": TWO}]}},
            [(ONE, None), (TWO, None)],
            "each once",
        ),
    ],
)
def test_what_a_spec_accepts(fields, expected, why):
    assert [one[:2] for one in offers(a_spec(**fields))] == expected, why


@pytest.mark.parametrize(
    ("items", "expected", "why"),
    [
        ((), (ONE, None), "nothing was tried"),
        ((refused(),), (TWO, None), "the next in order"),
        ((refused(TWO),), (ONE, None), "the spec's own was not tried"),
        ((refused(), refused(TWO)), (ONE, POOLED), "the last"),
        ((refused(reason="Rejected"), refused(TWO), refused(ONE, POOLED, "Rejected")), (TWO, None), "words stay wrong"),
        ((refused(generation=2),), (ONE, None), "of another generation"),
        ((refused("gone"),), (ONE, None), "of an alternative that was removed"),
    ],
)
def test_which_offer_comes_next(items, expected, why):
    order = an_order(NAME, OrderState.REFUSED, configuration=TWO)
    assert next_offer(facts(spec=SPEC, status=a_status(order=order, placement=in_hand(ONE, None, *items))))[:2] == expected, why


def test_a_record_without_an_offer_is_of_the_specs_own():
    assert ordered_offer(SPEC, an_order(NAME)) == Offer(ONE)
    assert ordered_offer(SPEC, an_order(NAME, OrderState.NOT_ORDERED)) is None


def with_alternatives(r):
    """Any facts, of a GpuVM with alternatives, whose record and status name any of its offers."""
    base = any_vm(r)
    spec = base.spec.model_copy(update={"placement": SPEC.placement})
    known = offers(spec)
    order, offer = base.tracked.order, r.choice(known)
    if order is not None:
        order = order.model_copy(update={"configuration": offer.configuration, "resource_pool": offer.resource_pool})
    items = tuple(refused(*one[:2], r.choice(("NoCapacity", "Rejected", "Failed"))) for one in known if r.random() < 0.5)
    status = base.status.model_copy(update={"placement": in_hand(*r.choice(known)[:2], *items)})
    return replace(base, spec=spec, status=status, tracked=replace(base.tracked, order=order))


def test_no_second_offer_is_ordered_while_the_first_may_be_made():
    """In any situation: a record that may stand for a VM is followed by the same offer, or by none."""
    moved = 0
    for seed in range(STORIES):
        r = Random(seed)
        f = with_alternatives(r)
        plan = gpuvm.decide(f)
        if not plan.records_order:
            continue
        before, after = ordered_offer(f.spec, f.order), ordered_offer(f.spec, plan.status.order)
        if before in {None, after}:
            continue
        moved += 1
        unused = f.state is OrderState.INTENDED and f.tracked.own
        assert f.state in ALLOWS_ANOTHER or unused, f"seed {seed}: {f.state}"
    assert moved > 100, "the property was put to the test"
