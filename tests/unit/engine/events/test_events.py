"""Events: each change and each call, in order, of a length the API takes; a repeat is counted on the Event that stands."""

from dataclasses import replace

import pytest

from gpucloud.engine.kube import event_poster, event_recorder
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event, adoptions, status_changes, with_cause
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpucloudaccount import GpuCloudAccountStatus
from support.builders import UID, a_status, an_object, an_order
from support.exportedmetrics import a_condition
from support.fakes import DOWN, GONE
from support.recording import NOTE, posted

pytestmark = pytest.mark.looptime


async def test_an_event_says_who_what_and_about_whom(recorder, kube):
    recorder.record("GpuVM", an_object(), NOTE)
    (event,) = await posted(recorder, kube)
    assert (event["reason"], event["action"], event["note"], event["type"]) == ("Created", "CreateServer", NOTE.note, "Normal")
    assert event["regarding"]["uid"] == an_object().uid
    assert event["metadata"]["namespace"] == event["regarding"]["namespace"] == "team"
    assert event["eventTime"] == "2026-01-01T00:16:40.250000Z", "as the clock says, to the microsecond"
    assert event["reportingInstance"]
    assert event["reportingController"]


async def test_what_concerns_no_object_is_told_of_the_kind(recorder, kube):
    recorder.record_for_kind("gpuvms", NOTE)
    (event,) = await posted(recorder, kube)
    assert event["regarding"]["kind"] == "CustomResourceDefinition"
    assert event["metadata"]["name"].startswith("gpuvms.gpucloud.dev.")
    assert event["metadata"]["namespace"] == "default", "the only one that the API takes for what lives in none"


async def test_names_sort_by_time_also_within_a_microsecond_and_when_the_clock_steps_back(recorder, kube, clock):
    for step in (0, 0, 0.000001, -5, 0, 60):
        clock.now += step
        recorder.record("GpuVM", an_object(), replace(NOTE, note=f"Step {step} at {clock.now}.", always=True))
    names = [event["metadata"]["name"] for event in await posted(recorder, kube)]
    assert names == sorted(names)
    assert len(set(names)) == len(names) == 6
    assert {len(name) for name in names} == {len("train.") + 16}, "of one length, or text would not sort as numbers do"


async def test_a_repeat_is_counted_on_the_event_that_stands(recorder, kube, clock):
    for after in (0, 1, 599):
        clock.now += after
        recorder.record("GpuVM", an_object(), NOTE)
    (event,) = await posted(recorder, kube)
    assert event["series"] == {"count": 3, "lastObservedTime": "2026-01-01T00:26:40.250000Z"}
    assert event["eventTime"] == "2026-01-01T00:16:40.250000Z"


async def test_a_repeat_after_ten_minutes_is_an_event(recorder, kube, clock):
    recorder.record("GpuVM", an_object(), NOTE)
    clock.now += event_recorder.REPEAT_AFTER_SECONDS
    recorder.record("GpuVM", an_object(), NOTE)
    assert ["series" in event for event in await posted(recorder, kube)] == [False, False]


async def test_what_comes_again_after_something_else_is_an_event_and_the_newest(recorder, kube, clock):
    other = replace(NOTE, reason="Running")
    for event in (NOTE, other, NOTE, other):
        clock.now += 1
        recorder.record("GpuVM", an_object(), event)
    found = await posted(recorder, kube)
    by_name = sorted(found, key=lambda event: event["metadata"]["name"])
    assert [event["reason"] for event in by_name] == ["Created", "Running", "Created", "Running"]
    assert found == by_name, "posted in the order in which it happened"


async def test_a_mutation_is_an_event_each_time(recorder, kube):
    for _ in range(2):
        recorder.record("GpuVM", an_object(), replace(NOTE, always=True))
    assert ["series" in event for event in await posted(recorder, kube)] == [False, False]


FAILED = Event("StopFailed", "StopServer failed: no.", "StopServer", warning=True)


@pytest.mark.parametrize(
    ("ready", "told"),
    [
        ("StopServer failed: no. To let it go, set a field.", ["ApiError"]),
        ("The cloud cannot be asked.", ["StopFailed", "ApiError"]),
    ],
)
async def test_a_failed_call_is_no_event_beside_a_change_of_ready_that_says_it_all(recorder, kube, ready, told):
    recorder.record_unless_repeated("GpuVM", an_object(), FAILED)
    recorder.record("GpuVM", an_object(uid="another"), NOTE)
    recorder.record("GpuVM", an_object(), Event("ApiError", ready, "Reconcile"))
    assert [event["reason"] for event in await posted(recorder, kube)] == ["Created", *told]


