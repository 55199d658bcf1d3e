"""The one gate through which every HTTP request leaves, logins and repetitions included.

Stands before any httpx transport: takes a token from the budget, notes when sending begins (so that a failure can be told
from an unknown outcome), and reads the answer to its end within the size limit. It knows no operation and no credential.
"""

import asyncio
import ssl
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from gpucloud.cloud.answers import Answer
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.limits import TokenBucket, parse_http_date, parse_retry_after, pause_for
from gpucloud.cloud.options import ClientOptions
from gpucloud.cloud.pool import PooledTransport

_PIECE = 64 * 1024  # bytes that are inflated at once: a bomb costs no more beside what is kept
_LONGEST_ERROR = 64 * 1024  # bytes of an error that are kept: its first words are all that is ever shown
_MAX_CONNECTIONS = 100
CLOSED = "the client is closed: open another one"


def always() -> bool:
    """Permit every request."""
    return True


def never() -> bool:
    """Answer that it is not so."""
    return False


@dataclass
class Progress:
    """How far a call has come. ``sending`` is True while the request on its way may have reached the cloud.

    ``waiting`` is True while nothing of it is under way: it waits for its turn, for a login or before a repetition.
    ``cut_off``: the client was closed, so it must end.
    ``may_send`` is asked right before a request begins to leave, when all waiting and connecting is over.
    """

    deadline: float
    attempt: int = 0
    started: float = 0.0
    sending: bool = False
    waiting: bool = True
    cut_off: bool = False
    retry_after: float | None = None
    may_send: Callable[[], bool] = always
    is_closed: Callable[[], bool] = never

    async def trace(self, event: str, _info: Any) -> None:
        """Listen to the connection: only here is it known that a request really begins to leave."""
        self.waiting = False
        if event.endswith("send_request_headers.started"):
            self.check()
            self.sending = True

    def check(self) -> None:
        """Refuse to send what may not be sent any more.

        Raises:
            CloudError: NOT_SENT when the client was closed meanwhile, or WITHDRAWN.
        """
        if self.is_closed():
            raise CloudError(ErrorKind.NOT_SENT, CLOSED)
        if not self.may_send():
            raise CloudError(ErrorKind.WITHDRAWN, "the caller withdrew the call before it was sent")


class GuardedTransport:
    """A transport under a budget and a size limit, whose answers are complete and decompressed. It follows nothing."""

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        bucket: TokenBucket,
        options: ClientOptions,
        now: Callable[[], datetime],
    ) -> None:
        self._inner = inner
        self._bucket = bucket
        self._options = options
        self._now = now
        self.is_closed = False
        # Only the real transport reports its steps; of any other, sending is assumed as soon as it is asked.
        self._traced = isinstance(inner, httpx.AsyncHTTPTransport | PooledTransport)

    async def send(self, request: httpx.Request, progress: Progress) -> Answer:
        """Send one request and read its whole answer.

        Raises:
            CloudError: NOT_SENT or WITHDRAWN, or what is wrong with the answer's size or encoding.
            httpx.TransportError: as the wrapped transport raises it.
        """
        if self.is_closed:
            raise CloudError(ErrorKind.NOT_SENT, CLOSED)
        progress.is_closed = lambda: self.is_closed  # while it waits for its turn or connects, somebody may close the client
        progress.sending = False
        progress.retry_after = None
        await self._bucket.acquire(progress.deadline)
        request.extensions["timeout"] = self._timeouts(progress)
        progress.check()
        progress.sending = not self._traced
        progress.waiting = self._traced
        response = await self._inner.handle_async_request(request)
        try:
            self._slow_down(response, progress)
            body = await _read_body(response, self._options.max_body_bytes)
        finally:
            await response.aclose()
        progress.waiting = True
        if response.status_code == 401:
            progress.sending = False  # refused at the door, surely not carried out
        challenge = response.headers.get("WWW-Authenticate", "")
        return Answer(response.status_code, body, progress.retry_after, challenge)

    def refuse(self) -> None:
        """Send nothing any more."""
        self.is_closed = True

    async def aclose(self) -> None:
        """Close the wrapped transport; nothing is sent any more."""
        self.refuse()
        await self._inner.aclose()

    def _timeouts(self, progress: Progress) -> dict[str, float | None]:
        """Let connecting fail by itself, in its two steps TCP and TLS, before the deadline cuts it off.

        A handshake that is cancelled from outside leaves its socket open; one that times out closes it.
        """
        remaining = max(0.0, progress.deadline - asyncio.get_running_loop().time())
        connect = min(self._options.connect_timeout_seconds, remaining * 0.45)
        return {"connect": connect, "read": None, "write": None, "pool": remaining}

    def _slow_down(self, response: httpx.Response, progress: Progress) -> None:
        asked = response.headers.get("Retry-After")
        if asked is None:
            return
        # The answer's own Date makes a Retry-After date independent of this machine's clock.
        now = parse_http_date(response.headers.get("Date")) or self._now()
        progress.retry_after = parse_retry_after(asked, now)
        if (seconds := pause_for(response.status_code, progress.retry_after)) > 0:
            self._bucket.pause(seconds)


