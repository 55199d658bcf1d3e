"""What answers and listings prove of an order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import DestroyingCall, Origin
from gpucloud.reconcile import evidence, placement
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.continuity import Doubt, Likeness, Sightings
from gpucloud.reconcile.facts import Absent, Present, Refusal
from gpucloud.reconcile.order import TrackedOrder
from gpucloud.reconcile.placement import Placement
from gpucloud.reconcile.transitions import ACCEPTED_GRACES
from support.builders import START, a_record
from support.orderevents import (
    ADOPTS,
    CHOSEN,
    EXISTS,
    GRACE,
    HERE,
    INVALID,
    LOST_ANSWER,
    MARKED,
    SINCE,
    UNIQUE,
    S,
    answer,
    at,
    back,
    destroy,
    look,
    missing,
    record,
    restart,
    shown,
)


def test_taken_is_certain_of_a_chosen_name_only():
    """Of a name that only this object can bear it says that an earlier order was carried out."""
    assert answer(EXISTS, chosen_name=True)(at(S.INTENDED)).state is S.REFUSED
    assert answer(EXISTS, chosen_name=False)(at(S.INTENDED)).state is S.UNCLEAR


def test_a_final_refusal_names_its_generation_until_it_is_shown_or_ordered_anew():
    refused = orders.answered(at(S.INTENDED), INVALID, Placement(), SINCE, chosen_name=True, final_for=7)
    assert refused.order.refused_generation == 7
    assert look(shown(), MARKED)(refused).order.refused_generation is None
    assert record(refused).order.refused_generation is None


def test_what_an_acceptance_names_is_recorded():
    placed = placement.placement_from_answer(HERE, "vm-9", "msc1", "other")
    accepted = orders.answered(at(S.INTENDED), None, placed, SINCE, chosen_name=False).order
    assert (accepted.cloud_id, accepted.cloud_cluster, accepted.cloud_vpc) == ("vm-9", None, "other")


def test_nothing_is_recorded_that_is_longer_than_the_schema_allows():
    """A status that holds it would be refused for ever."""
    placed = placement.placement_from_answer(HERE, "i" * 300, "c" * 300, "v" * 300)
    accepted = orders.answered(at(S.INTENDED), None, placed, SINCE, chosen_name=False).order
    assert type(accepted).model_validate(accepted.model_dump()) == accepted


def test_destroyed_by_us_is_gone_after_two_listings_whatever_was_seen_before():
    told = orders.destroy_answered(destroy(at(S.SEEN)), None, GRACE, SINCE + 2)
    assert look(missing(SINCE + 2), MARKED)(told).state is S.GONE
    assert look(missing(SINCE + 1), MARKED)(told).state is S.DESTROYING


ACCEPTED_LONG = ACCEPTED_GRACES * GRACE
UNRESOLVED = replace(at(S.UNCLEAR), unresolved=True)
OTHERS = Sightings(SINCE - 5, Doubt.RENUMBERED, SINCE + 1)  # a listing that began a second later has shown another id


@pytest.mark.parametrize(
    ("standing", "counts", "state", "why"),
    [
        (at(S.ACCEPTED), ACCEPTED_LONG, S.LOST, "seed 92306602: an old listing showed the VPC that had the name before"),
        (UNRESOLVED, ACCEPTED_LONG, S.LOST, "it may have been accepted"),
        (at(S.UNCLEAR), 1 + GRACE, S.LOST, "it lasts for a grace, as an absence must"),
        (at(S.OVERDUE), 1 + GRACE, S.LOST, "as above"),
        (at(S.SEEN), 1 + GRACE, S.LOST, "as above"),
        (at(S.SEEN, own=False), 1 + GRACE, S.LOST, "the status may be out of date, or edited, and the listing may lag"),
        (at(S.DESTROYING, own=False), GRACE, S.GONE, "as above"),
        (at(S.DESTROYING, absence_counts_from=SINCE + 2), 2, S.GONE, "a second listing since the answer to the call agrees"),
    ],
)
def test_another_id_counts_when_listings_without_ours_would(standing, counts, state, why):
    """``counts``: seconds from the order's last change to the listing that proves it; the first came a second after it."""
    doubted = look(shown(SINCE + 1, "other"), UNIQUE)(replace(standing, sightings=Sightings(SINCE - 5)))
    assert (doubted.state, doubted.sightings) == (standing.state, OTHERS), "one listing may be an old one"
    early = look(shown(SINCE + counts - 0.5, "other"), UNIQUE)(doubted)
    assert (early.state, early.sightings) == (standing.state, OTHERS), why
    agreed = look(shown(SINCE + counts, "other"), UNIQUE)(early)
    assert (agreed.state, agreed.sightings.doubt) == (state, Doubt.NONE), why


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (shown(SINCE + 2), "the next listing shows ours: the other one was old"),
        (Absent(SINCE + 2, SINCE + 2), "nothing has the name now"),
    ],
)
def test_another_id_of_one_listing_is_forgotten_when_the_next_does_not_show_it(found, why):
    doubted = look(shown(SINCE + 1, "other"), UNIQUE)(at(S.SEEN))
    later = look(found, UNIQUE)(doubted)
    assert look(shown(SINCE + 1 + GRACE, "other"), UNIQUE)(later).state is S.SEEN, why


