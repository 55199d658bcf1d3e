"""The composition root of ``gpucloud operator``: settings in, engine and kopf up, a clean end on SIGTERM."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from typing import TYPE_CHECKING

import kopf
import structlog

from gpucloud.engine.clock import SystemClock
from gpucloud.engine.engine import Engine
from gpucloud.engine.health import Endpoints
from gpucloud.handlers import accounts, lifecycle, objects
from gpucloud.settings import SettingsError

if TYPE_CHECKING:
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.app")

DRAIN_SECONDS = 35.0  # one call to the cloud may take 30; a pod's grace should be 45
GC_THRESHOLDS = (100_000, 20, 50)  # measured: halves the CPU of the first list of 10,000 objects


def run(settings: Settings) -> int:
    """Run until SIGTERM or SIGINT; answers the exit code."""
    configure_logging(settings)
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        asyncio.run(_serve(settings))
    except KeyboardInterrupt:  # only before kopf listens to signals: nothing has been started yet
        return 130
    except (kopf.LoginError, OSError, SettingsError) as error:
        log.error("cannot start", error=str(error))  # noqa: TRY400 - the text says it; a traceback would not help
        return 1
    return 0


async def _serve(settings: Settings) -> None:
    """Engine first, kopf second; they end in the opposite order, so that what was sent is also saved."""
    engine = Engine(settings, lifecycle.connect, SystemClock())
    endpoints = Endpoints(engine)
    metrics_port, health_port = await endpoints.start(settings)
    log.info("listening", address=settings.bind_address, metrics_port=metrics_port, health_port=health_port)
    registry = kopf.OperatorRegistry()
    lifecycle.register(registry, lifecycle.connect)
    objects.register(registry, engine, guard=not settings.observe_only)
    if not settings.observe_only:  # kopf adds a finalizer for its timers
        accounts.register(registry, engine)
    try:
        await engine.start()
        await kopf.operator(
            registry=registry,
            settings=lifecycle.settings(),
            standalone=True,
            clusterwide=not settings.namespace,
            namespaces=settings.namespace,
        )
    finally:
        await engine.stop(DRAIN_SECONDS)
        await endpoints.stop()
        log.info("stopped")


def configure_logging(settings: Settings) -> None:
    """One stream, one form, for our own lines and for the libraries'."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(settings.log_level.upper())),
        cache_logger_on_first_use=True,
    )
    renderer = (
        structlog.processors.JSONRenderer() if settings.log_format == "json" else structlog.dev.ConsoleRenderer(colors=False)
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for noisy in ("kopf", "asyncio", "httpx", "httpcore", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)  # kopf logs a line an event
