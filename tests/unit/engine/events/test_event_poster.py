"""The poster of Events: in order for each object, several at once while no object waits, none lost in a storm."""

import asyncio
from dataclasses import replace

import pytest

from gpucloud.engine.kube import event_poster
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.event_recorder import EventRecorder
from gpucloud.engine.kube.events import Event
from support.builders import UID, an_object
from support.fakes import DOWN, EveryEntry, FakeKube
from support.recording import NOTE, posted

UNAUTHORIZED = KubeError(401, "Unauthorized", "")

pytestmark = pytest.mark.looptime
SIZE = event_poster.ENTRY_BYTES + len(NOTE.note)


@pytest.mark.parametrize("fails", [[DOWN, DOWN], [UNAUTHORIZED, UNAUTHORIZED], [DOWN] * 5])
async def test_an_apiserver_in_trouble_is_asked_again_and_the_order_stays(recorder, kube, fails):
    """Seed 121142: an Event of an orphan met a 401, and another an outage of a minute; each is told once only."""
    kube.fails = list(fails)
    recorder.record("GpuVM", an_object(), NOTE)
    recorder.record("GpuVM", an_object(uid="another"), NOTE)
    recorder.record("GpuVM", an_object(), replace(NOTE, reason="Running"))
    found = await posted(recorder, kube)
    assert [event["reason"] for event in found if event["regarding"]["uid"] == UID] == ["Created", "Running"]
    assert [event["reason"] for event in found if event["regarding"]["uid"] != UID] == ["Created"]


async def test_an_event_that_cannot_be_posted_costs_its_object_two_minutes_and_no_other_any_time(recorder, kube):
    record = kube.record_event

    async def refuse(namespace, event):
        if event["reason"] == "Created" and event["regarding"]["uid"] == UID:
            raise DOWN
        await record(namespace, event)

    kube.record_event = refuse
    for uid in (UID, "another"):
        for reason in ("Created", "Running"):
            recorder.record("GpuVM", an_object(uid=uid), replace(NOTE, reason=reason))
    task, counts = asyncio.create_task(recorder.run()), []
    for seconds in (0.1, 100, 20):
        await asyncio.sleep(seconds)
        counts.append([event["regarding"]["uid"] for event in kube.events])
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert counts == [["another"] * 2, ["another"] * 2, ["another", "another", UID]]


@pytest.fixture
def yielding(kube, clock, monkeypatch):
    """A recorder whose Events let objects go first, and what says that there are some."""
    monkeypatch.setattr(event_poster, "YIELD_BYTES", 5 * SIZE)
    objects = [UID]
    return EventRecorder(kube, clock, EveryEntry(), busy=lambda: bool(objects)), objects


async def told_meanwhile(recorder, kube, act=lambda: None):
    """The number of Events posted before and after an act."""
    task = asyncio.create_task(recorder.run())
    counts = []
    for step in (lambda: None, act):
        step()
        await asyncio.sleep(1)
        counts.append(len(kube.events))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return counts


async def test_events_let_the_objects_go_first(yielding, kube):
    recorder, objects = yielding
    recorder.record("GpuVM", an_object(), NOTE)
    assert await told_meanwhile(recorder, kube, objects.clear) == [0, 1]


async def test_but_not_for_long(yielding, kube, clock):
    recorder, _objects = yielding
    recorder.record("GpuVM", an_object(), NOTE)

    def later():
        clock.now += event_poster.YIELD_SECONDS

    assert await told_meanwhile(recorder, kube, later) == [0, 1]


async def test_nor_while_very_many_wait(yielding, kube):
    recorder, _objects = yielding
    for number in range(7):
        recorder.record("GpuVM", an_object(uid=str(number)), NOTE)
    assert await told_meanwhile(recorder, kube) == [4, 4], "the last ones wait again"


async def test_nor_at_the_end_of_the_process(yielding, kube):
    recorder, _objects = yielding
    recorder.record("GpuVM", an_object(), NOTE)
    assert len(await posted(recorder, kube)) == 1


async def test_a_full_backlog_drops_and_does_not_block(recorder, kube, monkeypatch):
    monkeypatch.setattr(event_poster, "BACKLOG_BYTES", 5 * SIZE)
    for number in range(9):
        recorder.record("GpuVM", an_object(uid=str(number)), NOTE)
    assert len(await posted(recorder, kube)) == 5
    recorder.record("GpuVM", an_object(uid="later"), NOTE)
    assert len(await posted(recorder, kube)) == 6, "what is posted leaves room"


class SlowKube(FakeKube):
    """Takes a second for each Event, and notes how many are under way at once, in all and of one object."""

    def __init__(self):
        super().__init__()
        self.under_way, self.most, self.most_of_one = [], 0, 0

    async def record_event(self, namespace, event):
        self.under_way.append(event["regarding"]["uid"])
        self.most = max(self.most, len(self.under_way))
        self.most_of_one = max(self.most_of_one, *map(self.under_way.count, self.under_way))
        await asyncio.sleep(1)
        self.under_way.remove(event["regarding"]["uid"])
        await super().record_event(namespace, event)


STEPS = ["Created", "Running", "Destroyed", "Gone"]


@pytest.mark.parametrize(("busy", "most"), [(False, event_poster.AT_ONCE), (True, 1)])
async def test_several_are_posted_at_once_while_no_object_waits(clock, busy, most):
    kube = SlowKube()
    recorder = EventRecorder(kube, clock, EveryEntry(), busy=lambda: busy)
    for step in STEPS:
        for uid in "abcdefgh":
            recorder.record("GpuVM", an_object(uid=uid), Event(step, step, step))
    clock.now += event_poster.YIELD_SECONDS
    task = asyncio.create_task(recorder.run())
    await asyncio.sleep(60)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (kube.most, kube.most_of_one) == (most, 1)
    assert all([event["reason"] for event in kube.events if event["regarding"]["uid"] == uid] == STEPS for uid in "abcdefgh")


async def test_the_events_of_ten_thousand_vms_all_wait_and_none_is_lost(kube, clock):
    """Each is created, becomes Ready, is destroyed and goes before the apiserver has taken a single Event."""
    recorder = EventRecorder(kube, clock, EveryEntry())
    for step in STEPS:
        for number in range(10_000):
            recorder.record("GpuVM", an_object(uid=str(number)), Event(step, "n" * 150, step))
    assert len(await posted(recorder, kube)) == 40_000