@pytest.mark.parametrize(
    ("state", "then", "why"),
    [
        (S.SEEN, S.SEEN, "somebody re-made it"),
        (
            S.DESTROYING,
            S.DESTROYING,
            "its destruction was announced while the record said Gone: what is there now must go, too",
        ),
    ],
)
def test_what_was_re_made_is_adopted_with_the_listing_that_proves_it_where_the_spec_allows(state, then, why):
    """A record that says Lost or Gone in between would have let an object go that is being deleted."""
    adopts = replace(UNIQUE, adoptable=True)
    doubted = look(shown(SINCE + 1, "other"), adopts)(at(state))
    assert (doubted.order.state, doubted.order.cloud_id) == (state, "train")
    again = look(shown(SINCE + 1 + GRACE, "other"), adopts)(doubted).order
    assert (again.state, again.cloud_id, again.origin) == (then, "other", Origin.ADOPTED), why


LATE = shown(SINCE + 3 * GRACE, confirmed=SINCE + GRACE)  # two listings, the first a grace after the call, lacked it


@pytest.mark.parametrize(
    ("found", "proofs", "standing", "state", "why"),
    [
        (LATE, CHOSEN, at(S.UNCLEAR), S.REFUSED, "never made: somebody else has taken the name since"),
        (
            shown(SINCE + 3 * GRACE, confirmed=SINCE + GRACE - 1),
            CHOSEN,
            at(S.UNCLEAR),
            S.SEEN,
            "the first of the two came too early, and an acceptance had named it",
        ),
        (shown(SINCE + 3 * GRACE), CHOSEN, at(S.UNCLEAR), S.SEEN, "one listing proves nothing"),
        (LATE, MARKED, at(S.UNCLEAR), S.SEEN, "nobody else gives it this name"),
        (LATE, CHOSEN, replace(at(S.UNCLEAR), unresolved=True), S.SEEN, "it may have been accepted: ten graces"),
        (LATE, CHOSEN, at(S.ACCEPTED), S.SEEN, "it was accepted, and is late"),
    ],
)
def test_a_chosen_name_that_shows_after_two_listings_proved_it_unmade_is_anothers(found, proofs, standing, state, why):
    """Nobody reconciled in between: it was paused (seed 973532), or a write to the apiserver hung (seed 972787)."""
    assert look(found, proofs)(standing).state is state, why


UNNAMED = replace(at(S.UNCLEAR), order=at(S.UNCLEAR).order.model_copy(update={"cloud_id": None}))


