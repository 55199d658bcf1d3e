"""One trace an edit: its calls and statuses below one root span, which ends when the object is Ready or gone."""

import asyncio
import socket
import threading
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.engine.telemetry.opentelemetry import CLOSE_SECONDS, OpenTelemetryTracer
from gpucloud.engine.telemetry.tracing import Edit
from gpucloud.kinds.meta import Annotation
from support.enginerig import OURS, OWN, vm

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
EDIT = Edit("GpuVM", "team", "train", "u-train", 1)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def spans():
    return InMemorySpanExporter()


@pytest.fixture
def tracer(spans):
    made = OpenTelemetryTracer("1.0", SimpleSpanProcessor(spans))
    yield made
    made.close()


def named(spans):
    return {span.name: span for span in spans.get_finished_spans()}


@pytest.mark.looptime
async def test_an_edit_is_one_trace_from_the_edit_to_ready(rig, spans, tracer):
    it = await rig(tracer=tracer)
    await asyncio.sleep(5)
    traceparent = {Annotation.TRACEPARENT: f"00-{TRACE}-{SPAN}-01"}
    it.show("GpuVM", meta={"generation": 1, "annotations": traceparent})
    await asyncio.sleep(5)
    it.cloud.worlds[OWN]["GetServers"] = [vm(OURS)]
    await asyncio.sleep(10)
    assert it.ready() == "Running"
    found = named(spans)
    assert set(found) >= {"CreateServer", "status Creating", "status Running", "GpuVM Running"}
    root = found["GpuVM Running"]
    assert {f"{span.context.trace_id:032x}" for span in found.values()} == {TRACE}
    assert f"{root.parent.span_id:016x}" == SPAN
    assert {span.parent.span_id for name, span in found.items() if name != root.name} == {root.context.span_id}
    assert found["CreateServer"].attributes["gpucloud.target"] == OURS
    assert root.start_time <= found["CreateServer"].start_time


POLLED = 120  # seconds, in which any listing comes
OFF, ON = [vm(OURS, status="OFFLINE")], [vm(OURS)]


@pytest.mark.looptime
@pytest.mark.parametrize("left", [ON, OFF], ids=["it runs", "it is off"])
async def test_a_vm_that_starts_again_is_no_second_root_span_after_a_restart(rig, spans, tracer, left):
    it = await rig(tracer=tracer)
    await asyncio.sleep(5)
    it.show("GpuVM", meta={"generation": 1})
    for listed in (ON, OFF, left):
        await asyncio.sleep(POLLED)
        it.cloud.worlds[OWN]["GetServers"] = listed
    await asyncio.sleep(POLLED)
    successor = await rig(tracer=tracer)
    meta, status = it.kube.bodies["u-train"]["metadata"], it.status()
    for listed in (left, OFF, ON):
        successor.cloud.worlds[OWN]["GetServers"] = listed
        await asyncio.sleep(POLLED)
        if "u-train" not in successor.kube.bodies:
            successor.show("GpuVM", meta=meta, status=status)
            await asyncio.sleep(POLLED)
    assert successor.ready() == "Running"
    assert [span.name for span in spans.get_finished_spans()].count("GpuVM Running") == 1


