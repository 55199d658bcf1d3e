"""The waiting line: who may order what, by one answer of GetAvailability. Tables, then any line and any answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from gpucloud.cloud.models import AvailabilityRecord
from gpucloud.kinds.common import OrderState
from gpucloud.reconcile import gpuvm
from gpucloud.reconcile.facts import Absent
from gpucloud.reconcile.gpuvm.waiting import waiter
from gpucloud.reconcile.waiting_line import (
    EXHAUSTED_QUERIES,
    Line,
    Offer,
    Refusal,
    Waiter,
    exhausted,
    query_seconds,
    room_of,
    turns,
)
from support.builders import NOW, START, a_spec, a_status, facts, known, present
from support.decisions.gpuvm_placement import ALL_BUSY, FULL, ONE, PAST, POOLED, ROWS, SPEC, TWO, in_hand, ordered, refused
from support.rows import noted

LINES = 3_000
A, B, C = Offer("a", "p"), Offer("b", "p"), Offer("a", "on-demand")


def waits(uid, since=0, *offers, **more):
    return Waiter(uid, START + timedelta(seconds=since), offers or (A,), **more)


@pytest.mark.parametrize(
    ("waiters", "room", "expected", "why"),
    [
        ([waits("x")], {A: 1}, {"x": A}, "there is room"),
        ([waits("x")], {A: 0}, {}, "there is none"),
        ([waits("x")], {B: 1}, {}, "there is room for something else"),
        ([waits("x", 5), waits("y", 3)], {A: 1}, {"y": A}, "who waits longest goes first"),
        ([waits("x", 5), waits("y", 3, priority=-9)], {A: 1}, {"y": A}, "whatever the priority"),
        ([waits("x", 3), waits("y", 3, priority=1)], {A: 1}, {"y": A}, "of those that wait equally long the higher priority"),
        ([waits("x", 5), waits("y", 3, A, B)], {A: 1, B: 1}, {"y": A}, "the preferred offer, though another would serve both"),
        ([waits("x", 5), waits("y", 3, B, A)], {A: 1, B: 0}, {"y": A}, "else the next of its offers"),
        ([waits("x", 5), waits("y", 3, ready=False)], {A: 1}, {"x": A}, "what cannot order now keeps no place idle"),
        ([waits("x", 5), waits("y", 3)], {A: 2}, {"x": A, "y": A}, "both, if there is room for two"),
        ([waits("x", 0, Offer("a"))], {A: 1, C: 0}, {"x": Offer("a")}, "without a pool: the one that is assigned"),
        ([waits("x", 0, Offer("a"))], {C: 1}, {"x": Offer("a")}, "without one assigned: on-demand"),
        ([waits("x", 0, Offer("a"))], {A: 0, C: 1}, {"x": Offer("a")}, "on-demand may be the first that is assigned"),
        ([waits("x", 0, Offer("a"))], {A: 0, C: 0}, {}, "there is no room in either"),
        ([waits("x", 0, Offer("a"))], {A: 1, Offer("a", "q"): 1}, {}, "which of two pools comes first is not known"),
        (
            [waits("x", 0, Offer("a")), waits("y", 1, Offer("a"), C)],
            {A: 1, C: 1},
            {"x": Offer("a")},
            "an order without a pool counts in each: else the later order might get the place of the earlier (seed 92150716)",
        ),
        (
            [waits("x", 0, Offer("a")), waits("y", 1, Offer("a"))],
            {A: 2, C: 1},
            {"x": Offer("a"), "y": Offer("a")},
            "two in one",
        ),
        ([waits("x", 0, Offer("a"), default_pool="p")], {A: 1, Offer("a", "q"): 1}, {"x": Offer("a")}, "the account's pool"),
    ],
)
def test_who_goes_first(waiters, room, expected, why):
    assert turns(waiters, room) == expected, why
    assert turns(waiters[::-1], room) == expected, f"{why}: whoever joined first"


@pytest.mark.parametrize(
    ("nodes", "expected", "why"),
    [
        ({A: {"n-1"}}, "pinned", "its node is free"),
        ({A: {"n-2"}}, "free", "another node is"),
        ({B: {"n-1"}}, "free", "its node is free for another configuration"),
        ({}, "free", "no node is named, so nobody knows"),
    ],
)
def test_who_needs_one_node_has_a_turn_only_if_that_is_free(nodes, expected, why):
    assert turns([waits("pinned", 0, node="n-1"), waits("free", 1)], {A: 1}, (), nodes) == {expected: A}, why


@pytest.mark.parametrize(
    ("refused_ago", "full_ago", "taken", "why"),
    [
        (None, None, False, "nobody was refused"),
        (5, None, True, "a refusal counts more than the listing"),
        (5, 20, True, "also of what was shown without room before it"),
        (5, 3, False, "it was shown without room since: now it is free again"),
        (query_seconds(2.0) * EXHAUSTED_QUERIES, None, False, "long ago"),
        (-3600, None, False, "the clock was set back by an hour"),
    ],
)
@pytest.mark.parametrize("offer", [A, Offer("a")])
def test_what_was_refused_though_it_is_listed_as_free_counts_as_taken(offer, refused_ago, full_ago, taken, why):
    """Without a pool it is the same offer, if there is one."""
    now = START + timedelta(seconds=1000)
    at = now - timedelta(seconds=refused_ago or 0)
    refused = {} if refused_ago is None else {offer: Refusal(at, "x")}
    full = {} if full_ago is None else {A: now - timedelta(seconds=full_ago)}
    found = exhausted(refused, {A: 1, B: 1}, now, 2.0, full)
    assert found == ({offer: at + timedelta(seconds=60)} if taken else {}), why
    assert turns([waits("y", 0, offer)], {A: 1}, found) == ({} if taken else {"y": offer})


def test_what_is_not_listed_counts_as_taken_too():
    refused = {C: Refusal(START, "x")}
    assert exhausted(refused, {A: 1}, START, 2.0, {A: START + timedelta(seconds=1)}) == {C: START + timedelta(seconds=60)}


@pytest.mark.parametrize(
    "row",
    ["a turn does not hasten what was refused for another reason", "a turn does not hasten what the cloud asks to wait for"],
)
def test_who_is_held_off_keeps_its_place_and_is_passed_over(row):
    """Its turn would keep a place idle for minutes; when it may order again it is woken, and joins the line as ready."""
    plan = gpuvm.decide(facts(**ROWS[row].given))
    assert plan.waits is not None
    assert not plan.waits.ready
    assert plan.requeue_at is not None
    later = replace(plan.waits, uid="later", since=plan.waits.since + timedelta(days=1), ready=True)
    assert turns([plan.waits, later], {Offer(TWO, "on-demand"): 1}) == {"later": Offer(TWO)}


@pytest.mark.parametrize(
    ("record", "expected", "why"),
    [
        ({"available": True, "count": 3}, 3, "it is counted"),
        ({"available": True}, 1, "nobody counted"),
        ({"available": True, "count": 0}, 1, "an older cloud counts nothing and says 0"),
        ({"available": True, "count": -1}, 1, "no number of VMs"),
        ({"available": False, "count": 3}, 0, "it says no"),
        ({"count": 2}, 2, "only the count is there"),
        ({"count": 0}, 0, "and it is zero"),
        ({}, None, "nothing is said"),
        ({"available": True, "cluster": "Hou1"}, None, "another cluster"),
        ({"available": True, "cluster": "MSC1"}, 1, "the cluster in another spelling"),
    ],
)
def test_what_the_cloud_has_room_for(record, expected, why):
    answer = AvailabilityRecord(configuration="a", rpool="p", **record)
    assert room_of("Msc1", [answer]).get(A) == expected, why


def test_any_line_and_any_room():
    """No more turns than room; each for what is accepted; nobody is passed over for what another one got."""
    given = 0
    for seed in range(LINES):
        r = Random(seed)
        offers = [Offer(name, pool) for name in "abc" for pool in ("p", "on-demand")]
        room = {one: r.choice((0, 0, 1, 2)) for one in offers if r.random() < 0.8}
        line = [
            waits(f"u{n}", r.randrange(4), *r.sample(offers, r.randint(1, 3)), priority=r.randrange(2), ready=r.random() < 0.8)
            for n in range(r.randrange(12))
        ]
        taken = {one for one in offers if r.random() < 0.1}
        found = turns(line, room, taken)
        given += len(found)
        by_uid = {one.uid: one for one in line}
        for offer in offers:
            assert list(found.values()).count(offer) <= (0 if offer in taken else room.get(offer, 0)), f"seed {seed}"
        for uid, offer in found.items():
            assert by_uid[uid].ready, f"seed {seed}"
            assert offer in by_uid[uid].offers, f"seed {seed}"
        for one in line:
            passed = [found[other.uid] for other in line if other.uid in found and rank(other) > rank(one)]
            assert not one.ready or one.uid in found or not set(passed) & set(one.offers), f"seed {seed}"
        assert turns(r.sample(line, len(line)), room, taken) == found, f"seed {seed}"
    assert given > LINES, "the property was put to the test"


def rank(one):
    return one.since, -one.priority, one.uid


AHEAD = START + timedelta(days=1)
BUSY = ALL_BUSY.model_copy(update={"waiting_since": PAST})


@pytest.mark.parametrize(
    ("given", "since", "why"),
    [
        ({}, None, "nothing was ordered"),
        ({"status": a_status(placement=BUSY)}, PAST, "as the status says"),
        ({"status": a_status(placement=ALL_BUSY)}, ALL_BUSY.refused[2].at, "else since the first refusal"),
        ({"status": a_status(placement=in_hand(ONE, None, refused(reason="Failed")))}, None, "no word of capacity"),
        ({"status": a_status(placement=BUSY), "meta": noted(deleting=True)}, None, "it is being deleted"),
        ({"status": a_status(placement=BUSY, order=ordered(OrderState.SEEN)), "found": present(),
          "known": known(ordered(OrderState.SEEN))}, None, "its VM is there"),
        ({"status": a_status(placement=in_hand(ONE, None, *[refused(*one, "Rejected") for one in
          ((ONE, None), (TWO, None), (ONE, POOLED))], since=PAST))}, None, "it accepts nothing that the cloud may have"),
        ({"status": a_status(placement=BUSY, order=ordered(OrderState.UNCLEAR)), "known": known(ordered(OrderState.UNCLEAR))},
         PAST, "while its order is open"),
        ({"status": a_status(placement=BUSY.model_copy(update={"waiting_since": AHEAD}))}, START + timedelta(seconds=NOW),
         "the clock of an earlier process was ahead: it would be last until then"),
        ({"status": a_status(placement=in_hand(ONE, None, refused(at=AHEAD)))}, START + timedelta(seconds=NOW),
         "so was the clock that noted the refusal"),
    ],
)  # fmt: skip
def test_since_when_a_gpuvm_waits(given, since, why):
    f = facts(**{"spec": SPEC} | given)
    place = waiter(f, ready=True)
    assert (None if place is None else place.since) == since, why
    plan = gpuvm.decide(f)
    if plan.status is not None and plan.status.placement is not None:
        assert plan.status.placement.waiting_since == since, why
        assert (None if plan.waits is None else plan.waits.since) == since, why


@pytest.mark.parametrize(
    ("order", "own", "since", "why"),
    [
        (None, False, NOW, "nothing was ordered before"),
        (ordered(OrderState.REFUSED), False, 0.0, "its process died with the answer, which may have been the first refusal"),
        (ordered(OrderState.REFUSED), True, NOW, "the answer is known, and was no lack of capacity"),
        (
            ordered(OrderState.REFUSED).model_copy(update={"refused_generation": 0}),
            False,
            NOW,
            "so is this: its words were wrong",
        ),
        (ordered(OrderState.REFUSED).model_copy(update={"recorded_at": AHEAD}), False, NOW, "another clock was ahead"),
    ],
)
def test_who_queues_behind_others_waits_from_the_order_whose_answer_is_not_known(order, own, since, why):
    """Else a crash between a refusal and the write of status.placement.waitingSince would cost the place in the line."""
    mine = known(order) if own else replace(known(order), recorded=None)
    f = facts(
        spec=SPEC,
        status=a_status(order=order),
        known=mine,
        line=Line(behind=True, listed=FULL),
        found=Absent(NOW, NOW - 80, NOW - 0.5),
    )
    plan = gpuvm.decide(f)
    assert plan.waits is not None, why
    assert plan.waits.since == START + timedelta(seconds=since), why
    assert plan.status.placement.waiting_since == plan.waits.since


@pytest.mark.parametrize("line", [Line(), Line(turn=Offer(TWO)), Line(behind=True)])
def test_a_gpuvm_that_cannot_order_now_is_passed_over(line):
    """Its last order is being looked for."""
    f = facts(
        spec=SPEC,
        status=a_status(placement=BUSY, order=ordered(OrderState.UNCLEAR)),
        known=replace(known(ordered(OrderState.UNCLEAR)), since=NOW - 1),
        found=Absent(NOW, NOW - 80, NOW - 0.5),
        line=line,
    )
    plan = gpuvm.decide(f)
    assert (plan.waits.ready, plan.records_order) == (False, False)


def test_an_edit_of_the_alternatives_keeps_the_place():
    spec = a_spec(placement={"alternatives": [{"configuration": "new"}], "priority": 7})
    place = waiter(facts(spec=spec, status=a_status(placement=BUSY)), ready=True)
    assert (place.since, place.offers, place.priority) == (PAST, (Offer(ONE), Offer("new")), 7)
