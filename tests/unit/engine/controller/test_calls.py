"""The status first, then the call: what is sent, and only while the facts behind the decision stand."""

import asyncio

import pytest

from gpucloud.engine.controller.status_writer import LASTING_SECONDS
from gpucloud.engine.kube.events import Event
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.plan import Plan, Release
from support.builders import an_order
from support.controllerrig import CREATING, KEY, RUNNING, Rig
from support.fakes import CONFLICT, DOWN, GOING, UID, a_body

pytestmark = pytest.mark.looptime


async def test_the_action_is_taken_only_when_its_status_stands(rig):
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.START if not it.reconciler.acted else None))
    it.put()
    await it.live(1)
    assert it.reconciler.acted == [(Verb.START, CREATING)]
    assert len(it.kube.statuses) == 1


async def test_what_was_refused_by_the_apiserver_is_not_acted_on(rig):
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.START if not it.reconciler.acted else None))
    it.put()
    it.kube.fails = [DOWN] * 100_000
    await it.live(60)
    assert it.reconciler.acted == []
    it.kube.fails.clear()
    await asyncio.sleep(120)
    assert it.reconciler.acted == [(Verb.START, CREATING)]


async def test_an_order_is_remembered_before_each_write_of_it(rig):
    wanted = CREATING.model_copy(update={"order": an_order("x", OrderState.INTENDED)})
    it = rig(lambda facts: Plan(status=wanted, records_order=facts.status != wanted))
    it.put()
    it.kube.fails = [CONFLICT]
    await it.live(5)
    assert it.reconciler.recorded == [(UID, "x")] * 2, "the watch may show it before the answer"
    assert len(it.kube.statuses) == 1


@pytest.mark.parametrize(("slow", "fails", "passes"), [(True, False, 1), (True, True, 2), (False, False, 2)])
async def test_after_a_call_whose_effect_takes_time_a_listing_is_waited_for(rig, slow, fails, passes):
    it = rig(lambda _facts: Plan(status=CREATING, action=None if it.reconciler.acted else Verb.CREATE))
    it.reconciler.slow = slow
    it.reconciler.outcome = Event("It", "Words.", "CreateServer", warning=fails)
    it.put(CREATING)
    await it.live(LASTING_SECONDS - 1)
    assert len(it.reconciler.attended) == passes
    await asyncio.sleep(2)
    assert len(it.reconciler.attended) >= 2, "it is looked at again though no listing has come"


async def test_an_object_that_has_changed_by_the_answer_to_a_write_is_reconciled_again(rig):
    """Simulated world, seed 900633: etcd was restored, and the write fell upon a version that was given twice."""
    generations = []

    def plan(_facts):
        generations.append(it.reconciler.gathered.meta.generation)
        return Plan(status=RUNNING)

    it = rig(plan)
    it.put()
    it.kube.bodies[UID] = a_body(meta=GOING | {"generation": 2})
    await it.live(5)
    assert (generations[0], generations[-1], bool(it.outdated)) == (1, 2, True)


async def test_stale_facts_are_not_acted_upon(rig):
    """A process that stood still in between must look again."""
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.CREATE), gather_takes=10.5)
    it.put(CREATING)
    await it.live(60)
    assert it.reconciler.acted == []
    it.reconciler.gather_takes = 1.0
    it.reconciler.plan = lambda _facts: Plan(status=CREATING, action=None if it.reconciler.acted else Verb.CREATE)
    await asyncio.sleep(30)
    assert len(it.reconciler.acted) == 1


async def newer_view(it, seconds, meta):
    """While a pass is under way, the watch brings a newer view of its object."""
    await asyncio.sleep(seconds)
    it.put(CREATING, version=999, meta=meta)


