"""Whose a chosen name in a listing is: each gap, each likeness, and what follows from the two."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from gpucloud.kinds.common import OrderState
from gpucloud.reconcile import evidence
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.continuity import MATCHES, Doubt, Gap, Likeness, Match, Sightings, gap_since, judged
from gpucloud.reconcile.facts import Presence, Present
from gpucloud.reconcile.transitions import ACCEPTED_GRACES
from support import builders
from support.builders import a_reading, a_record
from support.orderevents import CHOSEN, GRACE, MARKED, SINCE, UNIQUE, at
from support.vpcfacts import vpc_facts

SAW = Sightings(last=100.0)
NEVER = Sightings()
RETURNED, READDRESSED, SUPPLANTED = (
    Sightings(100.0, doubt, since=110.0) for doubt in (Doubt.RETURNED, Doubt.READDRESSED, Doubt.SUPPLANTED)
)
MOVED = Sightings(112.0, Doubt.ANSWERED)


@pytest.mark.parametrize(
    ("sightings", "presence", "destroying", "missing", "gap", "why"),
    [
        (SAW, Presence(shown_since=50), False, False, Gap.WATCHED, "every listing has shown it"),
        (SAW, Presence(shown_since=50, lacked_until=50, away_until=50), False, False, Gap.WATCHED, "it was seen since"),
        (SAW, Presence(shown_since=100, lacked_until=100), False, False, Gap.WATCHED, "it was seen in that very listing"),
        (SAW, Presence(shown_since=101), False, False, Gap.UNWATCHED, "listings failed, or another credential is used"),
        (NEVER, Presence(shown_since=20), False, False, Gap.UNWATCHED, "another process saw it last"),
        (SAW, Presence(shown_since=50), True, False, Gap.DESTROYING, "it may be gone at any time"),
        (NEVER, Presence(shown_since=50), True, False, Gap.DESTROYING, "as above"),
        (SAW, Presence(shown_since=110, lacked_until=110), False, False, Gap.LACKED, "one listing lacked it"),
        (SAW, Presence(shown_since=110, lacked_until=110), True, False, Gap.LACKED, "one listing lacked it"),
        (SAW, Presence(shown_since=110, lacked_until=110, away_until=90), False, False, Gap.LACKED, "two did before"),
        (SAW, Presence(shown_since=110, lacked_until=110, away_until=110), True, False, Gap.AWAY, "two listings lacked it"),
        (SAW, Presence(shown_since=120, lacked_until=120, away_until=110), False, False, Gap.AWAY, "and one more since"),
        (SAW, Presence(shown_since=50), False, True, Gap.AWAY, "two listings of another process lacked it"),
        (NEVER, Presence(shown_since=50, lacked_until=50, away_until=50), False, False, Gap.AWAY, "after the record was known"),
        (NEVER, Presence(shown_since=20, lacked_until=20, away_until=20), False, False, Gap.UNWATCHED, "before it was known"),
    ],
)
def test_gap_since_the_last_sighting(sightings, presence, destroying, missing, gap, why):
    assert gap_since(sightings, presence, 30.0, destroying=destroying, away=missing) is gap, why


def test_every_gap_answers_every_likeness():
    assert {gap: set(answers) for gap, answers in MATCHES.items()} == {gap: set(Likeness) for gap in Gap}


@pytest.mark.parametrize("likeness", Likeness)
def test_a_wider_gap_never_makes_it_likelier_the_same(likeness):
    order = list(Match)
    ranks = [order.index(MATCHES[gap][likeness]) for gap in Gap]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(("gap", "likeness"), list(itertools.product(Gap, Likeness)))
def test_only_what_is_the_same_counts_as_seen(gap, likeness):
    answer, sightings = judged(SAW, 110.0, gap, likeness)
    assert answer is MATCHES[gap][likeness]
    seen = {
        Match.SAME: Sightings(110.0),
        Match.LOOK_AGAIN: READDRESSED if likeness is Likeness.OTHER else RETURNED,
        Match.DOUBTED: SUPPLANTED,
    }
    assert sightings == seen.get(answer, SAW)


@pytest.mark.parametrize(
    ("as_of", "likeness", "answer", "sightings", "why"),
    [
        (110.0, Likeness.SAME, Match.LOOK_AGAIN, RETURNED, "it is the listing of before"),
        (112.0, Likeness.SAME, Match.SAME, Sightings(112.0), "a second one shows the same"),
        (112.0, Likeness.UNKNOWN, Match.UNDECIDED, SAW, "two must show the same in a row"),
        (112.0, Likeness.CHANGED, Match.REPLACED, SAW, "the first was an old one"),
    ],
)
def test_the_same_again_counts_when_a_second_listing_shows_it(as_of, likeness, answer, sightings, why):
    assert judged(RETURNED, as_of, Gap.LACKED, likeness) == (answer, sightings), why


@pytest.mark.parametrize(
    ("as_of", "likeness", "answer", "sightings", "why"),
    [
        (110.0, Likeness.OTHER, Match.DOUBTED, SUPPLANTED, "it is the listing of before"),
        (112.0, Likeness.OTHER, Match.REPLACED, SAW, "a second one shows another, too"),
        (112.0, Likeness.SAME, Match.SAME, Sightings(112.0), "seed 92240348: the first was an old one"),
    ],
)
def test_another_counts_when_a_second_listing_shows_it(as_of, likeness, answer, sightings, why):
    assert judged(SUPPLANTED, as_of, Gap.UNWATCHED, likeness) == (answer, sightings), why


@pytest.mark.parametrize(
    ("as_of", "likeness", "answer", "sightings", "why"),
    [
        (110.0, Likeness.OTHER, Match.LOOK_AGAIN, READDRESSED, "it is the listing of before"),
        (112.0, Likeness.OTHER, Match.SAME, MOVED, "it was watched, so its address has changed"),
        (112.0, Likeness.SAME, Match.SAME, Sightings(112.0), "seed 92257011: the first was an old one"),
    ],
)
def test_another_address_of_what_is_watched_counts_when_a_second_listing_shows_it(as_of, likeness, answer, sightings, why):
    assert judged(READDRESSED, as_of, Gap.WATCHED, likeness) == (answer, sightings), why


def test_another_address_is_not_doubted_again_before_the_status_records_it():
    assert judged(MOVED, 114.0, Gap.WATCHED, Likeness.OTHER) == (Match.SAME, replace(MOVED, last=114.0))
    assert judged(MOVED, 114.0, Gap.WATCHED, Likeness.SAME) == (Match.SAME, Sightings(114.0)), "it is recorded"
    assert judged(MOVED, 114.0, Gap.UNWATCHED, Likeness.OTHER) == (Match.DOUBTED, Sightings(112.0, Doubt.SUPPLANTED, 114.0))


@pytest.mark.parametrize("before", [RETURNED, READDRESSED, SUPPLANTED])
def test_a_second_listing_settles_only_the_doubt_that_it_raises_itself(before):
    """An old row of what is watched, then a gap: one listing after it does not show the same twice."""
    again = judged(before, 112.0, Gap.LACKED, Likeness.SAME)
    settled = before.doubt is Doubt.RETURNED
    assert again == ((Match.SAME, Sightings(112.0)) if settled else (Match.LOOK_AGAIN, replace(RETURNED, since=112.0)))


PRESENCES = [
    Presence(),
    Presence(shown_since=SINCE - 50),
    Presence(shown_since=SINCE + 1),
    Presence(shown_since=SINCE + 1, lacked_until=SINCE + 1),
    Presence(shown_since=SINCE + 1, lacked_until=SINCE + 1, away_until=SINCE + 1, confirmed=SINCE - 5),
    Presence(shown_since=SINCE + 1, lacked_until=SINCE + 1, away_until=SINCE - 9, confirmed=SINCE - 15),
    Presence(shown_since=SINCE - 2, lacked_until=SINCE - 2, away_until=SINCE - 2, confirmed=SINCE - 9),
]
RECORDS = [a_record(name="train"), a_record(name="other")]
SIGHTINGS = [NEVER, Sightings(SINCE - 10), Sightings(SINCE), Sightings(SINCE, Doubt.ANSWERED)]
SIGHTINGS += [
    Sightings(last, doubt, SINCE + 1)
    for last in (None, SINCE - 10)
    for doubt in (Doubt.RETURNED, Doubt.READDRESSED, Doubt.SUPPLANTED)
]


def settled(tracked, proofs, presence, record):
    """The order after listings of ten graces that all show one thing, and the last of them. What is adopted is recorded."""
    for after in (2, 4, GRACE - 1, GRACE + 1, 2 * GRACE - 1, 2 * GRACE, ACCEPTED_GRACES * GRACE):
        found = Present(record, SINCE + after, presence=presence)
        tracked = evidence.observed(tracked, found, proofs, a_reading(SINCE + after), SINCE - 100)
        if tracked.adopted_from is not None:
            proofs = replace(proofs, likeness=Likeness.SAME)
    return tracked, found


@pytest.mark.parametrize("state", OrderState)
@pytest.mark.parametrize("proofs", [MARKED, CHOSEN, UNIQUE], ids=["marked", "chosen", "unique id"])
@pytest.mark.parametrize("adoptable", [False, True], ids=["not adopted", "adopted"])
def test_nothing_stays_unconfirmed_while_listings_go_on_to_show_one_thing(state, proofs, adoptable):
    """It was neither Ready nor destroyed nor reported, for ever."""
    base = vpc_facts() if proofs is UNIQUE else builders.facts(spec=builders.a_spec(vmName="train"))
    begun, wall = at(state).order, a_reading(SINCE).wall
    if state is OrderState.INTENDED:
        begun = begun.model_copy(update={"cloud_id": None})  # no cloud has given one yet
    for own, missing, sightings in itertools.product((SINCE - 1, None), (None, wall), SIGHTINGS):
        order = begun.model_copy(update={"missing_since": missing})
        before = orders.TrackedOrder(order, SINCE, recorded=own, sightings=sightings)
        for likeness, presence, record in itertools.product(Likeness, PRESENCES, RECORDS):
            tracked, found = settled(before, replace(proofs, likeness=likeness, adoptable=adoptable), presence, record)
            assert not replace(base, tracked=tracked, found=found).is_unconfirmed(found), (before, likeness, presence, record)
