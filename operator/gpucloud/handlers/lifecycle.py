"""Settings and start of kopf, each with its reason. Sources: kopf's documentation and our measurements."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import aiohttp
import kopf

from gpucloud.engine.runtime.entropy import SystemEntropy
from gpucloud.kinds.meta import GROUP

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Collection, Iterable, Iterator


WRITES_IN_FLIGHT = 10  # more only queue up inside the apiserver, each over a TLS connection of its own, with its buffers
REQUEST_SECONDS = 30.0  # until the headers of an answer, once a request has its turn
STOP_SECONDS = 2.0  # for kopf's other tasks, after one has failed
# kopf ends when most of its tasks die, but not with these: without them it no longer logs in, hands on no events, or runs no
# timer of an account.
UNWATCHED = ("credentials retriever", "spawner of ", "cleaner of ", "runner of ")
LONGEST_REQUEST_SECONDS = 120.0  # its turn included: many accounts may be given kopf's finalizer at once


class NoDiffBase(kopf.DiffBaseStorage):
    """kopf keeps no copy of the last handled spec: we have no change handlers, and it would cost a write an object.

    Nor is the copy made that it would be compared with: kopf makes one an event, a third of what an event costs.
    """

    def build(self, *, body: kopf.Body, extra_fields: Iterable[Any] | None = None) -> kopf.BodyEssence:  # noqa: ARG002
        """Nothing is compared."""
        return kopf.BodyEssence({})

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:  # noqa: ARG002 - the base class's form
        """Nothing is remembered."""
        return None

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: kopf.BodyEssence) -> None:
        """Nothing is written."""


class NoProgress(kopf.ProgressStorage):
    """kopf keeps no progress of handlers: those of events have none, and those of timers keep theirs in memory."""

    def fetch(self, *, key: Any, body: kopf.Body) -> kopf.ProgressRecord | None:  # noqa: ARG002 - the base class's form
        """Nothing is remembered."""
        return None

    def store(self, *, key: Any, record: kopf.ProgressRecord, body: kopf.Body, patch: kopf.Patch) -> None:
        """Nothing is written."""

    def purge(self, *, key: Any, body: kopf.Body, patch: kopf.Patch) -> None:
        """Nothing is there."""

    def touch(self, *, body: kopf.Body, patch: kopf.Patch, value: str | None) -> None:
        """Nothing is written."""

    def clear(self, *, essence: kopf.BodyEssence) -> kopf.BodyEssence:
        """It holds nothing of ours."""
        return essence


class PatientBackoff:
    """Endless delays in seconds, growing to a minute, with jitter: an outage of the apiserver must not end the process."""

    def __iter__(self) -> Iterator[float]:
        """Start anew."""
        delay, entropy = 0.5, SystemEntropy()
        while True:
            yield delay * (0.5 + entropy.jitter() / 2)
            delay = min(delay * 2, 60.0)


def register(
    registry: kopf.OperatorRegistry, connect: Callable[[], kopf.ConnectionInfo], may_write: Callable[[], bool] | None = None
) -> None:
    """Register kopf's login: our own, since one rotated token serves both. ``may_write`` is asked before each write."""

    @kopf.on.login(registry=registry, id="login")
    async def login(**_: Any) -> kopf.AiohttpSession:
        return gated(connect(), may_write)


def gated(found: kopf.ConnectionInfo, may_write: Callable[[], bool] | None) -> kopf.AiohttpSession:
    """The connection that kopf would make itself, over which few writes leave at once, and none while it may not.

    kopf patches all accounts of a list at once, and repeats for ever what fails.
    """
    in_flight = asyncio.Semaphore(WRITES_IN_FLIGHT)

    async def gate(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        if request.method == "GET":
            async with asyncio.timeout(REQUEST_SECONDS):
                return await send(request)
        async with in_flight, asyncio.timeout(REQUEST_SECONDS):
            if may_write is not None and not may_write():
                raise aiohttp.ClientConnectionError("this operator does not hold the Lease; nothing was written")
            return await send(request)

    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=found.as_ssl_context()),
        headers=found.as_http_headers(),
        proxy=found.proxy_url,
        trust_env=found.trust_env,
        middlewares=(gate,),
    )
    return kopf.AiohttpSession(aiohttp_session=session, server=found.server, default_namespace=found.default_namespace)


