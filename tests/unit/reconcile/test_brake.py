"""The deletion guard: what it holds, what releases it, and what it admits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.deletion_guard import Hold, Rule, VmDeletion, hold, message, release
from gpucloud.reconcile.facts import Limits, ResourceOwner, Unknown, UnknownReason, Verb
from gpucloud.reconcile.gpuvm import decide
from gpucloud.reconcile.time_annotations import TimeAnnotation
from support.builders import NOW, a_spec, a_status, an_object, an_order, facts, our_name, present
from support.rows import OLD, Row, converges, ends_as_a_sentence, judge, noted, tried

T0 = datetime(2026, 1, 1, 12, tzinfo=UTC)
OFF, THREE, TEN_DOLLARS = Rule(), Rule(vms=3), Rule(price=Decimal(10))


def leaving(*seconds, price="2", **more):
    """Departures at these seconds, in order."""
    cost = None if price is None else Decimal(price)
    return [VmDeletion(f"u{number}", "team", T0 + timedelta(seconds=at), cost, **more) for number, at in enumerate(seconds)]


def some(departures, numbers, **changes):
    """The same, with these of them changed."""
    return [replace(item, **changes) if item.uid[1:] in numbers else item for item in departures]


def held(departures, rule):
    """The UIDs that are held, as the engine asks: those released stand in nobody's way."""
    line = sorted((item for item in departures if not item.released), key=lambda item: item.requested_at)
    return {item.uid for item in departures if hold(item, line, rule) is not None}


@pytest.mark.parametrize(
    ("why", "rule", "departures", "expected"),
    [
        ("off is off, whatever leaves", OFF, leaving(*[0] * 100, held=True), ""),
        ("as many as allowed pass", THREE, leaving(0, 1, 2), ""),
        ("one more than allowed holds them all: nobody can tell which of them was meant", THREE, leaving(0, 1, 2, 3), "0123"),
        ("the ends of a window belong to it", THREE, leaving(0, 0, 0, 600), "0123"),
        ("beyond the window they are not together", THREE, leaving(0, 0, 0, 601), ""),
        ("a window may begin with any of them", THREE, leaving(0, 500, 550, 600, 1099), "01234"),
        ("who is in no full window passes", THREE, leaving(0, 2000, 2001, 2002, 2003), "1234"),
        ("what has passed counts, and is held no more", THREE, some(leaving(0, 1, 2, 3), "01", admitted=True), "23"),
        ("what is released does not count for others", THREE, some(leaving(0, 1, 2, 3), "0", released=True), ""),
        ("a price at the limit passes", TEN_DOLLARS, leaving(0, 1, 2, 3, 4), ""),
        ("a price beyond it holds", TEN_DOLLARS, leaving(0, 1, 2, 3, 4, 5), "012345"),
        ("one dear VM is enough", TEN_DOLLARS, leaving(0, price="31"), "0"),
        ("a price that is not known counts as nothing", TEN_DOLLARS, leaving(*range(50), price=None), ""),
        ("what was held stays so though the others are gone", THREE, leaving(0, held=True), "0"),
        ("what is released is not held", THREE, leaving(0, 1, 2, 3, held=True, released=True), ""),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_what_is_held(why, rule, departures, expected):
    assert held(departures, rule) == {f"u{number}" for number in expected}, why


def test_why_it_is_held_is_counted():
    line = [*leaving(0, 1), *some(leaving(0, 1, 2, 3), "3", price=None)[2:]]
    assert hold(line[2], line, THREE) == Hold(4, Decimal(6), 1, timedelta(minutes=10), "--brake-vms 3")
    dear = leaving(0, price="12.5")
    assert hold(dear[0], dear, TEN_DOLLARS).exceeded == "--brake-price-per-hour 10"


# --- whatever leaves

departures = st.lists(
    st.builds(
        VmDeletion,
        uid=st.uuids().map(str),
        namespace=st.sampled_from("ab"),
        requested_at=st.integers(0, 3000).map(lambda seconds: T0 + timedelta(seconds=seconds)),
        price=st.none() | st.integers(0, 12).map(Decimal),
        admitted=st.booleans(),
        released=st.booleans(),
        held=st.booleans(),
    ),
    max_size=12,
)
rules = st.builds(
    Rule,
    vms=st.integers(0, 4),
    price=st.integers(0, 20).map(Decimal),
    window=st.integers(1, 1500).map(lambda seconds: timedelta(seconds=seconds)),
)


@given(departures, st.integers(1, 1500))
def test_off_never_holds(leavers, window):
    assert held(leavers, Rule(window=timedelta(seconds=window))) == set()


@given(departures, rules)
def test_released_or_passed_is_never_held(leavers, rule):
    assert not held(leavers, rule) & {item.uid for item in leavers if item.released or item.admitted}


@settings(max_examples=300)
@given(departures, rules, departures)
def test_one_more_departure_never_frees_another(leavers, rule, more):
    assert held(leavers, rule) <= held([*leavers, *more], rule)


@given(departures, rules)
def test_a_tighter_rule_holds_no_less(leavers, rule):
    tighter = replace(rule, vms=max(rule.vms - 1, 1), window=rule.window * 2)
    if rule.vms:
        assert held(leavers, rule) <= held(leavers, tighter)


@given(departures, rules)
def test_releasing_one_never_holds_another(leavers, rule):
    before = held(leavers, rule)
    for uid in {item.uid for item in leavers}:
        assert held([replace(item, released=True) if item.uid == uid else item for item in leavers], rule) <= before


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 8)), max_size=12), st.integers(1, 4), st.integers(0, 20))
def test_no_window_lets_pass_more_than_the_rule_allows(arrivals, vms, price):
    """They arrive one by one, in any order, and each that is not held passes at once: the worst for the guard."""
    rule = Rule(vms, Decimal(price), timedelta(seconds=60))
    known = []
    for number, (at, cost) in enumerate(arrivals):
        known.append(VmDeletion(f"u{number}", "team", T0 + timedelta(seconds=at), Decimal(cost)))
        known.sort(key=lambda item: item.requested_at)
        known = [item if hold(item, known, rule) else replace(item, admitted=True) for item in known]
    for first in known:
        inside = [
            item
            for item in known
            if item.admitted and first.requested_at <= item.requested_at <= first.requested_at + rule.window
        ]
        assert len(inside) <= vms
        assert not price or sum(item.price for item in inside) <= price


