"""Sends a ``Call``: deadline, attempts, the rules about what a failure means, one report for every attempt.

Knows no particular operation. This is the place where a transport's failure becomes NOT_SENT or OUTCOME_UNKNOWN.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

import httpx

from gpucloud.cloud.answers import Answer, Redact, read, redactor
from gpucloud.cloud.calls import Call
from gpucloud.cloud.errors import CloudError, ErrorKind, LoginError, is_ambiguous
from gpucloud.cloud.limits import next_delay
from gpucloud.cloud.options import CallReport, ClientOptions, OnCall
from gpucloud.cloud.transport import PROGRESS, Progress

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
_TRANSPORT_FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError)


def wall_clock() -> datetime:
    """Read the wall clock, which nothing but a Retry-After date in an answer without a Date needs."""
    return datetime.now(tz=UTC)  # noqa: TID251 - this package is usable without the engine and its clock


class Sender:
    """Carries calls to the cloud over one httpx client."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        options: ClientOptions,
        *,
        secrets: Callable[[], tuple[str, ...]],
        on_call: OnCall | None,
    ) -> None:
        self._http = http
        self._options = options
        self._secrets = secrets
        self._on_call = on_call

    async def run(self, call: Call[T], auth: httpx.Auth | None) -> T:
        """Send a call and return its value.

        A call that changes something is sent once (twice only after a 401, which carried nothing out); a reading call
        is repeated after failures that may pass, within the deadline.

        Raises:
            CloudError: every failure, and nothing else.
        """
        now = asyncio.get_running_loop().time()
        progress = Progress(deadline=now + self._options.total_deadline_seconds, started=now)
        try:
            async with asyncio.timeout_at(progress.deadline):
                return await self._persist(call, auth, progress)
        except TimeoutError:
            kind = ErrorKind.OUTCOME_UNKNOWN if progress.sending else ErrorKind.NOT_SENT
        seconds = self._options.total_deadline_seconds
        error = CloudError(kind, f"no answer within the deadline of {seconds:g} s", retry_after=progress.retry_after)
        self._report(call, progress, None, error)
        raise _completed(error, call)

    async def _persist(self, call: Call[T], auth: httpx.Auth | None, progress: Progress) -> T:
        loop = asyncio.get_running_loop()
        while True:
            progress.attempt += 1
            progress.started = loop.time()
            progress.sending = False
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
                if delay is None:
                    raise
            await asyncio.sleep(delay)

    async def _attempt(self, call: Call[T], auth: httpx.Auth | None, progress: Progress) -> T:
        answer: Answer | None = None
        try:
            answer = await self._exchange(call, auth, progress)
            value = read(call, answer, self._redactor(call))
        except CloudError as error:
            failure = error
        else:
            self._report(call, progress, answer.status, None)
            return value
        if failure.status is None and answer is not None:
            failure.status = answer.status
        self._report(call, progress, failure.status, failure)
        raise _completed(failure, call)

    async def _exchange(self, call: Call[T], auth: httpx.Auth | None, progress: Progress) -> Answer:
        """Send one request and return its answer, translating every failure of the transport."""
        if self._http.is_closed:
            raise CloudError(ErrorKind.NOT_SENT, "the client is closed")
        failure: CloudError
        try:
            request = self._http.build_request(
                call.method,
                call.path,
                params=dict(call.params) or None,
                json=call.json,
                extensions={PROGRESS: progress, "trace": progress.trace},
            )
            response = await self._http.send(request, auth=auth)
        except UnicodeEncodeError:
            failure = CloudError(ErrorKind.INVALID, "a text in the request is not valid Unicode; nothing was sent")
        except _TRANSPORT_FAILURES as error:
            failure = _translated(error, progress, self._redactor(call))
        else:
            challenge = response.headers.get("WWW-Authenticate", "")
            return Answer(response.status_code, response.content, progress.retry_after, challenge)
        raise failure  # outside the handlers: an httpx error would carry the request, its URL and its headers along

    def _redactor(self, call: Call[T]) -> Redact:
        return redactor((*call.secrets, *self._secrets()))

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


def _translated(error: Exception, progress: Progress, redact: Redact) -> CloudError:
    """Judge a transport failure: surely not sent, or who knows. The words of a connection error help and are kept."""
    name = type(error).__name__
    if isinstance(error, _SURELY_NOT_SENT):
        return CloudError(ErrorKind.NOT_SENT, redact(f"no connection to the cloud ({name}): {error}"))
    if not progress.sending:
        return CloudError(ErrorKind.NOT_SENT, f"the request could not be sent ({name})")
    return CloudError(ErrorKind.OUTCOME_UNKNOWN, f"the connection failed before the whole answer was there ({name})")


def _completed(error: CloudError, call: Call[T]) -> CloudError:
    """Fill in what only the sender knows. A LoginError stays unambiguous: its call never left."""
    error.operation = call.operation
    if not isinstance(error, LoginError):
        error.ambiguous = is_ambiguous(error.kind, error.status, error.code, safe=call.safe)
    return error
