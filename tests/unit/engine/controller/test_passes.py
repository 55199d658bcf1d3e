"""When an object is reconciled: retries, wake-ups and workers."""

import asyncio
from itertools import pairwise

import pytest

from gpucloud.engine.controller.workers import stop
from gpucloud.engine.telemetry.reconciles import ReconcileResult
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.plan import Plan
from support.controllerrig import CREATING, KEY, RUNNING
from support.fakes import CONFLICT, DOWN, GONE, NO_DEFINITION, UID

pytestmark = pytest.mark.looptime


async def test_a_conflict_is_tried_again_and_counts_as_no_error(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [CONFLICT, CONFLICT]
    await it.live(10)
    assert len(it.kube.statuses) == 1
    assert it.count("controller_runtime_reconcile_errors_total", controller="gpuvm") == 0
    assert it.count("controller_runtime_reconcile_total", controller="gpuvm", result="requeue") == 2


async def test_a_pass_that_finds_nothing_to_do_is_counted_apart(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    await it.live(1)  # the write
    it.queue.add(KEY)
    await it.live(1)  # stands already
    counted = "controller_runtime_reconcile_total"
    results = {result: it.count(counted, controller="gpuvm", result=result) for result in ReconcileResult}
    assert len(it.kube.statuses) == 1
    assert results == {"success": 1, "unchanged": 1, "requeue": 0, "error": 0}


async def test_failures_back_off(rig):
    times = []

    def plan(_facts):
        times.append(it.clock.mono())
        raise RuntimeError("a defect")

    it = rig(plan)
    it.put()
    await it.live(600)
    gaps = [later - sooner for sooner, later in pairwise(times)]
    assert gaps[0] <= 0.2
    assert 30 <= gaps[-1] <= 60
    assert len(times) < 30


@pytest.mark.parametrize(("error", "writes"), [(GONE, 2), (DOWN, 20)])
async def test_a_gone_object_and_an_apiserver_that_is_down_get_few_writes(rig, error, writes):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [error] * 1000
    await it.live(60)
    assert len(it.kube.fails) >= 1000 - writes


@pytest.mark.parametrize("error", [NO_DEFINITION, DOWN])
async def test_what_says_nothing_of_the_object_is_tried_again_and_counts_as_an_error(rig, error):
    """The definitions are not served yet, or again: no event of the watch brings the object back."""
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [error] * 3
    await it.live(30)
    assert len(it.kube.statuses) == 1
    assert it.count("controller_runtime_reconcile_errors_total", controller="gpuvm") == 3


async def test_one_change_costs_one_pass(rig):
    passes = []
    it = rig(lambda _facts: passes.append(1) or Plan(status=RUNNING))
    it.put()
    await it.live(60)
    assert len(passes) == 1


async def test_no_exception_ends_a_worker(rig):
    mood = [RuntimeError("decide"), KeyError("x"), ValueError("y")]

    def plan(_facts):
        if mood:
            raise mood.pop()
        return Plan(status=RUNNING)

    it = rig(plan)
    it.put()
    await it.live(60, workers=1)
    assert len(it.kube.statuses) == 1
    assert it.count("controller_runtime_reconcile_errors_total", controller="gpuvm") == 3


async def test_wake_ups_follow_the_plan(rig):
    times = []

    def plan(facts):
        times.append(facts.now.mono)
        return Plan(requeue_at=facts.now.mono + 7) if len(times) < 4 else Plan()

    it = rig(plan)
    it.put()
    await it.live(100)
    assert [round(later - sooner) for sooner, later in pairwise(times)] == [7, 7, 7]


async def test_a_look_needed_only_later_is_a_wake_up(rig):
    times = []

    def plan(facts):
        times.append(facts.now.mono)
        return Plan(refresh_after=times[0] + 9)

    it = rig(plan)
    it.put()
    await it.live(8)
    assert len(times) == 1
    await asyncio.sleep(2)
    assert len(times) == 2


async def test_one_object_is_never_in_two_passes_at_once(rig):
    it = rig(lambda _facts: Plan(), gather_takes=1.0)
    it.put()
    await it.live(0.5, workers=8)
    for _ in range(20):
        it.queue.add(KEY)
        await asyncio.sleep(0.3)
    assert it.reconciler.most == 1


async def test_an_object_that_is_forgotten_is_not_worked_on(rig):
    it = rig(lambda facts: Plan(requeue_at=facts.now.mono + 5))
    it.put()
    await it.live(1)
    it.loop.on_delete(KEY)
    before = len(it.reconciler.attended)
    await asyncio.sleep(60)
    assert len(it.reconciler.attended) == before
    assert it.reconciler.forgotten == [KEY]
    assert it.reconciler.store.get(UID) is None


async def test_stop_lets_a_sent_call_finish(rig):
    it = rig(lambda _facts: Plan(status=CREATING, action=None if it.reconciler.acted else Verb.CREATE), act_takes=3.0)
    it.put(CREATING)
    await it.live(0.5)
    assert len(it.reconciler.acted) == 1
    began = it.clock.mono()
    await stop(it.workers, it.queue, 30.0)
    assert 2 <= it.clock.mono() - began <= 4
    assert it.count("controller_runtime_reconcile_total", controller="gpuvm", result="success") == 1


async def test_stop_does_not_wait_for_ever(rig):
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.CREATE), act_takes=1000.0)
    it.put(CREATING)
    await it.live(0.5)
    began = it.clock.mono()
    await stop(it.workers, it.queue, 5.0)
    assert it.clock.mono() - began <= 6
    assert all(worker.done() for worker in it.workers)