def real_transport(options: ClientOptions) -> httpx.AsyncHTTPTransport | PooledTransport:
    """Make the transport for the network: verified TLS 1.2 or later, no variables of the environment, no retries.

    Raises:
        ValueError: when ``ca_file`` cannot be used.
    """
    try:
        context = (
            ssl.create_default_context(cafile=options.ca_file) if options.ca_file else httpx.create_ssl_context(trust_env=False)
        )
    except (OSError, ssl.SSLError) as error:
        raise ValueError(
            f"the CA file {options.ca_file!r} cannot be used: {error.strerror or error}; name a PEM file of certificates"
        ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if options.proxy is None:
        return PooledTransport(context, most=_MAX_CONNECTIONS, most_idle=_MAX_CONNECTIONS // 2)
    limits = httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=_MAX_CONNECTIONS // 5)
    return httpx.AsyncHTTPTransport(verify=context, trust_env=False, limits=limits, proxy=options.proxy, retries=0)


async def _read_body(response: httpx.Response, limit: int) -> bytes:
    """Read a body of at most ``limit`` bytes, counted after decompression as well.

    Of any other status's body as much is kept as could be read, since there the status is what matters.

    Raises:
        CloudError: TOO_LARGE, or MALFORMED when the encoding is unknown or broken; for 2xx only.
    """
    tolerant = response.status_code >= 300
    most = min(limit, _LONGEST_ERROR) if tolerant else limit
    body = _BodyReader(response.headers.get("Content-Encoding", ""), most)
    try:
        async for chunk in response.stream:  # type: ignore[union-attr] # an async transport answers with an async stream
            body.feed(chunk)
        body.finish()
    except (CloudError, httpx.TransportError) as error:
        if tolerant:
            return bytes(body.content)
        if isinstance(error, CloudError):
            error.status = response.status_code
        body.content.clear()  # a traceback can keep it for long
        raise
    return bytes(body.content)


class _BodyReader:
    """Collects a body, inflating gzip step by step so that no more than the limit is ever in memory."""

    def __init__(self, encoding: str, limit: int) -> None:
        self.content = bytearray()
        self._limit = limit
        self._encoding = encoding.strip().lower()
        self._inflater = zlib.decompressobj(wbits=31) if self._encoding == "gzip" else None

    def feed(self, chunk: bytes) -> None:
        """Take the next piece from the wire."""
        if self._encoding not in {"", "identity", "gzip"}:
            raise CloudError(ErrorKind.MALFORMED, "the answer is compressed in a way that was not asked for")
        if self._inflater is None:
            self._keep(chunk)
            return
        while chunk and not self._inflater.eof:
            room = self._limit - len(self.content) + 1
            try:
                self._keep(self._inflater.decompress(chunk, min(room, _PIECE)))
            except zlib.error:
                raise CloudError(ErrorKind.MALFORMED, "the answer's compression is broken") from None
            chunk = self._inflater.unconsumed_tail

    def finish(self) -> None:
        """Check that nothing is missing at the end."""
        if self._inflater is not None and self.content and not self._inflater.eof:
            raise CloudError(ErrorKind.MALFORMED, "the answer's compression ends too early")

    def _keep(self, piece: bytes) -> None:
        room = self._limit - len(self.content)
        self.content += piece[:room]
        if len(piece) > room:
            raise CloudError(ErrorKind.TOO_LARGE, f"the answer is larger than {self._limit} bytes")
