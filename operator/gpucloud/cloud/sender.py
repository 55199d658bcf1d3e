"""Sends a ``Call``: deadline, attempts, the rules about what a failure means, one report for every attempt.

Knows no particular operation, but for ``Listing.delay``: a listing tells nothing older than its last attempt. This is the
place where a transport's failure becomes NOT_SENT or OUTCOME_UNKNOWN.
"""

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import TypeVar

import httpx

from gpucloud import __version__
from gpucloud.cloud.answers import Answer, read
from gpucloud.cloud.auth import Credentials
from gpucloud.cloud.calls import Call
from gpucloud.cloud.errors import CloudError, ErrorKind, LoginError, is_ambiguous
from gpucloud.cloud.failure_words import connection_words
from gpucloud.cloud.limits import next_delay
from gpucloud.cloud.models import Listing
from gpucloud.cloud.options import CallReport, ClientOptions, OnCall
from gpucloud.cloud.redaction import Redact, redactor
from gpucloud.cloud.transport import CLOSED, GuardedTransport, Progress, always

T = TypeVar("T")
_log = logging.getLogger(__name__)
_SURELY_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"gpucloud/{__version__}"}
_IF_SLOW = "if the cloud is slow, raise total_deadline_seconds (of the operator: --cloud-timeout-seconds)"
_CLOSED_TOO_EARLY = "the client was closed before the answer came: open another one and look whether the call was carried out"
_TRANSPORT_FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError)


def wall_clock() -> datetime:
    """Read the wall clock, which nothing but a Retry-After date in an answer without a Date needs."""
    return datetime.now(tz=UTC)  # noqa: TID251 - this package is usable without the engine and its clock