# --- what releases


@pytest.mark.parametrize(
    ("why", "text", "at", "trouble"),
    [
        ("nothing stands there", None, None, ""),
        ("empty is nothing", "", None, ""),
        ("as the command writes it", "2026-01-01T12:00:00Z", T0, ""),
        ("any zone will do", "2026-01-01T13:00:00+01:00", T0, ""),
        ("clocks may differ a little", "2026-01-01T12:04:00Z", T0 + timedelta(minutes=4), ""),
        ("a release in advance would switch the guard off", "2099-01-01T00:00:00Z", None, "in the future"),
        ("a time without a zone may be any hour", "2026-01-01T12:00:00", None, "'2026-01-01T12:00:00', not a time."),
        ("yes is no time", "yes", None, "'yes', not a time"),
        ("a novel is cut", "x" * 5000, None, "x" * 40 + "'"),
    ],
)
def test_what_an_annotation_says(why, text, at, trouble):
    found = release(text, T0, "namespace 'team'")
    assert found.at == at, why
    assert trouble in found.trouble, why
    assert bool(found.trouble) == bool(trouble), why
    assert len(found.trouble) < 300, why


def test_a_release_covers_what_was_there_already():
    given_at = TimeAnnotation(T0)
    assert [given_at.covers(T0 + timedelta(seconds=late)) for late in (-1, 0, 1)] == [True, True, False]
    assert not TimeAnnotation().covers(T0)


def test_the_words_say_what_happened_and_what_to_type():
    many = Hold(8, Decimal("16.4"), 2, timedelta(minutes=10), "--brake-vms 3")
    text = message(many, "team", "train")
    for part in (
        "Held: 8 VMs (16.40 dollars an hour, 2 unpriced) deleted in 600 s exceed --brake-vms 3. To keep it (billed), ",
        "kubectl annotate namespace team --overwrite gpucloud.dev/brake-released-at=$(date -u +%Y-%m-%dT%H:%M:%SZ)",
        "kubectl annotate gpuvm train --namespace=team --overwrite gpucloud.dev/brake-released-at=$(date -u ",
        "spec.deletion.policy: Retain",
    ):
        assert part in text
    assert message(replace(many, trouble="A trouble."), "team", "train").startswith("Held by --brake-vms 3. A trouble. To keep")
    one = message(replace(many, vms=1, unpriced=0), "team", "train")
    assert one.startswith("Held: 1 VM (16.40 dollars an hour) deleted in 600 s exceeds --brake-vms 3. To keep")
    assert message(Hold(), "team", "train").startswith("Held: too many deletions at once. To keep")


# --- the chain of a GpuVM

