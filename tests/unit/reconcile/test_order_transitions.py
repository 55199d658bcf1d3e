"""Each transition of an order is made with its proof, and not without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.transitions import IGNORED, TRANSITIONS
from simulation import ignored_pairs
from support.orderevents import (
    ADOPTS,
    CHOSEN,
    ELSE,
    EXISTS,
    GRACE,
    INVALID,
    LOST_ANSWER,
    MARKED,
    ONE,
    SINCE,
    SPARED,
    UNIQUE,
    E,
    S,
    answer,
    ask,
    at,
    destroy,
    look,
    missing,
    pass_by,
    record,
    renumber,
    restart,
    shown,
)

# Of each transition: what brings the proof, and the nearest thing that does not. None: the call is itself the event.
PROOF = {
    (S.NOT_ORDERED, E.RECORDED): (record, None),
    (S.NOT_ORDERED, E.SHOWN): (look(shown(), MARKED), look(shown(), CHOSEN)),
    (S.NOT_ORDERED, E.DESTROYED): (destroy, None),
    (S.INTENDED, E.TAKEN_OVER): (restart, pass_by),
    (S.INTENDED, E.RECORDED): (record, None),
    (S.INTENDED, E.ANSWERED): (answer(None), answer(LOST_ANSWER)),
    (S.INTENDED, E.UNANSWERED): (answer(LOST_ANSWER), answer(INVALID)),
    (S.INTENDED, E.REFUSED): (answer(INVALID), answer(EXISTS)),
    (S.INTENDED, E.SHOWN): (look(shown(), MARKED), look(shown(), CHOSEN)),
    (S.INTENDED, E.NAME_TAKEN): (look(shown(), CHOSEN), look(shown(), MARKED)),
    (S.ACCEPTED, E.SHOWN): (look(shown(SINCE - 1), CHOSEN), look(shown(SINCE - 2), CHOSEN)),
    (S.ACCEPTED, E.REPLACED): (renumber, look(ELSE, UNIQUE)),
    (S.ACCEPTED, E.MISSING): (look(missing(SINCE + 10 * GRACE), MARKED), look(missing(SINCE + 10 * GRACE - 1), MARKED)),
    (S.UNCLEAR, E.SHOWN): (look(shown(SINCE - 1), CHOSEN), look(shown(SINCE - 2), CHOSEN)),
    (S.UNCLEAR, E.MISSING): (look(missing(SINCE + GRACE), MARKED), look(missing(SINCE + GRACE - 1), MARKED)),
    (S.UNCLEAR, E.REPLACED): (renumber, look(ELSE, UNIQUE)),
    (S.REFUSED, E.RECORDED): (record, None),
    (S.REFUSED, E.SHOWN): (look(shown(), ADOPTS), look(shown(), CHOSEN)),
    (S.OVERDUE, E.RECORDED): (record, None),
    (S.OVERDUE, E.SHOWN): (look(shown(SINCE - 1), CHOSEN), look(shown(SINCE - 2), CHOSEN)),
    (S.OVERDUE, E.ASKED_AGAIN): (ask("t2"), ask("t1")),
    (S.OVERDUE, E.DESTROYED): (destroy, None),
    (S.OVERDUE, E.REPLACED): (renumber, look(ELSE, UNIQUE)),
    (S.SEEN, E.MISSING): (look(missing(SINCE + GRACE - 1), MARKED), look(missing(SINCE + GRACE - 2), MARKED)),
    (S.SEEN, E.REPLACED): (renumber, look(ELSE, UNIQUE)),
    (S.SEEN, E.DESTROYED): (destroy, None),
    (S.LOST, E.RECORDED): (record, None),
    (S.LOST, E.SHOWN): (look(shown(), MARKED), look(shown(), CHOSEN)),
    (S.LOST, E.DESTROYED): (destroy, None),
    (S.DESTROYING, E.DESTROYED): (destroy, None),
    (S.DESTROYING, E.MISSING): (look(missing(SINCE + GRACE), MARKED), look(missing(SINCE + GRACE - 1), MARKED)),
    (S.DESTROYING, E.REPLACED): (renumber, look(ELSE, UNIQUE)),
    (S.DESTROYING, E.RECOVERED): (look(shown(SINCE + 300), SPARED), look(shown(SINCE + 299), SPARED)),
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
def test_nothing_else_ever_happens(state, unexpected_pairs):
    """Whatever comes, even what never comes in this state: it changes only as the table says."""
    allowed = {state} | {item.to for (before, _), item in TRANSITIONS.items() if before is state}
    for own in (True, False):
        for stimulus in STIMULI:
            try:
                after = stimulus(at(state, own=own))
            except ValueError:
                assert not orders.may_be_recorded(state)
                continue
            assert after.state in allowed | {S.SEEN if state is S.LOST else state}
    unexpected_pairs.clear()


def take_name(tracked):
    """A listing shows the chosen name; no acceptance has named what was ordered."""
    return look(shown(), CHOSEN)(replace(tracked, order=tracked.order.model_copy(update={"cloud_id": None})))


@pytest.mark.parametrize("own", [True, False], ids=["own", "another's"])
def test_the_events_that_change_nothing_are_those_that_are_named(own):
    """Each happens in its state, and the state stays; any other pair fails (``conftest.py``)."""
    brings = {E.TAKEN_OVER: restart, E.NAME_TAKEN: take_name, E.ASKED_AGAIN: ask("t2"), E.DESTROYED: destroy}
    brings |= {E.SHOWN: look(shown(), MARKED)}
    for state, event in IGNORED:
        assert brings[event](at(state, own=own)).state is state


@pytest.mark.parametrize("pair", IGNORED)
def test_a_pair_that_is_not_named_is_told(pair, monkeypatch, unexpected_pairs):
    monkeypatch.setattr(ignored_pairs, "IGNORED", IGNORED.keys() - {pair})
    orders.after_event(at(pair[0]), pair[1], SINCE)
    assert len(unexpected_pairs) == 1
    unexpected_pairs.clear()


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