class Sender:
    """Carries calls to the cloud at ``base_url`` over one transport. No redirect is followed, no cookie is kept."""

    def __init__(
        self,
        base_url: str,
        transport: GuardedTransport,
        options: ClientOptions,
        *,
        secrets: Callable[[], tuple[str, ...]],
        on_call: OnCall | None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._transport = transport
        self._options = options
        self._secrets = secrets
        self._on_call = on_call
        self._under_way: dict[asyncio.Timeout, Progress] = {}

    def cut_off(self, *, abandon: bool) -> None:
        """End the calls that wait, since nothing is sent any more; with ``abandon`` also those that are on their way."""
        for limit, progress in self._under_way.items():
            if (progress.waiting or abandon) and not limit.expired():
                progress.cut_off = True
                limit.reschedule(-math.inf)

    async def run(self, call: Call[T], auth: Credentials | None, permit: Callable[[], bool] = always) -> T:
        """Send a call and return its value. ``permit`` is asked right before each request leaves.

        A call that changes something is sent once (twice only after a 401, which carried nothing out); a reading call
        is repeated after failures that may pass, within the deadline.

        Raises:
            CloudError: every failure, and nothing else.
        """
        now = asyncio.get_running_loop().time()
        progress = Progress(now + self._options.total_deadline_seconds, started=now, may_send=permit)
        try:
            async with asyncio.timeout_at(progress.deadline) as limit:
                self._under_way[limit] = progress
                value = await self._persist(call, auth, progress)
                if isinstance(value, Listing) and progress.attempt > 1:
                    return replace(value, delay=progress.started - now)
                return value
        except TimeoutError:
            error = self._out_of_time(progress)
        finally:
            del self._under_way[limit]
        self._report(call, progress, None, error)
        raise _completed(error, call)

    def _out_of_time(self, progress: Progress) -> CloudError:
        kind = ErrorKind.OUTCOME_UNKNOWN if progress.sending else ErrorKind.NOT_SENT
        if progress.cut_off:
            return CloudError(kind, _CLOSED_TOO_EARLY if progress.sending else CLOSED)
        seconds = self._options.total_deadline_seconds
        return CloudError(kind, f"no answer within {seconds:g} s; {_IF_SLOW}", retry_after=progress.retry_after)

    async def _persist(self, call: Call[T], auth: Credentials | None, progress: Progress) -> T:
        loop = asyncio.get_running_loop()
        delay: float | None = 0.0
        while True:
            progress.attempt += 1
            progress.sending, progress.waiting = False, True
            if delay:
                await asyncio.sleep(delay)
            progress.started = loop.time()
            try:
                return await self._attempt(call, auth, progress)
            except CloudError as error:
                delay = next_delay(
                    error,
                    progress.attempt,
                    max_retries=self._options.max_retries if call.safe else 0,
                    remaining=progress.deadline - loop.time(),
                    jitter=self._options.jitter(),
                )
                if delay is None or self._transport.is_closed:
                    raise

    async def _attempt(self, call: Call[T], auth: Credentials | None, progress: Progress) -> T:
        answer: Answer | None = None
        redact = self._redactor(call)
        try:
            answer = await self._exchange(call, auth, progress, redact)
            value = read(call, answer, redact)
        except CloudError as error:
            failure = error
        else:
            self._report(call, progress, answer.status, None)
            return value
        if failure.status is None and answer is not None:
            failure.status = answer.status
        self._report(call, progress, failure.status, failure)
        raise _completed(failure, call)

    async def _exchange(self, call: Call[T], auth: Credentials | None, progress: Progress, redact: Redact) -> Answer:
        """Send one request and return its answer, translating every failure of the transport."""
        failure: CloudError

        async def carry(request: httpx.Request) -> Answer:
            return await self._transport.send(request, progress)

        try:
            request = self._request(call, progress)
            return await (carry(request) if auth is None else auth.send(request, carry))
        except UnicodeEncodeError:
            failure = CloudError(ErrorKind.INVALID, "a text in the request is not valid Unicode: correct it; nothing was sent")
        except (*_TRANSPORT_FAILURES, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _being_cancelled():
                raise
            failure = _translated(error, progress, redact)
        raise failure  # outside the handlers: an httpx error would carry the request, its URL and its headers along

    def _request(self, call: Call[T], progress: Progress) -> httpx.Request:
        url = (_same_url if call.safe or not call.params else _url)(self._base_url + call.path, tuple(call.params.items()))
        return httpx.Request(call.method, url, headers=HEADERS, json=call.json, extensions={"trace": progress.trace})

    def _redactor(self, call: Call[T]) -> Redact:
        """Redact by what is secret when the first text of an attempt comes: a login may have renewed its token until then."""

        @cache
        def made() -> Redact:
            return redactor((*call.secrets, *self._secrets()), call.documents)

        def redact(text: str) -> str:
            return made()(text)

        return redact

    def _report(self, call: Call[T], progress: Progress, status: int | None, failure: CloudError | None) -> None:
        if self._on_call is None:
            return
        seconds = asyncio.get_running_loop().time() - progress.started
        try:
            kind, words = (None, "") if failure is None else (failure.kind, failure.message)
            sent = kind not in {ErrorKind.NOT_SENT, ErrorKind.WITHDRAWN} and not isinstance(failure, LoginError)
            self._on_call(CallReport(call.operation, call.method, status, kind, seconds, progress.attempt, words, sent))
        except Exception:  # noqa: BLE001 - metrics must never change what became of a call
            _log.exception("the on_call function failed for %s; the call itself is not affected", call.operation)


def _url(place: str, params: tuple[tuple[str, str], ...]) -> httpx.URL:
    return httpx.URL(place, params=params) if params else httpx.URL(place)


_same_url = lru_cache(maxsize=64)(_url)  # most calls repeat one, and to parse a URL takes longer than all else


def _being_cancelled() -> bool:
    """Whether the caller's task is being cancelled. A CancelledError of what is awaited is a failure of it."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _translated(error: BaseException, progress: Progress, redact: Redact) -> CloudError:
    """Judge a transport failure: surely not sent, or who knows. Plain words for the cause help, and are kept."""
    if isinstance(error, _SURELY_NOT_SENT):
        return CloudError(ErrorKind.NOT_SENT, redact(f"no connection to the cloud: {connection_words(error)}"))
    if not progress.sending:
        return CloudError(ErrorKind.NOT_SENT, redact(f"the request could not be sent: {connection_words(error)}"))
    late = isinstance(error, (httpx.TimeoutException, TimeoutError))
    words = "the connection failed before the whole answer was there"
    if late:
        words = f"no whole answer came in time; {_IF_SLOW}"
    return CloudError(ErrorKind.OUTCOME_UNKNOWN, words)


def _completed(error: CloudError, call: Call[T]) -> CloudError:
    """Fill in what only the sender knows. A LoginError stays unambiguous: its call never left."""
    error.operation = call.operation
    if not isinstance(error, LoginError):
        error.ambiguous = is_ambiguous(error.kind, error.status, error.code, safe=call.safe)
    return error