async def test_a_call_that_fails_again_and_changes_nothing_is_counted(recorder, kube):
    for _ in range(3):
        recorder.record_unless_repeated("GpuVM", an_object(), FAILED)
        recorder.flush(an_object().uid)
        recorder.flush(an_object().uid)
    (event,) = await posted(recorder, kube)
    assert (event["reason"], event["series"]["count"]) == ("StopFailed", 3)


async def test_what_is_held_back_is_told_before_the_end_and_forgotten_with_its_object(recorder, kube):
    recorder.record_unless_repeated("GpuVM", an_object(), FAILED)
    recorder.record_unless_repeated("GpuVM", an_object(uid="gone"), FAILED)
    recorder._entries.drop("gone")
    assert [event["regarding"]["uid"] for event in await posted(recorder, kube)] == [UID]


@pytest.mark.parametrize("lost", [[DOWN], []], ids=["never recorded", "expired"])
async def test_a_repeat_of_an_event_that_is_not_there_creates_it(recorder, kube, lost):
    kube.fails = lost
    recorder.record("GpuVM", an_object(), NOTE)
    await posted(recorder, kube)
    kube.events.clear()
    recorder.record("GpuVM", an_object(), NOTE)
    (event,) = await posted(recorder, kube)
    assert event["series"]["count"] == 2


@pytest.mark.parametrize(
    "other",
    [
        (an_object(uid="another"), NOTE),
        (an_object(), Event("Created", "Another note.", "CreateServer")),
        (an_object(), Event("Destroyed", NOTE.note, "DestroyServer")),
    ],
)
async def test_what_differs_is_told(recorder, kube, other):
    recorder.record("GpuVM", an_object(), NOTE)
    recorder.record("GpuVM", *other)
    assert len(await posted(recorder, kube)) == 2


async def test_the_successor_of_a_gone_object_is_told_anew(recorder, kube):
    recorder.record("GpuVM", an_object(), NOTE)
    recorder._entries.drop(an_object().uid)
    assert len(recorder._entries) == 0
    recorder.record("GpuVM", an_object(), NOTE)
    assert len(await posted(recorder, kube)) == 2


async def test_a_long_note_and_a_long_name_are_cut(recorder, kube):
    note = "x" + "\u00e9\U0001f600" * 5000
    recorder.record("GpuVM", an_object(name="n" * 253), Event("Rejected", note, "CreateServer", warning=True))
    (event,) = await posted(recorder, kube)
    assert len(event["note"].encode()) in range(1021, 1025), "the API counts bytes"
    assert note.startswith(event["note"])
    assert len(event["metadata"]["name"]) <= 253
    assert event["type"] == "Warning"


async def test_an_apiserver_that_refuses_events_stops_nothing(recorder, kube):
    kube.fails = [GONE]
    recorder.record("GpuVM", an_object(), NOTE)
    recorder.record("GpuVM", an_object(uid="another"), NOTE)
    assert len(await posted(recorder, kube)) == 1


async def test_it_is_said_which_event_was_lost(recorder, kube, monkeypatch):
    lost = []
    kube.fails = [None, KubeError(403, "Forbidden", "the namespace is being terminated")]
    recorder.record("GpuVM", an_object(), NOTE, lambda: lost.append("posted"))
    recorder.record("GpuVM", an_object(), replace(NOTE, note="Another."), lambda: lost.append("refused"))
    assert len(await posted(recorder, kube)) == 1
    monkeypatch.setattr(event_poster, "BACKLOG_BYTES", event_poster.ENTRY_BYTES + len(NOTE.note))
    for number in range(2):
        recorder.record_for_kind("gpuvms", NOTE, lambda number=number: lost.append(number))
    assert lost == ["refused", 1]


RUNNING = a_status("Running", "True", None)
CREATING = a_status("Creating")
DRIFTED = a_status("Drifted")
REJECTED = a_status("Rejected", progress="Stalled")
NEW = a_status("Pending", "Unknown", None)
UNSEEN = a_status("ApiUnavailable", "Unknown")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, RUNNING, ("Running", False)),
        (NEW, CREATING, ("Creating", False)),
        (CREATING, RUNNING, ("Running", False)),
        (RUNNING, RUNNING, None),
        (RUNNING, a_status("PoweredOff", "True", None), ("PoweredOff", False)),
        (CREATING, REJECTED, ("Rejected", True)),
        (REJECTED, REJECTED, None),
        (REJECTED, a_status("Conflict", progress="Stalled"), ("Conflict", True)),
        (REJECTED, CREATING, ("Creating", False)),
        (RUNNING, DRIFTED, ("Drifted", True)),
        (DRIFTED, RUNNING, ("Running", False)),
        (RUNNING, UNSEEN, ("ApiUnavailable", True)),
        (UNSEEN, RUNNING, ("Running", False)),
        (RUNNING, a_status(), None),
        (NEW, a_status("Paused", "Unknown", "Paused"), ("Paused", False)),
        (RUNNING, a_status("Running", "True", "Paused"), ("Paused", False)),
        (a_status("Running", "True", "Paused"), RUNNING, ("Resumed", False)),
    ],
)
def test_each_change_of_ready_and_of_a_pause_is_an_event(before, after, told):
    found = status_changes(before.conditions if before else (), after.conditions)
    assert [(event.reason, event.warning) for event in found] == ([told] if told else [])


