"""The composition root of ``gpucloud operator``: settings in, engine and kopf up, a clean end on SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import logging
import os
import signal
import sys
from collections.abc import Mapping
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import kopf
import structlog
from prometheus_client import ProcessCollector

from gpucloud import __version__
from gpucloud.engine.kinds.quota_usage import price_limits, vm_limits
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.other_operators import held_leases
from gpucloud.engine.manager.console import Console
from gpucloud.engine.manager.health import Endpoints
from gpucloud.engine.manager.listening import all_of
from gpucloud.engine.manager.manager import Engine
from gpucloud.engine.manager.ports import Ports
from gpucloud.engine.runtime import loop_lag
from gpucloud.engine.runtime.clock import SystemClock
from gpucloud.engine.telemetry import collectors
from gpucloud.handlers import accounts, lifecycle, login, objects
from gpucloud.kinds.meta import APPLY_CRDS
from gpucloud.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from gpucloud.engine.telemetry.tracing import Tracer
    from gpucloud.settings import Settings

log = structlog.get_logger("gpucloud.app")

OTHERS_SECONDS = 10.0  # to look for other operators; an apiserver that is slower is not waited for
DRAIN_SECONDS = 35.0  # one call to the cloud may take 30; a pod's grace should be 45
GC_THRESHOLDS = (5_000, 10, 10)  # requests leave cycles with buffers: at 100,000 they took 16 MB with 500 objects at once


def run(settings: Settings, warnings: Iterable[str] = ()) -> int:
    """Run until SIGTERM or SIGINT, after these warnings in the log; answers the exit code."""
    configure_logging(settings)
    for words in warnings:
        log.warning(words)
    gc.set_threshold(*GC_THRESHOLDS)
    gc.freeze()  # what is imported stays
    try:
        with asyncio.Runner(loop_factory=event_loop()) as runner:
            code = runner.run(_serve(settings))
            if code:  # all is saved and closed; a task of kopf's that a failure has left behind may refuse to be cancelled
                logging.shutdown()
                os._exit(code)
            return code
    except KeyboardInterrupt:  # only before kopf listens to signals: nothing has been started yet
        return 130
    except (kopf.LoginError, OSError, SettingsError) as error:
        log.error("cannot start", error=str(error))  # noqa: TRY400 - the text says it; a traceback would not help
        return 1


def event_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where there is one; else Python's own."""
    try:
        import uvloop  # noqa: PLC0415 - there is none for every platform
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _serve(settings: Settings) -> int:
    """Engine first, kopf second; they end in the opposite order, so that what was sent is also saved."""
    settings, clock, ports = _placed(settings), SystemClock(), Ports(tracer=_tracer(settings))
    engine = Engine(settings, login.connect, clock, ports)
    engine.metrics.export(
        collectors.build(__version__),
        ProcessCollector(registry=None),
        collectors.price_limits(price_limits(settings)),
        collectors.vm_limits(vm_limits(settings)),
    )
    endpoints, console = Endpoints(engine), Console(engine.kube, engine.console_deps)
    await _listen(settings, endpoints, console)
    try:
        _introduce(settings, ports.entropy.instance)
        await _warn_of_others(settings, clock.instant())
        engine.tasks.spawn("loop-lag", partial(loop_lag.measure, engine.metrics.loop_lag.observe))
        await engine.start()
        if not engine.leading:
            await _watch(engine, settings, acting=False)
        if not engine.ending.is_set():
            await _watch(engine, settings, acting=not settings.observe_only)
    finally:
        await engine.stop(DRAIN_SECONDS)
        await console.stop()
        await endpoints.stop()
        log.info("stopped")
    return 1 if engine.restart_required else 0


async def _listen(settings: Settings, endpoints: Endpoints, console: Console) -> None:
    """Take all ports before anything else is done, and say which.

    Raises:
        OSError: ports are taken, all of which it names; or the address is not of this machine.
    """

    async def metrics_and_health() -> None:
        metrics_port, health_port = await endpoints.start(settings)
        log.info("listening", address=settings.bind_address, metrics_port=metrics_port, health_port=health_port)

    async def for_the_plugin() -> None:
        if settings.console:
            log.info("serving the console", port=await console.start(settings.console_port))

    await all_of(metrics_and_health, for_the_plugin)


async def _watch(engine: Engine, settings: Settings, *, acting: bool) -> None:
    """Run kopf, with handlers that write only if it is acting; while the engine stands by, until its turn comes."""
    registry = kopf.OperatorRegistry()
    lifecycle.register(registry, login.connect, engine.is_leader if settings.leader_elect else None)
    objects.register(registry, engine)
    if acting:  # kopf adds a finalizer for its timers
        accounts.register(registry, engine)
    stopped = engine.ending if engine.leading else engine.standby_over
    unwatched = lifecycle.first_failure()
    tasks = await kopf.spawn_tasks(
        registry=registry,
        settings=lifecycle.settings(idle=not acting),
        standalone=True,
        clusterwide=not settings.namespace,
        namespaces=settings.namespace,
        stop_flag=stopped,
    )
    for number in (signal.SIGINT, signal.SIGTERM):  # in place of kopf's handler, which fails when a signal is repeated
        asyncio.get_running_loop().add_signal_handler(number, engine.end)
    failed = await lifecycle.run(tasks, unwatched)
    if failed is not None or not stopped.is_set():
        _say_why(failed)
        engine.restart_required = True
        engine.end()