@pytest.mark.parametrize(
    ("standing", "proofs", "state", "why"),
    [
        (UNNAMED, CHOSEN, S.UNCLEAR, "the order had no answer: somebody may have made this meanwhile"),
        (UNNAMED, MARKED, S.SEEN, "nobody else gives it this name"),
        (UNNAMED, replace(CHOSEN, markable=False), S.SEEN, "no VPC's name can bear a mark"),
        (at(S.UNCLEAR), CHOSEN, S.SEEN, "an acceptance named it before a person asked again"),
        (at(S.ACCEPTED), CHOSEN, S.SEEN, "the cloud accepted the order of this name"),
        (at(S.OVERDUE), CHOSEN, S.SEEN, "the cloud accepted the order of this name"),
    ],
)
def test_what_bears_a_chosen_name_is_proven_by_an_acceptance_only(standing, proofs, state, why):
    """Seed 7000051: a stranger's VM of that name was destroyed with the object."""
    assert look(shown(SINCE + GRACE), proofs)(standing).state is state, why


def test_what_a_listing_has_shown_under_an_unproven_name_must_be_lacked_for_a_grace():
    """Two partial listings in a row would make what may be ours another's."""
    seen = look(shown(SINCE + GRACE), CHOSEN)(UNNAMED)
    since = SINCE + 2 * GRACE
    for until, state in (since + GRACE - 1, S.UNCLEAR), (since + GRACE, S.REFUSED):
        assert look(Absent(until, since, since), CHOSEN)(seen).state is state
    assert look(shown(since + 1, confirmed=since), CHOSEN)(seen).state is S.UNCLEAR


BACK = back(SINCE + 50)  # two listings in a row had lacked it
MISSED = shown(SINCE + 50, lacked_until=SINCE + 50)  # one had
CHANGED = replace(CHOSEN, likeness=Likeness.CHANGED)


@pytest.mark.parametrize(
    ("found", "proofs", "state", "why"),
    [
        (BACK, CHANGED, S.LOST, "somebody may have made another under the chosen name"),
        (BACK, CHOSEN, S.SEEN, "its addresses are the recorded ones"),
        (BACK, replace(CHOSEN, likeness=Likeness.UNKNOWN), S.LOST, "it was surely away, and nothing shows that it is the same"),
        (MISSED, CHANGED, S.LOST, "other addresses show that it was away"),
        (
            MISSED,
            replace(CHOSEN, likeness=Likeness.UNKNOWN),
            S.SEEN,
            "it may never have been away: the next look may tell",
        ),
        (BACK, replace(MARKED, likeness=Likeness.CHANGED), S.SEEN, "nobody else gives it this name"),
        (BACK, replace(UNIQUE, likeness=Likeness.CHANGED), S.SEEN, "its id tells"),
        (shown(SINCE + 50), CHANGED, S.SEEN, "it was never away: the cloud may change what it says of it"),
        (back(SINCE), CHANGED, S.SEEN, "it was seen since it came back"),
    ],
)
def test_a_chosen_name_that_was_away_is_ours_only_if_it_shows_what_was_recorded(found, proofs, state, why):
    assert look(found, proofs)(at(S.SEEN)).state is state, why
    elsewhere = (
        proofs is CHANGED or state is S.LOST
    )  # of one told to go, other addresses alone tell that the name is another's by now
    once = look(found, proofs)(at(S.DESTROYING))
    lacked = found in {BACK, MISSED}  # else this listing alone would say so, and it may be an old one
    assert once.state is (S.GONE if elsewhere and lacked else S.DESTROYING), why
    again = look(replace(found, as_of=found.as_of + 1), proofs)(once)
    assert again.state is (S.GONE if elsewhere else S.DESTROYING), why