@pytest.mark.parametrize(
    ("meta", "goes", "why"),
    [
        ({"annotations": {"gpucloud.dev/paused": "true"}}, False, "its owner has said something else since"),
        ({"generation": 2}, False, "its spec is another"),
        ({"labels": {"team": "ml"}}, True, "nothing that a decision depends on"),
    ],
)
@pytest.mark.parametrize("when", ["gathering", "sending"])
async def test_a_call_is_not_sent_on_facts_that_the_watch_has_overtaken(rig, when, meta, goes, why):
    """Facts may wait for the apiserver, and a call for its turn; nothing that was overtaken meanwhile leaves."""
    begun = asyncio.get_running_loop().time()
    it = rig(lambda facts: Plan(status=CREATING, action=Verb.DESTROY if facts.now.mono < begun + 0.5 else None))
    it.put(CREATING)
    it.reconciler.gather_takes, it.reconciler.act_takes = (2.0, 0.0) if when == "gathering" else (0.0, 2.0)
    told = asyncio.create_task(newer_view(it, 1.0, meta))
    await it.live(20)
    await told
    assert [verb for verb, still_meant in it.reconciler.left if still_meant] == [Verb.DESTROY] * goes, why
    assert len(it.reconciler.acted) == (goes or when == "sending"), "nor is a call announced in the log that is not meant"


async def test_a_release_is_not_repeated_while_the_watch_has_not_told_of_it(rig):
    """A listing may wake the object before its end is known here; a second request could only be answered by a 404."""
    it = rig(lambda _facts: Plan(release=Release(Reason.GONE, "The VM is gone.")))
    it.put(RUNNING)
    await it.live(1)
    it.queue.add(KEY)
    await asyncio.sleep(1)
    assert it.kube.released == [UID]
    assert len(it.reconciler.attended) == 1, "nor is anything decided"

    it.put(RUNNING, version=2)  # others hold it still, and somebody has put our finalizer back
    it.queue.add(KEY)
    await asyncio.sleep(1)
    assert it.kube.released == [UID, UID]


async def test_a_release_that_failed_is_tried_again(rig):
    it = rig(lambda _facts: Plan(release=Release(Reason.GONE, "The VM is gone.") if not it.kube.released else None))
    it.put(RUNNING)
    it.kube.fails = [DOWN, CONFLICT]
    await it.live(60)
    assert it.kube.released == [UID]


async def test_a_call_that_was_not_sent_is_decided_upon_anew(rig):
    """The reconciler answers None when the account has changed since the facts were gathered: no Event, and another pass."""
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.START if len(it.reconciler.acted) < 3 else None))
    it.put(CREATING)
    it.reconciler.unsent = 2
    await it.live(5)
    await it.end()
    assert len(it.reconciler.acted) == 3
    assert len(it.events.poster) == 1


def destroys_once(_facts):
    return Plan(status=CREATING, action=Verb.DESTROY)


async def test_after_a_write_without_an_answer_nothing_is_sent_before_a_look(rig):
    """It may have been written, and have withdrawn the very order that an older status still shows."""
    said = [Plan(status=CREATING, action=Verb.CREATE)]
    it = rig(lambda _facts: said[0])
    it.put()
    await it.loop.reconcile(KEY)  # the announcement
    said[0], it.kube.fails = Plan(status=RUNNING), [DOWN]
    await it.loop.reconcile(KEY)
    body = it.kube.bodies[UID] = {"metadata": dict(it.reconciler.store.get(UID).raw_meta), "status": {}}
    body["metadata"] |= {"resourceVersion": "999"}
    said[0] = Plan(status=CREATING, action=Verb.CREATE)
    await asyncio.sleep(1)
    await it.loop.reconcile(KEY)
    assert (it.reconciler.acted, len(it.kube.reads)) == ([], 1)


@pytest.mark.parametrize(
    ("slept", "changed", "acts", "reads", "why"),
    [
        (5, True, 1, 0, "its announcement is young: the write would have been refused"),
        (15, False, 1, 1, "it stands as it was"),
        (15, True, 0, 1, "its owner may have taken it back"),
    ],
)
async def test_a_process_that_slept_asks_before_it_acts(slept, changed, acts, reads, why):
    rig = Rig(destroys_once)
    rig.put()
    await rig.loop.reconcile(KEY)  # the announcement
    stored = rig.reconciler.store.get(UID)
    body = {"metadata": dict(stored.raw_meta), "status": CREATING.model_dump(mode="json", by_alias=True)}
    if changed:
        body["metadata"] |= {"resourceVersion": "999"}
    rig.kube.bodies[UID] = body
    await asyncio.sleep(slept)
    await rig.loop.reconcile(KEY)
    assert (len(rig.reconciler.acted), len(rig.kube.reads)) == (acts, reads), why
    await rig.loop.reconcile(KEY)
    assert len(rig.reconciler.acted) >= 1, "what was read is acted upon"
