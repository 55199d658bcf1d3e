"""Decisions about a GpuSnapshot that take more than one pass, or more than its table says."""

from __future__ import annotations

from gpucloud.kinds.gpusnapshot import GpuSnapshotStatus
from gpucloud.kinds.meta import ConditionType
from gpucloud.reconcile.conditions import find
from gpucloud.reconcile.gpusnapshot import decide
from support.builders import START
from support.rows import noted
from support.snapshotfacts import (
    COMPLETED,
    CREATING,
    a_snapshot,
    snapshot_facts,
)


def test_a_pause_does_not_move_the_time_at_which_it_succeeded():
    held = decide(snapshot_facts(meta=noted(PAUSED="true"), status=COMPLETED, found=a_snapshot())).status
    back = decide(snapshot_facts(status=held, found=a_snapshot())).status
    assert find(back.conditions, ConditionType.SUCCEEDED).last_transition_time == START


def test_a_record_of_rubbish_still_fits_the_schema():
    plan = decide(snapshot_facts(status=CREATING, found=a_snapshot(osImage="x" * 5000, creationDate="2026-01-01T00:00:00.5")))
    assert len(plan.status.os_image) == 253
    assert GpuSnapshotStatus.model_validate(plan.status.model_dump(mode="json", by_alias=True)) == plan.status
