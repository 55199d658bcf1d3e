"""A transport over httpcore's connections with a pool of its own, which looks at one connection a request.

httpcore's own pool looks at each of its connections twice a request, with a system call for every idle one: with fifty calls
under way that is more work than the calls.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpcore
import httpx

_KEEPALIVE_SECONDS = 5.0
_AS_HTTPX: dict[type[Exception], type[httpx.TransportError]] = {
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ConnectionNotAvailable: httpx.ConnectError,
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
    httpcore.WriteError: httpx.WriteError,
    httpcore.WriteTimeout: httpx.WriteTimeout,
}


class PooledTransport(httpx.AsyncBaseTransport):
    """Sends requests without a proxy. A connection serves one request at a time; the last one used is used first."""

    def __init__(self, context: ssl.SSLContext, *, most: int, most_idle: int) -> None:
        """``most`` connections at once, of which ``most_idle`` are kept open while nothing is sent."""
        self._context = context
        self._turns = asyncio.Semaphore(most)
        self._most_idle = most_idle
        self._idle: list[httpcore.AsyncHTTPConnection] = []
        self._closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return its answer with the body unread; its end gives the connection back.

        Raises:
            httpx.TransportError: no answer came.
        """
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        await self._turn(request)
        connection = None
        try:
            connection = await self._connection(sent.url.origin)
            with _as_httpx():
                answer = await connection.handle_async_request(sent)
        except BaseException:
            await self.give_back(connection)
            raise
        body = _Body(self, connection, answer)
        return httpx.Response(answer.status, headers=answer.headers, stream=body, extensions=answer.extensions)

    async def aclose(self) -> None:
        """Close all idle connections; those in use are closed when their answers have been read."""
        self._closed = True
        while self._idle:
            await self._idle.pop().aclose()

    async def _turn(self, request: httpx.Request) -> None:
        try:
            async with asyncio.timeout(request.extensions.get("timeout", {}).get("pool")):
                await self._turns.acquire()
        except TimeoutError:
            raise httpx.PoolTimeout("no connection became free in time") from None

    async def _connection(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            if connection.can_handle_request(origin) and connection.is_idle() and not connection.has_expired():
                return connection
            await asyncio.shield(connection.aclose())
        return httpcore.AsyncHTTPConnection(origin, ssl_context=self._context, keepalive_expiry=_KEEPALIVE_SECONDS)

    async def give_back(self, connection: httpcore.AsyncHTTPConnection | None) -> None:
        """A request is over: keep its connection for the next one, or close it."""
        self._turns.release()
        if connection is None or connection.is_closed():
            return
        if connection.is_idle() and len(self._idle) < self._most_idle and not self._closed:
            self._idle.append(connection)
        else:
            await asyncio.shield(connection.aclose())


@dataclass
class _Body(httpx.AsyncByteStream):
    """The body of an answer; its connection goes back to the pool when it is closed."""

    transport: PooledTransport
    connection: httpcore.AsyncHTTPConnection | None
    answer: httpcore.Response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _as_httpx():
            async for part in self.answer.aiter_stream():
                yield part

    async def aclose(self) -> None:
        """Give the connection back, once."""
        connection, self.connection = self.connection, None
        if connection is None:
            return
        try:
            await self.answer.aclose()
        finally:
            await self.transport.give_back(connection)


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except tuple(_AS_HTTPX) as error:
        raise _AS_HTTPX[type(error)](str(error)) from error