@pytest.mark.parametrize(
    ("sighted", "proofs", "state", "why"),
    [
        (None, replace(CHOSEN, likeness=Likeness.OTHER), S.LOST, "another process saw it last"),
        (SINCE - 1, replace(CHOSEN, likeness=Likeness.OTHER), S.LOST, "another credential showed it last"),
        (SINCE + 40, replace(CHOSEN, likeness=Likeness.OTHER), S.SEEN, "it was watched all the time"),
        (None, CHANGED, S.SEEN, "only what may change has changed"),
        (None, replace(MARKED, likeness=Likeness.OTHER), S.SEEN, "nobody else gives it this name"),
        (None, replace(ADOPTS, likeness=Likeness.OTHER), S.SEEN, "whatever has the name is adopted"),
    ],
)
def test_a_chosen_name_that_nobody_watched_for_a_while_is_not_ours_if_it_shows_what_cannot_be(sighted, proofs, state, why):
    found = shown(SINCE + 50, shown_since=SINCE)
    once = look(found, proofs)(at(S.SEEN, own=False, sightings=Sightings(sighted)))
    assert once.state is S.SEEN, "one listing may be an old one"
    assert look(found, proofs)(once) == once, "it is the same listing"
    first = look(replace(found, as_of=SINCE + 51), proofs)(once)
    assert first.state is state, why
    assert look(replace(found, as_of=SINCE + 52), replace(proofs, likeness=Likeness.OTHER))(first).state is state, (
        "from then on it is watched"
    )


def test_one_old_listing_after_a_gap_makes_nothing_anothers():
    """Seed 92240348: it showed a VM of before, after a listing that had failed; ours was called lost, and left behind."""
    old, proofs = shown(SINCE + 50, shown_since=SINCE), replace(CHOSEN, likeness=Likeness.OTHER)
    doubted = look(old, proofs)(at(S.SEEN, sightings=Sightings(SINCE - 1)))
    assert (doubted.state, doubted.sightings) == (S.SEEN, Sightings(SINCE - 1, Doubt.SUPPLANTED, SINCE + 50))
    again = look(replace(old, as_of=SINCE + 52), CHOSEN)(doubted)
    assert (again.state, again.sightings) == (S.SEEN, Sightings(SINCE + 52))
    assert look(replace(old, as_of=SINCE + 52), proofs)(doubted).state is S.LOST
    between = look(Absent(SINCE + 51, SINCE + 51), CHOSEN)(doubted)
    assert between.sightings == Sightings(SINCE - 1)


def test_one_old_listing_of_what_is_watched_makes_nothing_its_own():
    """Seed 92257011: it showed a VM of before, whose address was recorded; ours was called lost after a failed listing."""
    old, proofs = shown(SINCE + 50, shown_since=SINCE), replace(CHOSEN, likeness=Likeness.OTHER)
    doubted = look(old, proofs)(at(S.SEEN, sightings=Sightings(SINCE + 40)))
    assert (doubted.state, doubted.sightings) == (S.SEEN, Sightings(SINCE + 40, Doubt.READDRESSED, SINCE + 50))
    failed = shown(SINCE + 56, shown_since=SINCE + 56)
    again = look(failed, CHOSEN)(doubted)
    assert (again.state, again.sightings) == (S.SEEN, Sightings(SINCE + 56))
    agreed = look(replace(old, as_of=SINCE + 52), proofs)(doubted)
    assert (agreed.state, agreed.sightings) == (S.SEEN, Sightings(SINCE + 52, Doubt.ANSWERED))


def test_one_that_was_told_to_go_is_not_called_gone_while_nobody_can_say_whether_it_is_the_same():
    assert look(shown(SINCE + 50), replace(CHOSEN, likeness=Likeness.UNKNOWN))(at(S.DESTROYING)).state is S.DESTROYING


def test_what_was_seen_to_be_the_same_once_may_change_later():
    once = look(BACK, CHOSEN)(at(S.SEEN))
    assert look(BACK, CHANGED)(once).state is S.LOST, "one listing may be an old one"
    verified = look(replace(BACK, as_of=SINCE + 52), CHOSEN)(once)
    assert look(BACK, CHANGED)(verified).state is S.SEEN
    assert look(back(SINCE + 90), CHANGED)(verified).state is S.LOST


