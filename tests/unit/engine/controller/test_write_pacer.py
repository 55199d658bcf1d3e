"""Status writes that do not stand, or that come without end, are made ever more slowly; all others at once."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from gpucloud.engine.controller.pacing import BACKOFF_SECONDS, BURST, SECONDS_PER_WRITE, WritePacer
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.runtime.workqueue import Lane
from gpucloud.kinds.model import Condition
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.plan import Plan
from support.builders import START, a_status
from support.fakes import DOWN, UID, EveryEntry, a_body

pytestmark = pytest.mark.looptime
CREATING, RUNNING = a_status("Creating"), a_status("Running", "True", None)
FOREIGN = Condition(type="Backup", status="True", reason="Restored", message="Theirs.", last_transition_time=START)
HOUR = 3600.0
UNDONE = "gpucloud_status_writes_undone_total"


def dump(status):
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)


def with_foreign(document):
    """What another manager makes of a status."""
    return {**document, "conditions": [*document["conditions"], FOREIGN.model_dump(mode="json", by_alias=True)]}


def without_id(document):
    """What an older definition, or a webhook, leaves of a status."""
    return {name: value for name, value in document.items() if name != "vmId"}


async def test_a_write_that_does_not_bring_what_was_written_is_not_repeated_hot(rig):
    wanted = CREATING.model_copy(update={"vm_id": "x"})
    it = rig(lambda _facts: Plan(status=wanted, action=Verb.CREATE))
    it.kube.keeps = lambda document: with_foreign(without_id(document)) | {"observedGeneration": 7}
    it.put()
    await it.live(HOUR)
    assert 60 <= len(it.kube.statuses) <= 100, "one a minute, after the first few"
    assert it.count(UNDONE, kind="GpuVM") == len(it.kube.statuses)
    assert it.reconciler.acted == [], "nothing is done before the status that announces it stands"


async def test_a_condition_that_another_manager_adds_is_removed_and_holds_nothing_up(rig):
    it = rig(lambda _facts: Plan(status=RUNNING, action=None if it.reconciler.acted else Verb.STOP))
    it.reconciler.store.put(a_body(status=with_foreign(dump(RUNNING))))
    await it.live(30)
    assert [verb for verb, _ in it.reconciler.acted] == [Verb.STOP]
    assert it.kube.statuses == [dump(RUNNING)]


async def test_a_condition_that_cannot_be_removed_holds_nothing_up(rig):
    it = rig(lambda _facts: Plan(status=RUNNING, action=None if it.reconciler.acted else Verb.STOP))
    it.kube.keeps = with_foreign
    it.reconciler.store.put(a_body(status=with_foreign(dump(RUNNING))))
    await it.live(30)
    assert [verb for verb, _ in it.reconciler.acted] == [Verb.STOP]
    assert len(it.kube.statuses) <= 6


async def test_a_manager_that_adds_its_condition_again_after_each_write_meets_bounded_writes(rig):
    it = rig(lambda _facts: Plan(status=RUNNING))
    it.put(RUNNING)

    async def fight():
        seen = -1
        while True:
            if len(it.kube.statuses) != seen:
                seen, it.kube.version = len(it.kube.statuses), it.kube.version + 1
                it.reconciler.store.put(a_body(version=it.kube.version, status=with_foreign(dump(RUNNING))))
                it.queue.add(it.key)
            await asyncio.sleep(0.5)

    rival = asyncio.create_task(fight())
    await it.live(HOUR)
    rival.cancel()
    assert 35 <= len(it.kube.statuses) <= 90


async def test_a_manager_that_changes_ready_meets_bounded_writes(rig):
    """The time of the condition moves with each write, so no two are alike."""
    times = iter(range(10**6))

    def plan(_facts):
        ready = RUNNING.conditions[0].model_copy(update={"last_transition_time": START + timedelta(seconds=next(times))})
        return Plan(status=RUNNING.model_copy(update={"conditions": (ready,)}))

    it = rig(plan)
    it.put(CREATING)

    async def fight():
        while True:
            it.kube.version += 1
            it.reconciler.store.put(a_body(version=it.kube.version, status=dump(CREATING)))
            it.queue.add(it.key)
            await asyncio.sleep(0.5)

    rival = asyncio.create_task(fight())
    await it.live(HOUR)
    rival.cancel()
    assert 45 <= len(it.kube.statuses) <= 120  # once a minute, and the passes between are spaced, too


async def test_a_status_that_never_comes_to_rest_is_written_at_a_bounded_rate(rig):
    words = iter(range(10**6))
    it = rig(lambda _facts: Plan(status=CREATING.model_copy(update={"observed_generation": next(words)})))
    it.put()

    async def stir():
        while True:
            it.queue.add(it.key)
            await asyncio.sleep(2)

    stirring = asyncio.create_task(stir())
    await it.live(HOUR)
    stirring.cancel()
    assert len(it.kube.statuses) <= BURST + HOUR / SECONDS_PER_WRITE + 1
    assert it.count(UNDONE, kind="GpuVM") == 0


def test_a_write_that_stands_ends_the_backoff():
    pacer = WritePacer(lambda: 0.5, EveryEntry())
    for _ in range(12):
        pacer.spend(UID, 1, 0.0)
        pacer.judge(UID, {"vmId": "a"}, False, 0.0)
    assert pacer.not_before(UID, 1) >= 0.75 * BACKOFF_SECONDS[1]
    pacer.spend(UID, 1, 60.0)
    assert pacer.judge(UID, {"vmId": "b"}, True, 60.0) == 0
    assert pacer.not_before(UID, 1) <= 60.0


def test_an_edit_renews_the_budget():
    pacer = WritePacer(lambda: 0.5, EveryEntry())
    for number in range(BURST):
        assert pacer.not_before(UID, 1) <= 0, number
        pacer.spend(UID, 1, 0.0)
    assert pacer.not_before(UID, 1) == SECONDS_PER_WRITE
    assert pacer.not_before(UID, 2) <= 0


def test_what_was_undone_long_ago_is_forgotten():
    pacer = WritePacer(lambda: 0.5, EveryEntry())
    for at in (0.0, 1.0, 5000.0):
        pacer.spend(UID, 1, at)
        undone = pacer.judge(UID, {"vmId": "a"}, True, at)
    assert undone == 0


class Refusing(list):
    """Every write is refused with this error, at a time that is noted."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def __bool__(self):
        return True

    def pop(self, _place):
        self.append(asyncio.get_running_loop().time())
        return self.error


