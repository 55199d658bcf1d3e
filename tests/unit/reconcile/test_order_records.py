"""Where an ordered thing is, which record must be written at once, and whose record counts."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from gpucloud.kinds.common import DestroyingCall, DestroyingPurpose, Origin
from gpucloud.reconcile import evidence, naming, placement, takeover
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.continuity import Sightings
from gpucloud.reconcile.facts import Absent, CallHistory, Now
from gpucloud.reconcile.order import TrackedOrder
from gpucloud.reconcile.placement import Placement
from gpucloud.reconcile.transitions import MAY_EXIST
from support.builders import START, a_reading, an_order
from support.orderevents import (
    GRACE,
    HERE,
    INVALID,
    LOST_ANSWER,
    MARKED,
    NEW,
    SINCE,
    S,
    at,
    shown,
)

OLD = CallHistory(first_seen=SINCE - 100)
FOUND_ELSEWHERE = evidence.found_elsewhere(at(S.GONE, own=False), MARKED, HERE._replace(cluster="Hou1"), SINCE)


@pytest.mark.parametrize(
    ("order", "where"),
    [
        (None, HERE),
        (an_order("train"), HERE),
        (an_order("train", S.ACCEPTED, cloud_id="vm-9"), HERE._replace(name="vm-9")),
        (an_order("train", S.SEEN, cloud_vpc="other"), HERE._replace(vpc="other")),
        (an_order("train", S.OVERDUE, cloud_cluster="Hou1"), HERE._replace(cluster="Hou1")),
        (an_order("train", S.REFUSED, cloud_id="vm-9"), HERE),  # it came to nothing
        (an_order("else", S.SEEN, cloud_id="vm-9"), HERE),  # of another name
        (an_order("train", S.SEEN, vpc="train", cloud_id="vpc-1"), HERE),  # a VPC's id is no name
    ],
)
def test_it_is_looked_for_where_the_cloud_says(order, where):
    assert placement.actual_identity(HERE, order) == where


@pytest.mark.parametrize(
    ("order", "cloud_id"),
    [
        (an_order("train", S.LOST, cloud_id="vm-9"), None),  # under that name may be another's
        (an_order("train", S.LOST, vpc="train", cloud_id="vpc-1"), "vpc-1"),  # no other VPC ever has it
    ],
)
def test_what_is_lost_is_looked_for_as_it_was_ordered(order, cloud_id):
    assert placement.as_ordered(order).cloud_id == cloud_id


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
    ("tracked", "history", "anywhere", "why"),
    [
        (TrackedOrder(None, SINCE), OLD, True, "the status was lost"),
        (TrackedOrder(None, SINCE), replace(OLD, seen_new=True), False, "this process saw it before any order"),
        (at(S.NOT_ORDERED, own=False), OLD, True, "an older backup says so, too"),
        (at(S.LOST, own=False), OLD, True, "another order may have followed"),
        (at(S.SEEN), OLD, False, "this process ordered it"),
        (at(S.SEEN, own=False, sightings=Sightings(SINCE)), OLD, False, "it was there"),
        (replace(FOUND_ELSEWHERE, sightings=Sightings(SINCE)), OLD, True, "the record was wrong about where it is"),
    ],
)
def test_whether_a_record_tells_where_to_look(tracked, history, anywhere, why):
    assert evidence.may_be_anywhere(tracked, history) is anywhere, why


UNKNOWN = orders.unordered(HERE, "u1", "nonce").model_copy(update={"state": S.DESTROYING})
NOT_ORDERED = NEW.model_copy(update={"state": S.NOT_ORDERED, "recorded_at": None})


@pytest.mark.parametrize(
    ("order", "movable", "deleted_after", "searched_after", "why"),
    [
        (NOT_ORDERED, True, 0, (1,), "another may have ordered it just before"),
        (at(S.LOST).order, True, 0, (1,), "what was ordered has been seen"),
        (at(S.LOST).order, True, 10, (10,), "it counts from the deletion"),
        (None, False, 0, (1,), "the spec has never named another place"),
        (None, True, 0, (1, 10), "the lost status may have told of an order that was accepted just before"),
        (None, True, 5, (5, 10), "a VM that shows by then need not wait"),
        (None, True, 20, (20,), "an accepted one has shown by then"),
        (UNKNOWN, True, 0, (1, 10), "it was recorded only to be destroyed"),
        (UNKNOWN.model_copy(update={"state": S.GONE}), True, 0, (1, 10), "nothing was where it was looked for"),
        (UNKNOWN.model_copy(update={"state": S.GONE, "cloud_id": "train"}), True, 0, (1,), "a listing has shown it"),
        (at(S.DESTROYING).order, True, 0, (1,), "it was ordered, and is recorded"),
    ],
)
def test_what_an_earlier_process_ordered_is_searched_for_until_it_must_have_shown(
    order, movable, deleted_after, searched_after, why
):
    history = CallHistory(first_seen=SINCE, deletion_seen=SINCE + deleted_after * GRACE)
    times = evidence.search_times(TrackedOrder(order, SINCE), history, replace(MARKED, movable=movable))
    assert tuple((time - SINCE) / GRACE for time in times) == searched_after, why


@pytest.mark.parametrize(
    ("before", "after", "urgent", "why"),
    [
        (None, None, False, "nothing"),
        (None, NEW, True, "the first record"),
        (NEW, at(S.ACCEPTED).order.model_copy(update={"id": "new"}), False, "a new process takes an intended one for accepted"),
        (NEW, NEW.model_copy(update={"state": S.ACCEPTED, "cloud_id": "vm-9"}), True, "it is nowhere else"),
        (NEW, NEW.model_copy(update={"id": "newer"}), True, "another order"),
        *((NEW, NEW.model_copy(update={"state": state}), True, state) for state in sorted(orders.URGENT)),
        *((NEW, NEW.model_copy(update={"state": state}), False, state) for state in (S.UNCLEAR, S.OVERDUE)),
        *((at(state).order, at(S.SEEN).order, True, state) for state in (S.INTENDED, S.ACCEPTED, S.UNCLEAR, S.OVERDUE)),
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


def versions(order_id):
    """All versions of an order that this process recorded."""
    return frozenset((order_id, state) for state in S)


@pytest.mark.parametrize(
    ("known", "written", "believed"),
    [
        (S.UNCLEAR, S.ACCEPTED, True),  # seed 6000903: the acceptance was forgotten, and four orders more were sent
        (S.UNCLEAR, S.SEEN, True),
        (S.UNCLEAR, S.OVERDUE, True),  # else a person's request to order again would count for nothing
        (S.ACCEPTED, S.OVERDUE, True),
        (S.SEEN, S.DESTROYING, True),
        (S.SEEN, S.LOST, False),  # so do they, whether it is lost; an edited status may say so of what runs
        (S.LOST, S.SEEN, False),  # whether it is back, this process's listings say
        (S.SEEN, S.ACCEPTED, False),  # an older status was put back
        (S.ACCEPTED, S.REFUSED, False),
    ],
)
def test_what_another_process_had_learned_of_an_order_counts_when_the_cache_brings_it_later(known, written, believed):
    before = replace(at(known), recorded=None)
    taken = frozenset({(before.order.id, S.INTENDED), (before.order.id, known)})
    after = takeover.merged(before, before.order.model_copy(update={"state": written}), taken, SINCE + 9)
    assert after.state is (written if believed else known)
    assert after.own is False
    again = takeover.merged(before, before.order.model_copy(update={"state": written}), versions(before.order.id), SINCE + 9)
    assert again is before, "what this process wrote itself brings nothing new"


@pytest.mark.parametrize("known", sorted(orders.WAS_SEEN | orders.OUTSTANDING))
@pytest.mark.parametrize(
    ("later", "state", "believed", "why"),
    [
        (76, S.ACCEPTED, True, "seed 92036082: the acceptance named it, was forgotten, and a second VM was bought"),
        (76, S.SEEN, True, "another process has seen it"),
        (76, S.UNCLEAR, True, "it may have been made"),
        (-76, S.ACCEPTED, False, "an older status was put back"),
        (0, S.ACCEPTED, False, "nothing tells which was first"),
        (76, S.REFUSED, False, "that it made nothing, this process's listings say"),
        (76, S.LOST, False, "so they do that it is gone"),
    ],
)
def test_a_later_order_of_another_process_counts_when_the_cache_brings_it_later(known, later, state, believed, why):
    before = at(known, own=False)
    recorded_at = before.order.recorded_at + timedelta(seconds=later)
    written = an_order("train", state, id="later", cloud_id="srv-2", recorded_at=recorded_at)
    after = takeover.merged(before, written, versions(before.order.id), SINCE + 9)
    assert (after.order.id == "later") is believed, why
    assert (after.own, after.earlier_unclear, after.since) == (False, True, SINCE + 9)


def test_a_later_order_of_another_process_does_not_undo_an_order_of_this_one():
    known = at(S.ACCEPTED)
    written = an_order("train", S.ACCEPTED, id="later", recorded_at=known.order.recorded_at + timedelta(seconds=76))
    assert takeover.merged(known, written, versions("ours"), SINCE + 9).order is known.order


def test_a_request_to_order_again_counts_though_the_cache_shows_overdue_late():
    """The person read Overdue in the status; the process that follows saw an older record first, with the request beside it."""
    accepted = replace(at(S.ACCEPTED), recorded=None)
    overdue = accepted.order.model_copy(update={"state": S.OVERDUE, "reorders": 3})
    before = orders.asked_again(accepted, "t2", "t1", SINCE)
    taken = frozenset({(overdue.id, S.ACCEPTED)})
    after = orders.asked_again(takeover.merged(before, overdue, taken, SINCE + 9), "t2", "t1", SINCE + 9)
    assert (after.state, after.order.reorders) == (S.UNCLEAR, 0)


def test_what_this_process_knows_outranks_a_status_of_its_own_that_lags_or_was_wiped():
    for state in S:
        known = at(state)
        assert takeover.merged(known, None, frozenset(), SINCE + 9) is known
        assert takeover.merged(known, NEW, versions("new"), SINCE + 9) is known


@pytest.mark.parametrize("state", sorted(orders.WAS_SEEN | orders.OUTSTANDING))
def test_another_processs_record_does_not_undo_what_this_one_knows(state):
    after = takeover.merged(at(state), NEW, versions("ours"), SINCE + 9)
    assert (after.state, after.order) == (state, at(state).order)
    assert after.earlier_unclear


@pytest.mark.parametrize("state", sorted({S.NOT_ORDERED, S.INTENDED, S.REFUSED, S.OVERDUE}))
def test_another_processs_order_counts_where_this_one_has_nothing_standing(state):
    after = takeover.merged(at(state), NEW, versions("ours"), SINCE + 9)
    assert (after.state, after.unresolved, after.own) == (S.UNCLEAR, True, False)


def believed_from(tracked, began, absent_from):
    """The first second at which two listings of a process that began then make it count as not there; None: not by listings."""
    since = max(began, absent_from)
    for second in range(int(since), int(since) + 1000):
        after = evidence.observed(tracked, Absent(second + 1.0, since, float(second)), MARKED, a_reading(second + 2.0), began)
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
            history.append(evidence.observed(written, shown(told), MARKED, a_reading(told), SINCE))
        case _:
            seen = evidence.observed(written, shown(told), MARKED, a_reading(told), SINCE)
            history += [seen, orders.destroy_answered(orders.destroying(seen, told), None, GRACE, told)]
    status = r.choice(history).order
    after = takeover.merged(None, status, frozenset(), ended)
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


CALLED = START + timedelta(seconds=100)


def call(number, at=CALLED):
    return None if number is None else DestroyingCall(number=number, announced_at=at)


@pytest.mark.parametrize(("announced", "later"), [(None, call(2)), (call(2, START), call(2, START))], ids=["none", "long ago"])
def test_a_destroying_call_is_announced_once_with_its_number_and_time(announced, later):
    order = an_order("train", S.DESTROYING, destroying_call=call(1, START))
    next_call = orders.with_next_call(TrackedOrder(order, SINCE, announced=announced), CALLED, DestroyingPurpose.DELETION)
    assert next_call.destroying_call == later


def test_an_announcement_says_what_the_call_is_for_when_it_is_sent():
    """It was announced to make the VM anew, refused, and the object is deleted meanwhile."""
    order = an_order("train", S.DESTROYING)
    anew = orders.with_next_call(TrackedOrder(order, SINCE), CALLED, DestroyingPurpose.RECREATION).destroying_call
    tracked = TrackedOrder(order, SINCE, announced=anew)
    assert orders.recreates(tracked)
    later = orders.with_next_call(tracked, CALLED, DestroyingPurpose.DELETION)
    assert later.destroying_call == call(1)
    assert not orders.recreates(TrackedOrder(later, SINCE))


def test_no_destroying_call_has_a_number_that_the_schema_forbids():
    """Somebody may edit a status."""
    order = an_order("train", S.DESTROYING, destroying_call=call(1_000_000, START))
    assert orders.with_next_call(TrackedOrder(order, SINCE), CALLED, DestroyingPurpose.DELETION).destroying_call == call(
        1_000_000
    )


@pytest.mark.parametrize(("seconds", "ago"), [(40, 60), (100, 0), (160, 0)])
def test_a_call_of_another_process_is_as_old_as_its_record_says(seconds, ago):
    """A clock that is ahead of this one's makes it no older."""
    assert orders.called_before(call(1, START + timedelta(seconds=seconds)), Now(CALLED, SINCE)) == SINCE - ago