HELD = a_status("DeletionBlocked", progress="Stalled")
PAUSED = a_status("Running", "True", "Paused")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (PAUSED, a_status("Stopping"), ["Resumed", "Stopping"]),
        (PAUSED, HELD, ["Resumed", "DeletionBlocked"]),
        (RUNNING, a_status("Paused", "Unknown", "Paused"), ["Paused"]),
        (PAUSED, a_status("Paused", "Unknown", "Paused"), []),  # an edit while paused: the same message once more
    ],
)
def test_a_pause_is_told_though_ready_changes_in_the_same_write(before, after, told):
    assert [event.reason for event in status_changes(before.conditions, after.conditions)] == told


def test_a_pause_by_another_value_is_told_again():
    ready, paused = PAUSED.conditions
    (event,) = status_changes(PAUSED.conditions, (ready, paused.model_copy(update={"message": "Another value."})))
    assert (event.reason, event.note) == ("Paused", "Another value.")


TAKEN = an_order("by-hand", origin="Adopted")


@pytest.mark.parametrize(
    ("before", "after", "told", "why"),
    [
        ({}, {"order": TAKEN, "deletion_policy": "Retain"}, "it stays in the cloud.", "adopted"),
        ({}, {"order": TAKEN, "deletion_policy": "Delete"}, "it is destroyed.", "the spec says so"),
        ({"order": an_order("by-hand", OrderState.LOST)}, {"order": TAKEN}, "it stays in the cloud.", "in place of its own"),
        ({"order": TAKEN}, {"order": TAKEN, "deletion_policy": "Delete"}, None, "told once"),
        ({}, {"order": an_order("by-hand")}, None, "created"),
        ({}, {}, None, "nothing was ordered"),
    ],
)
def test_an_adoption_is_told_once_with_what_was_adopted(before, after, told, why):
    found = adoptions(a_status(**before), a_status(**after))
    assert [event.note for event in found] == (
        [f"Adopted 'by-hand' in cluster 'Msc1' (id 'by-hand'), which existed already. When this object is deleted, {told}"]
        if told
        else []
    ), why


def test_what_orders_nothing_adopts_nothing():
    assert adoptions(GpuCloudAccountStatus(), GpuCloudAccountStatus()) == ()


def test_a_change_of_words_alone_is_no_event():
    (ready, *rest) = REJECTED.conditions
    assert not status_changes(REJECTED.conditions, (ready.model_copy(update={"message": "Other words."}), *rest))


def test_the_end_of_a_drift_says_so():
    (event,) = status_changes(DRIFTED.conditions, RUNNING.conditions)
    assert event.note.startswith("Drift corrected: ")
    (event,) = status_changes(CREATING.conditions, RUNNING.conditions)
    assert "Drift" not in event.note


@pytest.mark.parametrize(
    ("event", "reason", "note"),
    [
        (NOTE, "Creating", "Requested creation of VM 'x': the cloud lists none for this object."),
        (NOTE, "Stopping", "Requested creation of VM 'x': spec.powerState is Stopped."),
        (NOTE, "SomethingNew", NOTE.note),
        (NOTE, None, NOTE.note),
        (replace(NOTE, warning=True), "Creating", NOTE.note),
    ],
)
def test_a_call_says_why(event, reason, note):
    ready = None if reason is None else a_condition("Ready", reason=reason)
    assert with_cause(event, ready).note == note


def test_a_recreation_says_in_the_words_of_ready_which_field_asks_for_it():
    ready = a_condition("Ready", reason="Recreating")
    ready = ready.model_copy(update={"message": "A new VM is being created, as spec.onLoss asks."})
    note = "Requested creation of VM 'x'. A new VM is being created, as spec.onLoss asks."
    assert with_cause(NOTE, ready).note == note


def test_what_only_announces_a_call_is_no_event_but_a_warning_and_a_pause_are():
    announced = CREATING.conditions
    assert not status_changes((), announced, announces=True)
    assert [event.reason for event in status_changes((), DRIFTED.conditions, announces=True)] == ["Drifted"]
    assert [event.reason for event in status_changes(PAUSED.conditions, announced, announces=True)] == ["Resumed"]
    assert [event.reason for event in status_changes(announced, RUNNING.conditions, announces=True)] == ["Running"]
