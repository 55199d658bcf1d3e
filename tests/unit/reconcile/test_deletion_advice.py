"""Whoever is told to delete an object, of which something may be in the cloud, is told what that does to it."""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace

import pytest

from gpucloud.kinds.common import DeletionPolicy, OrderState
from gpucloud.reconcile import gpusnapshot, gpuvm, gpuvpc
from gpucloud.reconcile.facts import Unknown, UnknownReason
from support.anyfacts import any_snapshot, any_vm, any_vpc
from support.builders import NOW

SITUATIONS = int(os.environ.get("SITUATIONS", "3000"))  # of each kind, always the same
KINDS = {"GpuVM": (any_vm, gpuvm.decide), "GpuVpc": (any_vpc, gpuvpc.decide), "GpuSnapshot": (any_snapshot, gpusnapshot.decide)}
MAY_STAND = {OrderState.ACCEPTED, OrderState.UNCLEAR, OrderState.OVERDUE, OrderState.SEEN, OrderState.DESTROYING}
ADVICE = re.compile(r"[Dd]elete this object|deleting this|delete this one|kubectl delete (?!secret)")
SAYS_WHAT_IT_DOES = re.compile(r"destroy|Retain|retain|stays|stay, billed|keep")
LISTS = {
    "another cluster": ("Hou1",),
    "the cluster in other letters": ("mSC1", "Hou1"),
    "the cluster": ("Msc1", "Hou1"),
    "nothing": (),
}


def destroyed_by_deletion(f):
    """Something may be there, and the deletion of the object would destroy it."""
    order = f.tracked.order
    return order is not None and order.state in MAY_STAND and f.policy is DeletionPolicy.DELETE and not f.meta.deleting


def advice(f, decide):
    """What the conditions say that advises deletion."""
    status = decide(f).status
    found = () if status is None else status.conditions
    return [one.message for one in found if ADVICE.search(one.message)]


@pytest.mark.parametrize("kind", KINDS)
def test_no_situation_advises_a_deletion_without_its_price(kind):
    draw, decide = KINDS[kind]
    silent = {}
    for seed in range(SITUATIONS):
        f = draw(random.Random(seed))
        if destroyed_by_deletion(f):
            silent |= {said: seed for said in advice(f, decide) if not SAYS_WHAT_IT_DOES.search(said)}
    assert not silent, "\n".join(f"seed {seed}: {said}" for said, seed in silent.items())


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_cluster_that_is_not_listed_for_a_while_costs_nobody_what_is_in_it(kind, listed):
    """However long: the place was right when it was ordered, so the spec has no mistake to correct."""
    draw, decide = KINDS[kind]
    met = 0
    for seed in range(SITUATIONS // 3):
        drawn = draw(random.Random(seed))
        if not destroyed_by_deletion(drawn):
            continue
        found = Unknown(NOW - 100_000, UnknownReason.REJECTED, "Unknown cluster: Msc1")
        f = replace(drawn, found=found, account=replace(drawn.account, clusters=LISTS[listed]))
        for said in advice(f, decide):
            assert not re.search("create it again|apply it again", said), f"seed {seed}: {said}"
            assert SAYS_WHAT_IT_DOES.search(said), f"seed {seed}: {said}"
        met += 1
    assert met > 20