@pytest.mark.parametrize("error", [DOWN, KubeError(503, "ServiceUnavailable", "no etcd"), KubeError(403, "Forbidden", "no")])
@pytest.mark.parametrize("woken", [False, True])
async def test_a_status_that_the_apiserver_does_not_take_is_sent_ever_more_slowly(rig, error, woken):
    """Whatever woke the object, such as a listing, let it write at once: 25 times a second, 20 times in a row."""
    it = rig(lambda _facts: Plan(status=CREATING, action=Verb.CREATE))
    it.put()
    it.kube.fails = sent = Refusing(error)

    async def stir():
        while woken:
            it.queue.add(it.key, Lane.POLLS)
            await asyncio.sleep(0.04)

    stirring = asyncio.create_task(stir())
    await it.live(600)
    stirring.cancel()
    waits = [later - earlier for earlier, later in pairwise(sent)]
    longest = [min(0.2 * 2.0**number, 60.0) for number in range(len(waits))]
    assert all(most / 2 <= wait <= most + 0.1 for wait, most in zip(waits, longest, strict=True)), waits
    assert len(waits) <= 25


async def test_a_cause_outside_ends_the_wait_after_a_refused_write(rig):
    """The watch brings an edit, so the apiserver is there again."""
    it = rig(lambda _facts: Plan(status=CREATING))
    it.put()
    it.kube.fails = Refusing(DOWN)
    await it.live(100)
    it.kube.fails = []
    it.loop.pace.caused(UID)
    it.queue.add(it.key, Lane.PEOPLE)
    await asyncio.sleep(0.1)
    assert len(it.kube.statuses) == 1
