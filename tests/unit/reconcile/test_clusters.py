"""Alternatives in other clusters: which cluster is in hand, and that no order leaves one where its VM may be."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from gpucloud.kinds.common import Adoption, OrderState
from gpucloud.kinds.placement import PlacementStatus
from gpucloud.reconcile import gpuvm
from gpucloud.reconcile.gpuvm.clusters import cluster_in_hand, clusters, is_left_behind
from gpucloud.reconcile.gpuvm.offers import offers
from gpucloud.reconcile.naming import TAG_LENGTH, external_name, same_cluster
from gpucloud.reconcile.waiting_line import Offer
from support.anyfacts import any_vm
from support.builders import TAG, a_place, a_spec, an_order
from support.decisions.gpuvm_clusters import AWAY, HOME, SPEC
from support.decisions.gpuvm_placement import ONE, TWO, in_hand, refused
from support.gpuvmfacts import NAME

STORIES = 20_000
THERE = PlacementStatus(configuration=ONE, cluster=AWAY)
MAKES_NOTHING = {OrderState.NOT_ORDERED, OrderState.REFUSED}


def others(*alternatives, **fields):
    return a_spec(placement={"alternatives": list(alternatives)}, **fields)


@pytest.mark.parametrize(
    ("spec", "expected", "why"),
    [
        (a_spec(), (HOME,), "the spec's own"),
        (SPEC, (HOME, AWAY), "and those of its alternatives"),
        (others({"cluster": AWAY}, {"cluster": "hou1", "configuration": TWO}), (HOME, AWAY), "each once, however it is spelt"),
        (others({"cluster": "msc1"}), (HOME,), "its own is no other one"),
        (others({"cluster": AWAY}, vmName="prod"), (HOME,), "a chosen name proves nothing there"),
        (others({"cluster": AWAY}, vpc=None, vpcRef={"name": "net"}), (HOME,), "a GpuVpc is in one cluster"),
        (others({"cluster": AWAY}, image={"snapshot": "s"}), (HOME,), "so is a snapshot"),
        (others({"cluster": AWAY}, nodeName="n", resourcePool="p"), (HOME,), "and a node"),
    ],
)
def test_which_clusters_a_spec_accepts(spec, expected, why):
    assert clusters(spec) == expected, why


def test_an_alternative_of_a_cluster_that_does_not_count_is_no_offer():
    assert offers(others({"cluster": AWAY}, vmName="prod")) == (Offer(ONE),)
    assert offers(others({"cluster": AWAY}, {"cluster": "msc1", "configuration": TWO})) == (
        Offer(ONE), Offer(ONE, None, AWAY), Offer(TWO),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("state", "fields", "placement", "expected", "why"),
    [
        (None, {}, None, HOME, "nothing was ordered"),
        (None, {}, THERE, AWAY, "status names the one in hand"),
        (None, {}, PlacementStatus(configuration=ONE, cluster="Xyz1"), HOME, "but none that the spec does not name"),
        (OrderState.REFUSED, {"cluster": HOME}, THERE, AWAY, "what made nothing is left behind"),
        (OrderState.REFUSED, {"cluster": AWAY}, None, HOME, "on the way back, too"),
        *(
            (state, {"cluster": AWAY}, None, AWAY, "the record says where")
            for state in OrderState
            if state not in MAKES_NOTHING
        ),
        *((state, {"cluster": HOME}, THERE, HOME, "the same") for state in OrderState if state not in MAKES_NOTHING),
        (OrderState.REFUSED, {"cluster": HOME, "cloud_id": NAME}, THERE, HOME, "what was accepted may appear"),
        (OrderState.REFUSED, {"cluster": HOME, "reorders": 1}, THERE, HOME, "the same"),
        (OrderState.REFUSED, {"cluster": AWAY, "recreation": 1}, None, AWAY, "the lost one may be back"),
        (OrderState.SEEN, {"cluster": "Xyz1"}, None, HOME, "a record of a cluster that the spec does not name"),
    ],
)
def test_which_cluster_is_in_hand(state, fields, placement, expected, why):
    order = None if state is None else an_order(NAME, state, **fields)
    assert cluster_in_hand(SPEC, order, placement) == expected, why


def test_the_record_of_another_objects_name_says_nothing():
    order = an_order(external_name("train", "another", "t" * TAG_LENGTH), OrderState.SEEN, cluster=AWAY)
    assert a_place(spec=SPEC, order=order).placed().cluster == HOME


def anywhere(r):
    """Any facts of a GpuVM that accepts two clusters, with a record and a status that name either."""
    base = any_vm(r)
    spec, order = base.spec.model_copy(update={"placement": SPEC.placement, "cluster": HOME, **LOOSE}), base.tracked.order
    name = external_name(base.meta.name, base.meta.uid, TAG)
    if order is not None:
        order = order.model_copy(update={"cluster": r.choice((HOME, AWAY)), "name": name})
    items = tuple(refused(*one[:2], cluster=one.cluster) for one in offers(spec) if r.random() < 0.5)
    placement = in_hand(ONE, None, *items, cluster=r.choice((None, AWAY)))
    status = base.status.model_copy(update={"placement": placement, "order": order})
    here = base.identity._replace(cluster=cluster_in_hand(spec, order, placement), name=name)
    return replace(base, spec=spec, status=status, identity=here, tracked=replace(base.tracked, order=order))


LOOSE = {"vm_name": None, "vpc": "acme", "vpc_ref": None, "node_name": None, "image": None, "adoption": Adoption.NEVER}


def test_no_order_is_recorded_in_another_cluster_while_the_first_may_have_made_something():
    """In any situation: a new record names the cluster in hand, and another one only after an order that made nothing."""
    moved = recorded = 0
    for seed in range(STORIES):
        f = anywhere(Random(seed))
        if f.meta.deleting:
            continue
        plan = gpuvm.decide(f)
        if not plan.records_order or plan.status.order is None:
            continue
        recorded += 1
        after = plan.status.order
        assert after.cluster == f.identity.cluster, f"seed {seed}"
        if f.order is None or same_cluster(after.cluster, f.order.cluster):
            continue
        moved += 1
        assert is_left_behind(f.order) or not f.order.name, f"seed {seed}: {f.state}"
    assert moved > 20, "the property was put to the test"
    assert recorded > 100
