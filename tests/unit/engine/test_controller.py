"""One pass: the status first, then the action; and whatever fails, the worker goes on."""

import asyncio
from itertools import pairwise

import pytest

from gpucloud.engine.cache.store import Store
from gpucloud.engine.controller.controller import LASTING_SECONDS, PENDING_LASTING_SECONDS
from gpucloud.engine.controller.urgency import RECORDS
from gpucloud.engine.controller.workers import stop
from gpucloud.engine.kube.client import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.engine.telemetry.metrics import ReconcileResult
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.plan import Plan, Release
from support.builders import a_status, an_order
from support.controllerrig import KEY, Rig
from support.fakes import CONFLICT, DOWN, GOING, GONE, UID, a_body, a_resource

pytestmark = pytest.mark.looptime

CREATING, RUNNING = a_status("Creating"), a_status("Running", "True", None)


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


async def test_a_conflict_is_tried_again_and_counts_as_no_error(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [CONFLICT, CONFLICT]
    await it.live(10)
    assert len(it.kube.statuses) == 1
    assert it.count("controller_runtime_reconcile_errors_total", controller="GpuVM") == 0
    assert it.count("controller_runtime_reconcile_total", controller="GpuVM", result="requeue") == 2


async def test_a_pass_that_finds_nothing_to_do_is_counted_apart(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    await it.live(1)  # the write
    it.queue.add(KEY)
    await it.live(1)  # stands already
    counted = "controller_runtime_reconcile_total"
    results = {result: it.count(counted, controller="GpuVM", result=result) for result in ReconcileResult}
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


async def test_an_object_that_is_gone_is_left_in_peace(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [GONE] * 1000
    await it.live(60)
    assert len(it.kube.fails) >= 998


async def test_an_apiserver_that_is_down_is_not_hammered(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [DOWN] * 1000
    await it.live(60)
    assert len(it.kube.fails) >= 980


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
    assert it.count("controller_runtime_reconcile_errors_total", controller="GpuVM") == 3


async def test_an_order_is_remembered_before_each_write_of_it(rig):
    wanted = CREATING.model_copy(update={"order": an_order("x", OrderState.INTENDED)})
    it = rig(lambda facts: Plan(status=wanted, records_order=facts.status != wanted))
    it.put()
    it.kube.fails = [CONFLICT]
    await it.live(5)
    assert it.reconciler.recorded == [(UID, "x")] * 2, "the watch may show it before the answer"
    assert len(it.kube.statuses) == 1


async def test_what_only_informs_is_written_once_it_has_lasted(rig):
    words = iter(f"WORD{number}" for number in range(1000))
    it = rig(lambda _facts: Plan(status=RUNNING.model_copy(update={"state": next(words)})))
    it.put(RUNNING)
    await it.live(LASTING_SECONDS - 1)
    for _ in range(20):
        it.queue.add(KEY)
        await asyncio.sleep(0.01)
    assert it.kube.statuses == []
    await asyncio.sleep(2)
    assert len(it.kube.statuses) == 1


async def test_what_came_and_went_is_not_written(rig):
    status = [RUNNING.model_copy(update={"state": "ODD"})]
    it = rig(lambda _facts: Plan(status=status[0]))
    it.put(RUNNING)
    await it.live(2)
    status[0] = RUNNING
    it.queue.add(KEY)
    await asyncio.sleep(60)
    assert it.kube.statuses == []


@pytest.mark.parametrize(
    "after",
    [
        a_status("Drifted"),  # Ready flips
        RUNNING.model_copy(update={"observed_generation": 2}),  # a person waits for it
        RUNNING.model_copy(update={"last_handled_restart_at": "t"}),
        RUNNING.model_copy(update={"order": an_order("x")}),  # a new process must know of it
    ],
)
async def test_a_verdict_is_written_at_once(rig, after):
    it = rig(lambda _facts: Plan(status=after))
    it.put(RUNNING)
    await it.live(0.1)
    assert len(it.kube.statuses) == 1


async def test_whose_a_credential_is_is_written_at_once(rig):
    """A new process knows it by nothing else."""
    said = GpuCloudAccountStatus(observed_generation=1)
    it = rig(lambda _facts: Plan(status=said.model_copy(update={"tenant": "acme"})))
    it.reconciler.store = Store(GpuCloudAccountSpec, GpuCloudAccountStatus)
    it.reconciler.store.put(
        a_resource("GpuCloudAccount", status=said.model_dump(mode="json", by_alias=True, exclude_none=True))
    )
    await it.live(0.1)
    assert [status["tenant"] for status in it.kube.statuses] == ["acme"]


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_is_written_at_once_is_a_field_of_a_status(name):
    assert any(name in kind.status.model_fields for kind in DEFINITIONS)


async def test_a_status_that_stands_is_not_written_again(rig):
    it = rig(lambda _facts: Plan(status=RUNNING))
    it.put(RUNNING)
    await it.live(1)
    for _ in range(50):
        it.queue.add(KEY)
        await asyncio.sleep(1)
    assert it.kube.statuses == []


async def test_what_only_informs_waits_longer_for_a_verdict_that_is_expected(rig):
    """Its write carries the rest, too: most objects are Ready within ten seconds of their first record."""
    it = rig(lambda _facts: Plan(status=CREATING.model_copy(update={"state": "PENDING"}), pending=True))
    it.put(CREATING)
    await it.live(PENDING_LASTING_SECONDS - 1)
    assert it.kube.statuses == []
    await asyncio.sleep(2)
    assert [status["state"] for status in it.kube.statuses] == ["PENDING"]


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


async def test_the_answer_to_a_call_is_recorded_as_soon_as_whatever_only_informs(rig):
    """Simulated world, seed 904817: counted from the next look, it took 15 seconds, and was lost with the process."""
    answered = CREATING.model_copy(update={"state": "answered"})
    it = rig(
        lambda _facts: (
            Plan(status=answered, pending=True)
            if it.reconciler.acted
            else Plan(status=CREATING, action=Verb.CREATE, pending=True)
        ),
        slow=True,
    )
    it.put(CREATING)
    await it.live(PENDING_LASTING_SECONDS - 1)
    assert it.kube.statuses == []
    await asyncio.sleep(2)
    assert [status["state"] for status in it.kube.statuses] == ["answered"]


async def test_an_object_that_the_answer_to_a_write_shows_otherwise_is_decided_upon_again(rig):
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


async def test_a_call_that_is_announced_is_told_by_its_own_event(rig):
    it = rig(lambda _facts: Plan(status=a_status("Stopping"), action=None if it.reconciler.acted else Verb.STOP))
    it.reconciler.outcome = Event("Stopped", "Requested stop of VM 'x'.", "StopServer", always=True)
    posting = asyncio.create_task(it.events.run())
    it.put()
    await it.live(5)
    await it.events.drain()
    posting.cancel()
    assert [event["reason"] for event in it.kube.events] == ["Stopped"]


async def test_a_status_edited_by_somebody_is_put_right(rig):
    it = rig(lambda _facts: Plan(status=RUNNING.model_copy(update={"vm_id": "x"})))
    it.put(RUNNING.model_copy(update={"vm_id": "edited"}))
    await it.live(LASTING_SECONDS + 1)
    assert [status["vmId"] for status in it.kube.statuses] == ["x"]


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
async def test_what_the_watch_brings_during_a_pass_counts_in_it(rig, when, meta, goes, why):
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


@pytest.mark.parametrize(("warning", "told"), [(True, ["default"]), (False, [])])
async def test_that_something_may_be_billed_is_told_where_events_can_be_recorded(rig, warning, told):
    """A namespace that is being deleted takes no Events; so nobody was told of a VM that may be the object's."""
    it = rig(lambda _facts: Plan(release=Release(Reason.RETAINED, "This may be your VM.", warning)))
    it.put(RUNNING)
    it.kube.fails = [None, KubeError(403, "Forbidden", "the namespace is being terminated")]
    await it.live(1)
    posting = asyncio.create_task(it.events.run())
    await it.events.drain()
    posting.cancel()
    assert [event["metadata"]["namespace"] for event in it.kube.events] == told
    assert all("GpuVM team/train: This may be your VM." in event["note"] for event in it.kube.events)


@pytest.mark.parametrize("error", [CONFLICT, GONE])
async def test_a_version_that_is_refused_again_and_again_is_no_fault_of_the_moment(rig, error):
    """Simulated world, seed 400265: after a restore of etcd a snapshot that was gone was written for five minutes."""
    it = rig(lambda facts: Plan(status=CREATING, requeue_at=facts.now.mono + 10))
    it.put(RUNNING)
    it.kube.fails = [error] * 9
    await it.live(15)
    assert it.outdated == [] or error is CONFLICT
    await asyncio.sleep(60)
    assert it.outdated


async def test_refusals_of_versions_that_the_watch_replaces_are_none_of_a_dead_watch(rig):
    it = rig(lambda facts: Plan(status=CREATING, requeue_at=facts.now.mono + 10))
    it.kube.fails = [CONFLICT] * 9
    it.put(RUNNING)
    await it.live(0.1)
    for version in range(2, 9):
        it.put(RUNNING, version=version)
        it.queue.add(KEY)
        await asyncio.sleep(0.4)
    assert it.outdated == []


async def test_a_release_that_failed_is_tried_again(rig):
    it = rig(lambda _facts: Plan(release=Release(Reason.GONE, "The VM is gone.") if not it.kube.released else None))
    it.put(RUNNING)
    it.kube.fails = [DOWN, CONFLICT]
    await it.live(60)
    assert it.kube.released == [UID]


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


async def test_the_answer_to_a_write_does_not_bring_a_gone_object_back(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    answer = it.kube.replace_status

    async def overtaken(*arguments):
        document = await answer(*arguments)
        it.loop.on_delete(KEY)  # DELETED arrives on the other connection before our answer is read
        return document

    it.kube.replace_status = overtaken
    await it.live(5)
    assert it.reconciler.store.get(UID) is None


async def test_stop_lets_a_sent_call_finish(rig):
    it = rig(lambda _facts: Plan(status=CREATING, action=None if it.reconciler.acted else Verb.CREATE), act_takes=3.0)
    it.put(CREATING)
    await it.live(0.5)
    assert len(it.reconciler.acted) == 1
    began = it.clock.mono()
    await stop(it.workers, it.queue, 30.0)
    assert 2 <= it.clock.mono() - began <= 4
    assert it.count("controller_runtime_reconcile_total", controller="GpuVM", result="success") == 1


async def test_stop_does_not_wait_for_ever(rig):
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.CREATE), act_takes=1000.0)
    it.put(CREATING)
    await it.live(0.5)
    began = it.clock.mono()
    await stop(it.workers, it.queue, 5.0)
    assert it.clock.mono() - began <= 6
    assert all(worker.done() for worker in it.workers)


async def test_a_status_of_our_own_is_noticed_as_soon_as_it_stands(rig):
    """The watch shows it later, and as nothing new: those who wait for this object are woken by our own write."""
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    await it.live(5)
    assert it.reconciler.seen == [CREATING]


async def test_a_write_that_failed_is_not_noticed(rig):
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = [CONFLICT, DOWN] * 1000
    await it.live(5)
    assert it.reconciler.seen == []


async def test_a_call_that_was_not_sent_is_decided_upon_anew(rig):
    """The room answers None when the account changed since the look: no event, and another pass."""
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.START if len(it.reconciler.acted) < 3 else None))
    it.put(CREATING)
    it.reconciler.unsent = 2
    await it.live(5)
    await it.end()
    assert len(it.reconciler.acted) == 3
    assert it.events._backlog.qsize() == 1


async def test_events_come_in_the_order_of_what_they_tell_with_its_cause(rig):
    drifted, running = a_status("Drifted"), a_status("Running", "True", None)
    plans = [Plan(status=drifted, action=Verb.START), Plan(action=Verb.START), Plan(status=running)]
    it = rig(lambda facts: plans[2 if it.reconciler.acted else facts.status == drifted])
    it.put(running)
    posting = asyncio.create_task(it.events.run())
    await it.live(7)
    await it.end()
    await it.events.drain()
    posting.cancel()
    told = [(event["reason"], event["note"]) for event in sorted(it.kube.events, key=lambda event: event["metadata"]["name"])]
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
