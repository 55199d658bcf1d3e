"""Which Events and log lines a reconcile leaves."""

import asyncio

import pytest

from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.plan import Plan, Release
from support.builders import a_status
from support.controllerrig import CREATING, KEY, RUNNING

pytestmark = pytest.mark.looptime


async def test_a_call_that_is_announced_is_told_by_its_own_event(rig):
    it = rig(lambda _facts: Plan(status=a_status("Stopping"), action=None if it.reconciler.acted else Verb.STOP))
    it.reconciler.outcome = Event("Stopped", "Requested stop of VM 'x'.", "StopServer", always=True)
    it.put()
    await it.live(5)
    assert [event["reason"] for event in await it.posted()] == ["Stopped"]


@pytest.mark.parametrize(("warning", "told"), [(True, ["default"]), (False, [])])
async def test_that_something_may_be_billed_is_told_where_events_can_be_recorded(rig, warning, told):
    """A namespace that is being deleted takes no Events; so nobody was told of a VM that may be the object's."""
    it = rig(lambda _facts: Plan(release=Release(Reason.RETAINED, "This may be your VM.", warning)))
    it.put(RUNNING)
    it.kube.fails = [None, KubeError(403, "Forbidden", "the namespace is being terminated")]
    await it.live(1)
    events = await it.posted()
    assert [event["metadata"]["namespace"] for event in events] == told
    assert all("GpuVM team/train: This may be your VM." in event["note"] for event in events)


async def test_events_come_in_the_order_of_what_they_tell_with_its_cause(rig):
    drifted, running = a_status("Drifted"), a_status("Running", "True", None)
    plans = [Plan(status=drifted, action=Verb.START), Plan(action=Verb.START), Plan(status=running)]
    it = rig(lambda facts: plans[2 if it.reconciler.acted else facts.status == drifted])
    it.put(running)
    await it.live(7)
    await it.end()
    told = [
        (event["reason"], event["note"]) for event in sorted(await it.posted(), key=lambda event: event["metadata"]["name"])
    ]
    assert told == [
        ("Drifted", "Made up."),
        ("Created", "Done: it was switched outside Kubernetes, against spec.powerState."),
        ("Running", "Drift corrected: Made up."),
    ]


async def test_what_is_kept_back_is_logged_once_and_counted_while_it_lasts(rig, logs):
    said = [Plan(status=CREATING, withheld=Verb.CREATE)]
    it = rig(lambda _facts: said[0])
    it.put()
    await it.live(3)

    async def then(plan):
        said[0] = plan
        it.queue.add(KEY)
        await asyncio.sleep(1)
        return list(it.loop.withheld())

    assert list(it.loop.withheld()) == [Verb.CREATE]
    assert await then(Plan(pending=True)) == [Verb.CREATE], "a pass that only waits for a younger look says nothing new"
    assert await then(Plan(status=RUNNING)) == []
    assert await then(Plan(status=CREATING, withheld=Verb.CREATE)) == [Verb.CREATE]
    assert await then(Plan(status=CREATING, withheld="Release")) == ["Release"]
    assert [line["would"] for line in logs if line["event"] == "withheld"] == [Verb.CREATE, "Release"]


async def test_what_is_gone_is_kept_back_no_more(rig):
    it = rig(lambda _facts: Plan(status=CREATING, withheld=Verb.CREATE))
    it.put()
    await it.live(1)
    it.loop.on_delete(KEY)
    assert list(it.loop.withheld()) == []


async def test_a_call_that_fails_again_and_again_is_one_event(rig):
    """The history: each retry of a stop made three events, and ``describe`` was full of them."""
    stopping, words = a_status("Stopping"), "StopServer failed: no."
    conditions = [one.model_copy(update={"reason": "ApiError", "message": words}) for one in stopping.conditions]
    refused, tries = stopping.model_copy(update={"conditions": tuple(conditions)}), [1]

    def decide(_facts):
        said = refused if it.reconciler.acted else stopping
        return Plan(status=said, action=Verb.STOP if len(it.reconciler.acted) < tries[0] else None)

    it = rig(decide)
    it.reconciler.outcome = Event("StopFailed", words, "StopServer", warning=True)
    posting = asyncio.create_task(it.events.run())
    it.put()
    await it.live(5)
    for tries[0] in range(2, 6):
        it.queue.add(KEY)
        await asyncio.sleep(70)
    await it.end()
    await it.events.drain()
    posting.cancel()
    told = [(event["reason"], event.get("series", {}).get("count", 1)) for event in it.kube.events]
    assert (len(it.reconciler.acted), told) == (5, [("StopFailed", 5)])
