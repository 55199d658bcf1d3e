"""The status contract that tools rely on holds for every verdict."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import Progress, Verdict, build, find, settled, stalled, working
from support.builders import START

LATER = START + timedelta(seconds=60)
VERDICTS = st.builds(
    Verdict,
    ready=st.sampled_from(["True", "False", "Unknown"]),
    reason=st.sampled_from(Reason),
    message=st.text(max_size=50),
    progress=st.sampled_from(Progress),
)


@given(VERDICTS, VERDICTS, st.one_of(st.none(), st.just("Paused by a person.")), st.integers(0, 9))
def test_the_contract_holds_for_every_verdict(first, second, paused, generation):
    before = build(first, (), 1, START)
    after = build(second, before, generation, LATER, paused=paused)
    types = [item.type for item in after]
    assert len(types) == len(set(types))
    assert types[0] == ConditionType.READY
    assert not {ConditionType.RECONCILING, ConditionType.STALLED} <= set(types)
    for item in after:
        assert item.observed_generation == generation
        assert item.type == ConditionType.READY or item.status == "True"
        was = find(before, item.type)
        flipped = was is None or was.status != item.status
        assert item.last_transition_time == (LATER if flipped else START)


@given(VERDICTS)
def test_the_same_verdict_again_changes_nothing(verdict):
    before = build(verdict, (), 1, START)
    assert build(verdict, before, 1, LATER) == before


@pytest.mark.parametrize(
    ("verdict", "found"),
    [
        (settled(Reason.RUNNING, "m"), {"Ready": "True"}),
        (working(Reason.CREATING, "m"), {"Ready": "False", "Reconciling": "True"}),
        (working(Reason.API_UNAVAILABLE, "m", ready="Unknown"), {"Ready": "Unknown", "Reconciling": "True"}),
        (stalled(Reason.REJECTED, "m"), {"Ready": "False", "Stalled": "True"}),
    ],
)
def test_verdicts(verdict, found):
    conditions = build(verdict, (), 1, START)
    assert {item.type: item.status for item in conditions} == found
    assert {item.reason for item in conditions} == {verdict.reason}


def test_another_reason_does_not_move_the_time():
    before = build(working(Reason.CREATING, "m"), (), 1, START)
    after = build(working(Reason.PROVISIONING, "m"), before, 1, LATER)
    assert {item.last_transition_time for item in after} == {START}


def test_what_is_not_there_is_not_found():
    assert find((), ConditionType.READY) is None
