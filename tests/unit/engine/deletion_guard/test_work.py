"""How much the deletion guard compares for each deletion that waits: it keeps them in order, and sorts nothing again."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from decimal import Decimal
from math import log2

import pytest

from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.facts import ObjectFacts
from support.guardrig import T0, bought, held

STEPS = 15  # comparisons in each halving of what waits: a deletion is put, answered, admitted, rolled back and dropped


class Instant(datetime):
    """A time that counts how often it is compared."""

    compared = 0

    def __lt__(self, other):
        Instant.compared += 1
        return super().__lt__(other)

    def __eq__(self, other):
        Instant.compared += 1
        return super().__eq__(other)

    __hash__ = datetime.__hash__


def a_deletion(number):
    requested_at = Instant.fromtimestamp((T0 + timedelta(hours=number)).timestamp(), T0.tzinfo)
    return ObjectFacts("team", f"vm-{number}", f"u-{number}", 1, True, True, {}, requested_at)


@pytest.mark.parametrize("count", [100, 1000])
def test_a_deletion_costs_no_more_where_many_wait(make, count):
    """All of them were sorted again for each, since each changed the list: 1,000 comparisons a deletion among 1,000."""
    guard, metas = make(Rule(vms=1)).guard, [a_deletion(number) for number in range(count)]
    Instant.compared = 0
    for meta in metas:
        guard.put(meta, Decimal(2), held=False)
        assert guard.hold(meta.uid) is None
        guard.admit(meta.uid)
        guard.roll_back(meta.uid)
        assert guard.hold(meta.uid) is None
    for meta in metas:
        guard.drop(meta.uid)
        assert guard.hold(metas[-1].uid) is None
    assert Instant.compared / count < STEPS * log2(count)


def in_namespaces(make, count, rule, status=bought):
    """Deletions that wait, each in a namespace of its own, and two in each window: how many are in one is another matter."""
    it = make(rule)
    for number in range(count):
        it.leave(f"vm-{number}", at=number // 2 * 3600, namespace=f"ns-{number}", status=status(f"vm-{number}"))
    return it


async def lines_of(guard, uid):
    """How many lines of the product one call runs, once the release annotations have been read."""
    await guard.refresh_releases(uid)
    lines = 0

    def trace(frame, event, _arg):
        nonlocal lines
        if "gpucloud" not in frame.f_code.co_filename:
            return None
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        await guard.refresh_releases(uid)
    finally:
        sys.settrace(before)
    return lines


def unpriced(name):
    return bought(name, price=None)


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        pytest.param(Rule(vms=10_000), bought, id="nothing is held"),
        pytest.param(Rule(vms=1), bought, id="too many wait, and no status says yet that it is held"),
        pytest.param(Rule(vms=1), held, id="they are held"),
        pytest.param(Rule(price=Decimal(10_000)), unpriced, id="a price is unknown"),
    ],
)
async def test_a_look_for_releases_costs_no_more_where_many_wait(make, rule, status):
    """Each reconcile passed over all deletions: of 10,000 that waited each cost 10,000 steps."""
    few, many = [await lines_of(in_namespaces(make, count, rule, status).guard, "u-vm-5") for count in (50, 800)]
    assert many < few + 40


async def test_a_namespace_that_is_counted_later_is_read_at_once(make):
    it = in_namespaces(make, 3, Rule(vms=1))
    await it.guard.refresh_releases("u-vm-0")
    reads = it.reconcilers.kube.reads
    reads.clear()
    it.leave("late", namespace="other")
    await it.guard.refresh_releases("u-vm-0")
    assert reads == [("namespaces", "other")]
