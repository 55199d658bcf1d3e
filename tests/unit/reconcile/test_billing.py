"""Since when a VM is billed, and for how long it was before: what status keeps, so that its cost can be told at any time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.reconcile.gpuvm.billing import billed
from gpucloud.reconcile.price import accrued, dollars

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
BEFORE = NOON - timedelta(hours=2)


def at(since=None, seconds=None):
    return GpuVMStatus(billed_since=since, billed_seconds=seconds)


ROWS = [
    (at(), "PENDING", (None, None), "it waits for capacity"),
    (at(), "PENDING_READINESS", (NOON, None), "it comes up: the cloud bills it from here on"),
    (at(BEFORE), "ONLINE", (BEFORE, None), "it runs on: nothing changes, so nothing is written"),
    (at(BEFORE), "OFFLINE", (None, 7200), "it was switched off"),
    (at(None, 7200), "OFFLINE", (None, 7200), "it is off"),
    (at(None, 7200), "ONLINE", (NOON, 7200), "it was switched on again"),
    (at(BEFORE, 7200), "OFFLINE", (None, 14400), "and off again"),
    (at(BEFORE), "FAILED", (None, 7200), "it has failed: whether that is billed is not known"),
    (at(BEFORE), "HIBERNATING", (BEFORE, None), "a word that no document lists counts as billed"),
    (at(NOON + timedelta(hours=1)), "OFFLINE", (None, 0), "another clock, or a person, wrote a time to come"),
    (at(BEFORE, 2**31 - 1), "OFFLINE", (None, 2**31 - 1), "no more than the field holds"),
]


@pytest.mark.parametrize(("status", "state", "expected", "why"), ROWS, ids=[row[3] for row in ROWS])
def test_what_status_keeps(status, state, expected, why):
    fields = billed(status, state, NOON)
    assert (fields["billed_since"], fields["billed_seconds"]) == expected, why
    assert billed(status.model_copy(update=fields), state, NOON + timedelta(minutes=1)) == fields, "it is written once"


def test_the_cost_is_the_same_however_often_the_state_changes():
    status, now = at(), NOON
    for state, hours in (("ONLINE", 2), ("OFFLINE", 5), ("ONLINE", 1), ("PENDING", 3), ("ONLINE", 1)):
        status = status.model_copy(update=billed(status, state, now))
        now += timedelta(hours=hours)
    assert accrued(dollars("2.05"), status.billed_since, status.billed_seconds, now) == dollars("8.20")
