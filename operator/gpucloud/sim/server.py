"""The simulator as a server, on aiohttp: what a network does wrong is really done to the socket."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from aiohttp import web

from gpucloud.sim.messages import Ending, Request, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

_LOOK_SECONDS = 0.05  # how often a silent connection is looked at, to notice that its caller has gone
_MAX_BODY = 4 * 2**20


@contextlib.asynccontextmanager
async def serving(
    front: Callable[[Request], Awaitable[Response]], host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Serve while the context lasts; yields the base URL with the port in use. Raises OSError if it cannot listen."""

    async def handler(request: web.Request) -> web.StreamResponse:
        return await _deliver(await front(await _plain(request)), request)

    app = web.Application(client_max_size=_MAX_BODY)
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        bound = runner.addresses[0][1]
        yield f"http://{f'[{host}]' if ':' in host else host}:{bound}"
    finally:
        await runner.cleanup()


async def _plain(request: web.Request) -> Request:
    return Request(
        method=request.method,
        path=request.path,
        query=tuple(parse_qsl(request.rel_url.raw_query_string, keep_blank_values=True)),
        headers=tuple((name.lower(), value) for name, value in request.headers.items()),
        body=await request.read(),
        peer=request.remote or "",
    )


async def _deliver(response: Response, request: web.Request) -> web.StreamResponse:
    match response.ending:
        case Ending.RESET:
            _reset(request)
            return web.Response()
        case Ending.SILENCE:
            await _stay_silent(response.silence_seconds, request)
            return web.Response()
        case Ending.CUT_BODY:
            return await _cut(response, request)
    headers = list(response.headers)
    if response.body:
        headers.append(("content-type", response.content_type))
    if response.drip_seconds:
        return await _drip(response, request, headers)
    return web.Response(status=response.status, body=response.body, headers=headers)


def _reset(request: web.Request) -> None:
    """Send RST, not FIN: what was said so far is worth nothing."""
    transport = request.transport
    if transport is None:
        return
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


async def _stay_silent(seconds: float, request: web.Request) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while loop.time() < end and request.transport is not None and not request.transport.is_closing():  # noqa: ASYNC110 - aiohttp tells a handler nothing when its caller leaves
        await asyncio.sleep(min(_LOOK_SECONDS, seconds))
    if request.transport is not None:
        request.transport.abort()


async def _cut(response: Response, request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(status=response.status, headers=list(response.headers))
    stream.content_type, stream.content_length = "application/json", len(response.body)
    await stream.prepare(request)
    await stream.write(response.body[: len(response.body) // 2])
    if request.transport is not None:
        request.transport.close()  # the first half is still delivered
    return stream


async def _drip(response: Response, request: web.Request, headers: list[tuple[str, str]]) -> web.StreamResponse:
    stream = web.StreamResponse(status=response.status, headers=headers)
    stream.content_length = len(response.body)
    await stream.prepare(request)
    with contextlib.suppress(ConnectionError):  # the caller may lose patience
        for position in range(len(response.body)):
            await asyncio.sleep(response.drip_seconds)
            await stream.write(response.body[position : position + 1])
    return stream
