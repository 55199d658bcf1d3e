"""--tracing on a real process: one trace reaches a collector, from the edit to Running."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support import waiting
from support.manifests import gpuvm
from support.waiting import eventually

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector(BaseHTTPRequestHandler):
    """Keeps the spans that are posted, as an OpenTelemetry collector would."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        sent = ExportTraceServiceRequest.FromString(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
        self.server.spans += [span for one in sent.resource_spans for scope in one.scope_spans for span in scope.spans]
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def collector():
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.spans = []
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_an_edit_is_one_trace_at_the_collector(kubectl, namespace, operator, collector):
    url = f"http://127.0.0.1:{collector.server_port}"
    operator(**FLAGS, tracing=True, env={"OTEL_EXPORTER_OTLP_ENDPOINT": url, "OTEL_BSP_SCHEDULE_DELAY": "200"})
    vms = kubectl.in_namespace(namespace)
    annotations = {"gpucloud.dev/traceparent": f"00-{TRACE}-{SPAN}-01"}
    manifest = gpuvm()
    manifest["metadata"]["annotations"] = annotations
    vms.apply(manifest)
    waiting.reach(vms, "gpuvm", "train", "True/Running")
    wanted = {"CreateServer", "status Creating", "status Running", "GpuVM Running"}
    eventually(lambda: wanted <= {span.name for span in collector.spans}, what="the spans of the creation to arrive")
    found = {span.name: span for span in collector.spans}
    assert {found[name].trace_id.hex() for name in wanted} == {TRACE}
    root = found["GpuVM Running"]
    assert root.parent_span_id.hex() == SPAN
    assert {found[name].parent_span_id for name in wanted - {"GpuVM Running"}} == {root.span_id}
    assert root.start_time_unix_nano <= found["CreateServer"].start_time_unix_nano < root.end_time_unix_nano
    vms.delete("gpuvm", "train")
    eventually(lambda: "GpuVM Gone" in {span.name for span in collector.spans}, what="the deletion to be a trace of its own")