@pytest.mark.looptime
async def test_a_deletion_is_a_trace_although_its_deleted_event_comes_before_the_answer(rig, spans, tracer):
    it = await rig(tracer=tracer)
    await asyncio.sleep(5)
    it.show("GpuVM", meta={"generation": 1})
    await asyncio.sleep(5)
    it.cloud.worlds[OWN]["GetServers"] = [vm(OURS)]
    await asyncio.sleep(10)
    meta = it.kube.bodies["u-train"]["metadata"] | {"generation": 2, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    it.show("GpuVM", "train", "MODIFIED", meta=meta, status=it.status())
    await asyncio.sleep(5)
    it.cloud.worlds[OWN]["GetServers"] = []
    await asyncio.sleep(60)
    assert it.kube.released == ["u-train"]
    root = named(spans)["GpuVM Gone"]
    assert named(spans)["DestroyServer"].parent.span_id == root.context.span_id
    assert root.start_time == int(BEGAN.timestamp()) * 1_000_000_000


@pytest.mark.looptime
async def test_without_a_tracer_nothing_is_kept(rig):
    it = await rig()
    it.show("GpuVM")
    await asyncio.sleep(5)
    assert it.ready() == "Creating"
    assert not any("Traced" in str(part) for part in it.engine.entries._entries["u-train"].parts)


def test_another_process_continues_the_trace_of_an_edit(spans, tracer):
    successor = OpenTelemetryTracer("1.0", SimpleSpanProcessor(spans))
    with tracer.call(EDIT, "CreateServer", OURS):
        pass
    successor.settled(EDIT, BEGAN, "Running")
    successor.close()
    found = named(spans)
    assert found["CreateServer"].context.trace_id == found["GpuVM Running"].context.trace_id
    assert found["CreateServer"].parent.span_id == found["GpuVM Running"].context.span_id
    assert found["GpuVM Running"].parent is None


def test_another_generation_is_another_trace(spans, tracer):
    tracer.settled(EDIT, BEGAN, "Running")
    tracer.settled(Edit("GpuVM", "team", "train", "u-train", 2), BEGAN, "PoweredOff")
    first, second = spans.get_finished_spans()
    assert first.context.trace_id != second.context.trace_id


@pytest.mark.parametrize(
    "traceparent", ["", "x", f"00-{TRACE}-{SPAN}", f"01-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01", "🙂" * 20]
)
def test_a_traceparent_that_is_none_is_ignored(spans, tracer, traceparent):
    tracer.settled(Edit("GpuVM", "team", "train", "u-train", 1, traceparent), BEGAN, "Running")
    (root,) = spans.get_finished_spans()
    assert root.parent is None
    assert root.context.is_valid


@pytest.mark.parametrize(("flags", "recorded"), [("00", 0), ("02", 0), ("01", 3), ("03", 3)])
def test_the_parent_decides_whether_the_edit_is_recorded(spans, tracer, flags, recorded):
    edit = Edit("GpuVM", "team", "train", "u-train", 1, f"00-{TRACE}-{SPAN}-{flags}")
    with tracer.call(edit, "CreateServer", OURS):
        pass
    tracer.status(edit, "Creating", "so it is")
    tracer.settled(edit, BEGAN, "Running")
    assert len(spans.get_finished_spans()) == recorded


@pytest.mark.parametrize("share", ["0", "1"])
def test_a_sampler_decides_on_the_edit_as_a_whole(spans, monkeypatch, share):
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", share)
    made = OpenTelemetryTracer("1.0", SimpleSpanProcessor(spans))
    with made.call(EDIT, "CreateServer", OURS):
        pass
    made.settled(EDIT, BEGAN, "Running")
    made.close()
    assert len(spans.get_finished_spans()) == 2 * int(share)


def test_what_fails_is_an_error_and_says_why(spans, tracer):
    with pytest.raises(CloudError), tracer.call(EDIT, "CreateServer", OURS):
        raise CloudError(ErrorKind.OUTCOME_UNKNOWN, "no answer within 30 s")
    tracer.status(EDIT, "Rejected", "The cloud refused it.", failed=True)
    call, status = spans.get_finished_spans()
    assert (call.status.status_code, call.status.description) == (StatusCode.ERROR, "no answer within 30 s")
    assert call.attributes["error.type"] == ErrorKind.OUTCOME_UNKNOWN
    assert call.events == (), "no traceback: it may quote what was sent"
    assert status.status.status_code is StatusCode.ERROR


QUOTED = "no CreateServer for [redacted]"
FAILURES = [
    (503, ErrorKind.UNAVAILABLE, QUOTED, "the cloud's own words, without the credential"),
    (422, ErrorKind.INVALID, QUOTED, "it refuses the order"),
    (429, ErrorKind.THROTTLED, QUOTED, "it asks for a pause"),
    (httpx.ReadTimeout(f"late: {OWN}"), ErrorKind.OUTCOME_UNKNOWN, "no whole answer came in time", "it does not answer"),
    (httpx.ConnectError(f"no way: {OWN}"), ErrorKind.NOT_SENT, "no connection to the cloud", "it cannot be reached"),
]


@pytest.mark.looptime
@pytest.mark.parametrize("failure", FAILURES, ids=[row[3] for row in FAILURES])
async def test_a_call_that_the_cloud_fails_is_an_error_without_a_secret(rig, spans, tracer, failure):
    answer, kind, says, why = failure
    it = await rig(tracer=tracer)
    it.cloud.refuse("CreateServer", answer)
    await asyncio.sleep(5)
    it.show("GpuVM", meta={"generation": 1})
    await asyncio.sleep(10)
    call = next(span for span in spans.get_finished_spans() if span.name == "CreateServer")
    assert (call.status.status_code, call.attributes["error.type"]) == (StatusCode.ERROR, kind), why
    assert call.status.description.startswith(says), why
    assert not [span.name for span in spans.get_finished_spans() if OWN in span.to_json()]


@pytest.mark.parametrize("answers", ["refused", "silent"])
@pytest.mark.parametrize("spans_left", [1, 2000])
def test_the_end_does_not_wait_for_a_collector_that_is_away(monkeypatch, caplog, answers, spans_left):
    """A pod has 45 seconds for its whole end, most of which its workers may need."""
    monkeypatch.setattr("gpucloud.engine.telemetry.opentelemetry.CLOSE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{listening.getsockname()[1]}")
        if answers == "refused":
            listening.close()
        made = OpenTelemetryTracer("1.0")
        for _ in range(spans_left):
            made.status(EDIT, "Running", "words")
        before = set(threading.enumerate())
        made.close()
        (left,) = set(threading.enumerate()) - before
        assert left.name == "traces-close", "the SDK goes on by itself"
    assert [line for line in caplog.messages if line.startswith("traces are dropped")]


def test_the_guide_says_for_how_long_the_last_traces_are_sent():
    guide = Path(__file__).parents[4] / "docs" / "how-to" / "run-the-operator.md"
    assert f"sends what is left for {CLOSE_SECONDS:g} seconds at most" in guide.read_text()
