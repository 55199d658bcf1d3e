"""Where somebody undoes each status write, an Event says who does, and what to do."""

import pytest

from gpucloud.engine.controller import undone
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.plan import Plan
from support.builders import a_status
from support.fakes import UID, a_body

pytestmark = pytest.mark.looptime
RUNNING, DELETING = a_status("Running", "True", None), a_status("Deleting")
KEY = Key("GpuVM", "team", "train", UID)
HOUR = 3600.0
FIRST, SECOND, THIRD = (f"2026-01-01T00:0{minute}:00Z" for minute in (1, 2, 3))


def entry(manager, time="2026-01-01T00:00:00Z", subresource="status", **more):
    return {"manager": manager, "operation": "Update", "time": time, "subresource": subresource, **more}


OURS, THEIRS = entry("gpucloud-operator", "2026-01-01T00:09:00Z"), entry("backup-tool")


async def undoes_each(it, fields, seconds):
    """Each write of the status shows what stood before, as of now."""
    old = RUNNING.model_dump(mode="json", by_alias=True, exclude_none=True)
    it.kube.keeps = lambda _document: old
    it.kube.bodies[UID] = a_body(status=old, meta={"managedFields": fields})
    it.put(RUNNING)
    await it.live(seconds)
    return [event for event in await it.posted() if event["reason"] == "StatusUndone"]


async def test_who_undoes_the_announcement_of_a_destruction_is_named(rig):
    it = rig(lambda _facts: Plan(status=DELETING, action=Verb.DESTROY))
    told = await undoes_each(it, [OURS, THEIRS], 60)
    assert [event["type"] for event in told] == ["Warning"]
    assert "'backup-tool' overwrites this object's status" in told[0]["note"]
    assert "kubectl get gpuvm train -n team" in told[0]["note"]
    assert it.reconciler.acted == [], "nothing is sent that no status announces"


async def test_it_is_told_again_every_twenty_minutes_or_so(rig):
    it = rig(lambda _facts: Plan(status=DELETING, action=Verb.DESTROY))
    assert 3 <= len(await undoes_each(it, [THEIRS], HOUR)) <= 5


async def test_one_lost_write_is_not_told(rig):
    it = rig(lambda _facts: Plan(status=DELETING, action=None if it.reconciler.acted else Verb.DESTROY))
    old = RUNNING.model_dump(mode="json", by_alias=True, exclude_none=True)
    it.kube.keeps = lambda document: old if len(it.kube.statuses) == 1 else document
    it.put(RUNNING)
    await it.live(60)
    assert len(it.kube.statuses) == 2
    assert [event["reason"] for event in await it.posted() if event["reason"] == "StatusUndone"] == []


async def test_a_read_that_fails_holds_no_write_up(rig):
    it = rig(lambda _facts: Plan(status=DELETING, action=Verb.DESTROY))
    it.kube.gone.add(UID)
    assert await undoes_each(it, [THEIRS], 600) == []
    assert len(it.kube.statuses) > undone.FIRST_TOLD + 1


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ([], ()),
        ([OURS], ()),
        ([entry("kubectl-edit", subresource="")], ()),
        ([entry("old-tool", subresource="", fieldsV1={"f:status": {}})], ("'old-tool'",)),
        ([THEIRS, entry("argocd", "2026-01-01T00:05:00Z"), THEIRS], ("'argocd'", "'backup-tool'")),
        ([entry("a", FIRST), entry("b", SECOND), entry("a", THIRD)], ("'a'", "'b'")),
        ([{"subresource": "status"}], ()),
    ],
)
def test_other_writers_of_the_status_are_named_the_latest_first(fields, named):
    assert undone.other_writers(fields) == named


def test_where_no_other_writer_is_recorded_a_webhook_or_an_old_definition_may_be_why():
    told = undone.event(KEY, [OURS])
    assert "Look for a webhook that changes status, or apply the current CRDs: kubectl apply" in told.note
    assert "CRDs" in told.note
