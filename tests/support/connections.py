"""spec.connection of a GpuVM, as tests let it be published and changed."""

from __future__ import annotations

from support.waiting import eventually

NAME = "published"
METRICS, API = {"name": "metrics", "port": 9400}, {"name": "api", "port": 8443}
CONNECTION = {"configMapName": NAME, "service": {"name": NAME, "ports": [METRICS]}}


def let_a_connection_change(here, vm):
    """A GpuVM with CONNECTION is published, and then with one port more: the operator updates its Service."""
    eventually(lambda: _ports(here) == [9400], 60, "the Service")
    here.patch("gpuvm", vm, {"spec": {"connection": {"service": {"ports": [METRICS, API]}}}})
    eventually(lambda: _ports(here) == [9400, 8443], 60, "the other port")


def _ports(here):
    found = here.get("service", NAME)
    return found and [one["port"] for one in found["spec"]["ports"]]