@pytest.mark.parametrize(
    ("known", "recorded", "counts"),
    [(1, 2, True), (2, 1, False), (None, 1, True), (2, None, False)],
    ids=["later", "earlier", "first", "none"],
)
def test_a_later_call_of_another_process_counts(known, recorded, counts):
    """Two replicas lead by turns: each counts the calls of the other."""
    ours = an_order("train", S.DESTROYING, destroying_call=call(known, START))
    theirs = an_order("train", S.DESTROYING, destroying_call=call(recorded))
    written = takeover.Written(frozenset({takeover.version_of(ours)}))
    told = takeover.take_over(TrackedOrder(ours, SINCE, recorded=SINCE), theirs, written, SINCE + 9, deleting=True)
    assert told.order.destroying_call == (theirs if counts else ours).destroying_call


def test_an_adoption_that_no_status_records_is_taken_back_from_an_object_in_deletion():
    """The destroying call that the status records is of the order before, and is known from then on."""
    before = TrackedOrder(an_order("train", S.DESTROYING), SINCE)
    adopted = an_order("train", S.SEEN, origin=Origin.ADOPTED, id="adopted")
    known = TrackedOrder(adopted, SINCE, adopted_from=before)
    recorded = before.order.model_copy(update={"destroying_call": call(1)})
    written = takeover.Written(frozenset({takeover.version_of(recorded), takeover.version_of(adopted)}))
    kept = takeover.take_over(known, recorded, written, SINCE + 9, deleting=False)
    assert (kept.order, kept.adopted_from) == (adopted, before)
    undone = takeover.take_over(known, recorded, written, SINCE + 9, deleting=True)
    assert undone.order == recorded
    told = takeover.take_over(known, adopted, written, SINCE + 9, deleting=True)
    assert (told.order, told.adopted_from) == (adopted, None), "the status records it"