@pytest.mark.parametrize("kind", [ErrorKind.MALFORMED, ErrorKind.TOO_LARGE])
def test_a_2xx_answer_that_cannot_be_read_is_waited_for_as_an_acceptance(kind):
    """A 202 with rubbish in it, listings seven graces behind, and the object deleted: its VM outlived it."""
    unread = answer(Refusal(kind, "the answer is not JSON", ambiguous=True))(at(S.INTENDED))
    assert unread.state is S.UNCLEAR
    assert look(missing(SINCE + 10 * GRACE - 1), MARKED)(unread).state is S.UNCLEAR
    assert look(missing(SINCE + 10 * GRACE), MARKED)(unread).state is S.REFUSED


def test_two_listings_must_show_the_same_again_after_two_had_lacked_it():
    """The first may be older than those: what it shows may be gone, and the name somebody else's."""
    gone = look(missing(SINCE + 5), CHOSEN)(at(S.SEEN))
    assert gone.order.missing_since is not None
    once = look(shown(SINCE + 50), CHOSEN)(gone)
    assert (look(shown(SINCE + 50), CHOSEN)(once), once.order.missing_since) == (once, gone.order.missing_since)
    assert look(shown(SINCE + 52), CHOSEN)(once).order.missing_since is None
    between = look(Absent(SINCE + 51, SINCE + 51), CHOSEN)(once)
    assert look(shown(SINCE + 52), CHOSEN)(between).order.missing_since is not None


def test_what_one_listing_showed_again_counts_no_more_when_the_order_has_moved_on():
    """It was the first of two before the destroying call; after it, two must agree anew."""
    gone = look(missing(SINCE + 5), CHOSEN)(at(S.SEEN))
    once = look(shown(SINCE + 50), CHOSEN)(gone)
    told = orders.destroying(once, SINCE + 51)
    assert (once.sightings.since, told.sightings) == (SINCE + 50, Sightings(once.sightings.last))


def test_one_listing_that_lacks_it_takes_nothing_back_of_what_two_showed_before():
    """They were another process's; the one listing is this one's."""
    gone = restart(look(missing(SINCE + 5), CHOSEN)(at(S.SEEN)))
    unknown = replace(CHOSEN, likeness=Likeness.UNKNOWN)
    assert look(MISSED, unknown)(gone).state is S.LOST
    assert look(MISSED, unknown)(at(S.SEEN)).state is S.SEEN


def test_after_an_order_that_was_outstanding_one_listing_never_shows_the_name_free():
    """The proof that it was never made may have been a partial one; the doubt stays with the next record."""
    unmade = look(missing(SINCE + GRACE), MARKED)(at(S.UNCLEAR))
    assert (at(S.UNCLEAR).earlier_unclear, unmade.earlier_unclear, record(unmade).earlier_unclear) == (False, True, True)
    assert not record(at(S.REFUSED)).earlier_unclear


@pytest.mark.parametrize(("here", "namespace", "vpc"), [("", "acme", "acme"), ("", None, ""), ("other", "acme", "other")])
def test_the_vpc_of_what_was_seen_is_the_listings_where_no_reference_tells_it(here, namespace, vpc):
    """The status was lost, and the GpuVpc that the spec refers to is gone: snapshots of a VM in no VPC are never seen."""
    found = Present(a_record(namespace=namespace), SINCE)
    proofs = replace(MARKED, here=HERE._replace(vpc=here))
    assert look(found, proofs)(TrackedOrder(None, SINCE)).order.vpc == vpc


THERE = HERE._replace(cluster="Hou1", vpc="other")
FOLLOWED = dict.fromkeys((S.NOT_ORDERED, S.REFUSED, S.LOST, S.OVERDUE, S.UNCLEAR, S.ACCEPTED, S.SEEN), S.SEEN)


