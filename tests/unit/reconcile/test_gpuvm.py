"""Decisions about a GpuVM that take more than one pass, or more than its table says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gpucloud.kinds.gpuvm import GpuVMStatus
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.facts import (
    Unknown,
    UnknownReason,
)
from gpucloud.reconcile.gpuvm import decide, with_snapshots
from support.builders import (
    NOW,
    START,
    a_spec,
    a_status,
    an_object,
    an_order,
    facts,
    present,
)
from support.gpuvmfacts import (
    CREATING,
    DELETING,
    RUNNING,
    TOGETHER,
    a_list,
)
from support.rows import noted


def test_paused_stands_beside_ready():
    plan = decide(facts(meta=noted(PAUSED="true"), status=RUNNING, found=present()))
    assert find(plan.status.conditions, ConditionType.PAUSED).status == "True"


def test_another_value_over_a_pause_is_said_and_deletion_keeps_the_condition():
    paused = decide(facts(meta=noted(PAUSED="true"), status=RUNNING, found=present())).status
    for meta in (noted(PAUSED="yes"), noted(PAUSED="yes", deleting=True)):
        paused = decide(facts(meta=meta, status=paused, found=present())).status
        assert "is 'yes'" in find(paused.conditions, ConditionType.PAUSED).message


def test_the_deadline_is_carried_over_and_reset_by_a_new_generation():
    first = decide(facts(status=CREATING, found=present("PENDING"))).status
    assert first.progress_deadline_at == START + timedelta(seconds=NOW + 1800)
    later = decide(facts(status=first, found=present("PENDING_READINESS"))).status
    assert later.progress_deadline_at == first.progress_deadline_at
    settled = decide(facts(status=later, found=present())).status
    assert settled.progress_deadline_at is None


def test_a_record_of_rubbish_still_fits_the_schema():
    plan = decide(facts(status=CREATING, found=present(ip="x" * 5000, gpus=10**12, image="y" * 300)))
    assert len(plan.status.ip) == 253
    assert plan.status.gpus is None
    assert GpuVMStatus.model_validate(plan.status.model_dump(mode="json", by_alias=True)) == plan.status


@pytest.mark.parametrize(
    ("snapshots", "taken_along"),
    [
        (a_list(("s", True), ("t", True)), True),
        (a_list(), False),  # nothing to take: the safer call
        (a_list(("s", True), ("theirs", False)), False),
        (a_list(("theirs", False)), False),
        (a_list(("s", True), as_of=NOW - 11), False),  # a foreign one may have come since
        (a_list(("s", True), confirmed=None), False),  # one listing may lack a foreign one
        (a_list(("s", True), confirmed=NOW - 99), False),  # a foreign one may have come since
        (Unknown(NOW, UnknownReason.UNREACHABLE), False),
        (None, False),
    ],
)
def test_when_the_destroying_call_takes_the_snapshots_along(snapshots, taken_along):
    assert with_snapshots(facts(**TOGETHER | {"snapshots": snapshots})) is taken_along
    assert not with_snapshots(facts(**TOGETHER | {"snapshots": snapshots, "spec": a_spec()}))


def test_an_id_that_somebody_wrote_into_a_status_is_not_destroyed():
    """The spec names 'mine'; that 'victim' is its VM stands in the status alone, which people can edit."""
    forged = a_status("Running", "True", None, order=an_order("mine", cloud_id="victim"), vm_id="victim")
    given = {"spec": a_spec(vmName="mine"), "status": forged, "found": present(name="victim")}
    plan = decide(facts(meta=DELETING, **given))
    assert (plan.action, plan.release) == (None, None)
    assert find(plan.status.conditions, ConditionType.READY).reason == Reason.DELETION_BLOCKED
    alive = decide(facts(meta=an_object(generation=2), **given | {"spec": a_spec(vmName="mine", powerState="Stopped")}))
    assert alive.action is None
    assert find(alive.status.conditions, ConditionType.READY).reason == Reason.AMBIGUOUS


@pytest.mark.parametrize(("may_adopt", "reason", "shown"), [(True, "Running", "203.0.113.9"), (False, "Ambiguous", None)])
def test_an_id_that_somebody_wrote_shows_a_vm_only_where_a_spec_could_adopt_it(may_adopt, reason, shown):
    """Where isolated namespaces share an account, it may be another namespace's."""
    forged = a_status("Running", "True", None, order=an_order("mine", cloud_id="victim"), vm_id="victim")
    theirs = present(name="victim", ip="203.0.113.9")
    plan = decide(facts(spec=a_spec(vmName="mine"), status=forged, found=theirs, may_adopt=may_adopt))
    assert find(plan.status.conditions, ConditionType.READY).reason == reason
    assert plan.status.ip == shown
