"""The simulated cloud as one thing: the API, its documents, a sign of life, and the control API beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.sim import openapi
from gpucloud.sim.clock import LoopClock
from gpucloud.sim.config import SimConfig
from gpucloud.sim.control.api import ControlApi
from gpucloud.sim.index import CONTROL_PREFIX, index_bytes
from gpucloud.sim.messages import Response
from gpucloud.sim.pipeline import RequestPipeline
from gpucloud.sim.state import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import SecretStr

    from gpucloud.sim.clock import Clock
    from gpucloud.sim.messages import Request


class Simulator:
    """A cloud of its own. ``sink`` gets the ledger's lines as they come.

    Without a clock it runs in the event loop's time. Token and key values are random, all else repeats with the seed.
    """

    def __init__(
        self, config: SimConfig | None = None, clock: Clock | None = None, sink: Callable[[str], None] | None = None
    ) -> None:
        self.state = State(config or SimConfig(), clock or LoopClock(), sink)
        self._pipeline = RequestPipeline(self.state)
        self._control = ControlApi(self.state)

    @property
    def api_key(self) -> SecretStr:
        """The key of the first account, as configured or made up."""
        return self.state.api_key

    async def handle(self, request: Request) -> Response:
        """Answer any request: the index at ``/``, the API under ``/api``, ``/_sim/…``, ``/openapi.json`` and ``/healthz``."""
        if f"{request.path}/".startswith(CONTROL_PREFIX):
            return self._control.handle(request, request.path.removeprefix(CONTROL_PREFIX.rstrip("/")).removeprefix("/"))
        if request.method == "GET" and request.path == "/":
            return Response(200, index_bytes())
        if request.method == "GET" and request.path == "/healthz":
            return Response(200, b"ok", "text/plain; charset=utf-8")
        if request.method == "GET" and request.path in openapi.PATHS:
            return Response(200, openapi.document_bytes())
        return await self._pipeline.handle(request)
