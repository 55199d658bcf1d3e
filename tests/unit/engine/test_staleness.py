"""What counts as a watch that does not keep up, and for how long."""

from __future__ import annotations

import pytest

from gpucloud.engine.cache.staleness import WatchStaleness
from support.fakes import HandClock

MINUTES_5 = 300.0
# What is listed and what is known at three comparisons, five minutes apart; for how long it is stuck, and the age, at the last.
LIVES = [
    ([({"a": 5}, {"a": 5})] * 3, 0, 0, "in step"),
    ([({}, {})] * 3, 0, 0, "there is nothing to bring"),
    ([({"a": 5}, {"a": 7})] * 3, 0, 0, "we are newer than the list"),
    ([({"a": 0}, {"a": 7})] * 3, 0, 0, "a list that names no version"),
    ([({"a": 5}, {})] * 3, 600, 900, "never brought"),
    ([({"a": 0}, {})] * 3, 600, 900, "never brought, and of no version"),
    ([({"a": 9}, {"a": 5})] * 3, 600, 900, "one change is not brought"),
    ([({"a": 9}, {"a": 5}), ({"a": 9}, {"a": 9}), ({"a": 10}, {"a": 9})], 0, 300, "brought, and the next one is late"),
    ([({"a": 9}, {"a": 5}), ({"a": 12}, {"a": 9}), ({"a": 15}, {"a": 12})], 0, 900, "always late, but it moves"),
    ([({"a": 9}, {"a": 5}), ({"a": 12}, {"a": 5}), ({"a": 15}, {"a": 5})], 600, 900, "it does not move while the object does"),
    ([({"a": 9}, {}), ({}, {}), ({"b": 3}, {})], 0, 300, "gone before it was brought; another is on its way"),
    ([({"a": 9, "b": 1}, {"b": 1})] * 3, 600, 900, "one of many"),
]


@pytest.mark.parametrize(("comparisons", "stuck", "age", "why"), LIVES, ids=[row[3] for row in LIVES])
def test_a_watch_and_what_lists_show(comparisons, stuck, age, why):
    clock = HandClock()
    staleness = WatchStaleness(["GpuVM", "GpuVpc"], clock.mono)
    for listed, known in comparisons:
        clock.now += MINUTES_5
        staleness.compare("GpuVM", listed, known)
    assert staleness.stuck() == ("GpuVM" if staleness.behind(listed, known) else "", stuck), why
    assert staleness.ages() == {("GpuVM",): age, ("GpuVpc",): 900}, why


def test_while_no_list_succeeds_the_age_grows_and_nothing_is_stuck():
    """An apiserver that cannot be reached restarts nobody; the metric tells of it."""
    clock = HandClock()
    staleness = WatchStaleness(["GpuVM"], clock.mono)
    staleness.compare("GpuVM", {"a": 9}, {"a": 5})
    clock.now += 3600
    assert (staleness.stuck()[1], staleness.ages()) == (0, {("GpuVM",): 3600})


@pytest.mark.parametrize(("uid", "stuck"), [("a", 0), ("b", 300)], ids=["that object", "another"])
def test_an_event_of_the_object_ends_it_at_once(uid, stuck):
    """Else the probe would go on failing until the next list, and a watch that has recovered would be restarted."""
    clock = HandClock()
    staleness = WatchStaleness(["GpuVM"], clock.mono)
    staleness.compare("GpuVM", {"a": 9}, {})
    clock.now += MINUTES_5
    staleness.compare("GpuVM", {"a": 9}, {})
    staleness.observed("GpuVM", uid)
    assert staleness.stuck()[1] == stuck


def test_the_worst_kind_is_named():
    clock = HandClock()
    staleness = WatchStaleness(["GpuVM", "GpuVpc"], clock.mono)
    staleness.compare("GpuVpc", {"v": 2}, {})
    clock.now += 100
    staleness.compare("GpuVM", {"a": 2}, {})
    staleness.compare("GpuVpc", {"v": 2}, {})
    assert staleness.stuck() == ("GpuVpc", 100)
