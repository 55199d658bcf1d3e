"""Events: each told once, of a length the API takes, and only when a verdict deserves it."""

import asyncio

import pytest

from gpucloud.engine import events
from gpucloud.engine.events import EventRecorder, Happening, verdict_change
from support.builders import a_status, an_object
from support.fakes import DOWN, FakeKube, HandClock

pytestmark = pytest.mark.looptime
NOTE = Happening("Created", "The VM 'x' was ordered.", "CreateServer")


@pytest.fixture
def kube():
    return FakeKube()


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
def recorder(kube, clock):
    return EventRecorder(kube, clock)


async def posted(recorder, kube):
    task = asyncio.create_task(recorder.run())
    await asyncio.wait_for(recorder.drain(), 5)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return kube.events


async def test_an_event_says_who_what_and_about_whom(recorder, kube):
    recorder.tell("GpuVM", an_object(), NOTE)
    (event,) = await posted(recorder, kube)
    assert (event["reason"], event["action"], event["note"], event["type"]) == ("Created", "CreateServer", NOTE.note, "Normal")
    assert event["regarding"]["uid"] == an_object().uid
    assert event["metadata"]["namespace"] == event["regarding"]["namespace"] == "team"
    assert event["eventTime"].endswith(".000000Z")
    assert event["reportingInstance"]
    assert event["reportingController"]


async def test_what_concerns_no_object_is_told_of_the_kind(recorder, kube):
    recorder.tell_of_kind("gpuvms", NOTE)
    (event,) = await posted(recorder, kube)
    assert event["regarding"]["kind"] == "CustomResourceDefinition"
    assert event["metadata"]["name"].startswith("gpuvms.gpucloud.dev.")
    assert event["metadata"]["namespace"] == "default", "the only one that the API takes for what lives in none"


async def test_the_same_is_told_once_in_ten_minutes(recorder, kube, clock):
    for after in (0, 1, 598):
        clock.now += after
        recorder.tell("GpuVM", an_object(), NOTE)
    assert len(await posted(recorder, kube)) == 1
    clock.now += 1
    recorder.tell("GpuVM", an_object(), NOTE)
    assert len(await posted(recorder, kube)) == 2
    names = {event["metadata"]["name"] for event in kube.events}
    assert len(names) == 2, "a second event needs a name of its own"


@pytest.mark.parametrize(
    "other",
    [
        (an_object(uid="another"), NOTE),
        (an_object(), Happening("Created", "Another note.", "CreateServer")),
        (an_object(), Happening("Destroyed", NOTE.note, "DestroyServer")),
    ],
)
async def test_what_differs_is_told(recorder, kube, other):
    recorder.tell("GpuVM", an_object(), NOTE)
    recorder.tell("GpuVM", *other)
    assert len(await posted(recorder, kube)) == 2


async def test_the_successor_of_a_gone_object_is_told_anew(recorder, kube):
    recorder.tell("GpuVM", an_object(), NOTE)
    recorder.forget(an_object().uid)
    recorder.tell("GpuVM", an_object(), NOTE)
    assert len(await posted(recorder, kube)) == 2


async def test_a_long_note_and_a_long_name_are_cut(recorder, kube):
    recorder.tell("GpuVM", an_object(name="n" * 253), Happening("Rejected", "x" * 5000, "CreateServer", warning=True))
    (event,) = await posted(recorder, kube)
    assert len(event["note"]) == 1024
    assert len(event["metadata"]["name"]) <= 253
    assert event["type"] == "Warning"


async def test_an_apiserver_that_refuses_events_stops_nothing(recorder, kube):
    kube.fails = [DOWN]
    recorder.tell("GpuVM", an_object(), NOTE)
    recorder.tell("GpuVM", an_object(uid="another"), NOTE)
    assert len(await posted(recorder, kube)) == 1


async def test_a_full_backlog_drops_and_does_not_block(kube, clock, monkeypatch):
    monkeypatch.setattr(events, "BACKLOG", 5)
    recorder = EventRecorder(kube, clock)
    for number in range(9):
        recorder.tell("GpuVM", an_object(uid=str(number)), NOTE)
    assert len(await posted(recorder, kube)) == 5


RUNNING = a_status("Running", "True", None)
CREATING = a_status("Creating")
REJECTED = a_status("Rejected", progress="Stalled")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, RUNNING, ("Running", False)),
        (CREATING, RUNNING, ("Running", False)),
        (RUNNING, RUNNING, None),
        (RUNNING, a_status("PoweredOff", "True", None), ("PoweredOff", False)),
        (CREATING, REJECTED, ("Rejected", True)),
        (REJECTED, REJECTED, None),
        (REJECTED, a_status("Conflict", progress="Stalled"), ("Conflict", True)),
        (None, CREATING, None),  # the order itself has an event
        (RUNNING, a_status("Drifted"), None),
        (RUNNING, a_status("ApiUnavailable", "Unknown"), None),
        (RUNNING, a_status(), None),
    ],
)
def test_which_verdict_deserves_an_event(before, after, told):
    found = verdict_change(before.conditions if before else (), after.conditions)
    assert (found and (found.reason, found.warning)) == told
