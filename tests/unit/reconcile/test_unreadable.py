"""An object whose spec this version cannot read."""

import pytest

from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import Now
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.unreadable import Unreadable, decide
from support.builders import NOW, START, a_status, an_object, an_order

FLAW = "spec.cluster: Field required"


def decided(*, deleting=False, status=None, flaw=FLAW):
    meta = an_object(deleting=deleting, generation=3)
    return decide(Unreadable(Now(START, NOW), "GpuVM", meta, status or GpuVMStatus(), flaw))


@pytest.mark.parametrize(
    ("deleting", "reason", "says"),
    [
        (False, Reason.INVALID_SPEC, f"cannot read the spec: {FLAW}. Correct it."),
        (True, Reason.DELETION_BLOCKED, f"cannot read the spec: {FLAW}. Correct it. Deletion is held until then."),
    ],
)
def test_it_is_said_and_a_person_must_act(deleting, reason, says):
    conditions = decided(deleting=deleting).status.conditions
    assert [(item.type, item.status, item.reason) for item in conditions] == [
        (ConditionType.READY, "False", reason),
        (ConditionType.STALLED, "True", reason),
    ]
    assert all(item.message.endswith(says) for item in conditions)
    assert {item.observed_generation for item in conditions} == {3}
    assert {item.last_transition_time for item in conditions} == {START}


def test_nothing_is_done_to_it_nor_let_go():
    plan = decided(deleting=True)
    assert plan == Plan(status=plan.status)


def test_what_was_recorded_stays_and_the_generation_is_answered():
    before = a_status(Reason.RUNNING, "True", None, vm_id="vm-1", order=an_order("train"))
    status = decided(status=before).status
    assert (status.vm_id, status.order, status.observed_generation) == ("vm-1", before.order, 3)
    assert decided(status=status).status == status


def test_a_long_flaw_still_fits_the_schema():
    ready = find(decided(flaw="x" * 40_000).status.conditions, ConditionType.READY)
    assert len(ready.message) == 32_768
