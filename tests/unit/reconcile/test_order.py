"""The state machine of an order: each transition with its proof and not without it, and whole histories of crashes and lags."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState, Origin
from gpucloud.reconcile import naming, placement
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Absent, Present, Refusal, Unknown, UnknownReason
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.order import Proofs, TrackedOrder
from gpucloud.reconcile.placement import Placement
from gpucloud.reconcile.transitions import MAY_EXIST, TRANSITIONS, OrderEvent
from support.builders import a_reading, a_record, an_order

S, E = OrderState, OrderEvent
GRACE, SINCE = 30.0, 1000.0
HERE = Identity("Msc1", "acme", "train")
MARKED = Proofs(marked=True, adoptable=False, here=HERE, grace=GRACE)
CHOSEN = replace(MARKED, marked=False)
ADOPTS = replace(CHOSEN, adoptable=True)
UNIQUE = replace(CHOSEN, unique_id=True)
LOST_ANSWER = Refusal(ErrorKind.OUTCOME_UNKNOWN, "no answer", ambiguous=True)
INVALID = Refusal(ErrorKind.INVALID, "no", ambiguous=False)
EXISTS = Refusal(ErrorKind.CONFLICT, "it exists", ambiguous=False)
NEW = an_order("train", S.INTENDED, id="new")


def at(state, *, own=True, **fields):
    """In this state since 1000 s, by a record of this process unless told otherwise."""
    order = an_order("train", state, cloud_id="train")
    return TrackedOrder(order, SINCE, recorded=SINCE - 1 if own else None, **fields)


def shown(as_of=SINCE, own_id="train"):
    return Present(a_record(name=own_id), as_of)


def missing(confirmed, since=SINCE):
    """Two listings that lack it: the earlier one began then."""
    return Absent(confirmed + 1, since, confirmed)


def look(found, proofs):
    return lambda tracked: orders.observed(tracked, found, proofs, a_reading(SINCE + 500), SINCE - 100)


def answer(refusal, chosen_name=False):
    return lambda tracked: orders.answered(tracked, refusal, Placement(), SINCE, chosen_name=chosen_name)


def record(tracked):
    return orders.record(tracked, NEW, SINCE)


def destroy(tracked):
    return orders.destroying(tracked, SINCE)


def ask(request):
    """``t1`` has been answered before."""
    return lambda tracked: orders.asked_again(tracked, request, "t1", SINCE)


def restart(tracked):
    return orders.take_over(None, tracked.order, frozenset(), SINCE)


def pass_by(tracked):
    """The next pass of the process that wrote the record."""
    return orders.take_over(tracked, tracked.order, frozenset({tracked.order.id}), SINCE)


ELSE, ONE = shown(own_id="other"), Absent(SINCE + 400, SINCE)
# Of each transition: what brings the proof, and the nearest thing that does not. None: the call is itself the event.
PROOF = {
    (S.NOT_ORDERED, E.RECORDED): (record, None),
    (S.NOT_ORDERED, E.SHOWN): (look(shown(), MARKED), look(shown(), CHOSEN)),
    (S.INTENDED, E.TAKEN_OVER): (restart, pass_by),
    (S.INTENDED, E.RECORDED): (record, None),
    (S.INTENDED, E.ANSWERED): (answer(None), answer(LOST_ANSWER)),
    (S.INTENDED, E.UNANSWERED): (answer(LOST_ANSWER), answer(INVALID)),
    (S.INTENDED, E.REFUSED): (answer(INVALID), answer(EXISTS)),
    (S.INTENDED, E.SHOWN): (look(shown(), MARKED), look(shown(), CHOSEN)),
    (S.INTENDED, E.NAME_TAKEN): (look(shown(), CHOSEN), look(shown(), MARKED)),
    (S.ACCEPTED, E.SHOWN): (look(shown(SINCE - 1), CHOSEN), look(shown(SINCE - 2), CHOSEN)),
    (S.ACCEPTED, E.REPLACED): (look(ELSE, UNIQUE), look(ELSE, CHOSEN)),
    (S.ACCEPTED, E.MISSING): (look(missing(SINCE + 10 * GRACE), MARKED), look(missing(SINCE + 10 * GRACE - 1), MARKED)),
    (S.UNCLEAR, E.SHOWN): (look(shown(SINCE - 1), CHOSEN), look(shown(SINCE - 2), CHOSEN)),
    (S.UNCLEAR, E.MISSING): (look(missing(SINCE + GRACE), MARKED), look(missing(SINCE + GRACE - 1), MARKED)),
    (S.UNCLEAR, E.REPLACED): (look(ELSE, UNIQUE), look(ELSE, CHOSEN)),
    (S.REFUSED, E.RECORDED): (record, None),
    (S.REFUSED, E.SHOWN): (look(shown(), ADOPTS), look(shown(), CHOSEN)),
    (S.OVERDUE, E.RECORDED): (record, None),
    (S.OVERDUE, E.SHOWN): (look(shown(SINCE - 1), CHOSEN), look(shown(SINCE - 2), CHOSEN)),
    (S.OVERDUE, E.ASKED_AGAIN): (ask("t2"), ask("t1")),
    (S.OVERDUE, E.REPLACED): (look(ELSE, UNIQUE), look(ELSE, CHOSEN)),
    (S.SEEN, E.MISSING): (look(missing(SINCE + GRACE - 1), MARKED), look(missing(SINCE + GRACE - 2), MARKED)),
    (S.SEEN, E.REPLACED): (look(ELSE, UNIQUE), look(ELSE, CHOSEN)),
    (S.SEEN, E.DESTROYED): (destroy, None),
    (S.LOST, E.RECORDED): (record, None),
    (S.LOST, E.SHOWN): (look(shown(), MARKED), look(shown(), CHOSEN)),
    (S.LOST, E.DESTROYED): (destroy, None),
    (S.DESTROYING, E.DESTROYED): (destroy, None),
    (S.DESTROYING, E.MISSING): (look(missing(SINCE + GRACE), MARKED), look(missing(SINCE + GRACE - 1), MARKED)),
    (S.DESTROYING, E.REPLACED): (look(ELSE, UNIQUE), look(ELSE, CHOSEN)),
    (S.GONE, E.TAKEN_OVER): (restart, pass_by),
    (S.GONE, E.SHOWN): (look(shown(), MARKED), look(shown(), CHOSEN)),
    (S.GONE, E.RECORDED): (record, None),
}
STIMULI = [
    *(item for pair in PROOF.values() for item in pair if item is not None),
    look(Unknown(SINCE, UnknownReason.REFUSED), MARKED),
]


def test_every_transition_is_tried():
    assert set(PROOF) == set(TRANSITIONS)
    assert all(item.proof for item in TRANSITIONS.values())


@pytest.mark.parametrize(("pair", "tried"), PROOF.items(), ids=lambda item: "-".join(item) if isinstance(item[0], str) else "")
def test_a_transition_is_made_with_its_proof_and_not_without_it(pair, tried):
    before, to = at(pair[0]), TRANSITIONS[pair].to
    enough, too_little = tried
    assert enough(before).state is to
    assert too_little is None or too_little(before).state is not to


@pytest.mark.parametrize("state", S)
def test_nothing_else_ever_happens(state):
    """Whatever comes, a state changes only as the table says."""
    allowed = {state} | {item.to for (before, _), item in TRANSITIONS.items() if before is state}
    for own in (True, False):
        for stimulus in STIMULI:
            try:
                after = stimulus(at(state, own=own))
            except ValueError:
                assert not orders.may_be_recorded(state)
                continue
            assert after.state in allowed | {S.SEEN if state is S.LOST else state}


@pytest.mark.parametrize("state", sorted(set(S) - {state for state, event in TRANSITIONS if event is E.RECORDED}))
def test_no_record_replaces_one_whose_thing_may_stand(state):
    with pytest.raises(ValueError, match=f"is {state} is not recorded anew"):
        record(at(state))


@pytest.mark.parametrize("state", S)
def test_one_listing_never_proves_that_it_is_gone(state):
    assert look(ONE, CHOSEN)(at(state)).state is state


@pytest.mark.parametrize("state", S)
def test_nothing_follows_from_what_cannot_be_seen_or_told_apart(state):
    for found in (Unknown(SINCE, UnknownReason.UNREACHABLE), replace(shown(), duplicate_records=True)):
        assert look(found, MARKED)(at(state)) == at(state)


# --- what a call brings


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
    told = orders.destroy_answered(destroy(at(S.SEEN)), SINCE + 2)
    assert look(missing(SINCE + 2), MARKED)(told).state is S.GONE
    assert look(missing(SINCE + 1), MARKED)(told).state is S.DESTROYING


def test_another_id_than_a_status_of_before_says_must_last_for_a_grace():
    """The status may be out of date, or edited, and the listing may lag."""
    taken_over = at(S.SEEN, own=False)
    assert look(shown(SINCE + GRACE - 1, "other"), UNIQUE)(taken_over).state is S.SEEN
    assert look(shown(SINCE + GRACE, "other"), UNIQUE)(taken_over).state is S.LOST


def test_one_re_made_by_a_stranger_is_adopted_in_the_same_look_where_the_spec_allows():
    adopted = look(ELSE, replace(UNIQUE, adoptable=True))(at(S.SEEN)).order
    assert (adopted.state, adopted.origin, adopted.cloud_id) == (S.SEEN, Origin.ADOPTED, "other")


LATE = replace(shown(SINCE + 3 * GRACE), lacked=SINCE + GRACE)  # two listings, the first a grace after the call, lacked it


@pytest.mark.parametrize(
    ("found", "proofs", "standing", "state", "why"),
    [
        (LATE, CHOSEN, at(S.UNCLEAR), S.REFUSED, "never made: somebody else has taken the name since"),
        (replace(LATE, lacked=SINCE + GRACE - 1), CHOSEN, at(S.UNCLEAR), S.SEEN, "the first of the two came too early"),
        (replace(LATE, lacked=None), CHOSEN, at(S.UNCLEAR), S.SEEN, "one listing proves nothing"),
        (LATE, MARKED, at(S.UNCLEAR), S.SEEN, "nobody else gives it this name"),
        (LATE, CHOSEN, replace(at(S.UNCLEAR), unresolved=True), S.SEEN, "it may have been accepted: ten graces"),
        (LATE, CHOSEN, at(S.ACCEPTED), S.SEEN, "it was accepted, and is late"),
    ],
)
def test_a_chosen_name_that_shows_after_two_listings_proved_it_unmade_is_anothers(found, proofs, standing, state, why):
    """Nobody reconciled in between: it was paused (seed 973532), or a write to the apiserver hung (seed 972787)."""
    assert look(found, proofs)(standing).state is state, why


@pytest.mark.parametrize(("here", "namespace", "vpc"), [("", "acme", "acme"), ("", None, ""), ("other", "acme", "other")])
def test_the_vpc_of_what_was_seen_is_the_listings_where_no_reference_tells_it(here, namespace, vpc):
    """The status was lost, and the GpuVpc that the spec refers to is gone: snapshots of a VM in no VPC are never seen."""
    found = Present(a_record(namespace=namespace), SINCE)
    proofs = replace(MARKED, here=replace(HERE, vpc=here))
    assert look(found, proofs)(TrackedOrder(None, SINCE)).order.vpc == vpc


BACK = replace(shown(SINCE + 50), returned=SINCE + 50)  # two listings in a row had lacked it
OTHER = replace(CHOSEN, same=False)


@pytest.mark.parametrize(
    ("found", "proofs", "state", "why"),
    [
        (BACK, OTHER, S.LOST, "somebody may have made another under the chosen name"),
        (BACK, CHOSEN, S.SEEN, "its addresses are the recorded ones"),
        (BACK, replace(CHOSEN, same=None), S.LOST, "it was surely away, and nothing shows that it is the same"),
        (replace(BACK, doubtful=True), OTHER, S.LOST, "other addresses show that it was away"),
        (
            replace(BACK, doubtful=True),
            replace(CHOSEN, same=None),
            S.SEEN,
            "it may never have been away: the next look may tell",
        ),
        (BACK, replace(MARKED, same=False), S.SEEN, "nobody else gives it this name"),
        (BACK, replace(UNIQUE, same=False), S.SEEN, "its id tells"),
        (shown(SINCE + 50), OTHER, S.SEEN, "it was never away: the cloud may change what it says of it"),
        (replace(BACK, returned=SINCE), OTHER, S.SEEN, "it was seen since it came back"),
    ],
)
def test_a_chosen_name_that_was_away_is_ours_only_if_it_shows_what_was_recorded(found, proofs, state, why):
    assert look(found, proofs)(at(S.SEEN)).state is state, why
    elsewhere = (
        proofs is OTHER or state is S.LOST
    )  # of one told to go, other addresses alone tell that the name is another's by now
    assert look(found, proofs)(at(S.DESTROYING)).state is (S.GONE if elsewhere else S.DESTROYING), why


@pytest.mark.parametrize(
    ("sighted", "proofs", "state", "why"),
    [
        (None, replace(CHOSEN, other=True), S.LOST, "another process saw it last"),
        (SINCE - 1, replace(CHOSEN, other=True), S.LOST, "another credential showed it last"),
        (SINCE + 40, replace(CHOSEN, other=True), S.SEEN, "it was watched all the time"),
        (None, OTHER, S.SEEN, "only what may change has changed"),
        (None, replace(MARKED, other=True), S.SEEN, "nobody else gives it this name"),
        (None, replace(ADOPTS, other=True), S.SEEN, "whatever has the name is adopted"),
    ],
)
def test_a_chosen_name_that_nobody_watched_for_a_while_is_not_ours_if_it_shows_what_cannot_be(sighted, proofs, state, why):
    found = replace(shown(SINCE + 50), shown_since=SINCE)
    first = look(found, proofs)(at(S.SEEN, own=False, sighted=sighted))
    assert first.state is state, why
    assert look(replace(found, as_of=SINCE + 52), replace(proofs, other=True))(first).state is state, (
        "from then on it is watched"
    )


def test_one_that_was_told_to_go_is_not_called_gone_while_nobody_can_say_whether_it_is_the_same():
    assert look(shown(SINCE + 50), replace(CHOSEN, same=None))(at(S.DESTROYING)).state is S.DESTROYING


def test_what_was_seen_to_be_the_same_once_may_change_later():
    once = look(BACK, CHOSEN)(at(S.SEEN))
    assert look(BACK, OTHER)(once).state is S.LOST, "one listing may be an old one"
    verified = look(replace(BACK, as_of=SINCE + 52), CHOSEN)(once)
    assert look(BACK, OTHER)(verified).state is S.SEEN
    assert look(replace(BACK, returned=SINCE + 90), OTHER)(verified).state is S.LOST


@pytest.mark.parametrize("kind", [ErrorKind.MALFORMED, ErrorKind.TOO_LARGE])
def test_a_2xx_answer_that_cannot_be_read_is_waited_for_as_an_acceptance(kind):
    """A 202 with rubbish in it, listings seven graces behind, and the object deleted: its VM outlived it."""
    unread = answer(Refusal(kind, "the answer is no JSON", ambiguous=True))(at(S.INTENDED))
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


def test_one_listing_that_lacks_it_takes_nothing_back_of_what_two_showed_before():
    """They were another process's; the one listing is this one's."""
    gone = restart(look(missing(SINCE + 5), CHOSEN)(at(S.SEEN)))
    unknown = replace(CHOSEN, same=None)
    assert look(replace(BACK, doubtful=True), unknown)(gone).state is S.LOST
    assert look(replace(BACK, doubtful=True), unknown)(at(S.SEEN)).state is S.SEEN


def test_after_an_order_that_was_outstanding_one_listing_never_shows_the_name_free():
    """The proof that it was never made may have been a partial one; the doubt stays with the next record."""
    unmade = look(missing(SINCE + GRACE), MARKED)(at(S.UNCLEAR))
    assert (at(S.UNCLEAR).doubtful, unmade.doubtful, record(unmade).doubtful) == (False, True, True)
    assert not record(at(S.REFUSED)).doubtful


# --- where it is


@pytest.mark.parametrize(
    ("order", "where"),
    [
        (None, HERE),
        (an_order("train"), HERE),
        (an_order("train", S.ACCEPTED, cloud_id="vm-9"), replace(HERE, name="vm-9")),
        (an_order("train", S.SEEN, cloud_vpc="other"), replace(HERE, vpc="other")),
        (an_order("train", S.OVERDUE, cloud_cluster="Hou1"), replace(HERE, cluster="Hou1")),
        (an_order("train", S.REFUSED, cloud_id="vm-9"), HERE),  # it came to nothing
        (an_order("else", S.SEEN, cloud_id="vm-9"), HERE),  # of another name
        (an_order("train", S.SEEN, vpc="train", cloud_id="vpc-1"), HERE),  # a VPC's id is no name
    ],
)
def test_it_is_looked_for_where_the_cloud_says(order, where):
    assert placement.actual_identity(HERE, order) == where


@pytest.mark.parametrize(
    ("order", "moved"),
    [
        (an_order("train"), False),
        (an_order("train", cluster="msc1"), False),  # another spelling
        (an_order("train", vpc=""), False),  # its VPC was not known when it was recorded
        (an_order("else"), True),
        (an_order("train", cluster="Hou1"), True),
        (an_order("train", vpc="other"), True),
        (an_order("else", S.REFUSED), False),  # nothing stands there
        (an_order("else", S.LOST), False),
        (an_order("", S.NOT_ORDERED), False),
        (None, False),
    ],
)
def test_a_spec_that_names_another_place_than_what_may_stand(order, moved):
    assert placement.is_moved(order, HERE) is moved


@pytest.mark.parametrize(
    ("before", "after", "urgent", "why"),
    [
        (None, None, False, "nothing"),
        (None, NEW, True, "the first record"),
        (NEW, at(S.ACCEPTED).order.model_copy(update={"id": "new"}), False, "a new process takes an intended one for accepted"),
        (NEW, NEW.model_copy(update={"state": S.ACCEPTED, "cloud_id": "vm-9"}), True, "it is nowhere else"),
        (NEW, NEW.model_copy(update={"id": "newer"}), True, "another order"),
        *((NEW, NEW.model_copy(update={"state": state}), True, state) for state in sorted(orders.URGENT)),
        *((NEW, NEW.model_copy(update={"state": state}), False, state) for state in (S.UNCLEAR, S.SEEN, S.OVERDUE)),
        *((at(state).order, at(S.SEEN).order, True, state) for state in (S.ACCEPTED, S.UNCLEAR, S.OVERDUE)),
        (at(S.DESTROYING).order, at(S.SEEN).order, False, "it was seen before"),
    ],
)
def test_what_must_be_written_at_once(before, after, urgent, why):
    if after is not None and after.cloud_id == "train":
        after = after.model_copy(update={"cloud_id": "train"})
    assert orders.is_urgent(before, after, "u1") is urgent, why


def test_a_name_that_proves_itself_needs_no_write_when_it_is_first_listed():
    order = at(S.ACCEPTED).order.model_copy(update={"name": naming.external_name("train", "u1", "abcde")})
    seen = order.model_copy(update={"state": S.SEEN})
    assert [orders.is_urgent(order, seen, uid) for uid in ("u1", "u2")] == [False, True]


# --- who wrote the record


def test_what_this_process_knows_outranks_a_status_of_its_own_that_lags_or_was_wiped():
    for state in S:
        known = at(state)
        assert orders.take_over(known, None, frozenset(), SINCE + 9) is known
        assert orders.take_over(known, NEW, frozenset({"new"}), SINCE + 9) is known


@pytest.mark.parametrize("state", sorted(orders.WAS_SEEN | orders.OUTSTANDING))
def test_another_processs_record_does_not_undo_what_this_one_knows(state):
    after = orders.take_over(at(state), NEW, frozenset({"ours"}), SINCE + 9)
    assert (after.state, after.order) == (state, at(state).order)
    assert after.doubtful


@pytest.mark.parametrize("state", sorted({S.NOT_ORDERED, S.INTENDED, S.REFUSED, S.OVERDUE}))
def test_another_processs_order_counts_where_this_one_has_nothing_standing(state):
    after = orders.take_over(at(state), NEW, frozenset({"ours"}), SINCE + 9)
    assert (after.state, after.unresolved, after.own) == (S.UNCLEAR, True, False)


def believed_from(tracked, began, absent_from):
    """The first second at which two listings of a process that began then make it count as not there; None: not by listings."""
    since = max(began, absent_from)
    for second in range(int(since), int(since) + 1000):
        after = orders.observed(tracked, Absent(second + 1.0, since, float(second)), MARKED, a_reading(second + 2.0), began)
        if after.state not in MAY_EXIST - {S.OVERDUE}:
            return second
    return None


@pytest.mark.parametrize("seed", range(300))
def test_a_restart_shortens_no_wait(seed):
    """Whatever was written last, an end of the process at any time makes absence believed no sooner."""
    r = random.Random(seed)
    told, ended, absent_from = SINCE + r.uniform(0, 100), SINCE + r.uniform(100, 500), SINCE + r.choice((0.0, 50.0, 450.0))
    written = TrackedOrder(NEW, SINCE, recorded=SINCE)
    history = [written]
    match r.choice(("accepted", "unclear", "seen", "destroying")):
        case "accepted":
            history.append(orders.answered(written, None, Placement(), told, chosen_name=False))
        case "unclear":
            history.append(orders.answered(written, LOST_ANSWER, Placement(), told, chosen_name=False))
        case "seen":
            history.append(orders.observed(written, shown(told), MARKED, a_reading(told), SINCE))
        case _:
            seen = orders.observed(written, shown(told), MARKED, a_reading(told), SINCE)
            history += [seen, orders.destroy_answered(orders.destroying(seen, told), told)]
    status = r.choice(history).order
    after = orders.take_over(None, status, frozenset(), ended)
    without = believed_from(history[-1], SINCE, absent_from)
    with_restart = believed_from(after, ended, absent_from)
    assert with_restart >= without or status.state is S.INTENDED  # which is waited out from the restart on
    assert with_restart >= int(ended) + GRACE
    assert status.state not in {S.INTENDED, S.UNCLEAR, S.ACCEPTED} or with_restart >= ended + 10 * GRACE


def test_a_request_to_order_again_is_kept_in_the_record_until_it_is_answered():
    """It used to stand in the annotation alone, which the first status written after it called answered."""
    refused = orders.answered(at(S.INTENDED), INVALID, Placement(), SINCE, chosen_name=True, final_for=7)
    asked = orders.asked_again(refused, "t2", "t1", SINCE)
    assert (refused.order.refused_generation, asked.order.refused_generation) == (7, None)
    overdue = replace(at(S.OVERDUE), order=at(S.OVERDUE).order.model_copy(update={"reorders": 3}))
    assert orders.asked_again(overdue, "t2", "t1", SINCE).order.reorders == 0
    assert orders.asked_again(overdue, None, "t1", SINCE) is overdue
