"""Index of the simulator: what it answers at ``/``, for a person who opens its address."""

from __future__ import annotations

from functools import cache

from gpucloud.sim import openapi
from gpucloud.sim.answers import as_json
from gpucloud.sim.routes import ROUTES

CONTROL_PREFIX = "/_sim/"


@cache
def index_bytes() -> bytes:
    """Return the index as JSON: the documents, the control API, and every endpoint of the service."""
    return as_json(
        {
            "service": "Simulated cloud of gpucloud-operator",
            "documents": sorted(openapi.PATHS),
            "health": "/healthz",
            "control": CONTROL_PREFIX,
            "endpoints": {f"{route.method} {route.path}": route.summary for route in ROUTES},
        }
    )
