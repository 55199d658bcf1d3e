"""HTTP endpoints of metrics, liveness and readiness. They do not use kopf, since a standby process must be alive, too.

A process is alive if no reconcile runs for minutes, no key waits for minutes, and the watch is not stale for minutes. An outage
of the cloud or of the apiserver does not count: a restart would not end it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from gpucloud.engine.manager.listening import all_of, listen

if TYPE_CHECKING:
    from gpucloud.engine.manager.manager import Engine
    from gpucloud.settings import Settings

LONGEST_RECONCILE_SECONDS = 180.0  # far above the deadlines of all calls of one reconcile
LONGEST_WAIT_SECONDS = 300.0
LONGEST_STALENESS_SECONDS = 240.0  # less than the time between two resyncs, so that the second one decides


def ailment(engine: Engine) -> str:
    """Return why the process should be restarted; empty if it is alive."""
    waited, worked = engine.queue.oldest()
    if worked > LONGEST_RECONCILE_SECONDS:
        return f"a reconcile has been running for {worked:.0f} s"
    if waited > LONGEST_WAIT_SECONDS:
        return f"an object has been waiting for a worker for {waited:.0f} s"
    kind, stale = engine.staleness.stuck()
    return (
        f"the watch of {kind} has been stale for {stale:.0f} s: lists show newer objects"
        if stale > LONGEST_STALENESS_SECONDS
        else ""
    )


class Endpoints:
    """The servers of both ports."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._runners: list[web.AppRunner] = []

    async def start(self, settings: Settings) -> tuple[int, int]:
        """Listen; return the ports of metrics and health, which matter if the settings are 0.

        Raises:
            PortInUseError: a port is taken, or both are.
        """
        address = settings.bind_address
        metrics = await self._runner({"/metrics": self._metrics})
        health = await self._runner({"/healthz": self._alive, "/readyz": self._ready})
        metrics_port, health_port = await all_of(
            partial(listen, metrics, address, settings.metrics_port, "--metrics-port"),
            partial(listen, health, address, settings.health_port, "--health-port"),
        )
        return metrics_port, health_port

    async def stop(self) -> None:
        """Close both ports."""
        for runner in self._runners:
            await runner.cleanup()

    async def _runner(self, routes: dict[str, web.Handler]) -> web.AppRunner:  # type: ignore[name-defined]
        app = web.Application()
        for path, handler in routes.items():
            app.router.add_get(path, handler)
        runner = web.AppRunner(app, access_log=None)
        self._runners.append(runner)
        await runner.setup()
        return runner

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(self._engine.metrics.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _alive(self, _request: web.Request) -> web.Response:
        trouble = ailment(self._engine)
        return web.Response(status=500 if trouble else 200, text=f"{trouble or 'ok'}\n")

    async def _ready(self, _request: web.Request) -> web.Response:
        if self._engine.synced:
            return web.Response(text="ok\n")
        return web.Response(status=503, text="the first list of objects has not been read yet\n")
