"""Transport to the cloud over aiohttp, whose connections take about half of the CPU that httpcore's take.

The client of the cloud works without aiohttp, over its own pool; the operator needs aiohttp for the apiserver in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import httpx
from yarl import URL

from gpucloud.cloud.options import ReportingTransport

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Awaitable, Callable

KEEPALIVE_SECONDS = 5.0
LONGEST_HEADER_BYTES = 64 * 1024  # of an answer: a cookie or a policy may be longer than aiohttp's 8 KB


class AiohttpTransport(ReportingTransport):
    """Sends requests without a proxy. No redirect is followed, no cookie is kept, nothing is sent twice."""

    def __init__(self, context: ssl.SSLContext, most: int) -> None:
        """``most`` connections at once."""
        self._context, self._most = context, most
        self._session: aiohttp.ClientSession | None = None  # made where a loop runs
        self._closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return its answer with the body unread; its end gives the connection back.

        Raises:
            httpx.TransportError: no answer came.
        """
        if self._closed:
            raise httpx.ConnectError("the transport is closed")
        if self._session is None:
            self._session = self._opened()
        wanted = request.extensions.get("timeout", {})
        timeout = aiohttp.ClientTimeout(
            total=None, connect=wanted.get("pool"), sock_connect=wanted.get("connect"), sock_read=wanted.get("read")
        )
        departure = _Departure(request.extensions.get("trace"))
        try:
            answer = await self._session.request(
                request.method,
                URL(str(request.url), encoded=True),
                data=request.content or None,
                headers=request.headers.multi_items(),
                allow_redirects=False,
                timeout=timeout,
                trace_request_ctx=departure,
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise departure.failure(error) from error
        return httpx.Response(answer.status, headers=answer.raw_headers, stream=_Body(answer))

    async def aclose(self) -> None:
        """Close all connections."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        leaving = aiohttp.TraceConfig()
        leaving.on_connection_create_start.append(_connecting)
        leaving.on_request_headers_sent.append(_leaving)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._context, limit=self._most, keepalive_timeout=KEEPALIVE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            trust_env=False,
            trace_configs=[leaving],
            max_line_size=LONGEST_HEADER_BYTES,
            max_field_size=LONGEST_HEADER_BYTES,
        )


class _Departure:
    """How far one request has come: whether it has a connection to wait for, and whether it has begun to leave."""

    def __init__(self, trace: Callable[[str, Any], Awaitable[None]] | None) -> None:
        self._trace = trace
        self.connecting = self.begun = False

    async def begin(self) -> None:
        """Report it. aiohttp sends a DELETE again when a kept connection ends before the answer: here it may not."""
        if self.begun:
            raise httpx.ReadError("the connection was closed before the answer")
        if self._trace is not None:
            await self._trace("http11.send_request_headers.started", None)
        self.begun = True

    def failure(self, error: Exception) -> httpx.TransportError:
        """Return httpx's error of the same meaning; one of connecting only if nothing was sent."""
        if self.begun:
            return httpx.ReadError(str(error))
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return httpx.ConnectTimeout(str(error)) if self.connecting else httpx.PoolTimeout("no connection became free")
        return httpx.ConnectError(str(error))


async def _connecting(_session: aiohttp.ClientSession, context: Any, _params: Any) -> None:
    context.trace_request_ctx.connecting = True


async def _leaving(_session: aiohttp.ClientSession, context: Any, _params: Any) -> None:
    """Aiohttp calls this before it writes the first byte of a request, though its name says otherwise."""
    await context.trace_request_ctx.begin()


class _Body(httpx.AsyncByteStream):
    """The body of an answer; its connection is free again at its end, and closed when it is closed before."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._answer.content.iter_any():
                yield part
        except (aiohttp.ClientError, OSError) as error:
            raise httpx.ReadError(str(error)) from error

    async def aclose(self) -> None:
        """Let the connection go."""
        self._answer.close()
