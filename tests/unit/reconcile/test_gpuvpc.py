"""Decisions about a GpuVpc that take more than one pass, or more than its table says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Adoption
from gpucloud.kinds.gpuvpc import GpuVpcStatus
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.facts import Absent, Verb
from gpucloud.reconcile.gpuvpc import decide
from gpucloud.reconcile.retry import LONGEST_DELAY
from gpucloud.reconcile.text import abridged
from support.builders import NOW, an_order, known
from support.rows import tried
from support.vpcfacts import (
    ADOPTS,
    AVAILABLE,
    CREATING,
    DELETING,
    EMPTY,
    NAME,
    RENUMBERED,
    TAKEN_OVER,
    a_vpc,
    a_vpc_spec,
    vpc_facts,
)


def test_adopted_from_a_stranger_it_stays_when_this_object_goes():
    """Ours was destroyed outside and re-made by another: what the first pass writes must not make it ours for the second."""
    adopted = decide(vpc_facts(spec=ADOPTS, found=a_vpc("vpc-2"), status=AVAILABLE, known=RENUMBERED)).status
    again = decide(vpc_facts(spec=ADOPTS, found=a_vpc("vpc-2"), status=adopted))
    assert again.status == adopted
    gone = decide(vpc_facts(meta=DELETING, spec=ADOPTS, found=a_vpc("vpc-2"), status=adopted, occupants=EMPTY))
    assert (gone.release.reason, gone.action) == (Reason.RETAINED, None)


def test_one_made_anew_after_another_was_there_is_ours():
    """The id of the one before must not make it a stranger's: it would be left behind."""
    recorded = decide(vpc_facts(status=TAKEN_OVER, found=Absent(NOW, NOW - 40, NOW - 2))).status
    alive = decide(vpc_facts(status=recorded, found=a_vpc("vpc-3")))
    assert alive.status.conditions[0].reason == Reason.AVAILABLE
    gone = decide(vpc_facts(meta=DELETING, status=alive.status, found=a_vpc("vpc-3"), occupants=EMPTY))
    assert gone.action is Verb.DESTROY_VPC


def test_a_name_called_taken_is_tried_again_after_five_minutes_and_a_part_by_uid():
    """Objects that were refused together are not all sent again at once."""
    given = {"status": CREATING, "history": tried(Verb.CREATE_VPC, kind=ErrorKind.CONFLICT)}
    f = vpc_facts(**given)
    again = f.attempt(Verb.CREATE_VPC).at + LONGEST_DELAY * (1 + f.spread / 4)
    assert (0 < f.spread < 1, decide(f).requeue_at) == (True, again)
    assert _reason(decide(replace(f, now=replace(f.now, mono=again - 0.1)))) == Reason.CONFLICT
    assert _reason(decide(replace(f, now=replace(f.now, mono=again)))) != Reason.CONFLICT


def test_a_name_called_taken_is_tried_at_once_when_a_person_asks():
    f = vpc_facts(status=CREATING, history=tried(Verb.CREATE_VPC, kind=ErrorKind.CONFLICT))
    edited = replace(f, meta=replace(f.meta, generation=f.meta.generation + 1))
    assert (decide(f).records_order, decide(edited).records_order) == (False, True)


def _reason(plan):
    return None if plan.status is None else plan.status.conditions[0].reason


@pytest.mark.parametrize("adoption", list(Adoption))
def test_a_mismatch_keeps_ready_false_whoever_made_it(adoption):
    spec = a_vpc_spec(adoption=adoption, isDefault=True)
    plan = decide(vpc_facts(spec=spec, status=AVAILABLE, found=a_vpc(isDefault=False)))
    assert {item.type: item.status for item in plan.status.conditions} == {
        ConditionType.READY: "False",
        ConditionType.STALLED: "True",
    }


def test_a_record_of_rubbish_still_fits_the_schema():
    plan = decide(vpc_facts(status=CREATING, found=a_vpc(ipRange="x" * 5000, createdAt="2026-01-01T00:00:00.5")))
    assert len(plan.status.ip_range) == 253
    assert GpuVpcStatus.model_validate(plan.status.model_dump(mode="json", by_alias=True)) == plan.status


def test_an_id_longer_than_the_record_holds_is_the_same_id():
    """Else it would be looked at again for ever, and never be let go."""
    order = an_order(NAME, vpc=NAME, cloud_id=abridged("x" * 300))
    facts = vpc_facts(found=a_vpc("x" * 300), tracked=known(order))
    plan = decide(facts)
    assert (facts.differs(facts.found), plan.status is None) == (False, False)
