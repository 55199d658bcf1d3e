"""What an OrderTracker knows of an order beside its status."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gpucloud.engine.cache.entries import Entries
from gpucloud.engine.kinds.order_tracking import OrderTracker, Recorded
from gpucloud.kinds.common import DestroyingCall, OrderState
from gpucloud.reconcile.facts import DESTROYS, Asked, Now, Verb
from support.builders import START, an_order
from support.fakes import HandClock
from support.orderevents import INVALID, SPARED, shown

CALLED = an_order("train", OrderState.DESTROYING, destroying_call=DestroyingCall(number=1, announced_at=START))
GRACE = 30.0


@pytest.mark.parametrize("sender", ["this process", "another"])
def test_a_destruction_without_effect_is_over_while_the_status_tells_of_it_still(sender):
    """Its write is on its way, or an older status was restored: the call is not taken for one that nobody knows."""
    clock, entries = HandClock(1000.0), Entries()
    tracker = OrderTracker(clock, entries)
    entries.open("u")
    now = Now(START + timedelta(seconds=400), 1400.0)
    if sender == "this process":
        tracker.take_over("u", Recorded(an_order("train", OrderState.SEEN), Asked(1)), Verb.DESTROY, now)
        tracker.announce("u", CALLED, destroys=True)
        tracker.record_call("u", Verb.DESTROY, Asked(1), INVALID)
        tracker.record_destroying("u", INVALID, GRACE)
    for clock.now in (1000.0, 1400.0, 1401.0):
        tracked = tracker.take_over("u", Recorded(CALLED, Asked(1)), Verb.DESTROY, replace(now, mono=clock.now))
        seen = tracker.observe("u", tracked, shown(clock.now), SPARED, replace(now, mono=clock.now))
    assert (seen.order.state, seen.order.destroying_call) == (OrderState.SEEN, None)
    assert DESTROYS.isdisjoint(tracker.history("u").attempts)


def test_failures_are_counted_for_the_same_targets_only():
    """A Secret that a call is about for the first time does not wait as long as another one whose calls failed often."""
    entries = Entries()
    tracker = OrderTracker(HandClock(1000.0), entries)
    entries.open("u")
    failed = [tracker.record_call("u", Verb.HOLD_SECRET, Asked(1), INVALID, (name,)).failures for name in ("old", "old", "new")]
    assert failed == [1, 2, 1]
