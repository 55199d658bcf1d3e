"""How much the deletion guard compares for each deletion that waits: it keeps them in order, and sorts nothing again."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from math import log2

import pytest

from gpucloud.reconcile.deletion_guard import Rule
from gpucloud.reconcile.facts import ObjectFacts
from support.guardrig import T0

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
    guard, metas = make(Rule(vms=1)).brake, [a_deletion(number) for number in range(count)]
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