def first_failure() -> asyncio.Future[asyncio.Task[Any]]:
    """The first task to fail among those that kopf starts from now on and does not watch itself."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[asyncio.Task[Any]] = loop.create_future()

    def notice(task: asyncio.Task[Any]) -> None:
        if task.get_name().startswith(UNWATCHED) and _failed(task) and not found.done():
            found.set_result(task)

    def create(loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=loop, **more)
        task.add_done_callback(notice)  # it has its name only later
        return task

    loop.set_task_factory(create)
    return found


async def run(tasks: Collection[asyncio.Task[Any]], unwatched: asyncio.Future[asyncio.Task[Any]]) -> asyncio.Task[Any] | None:
    """Run kopf's tasks until one ends, and end the others. Return the task that failed, or None.

    ``kopf.run_tasks`` would then cancel whatever else runs in this loop, too: the engine that has yet to finish, and its Lease.
    """
    await asyncio.wait({*tasks, unwatched}, return_when=asyncio.FIRST_COMPLETED)
    ended = [*([unwatched.result()] if unwatched.done() else ()), *(task for task in tasks if task.done())]
    failed = next(filter(_failed, ended), None)
    others = [task for task in tasks if not task.done()]
    for task in others:
        task.cancel()
    if others:  # what one has left behind may make others wait for ever
        await asyncio.wait(others, timeout=None if failed is None else STOP_SECONDS)
    return failed or next((task for task in others if task.done() and _failed(task)), None)


def _failed(task: asyncio.Task[Any]) -> bool:
    return not task.cancelled() and task.exception() is not None


def deleted_definition(error: BaseException | None) -> str | None:
    """Return the name of the custom resource definition that the watch missed when it ended; None if it ended otherwise."""
    answer = None if error is None else error.__cause__  # kopf's own errors do not say what was asked
    if not isinstance(answer, aiohttp.ClientResponseError) or answer.status != HTTPStatus.NOT_FOUND:
        return None
    return f"{answer.request_info.real_url.name}.{GROUP}"


def drop_traceback_of_deleted_definition(record: logging.LogRecord) -> bool:
    """Take the traceback off kopf's record of a watch that a deleted definition has ended; a filter: it keeps all."""
    if record.exc_info and deleted_definition(record.exc_info[1]) is not None:
        record.exc_info = None
    return True


def settings(*, idle: bool = False) -> kopf.OperatorSettings:
    """Return kopf's settings; the others keep kopf's defaults. ``idle``: this process only watches, and writes nothing."""
    chosen = kopf.OperatorSettings()
    # Not ours: kopf removes its finalizer from every object that no kopf handler needs it for, so sharing the name would
    # unguard every VM. None of our handlers makes kopf add this one.
    # One that only looks has no timers, and would take off the finalizer that stands for another's.
    chosen.persistence.finalizer = f"{GROUP}/kopf-idle" if idle else f"{GROUP}/kopf"
    chosen.persistence.diffbase_storage = NoDiffBase()
    chosen.persistence.progress_storage = NoProgress()
    chosen.posting.enabled = False  # events are the engine's: with action, and recorded once
    chosen.scanning.disabled = True  # no cluster-wide watch of CRDs and namespaces, and no rights for it
    chosen.peering.standalone = True  # a stray object named "default" must not switch peering on
    chosen.queueing.worker_limit = None  # a limit starves objects; work is bounded in our own queue
    chosen.queueing.idle_timeout = 1.0
    chosen.queueing.exit_timeout = 2.0
    chosen.watching.inactivity_timeout = 70  # bookmarks come every minute; silence beyond that is a dead stream
    chosen.watching.connect_timeout = 10
    chosen.watching.reconnect_backoff = 1.0
    chosen.watching.chunk_size = 500
    chosen.networking.request_timeout = LONGEST_REQUEST_SECONDS
    chosen.networking.error_backoffs = PatientBackoff()
    chosen.networking.enforce_retry_after = True
    chosen.process.ultimate_exiting_timeout = 60
    return chosen
