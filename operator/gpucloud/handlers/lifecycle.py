"""kopf's settings and login, in one place, each with its reason. Sources: kopf's own documentation and our measurements."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import aiohttp
import kopf

from gpucloud.engine.runtime.entropy import SystemEntropy
from gpucloud.kinds.meta import GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator


log = logging.getLogger("gpucloud.login")


NoCluster = kopf.LoginError  # what ``connect`` raises, for those who do not know kopf


class NoDiffBase(kopf.DiffBaseStorage):
    """kopf keeps no copy of the last handled spec: we have no change handlers, and it would cost a write an object."""

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:  # noqa: ARG002 - the base class's form
        """Nothing is remembered."""
        return None

    def store(self, *, body: kopf.Body, patch: kopf.Patch, essence: kopf.BodyEssence) -> None:
        """Nothing is written."""


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
    """Let kopf log in as we do, so that one rotated token serves both. ``may_write``, if given, is asked before each write."""

    @kopf.on.login(registry=registry, id="login")
    async def login(**_: Any) -> kopf.ConnectionInfo | kopf.AiohttpSession:
        return connect() if may_write is None else gated(connect(), may_write)


def gated(found: kopf.ConnectionInfo, may_write: Callable[[], bool]) -> kopf.AiohttpSession:
    """The connection that kopf would make itself, over which no write leaves while it may not: kopf repeats writes for ever."""

    async def gate(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
        if request.method != "GET" and not may_write():
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


async def run(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Run kopf's tasks until one ends, and end the others.

    ``kopf.run_tasks`` would then cancel whatever else runs in this loop, too: the engine that has yet to finish, and its Lease.
    """
    ended, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    stopped = await asyncio.gather(*others, return_exceptions=True)
    failures = [task.exception() for task in ended if not task.cancelled()]
    for failure in (*failures, *stopped):
        if isinstance(failure, Exception):
            raise failure


def connect() -> kopf.ConnectionInfo:
    """The pod's service account, else KUBECONFIG's current context. Read anew at each call: tokens rotate.

    Raises:
        kopf.LoginError: there is neither.
    """
    settings = kopf.OperatorSettings()
    found = kopf.login_with_service_account(logger=log, settings=settings) or kopf.login_with_kubeconfig(
        logger=log, settings=settings
    )
    if found is None:
        raise kopf.LoginError("no Kubernetes cluster: set KUBECONFIG, or run in a pod with a service account")
    return found


def settings(*, idle: bool = False) -> kopf.OperatorSettings:
    """How kopf is to behave under us; what is not named keeps kopf's default. ``idle``: it only looks, and writes nothing."""
    chosen = kopf.OperatorSettings()
    # Not ours: kopf removes its finalizer from every object that no kopf handler needs it for, so sharing the name would
    # unguard every VM. None of our handlers makes kopf add this one.
    # One that only looks has no timers, and would take off the finalizer that stands for another's.
    chosen.persistence.finalizer = f"{GROUP}/kopf-idle" if idle else f"{GROUP}/kopf"
    chosen.persistence.diffbase_storage = NoDiffBase()
    chosen.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP, v1=False)
    chosen.posting.enabled = False  # events are the engine's: with action, and told once
    chosen.scanning.disabled = True  # no cluster-wide watch of CRDs and namespaces, and no rights for it
    chosen.peering.standalone = True  # a stray object named "default" must not switch peering on
    chosen.queueing.worker_limit = None  # a limit starves objects; work is bounded in our own queue
    chosen.queueing.idle_timeout = 1.0
    chosen.queueing.exit_timeout = 2.0
    chosen.watching.inactivity_timeout = 70  # bookmarks come every minute; silence beyond that is a dead stream
    chosen.watching.connect_timeout = 10
    chosen.watching.reconnect_backoff = 1.0
    chosen.watching.chunk_size = 500
    chosen.networking.request_timeout = 30
    chosen.networking.error_backoffs = PatientBackoff()
    chosen.networking.enforce_retry_after = True
    chosen.process.ultimate_exiting_timeout = 60
    return chosen