def _say_why(failed: asyncio.Task[Any] | None) -> None:
    """Say why the watch has ended by itself; only a new process can begin it again."""
    error = None if failed is None else failed.exception()
    if definition := lifecycle.deleted_definition(error):
        log.critical(
            "ending: a custom resource definition was deleted while the operator ran. Install it, and start the operator again",
            definition=definition,
            install=APPLY_CRDS,
        )
        return
    about = {} if failed is None else {"task": failed.get_name(), "exc_info": error}
    log.critical("ending: the watch has ended by itself, and only a new process can begin it again", **about)


def _introduce(settings: Settings, identity: str) -> None:
    """Say on which cluster and which cloud this process is going to act, and as whom."""
    log.info(
        "connecting",
        version=__version__,
        cluster=login.server(),
        context=login.context(),
        endpoints=list(settings.endpoint),
        namespaces=list(settings.namespace) or "all",
        lease=f"{settings.lease_namespace}/{settings.lease_name}" if settings.leader_elect else "none (--leader-elect is off)",
        identity=identity,
    )


async def _warn_of_others(settings: Settings, now: datetime) -> None:
    """Tell of operators that hold another Lease of this cluster: they may act on the same objects."""
    own = (settings.lease_namespace, settings.lease_name) if settings.leader_elect else None
    kube = KubeClient(login.connect)  # the engine's asks nothing by POST before it leads
    try:
        async with asyncio.timeout(OTHERS_SECONDS):
            others = await held_leases(kube, now)
    except (KubeError, TimeoutError) as error:  # the start itself waits for the apiserver
        log.info("other operators were not looked for", error=str(error) or "no answer in time")
        return
    finally:
        await kube.aclose()
    for lease in others:
        if (lease.namespace, lease.name) != own:
            log.warning(
                "another operator holds a Lease in this cluster: unless it serves other namespaces, stop this one, "
                "or let it stand by with the flags of the hint",
                holder=lease.holder,
                lease=f"{lease.namespace}/{lease.name}",
                hint=f"--leader-elect --lease-namespace={lease.namespace} --lease-name={lease.name}",
            )


def _tracer(settings: Settings) -> Tracer | None:
    """Return the tracer, with --tracing.

    Raises:
        SettingsError: the extra otel is not installed.
    """
    if not settings.tracing:
        return None
    try:  # by name: the extra operator works without it
        module = importlib.import_module("gpucloud.engine.telemetry.opentelemetry")
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"--tracing: the Python package {error.name} is not installed. "
            "Install the extra otel: pip install 'gpucloud-operator[operator,otel]'"
        ) from None
    tracer: Tracer = module.OpenTelemetryTracer(__version__)
    return tracer


def _placed(settings: Settings) -> Settings:
    """With the namespace of the Lease: in a pod its own, else that of the kubeconfig's context.

    Raises:
        SettingsError: nothing says which.
    """
    if not settings.leader_elect or settings.lease_namespace:
        return settings
    found = login.connect().default_namespace
    if not found:
        raise SettingsError(
            "--lease-namespace is missing: outside a pod the operator cannot tell where its Lease is; set it to a namespace"
        )
    return settings.replace(lease_namespace=found)


class _Lossy:
    """A stream of log lines that drops what cannot be written: the disk is full, or nobody reads any more.

    As ``logging`` does. A log line must never end a task, or hide what became of a call that was just sent.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, line: bytes) -> int:
        """Write a line, if that is possible."""
        with contextlib.suppress(OSError, ValueError):
            return self._stream.write(line)
        return len(line)

    def flush(self) -> None:
        """Send it off, if that is possible."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()


# Every word is quoted: a name may hold what a terminal obeys.
_CONSOLE = structlog.dev.ConsoleRenderer(colors=False, repr_native_str=True)


def _as_text(logger: Any, name: str, event: structlog.typing.EventDict) -> str:
    """Return the line of an event as text, with words in place of Python's own form of values."""
    return _CONSOLE(logger, name, {key: _in_words(value) for key, value in event.items()})


def _in_words(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case bool():
            return "true" if value else "false"
        case None:
            return "none"
        case Mapping():
            return ", ".join(f"{key} {_in_words(item)}" for key, item in value.items())
        case list() | tuple() | set() | frozenset():
            return ", ".join(str(_in_words(item)) for item in value)
        case _:
            return value


def configure_logging(settings: Settings) -> None:
    """One stream, one form, for our own lines and for the libraries'. Ours go there without the detour over ``logging``."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer = structlog.processors.JSONRenderer() if settings.log_format == "json" else _as_text

    def encoded(logger: Any, name: str, event: structlog.typing.EventDict) -> bytes:
        return str(renderer(logger, name, event)).encode(errors="backslashreplace")

    structlog.configure(
        processors=[*shared, encoded],
        logger_factory=structlog.BytesLoggerFactory(_Lossy(sys.stderr.buffer)),  # type: ignore[arg-type] # what it uses of a file
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(settings.log_level.upper())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    handler.addFilter(lifecycle.drop_traceback_of_deleted_definition)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(settings.log_level.upper())
    for noisy in ("kopf", "asyncio", "httpx", "httpcore", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)  # kopf logs a line an event
