"""``Tracer`` with OpenTelemetry: spans go to the collector that the variables OTEL_EXPORTER_OTLP_… name.

The ids of a trace and of its root span follow from the object and its generation. So the spans of one edit belong together
although several reconciles record them, and also when another process takes over.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from gpucloud.cloud.errors import CloudError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import SpanProcessor

    from gpucloud.engine.telemetry.tracing import Edit

_TRACEPARENT = re.compile(
    r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})"
)  # https://www.w3.org/TR/trace-context/
_NANOSECONDS = 1_000_000_000
CLOSE_SECONDS = 5.0

log = logging.getLogger("gpucloud.tracing")


class _ChosenIds(RandomIdGenerator):
    """Random ids, except for a root span, whose ids are chosen."""

    def __init__(self) -> None:
        self.trace_id: int | None = None
        self.span_id: int | None = None

    def generate_trace_id(self) -> int:
        """Return the chosen id, or a random one."""
        return super().generate_trace_id() if self.trace_id is None else self.trace_id

    def generate_span_id(self) -> int:
        """Return the chosen id, or a random one."""
        return super().generate_span_id() if self.span_id is None else self.span_id


class OpenTelemetryTracer:
    """Records spans with the SDK; a thread of the SDK sends them."""

    def __init__(self, version: str, processor: SpanProcessor | None = None) -> None:
        self._ids = _ChosenIds()
        resource = Resource.create({"service.name": "gpucloud-operator", "service.version": version})
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(processor or BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("gpucloud", version)

    @contextmanager
    def call(self, edit: Edit, operation: str, target: str) -> Iterator[None]:
        """Record a changing call to the cloud; an exception that leaves the block is its outcome."""
        attributes = {"rpc.method": operation, "gpucloud.target": target, **_named(edit)}
        span = self._tracer.start_span(operation, self._inside(edit), SpanKind.CLIENT, attributes)
        try:
            yield
        except BaseException as error:
            span.set_attribute("error.type", error.kind if isinstance(error, CloudError) else type(error).__name__)
            span.set_status(Status(StatusCode.ERROR, error.message if isinstance(error, CloudError) else None))
            raise
        finally:
            span.end()

    def status(self, edit: Edit, reason: str, message: str, *, failed: bool = False) -> None:
        """Record a change of the Ready condition, as a span without length; ``failed``: a person must act."""
        attributes = {"gpucloud.reason": reason, "gpucloud.message": message, **_named(edit)}
        span = self._tracer.start_span(f"status {reason}", self._inside(edit), attributes=attributes)
        if failed:
            span.set_status(Status(StatusCode.ERROR, message))
        span.end()

    def settled(self, edit: Edit, since: datetime, reason: str) -> None:
        """Record the root span of the edit, which began then."""
        self._ids.trace_id, self._ids.span_id = _root_ids(edit)
        try:
            span = self._tracer.start_span(
                f"{edit.kind} {reason}",
                _outside(edit),
                attributes={"gpucloud.reason": reason, **_named(edit)},
                start_time=int(since.timestamp() * _NANOSECONDS),
            )
        finally:
            self._ids.trace_id = self._ids.span_id = None
        span.end()

    def close(self) -> None:
        """Send what is recorded, for ``CLOSE_SECONDS`` at most; the rest is dropped.

        The SDK's own limit is 30 seconds, which a pod does not have: after them its thread is left to the end of the process.
        """
        closing = threading.Thread(target=self._provider.shutdown, name="traces-close", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS)
        if closing.is_alive():
            log.warning("traces are dropped: the collector took none within %g seconds", CLOSE_SECONDS)

    def _inside(self, edit: Edit) -> Context:
        """Return the context of spans below the root span. They are recorded if the root span is."""
        trace_id, span_id = _root_ids(edit)
        decision = self._provider.sampler.should_sample(_outside(edit), trace_id, edit.kind).decision
        return _below(trace_id, span_id, TraceFlags.SAMPLED if decision is Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)


def _named(edit: Edit) -> dict[str, str | int]:
    return {
        "k8s.namespace.name": edit.namespace,
        "gpucloud.kind": edit.kind,
        "gpucloud.name": edit.name,
        "gpucloud.uid": edit.uid,
        "gpucloud.generation": edit.generation,
    }


def _root_ids(edit: Edit) -> tuple[int, int]:
    """Return the ids of the trace and of its root span: the trace of ``traceparent``, or one of the edit's own."""
    digest = hashlib.sha256(f"{edit.uid}:{edit.generation}".encode()).digest()
    given = _TRACEPARENT.fullmatch(edit.traceparent)
    return int(given[1], 16) if given else int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])


def _outside(edit: Edit) -> Context:
    """Return the context of the root span: below the span that ``traceparent`` names, sampled as its flags say, if any."""
    given = _TRACEPARENT.fullmatch(edit.traceparent)
    return _below(*(int(part, 16) for part in given.groups())) if given else trace.set_span_in_context(trace.INVALID_SPAN)


def _below(trace_id: int, span_id: int, flags: int) -> Context:
    context = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags))
    return trace.set_span_in_context(NonRecordingSpan(context))