@pytest.mark.parametrize(("state", "then"), [*FOLLOWED.items(), (S.GONE, S.DESTROYING), (S.DESTROYING, S.DESTROYING)])
def test_what_bears_the_mark_in_another_place_is_followed_there(state, then):
    before = replace(at(state, own=False), absence_counts_from=SINCE, sightings=Sightings(SINCE))
    called = before.order.model_copy(update={"destroying_call": DestroyingCall(number=1, announced_at=START)})
    found = evidence.found_elsewhere(replace(before, order=called), MARKED, THERE, SINCE + 9)
    assert found.order.state is then
    assert placement.actual_identity(HERE, found.order) == THERE
    assert (found.absence_counts_from, found.sightings.last, found.own) == (None, None, False)
    assert found.order.destroying_call is None, "no call was sent for that place"


def test_what_no_record_told_of_is_followed_with_a_record_of_its_own():
    proofs = replace(MARKED, uid="u1", nonce="new")
    found = evidence.found_elsewhere(TrackedOrder(None, SINCE), proofs, HERE._replace(cluster="Hou1"), SINCE)
    order = found.order
    assert (order.state, order.origin, order.cluster, order.cloud_cluster, order.cloud_vpc) == (
        S.SEEN,
        Origin.CREATED,
        "Msc1",
        "Hou1",
        None,
    )
    assert order.id.startswith("new-")


REFUSED = Refusal(ErrorKind.FORBIDDEN, "no", ambiguous=False)


@pytest.mark.parametrize(
    ("answers", "state", "why"),
    [
        ([], S.DESTROYING, "it is announced, and no call has left"),
        ([REFUSED, REFUSED], S.DESTROYING, "nothing has happened to it"),
        ([None], S.GONE, "the cloud accepted the call: what is there came afterwards"),
        ([LOST_ANSWER], S.GONE, "the call may have been carried out"),
        ([REFUSED, LOST_ANSWER, REFUSED], S.GONE, "one of them may have been"),
    ],
)
def test_another_address_is_anothers_only_if_a_destroying_call_may_have_been_carried_out(answers, state, why):
    told = destroy(at(S.SEEN, sightings=Sightings(SINCE)))
    for answered in answers:
        told = orders.destroy_answered(destroy(told), answered, GRACE, SINCE + 1)
    assert look(shown(SINCE + 3), CHANGED)(look(shown(SINCE + 2), CHANGED)(told)).state is state, why


def test_a_new_process_does_not_know_what_a_destroying_call_has_done():
    refused = restart(orders.destroy_answered(destroy(at(S.SEEN)), REFUSED, GRACE, SINCE + 1))
    assert look(shown(SINCE + 3), CHANGED)(look(shown(SINCE + 2), CHANGED)(refused)).state is S.GONE


@pytest.mark.parametrize("likeness", [Likeness.CHANGED, Likeness.OTHER])
@pytest.mark.parametrize("answered", [None, LOST_ANSWER], ids=["accepted", "unclear"])
def test_one_old_listing_after_a_destroying_call_proves_nothing_gone(answered, likeness):
    """The call had no effect, and the listing showed the VM that had the name before: the object went, its VM stayed."""
    told = orders.destroy_answered(destroy(at(S.SEEN, sightings=Sightings(SINCE))), answered, GRACE, SINCE + 1)
    old = replace(CHOSEN, likeness=likeness)
    doubted = look(shown(SINCE + 2), old)(told)
    assert (doubted.state, doubted.sightings) == (S.DESTROYING, Sightings(SINCE, Doubt.SUPPLANTED, SINCE + 2))
    assert look(shown(SINCE + 2), old)(doubted) == doubted, "it is the same listing"
    again = look(shown(SINCE + 3), CHOSEN)(doubted)
    assert (again.state, again.sightings) == (S.DESTROYING, Sightings(SINCE + 3)), "it stands, and the other listing was old"
    assert look(shown(SINCE + 3), old)(doubted).state is S.GONE, "two show another under its name"