DELETING = an_object(deleting=True)
RUNNING = a_status("Running", "True", None, order=an_order(our_name()), vm_id=our_name())
HELD = Hold(8, Decimal(16), 0, timedelta(minutes=10), "--brake-vms 3")
LEAVES = {"meta": DELETING, "status": RUNNING, "found": present(), "hold": HELD}
ROWS = {
    "held: not destroyed, and a person is called": Row(
        "a pruned application must not cost a team its VMs",
        LEAVES,
        Reason.DELETION_HELD,
        progress="Stalled",
        says=("8 VMs", "exceed --brake-vms 3.", "kubectl annotate namespace team"),
    ),
    "not held: destroyed": Row("it was meant", LEAVES | {"hold": None}, Reason.DELETING, action=Verb.DESTROY),
    "held before its snapshots go": Row(
        "they are destroyed with it",
        LEAVES | {"spec": a_spec(deletion={"snapshots": "Delete"})},
        Reason.DELETION_HELD,
        progress="Stalled",
    ),
    "held though it is not listed": Row(
        "a listing may have left it out, so a destroying call would be sent",
        LEAVES | {"found": facts().found},
        Reason.DELETION_HELD,
        progress="Stalled",
    ),
    "Retain lets go of what is held": Row(
        "invariant: while deleted it still obeys",
        LEAVES | {"spec": a_spec(deletion={"policy": "Retain"})},
        released=Reason.RETAINED,
    ),
    "pause goes before the deletion guard": Row(
        "a person's hand is on it",
        LEAVES | {"meta": noted(deleting=True, PAUSED="true")},
        Reason.DELETION_BLOCKED,
        progress="Stalled",
        says="paused",
    ),
    "a second claimant is let go": Row(
        "it destroys nothing", LEAVES | {"owner": ResourceOwner("GpuVM", "team", "first")}, released=Reason.RETAINED
    ),
    "what nothing was bought for is let go": Row(
        "it destroys nothing",
        {"meta": DELETING, "hold": HELD, "history": replace(OLD, seen_new=True)},
        released=Reason.GONE,
    ),
    "what was told to go is not held back again": Row(
        "the engine lets what has passed pass",
        LEAVES | {"hold": None, "history": tried(Verb.DESTROY, history=OLD)},
        Reason.DELETING,
    ),
    "observe-only shows what the deletion guard would hold": Row(
        "it is what would happen",
        LEAVES | {"limits": Limits(observe_only=True)},
        Reason.DELETION_HELD,
        progress="Stalled",
    ),
}


@pytest.mark.parametrize("sentence", ROWS)
def test_decision(sentence):
    judge(ROWS[sentence], decide(facts(**ROWS[sentence].given)))


@pytest.mark.parametrize("sentence", ROWS)
def test_it_settles_and_speaks_in_sentences(sentence):
    assert ends_as_a_sentence(decide(facts(**ROWS[sentence].given)))
    converges(ROWS[sentence].given, decide, facts)


@pytest.mark.parametrize(
    ("changes", "recorded", "why"),
    [
        ({}, True, "a restart, or another replica, must know"),
        ({"meta": noted(deleting=True, PAUSED="true")}, True, "a pause says something else, and holds nothing by itself"),
        ({"found": Unknown(NOW - 999, UnknownReason.UNREACHABLE, "down")}, True, "so does an outage"),
        ({"limits": Limits(observe_only=True), "hold": None}, True, "nothing is announced in this mode"),
        ({"hold": None}, False, "it passes: a later process must not take it for held"),
    ],
)
def test_that_it_is_held_is_a_record_of_its_own(changes, recorded, why):
    before = decide(facts(**LEAVES)).status
    after = decide(facts(**LEAVES | {"status": before} | changes)).status
    assert (after.deletion_held_at is not None) is recorded, why
    assert after.deletion_held_at in {None, before.deletion_held_at}, "since when, not until when"


def test_what_is_held_is_not_polled_for():
    plan = decide(facts(**LEAVES))
    assert (plan.pending, plan.requeue_at, plan.refresh_after) == (False, None, None)


@pytest.mark.parametrize(
    ("given", "withheld"),
    [
        ({}, Verb.CREATE),
        ({"meta": DELETING, "status": RUNNING, "found": present()}, Verb.DESTROY),
        ({"meta": DELETING, "status": RUNNING, "spec": a_spec(deletion={"policy": "Retain"})}, "Release"),
        ({"status": RUNNING, "found": present()}, None),
        (LEAVES, None),
    ],
)
def test_what_observe_only_keeps_back_is_named_for_the_count(given, withheld):
    plan = decide(facts(**given, limits=Limits(observe_only=True)))
    assert (plan.withheld, plan.action, plan.release) == (withheld, None, None)
    assert decide(facts(**given)).withheld is None
