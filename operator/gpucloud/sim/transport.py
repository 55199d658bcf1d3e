"""The simulator behind httpx, in process and without a socket: what a network does wrong becomes httpx's exceptions.

A request goes on in the cloud when its caller has given up, as it does in a real one.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import httpx

from gpucloud.sim.messages import Ending, Request, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gpucloud.sim.simulator import Simulator

_DRIP_BYTES = 1


class SimTransport(httpx.AsyncBaseTransport):
    """Give it to ``httpx.AsyncClient(transport=…)``; any host name in the URL reaches the simulator."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._running: set[asyncio.Task[Response]] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer, or raise httpx.ReadError, ReadTimeout or RemoteProtocolError as a network would make it."""
        task = asyncio.create_task(self._simulator.handle(await _plain(request)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        patience = request.extensions.get("timeout", {}).get("read")
        try:
            async with asyncio.timeout(patience):
                response = await asyncio.shield(task)
        except TimeoutError:
            raise httpx.ReadTimeout("the simulated cloud is slow", request=request) from None
        if response.ending is Ending.RESET:
            raise httpx.ReadError("the simulated cloud reset the connection", request=request)
        if response.ending is Ending.SILENCE:
            await _stay_silent(request, response.silence_seconds, patience)
        return _as_httpx(response, request, patience)


async def _stay_silent(request: httpx.Request, seconds: float, patience: float | None) -> None:
    if patience is not None and patience <= seconds:
        await asyncio.sleep(patience)
        raise httpx.ReadTimeout("the simulated cloud does not answer", request=request)
    await asyncio.sleep(seconds)
    raise httpx.RemoteProtocolError("Server disconnected without sending a response.", request=request)


async def _plain(request: httpx.Request) -> Request:
    return Request(
        method=request.method,
        path=request.url.path,
        query=tuple(parse_qsl(request.url.query.decode("ascii"), keep_blank_values=True)),
        headers=tuple((name.lower(), value) for name, value in request.headers.multi_items()),
        body=await request.aread(),
    )


def _as_httpx(response: Response, request: httpx.Request, patience: float | None) -> httpx.Response:
    headers = [*response.headers, ("content-length", str(len(response.body)))]
    if response.body:
        headers.append(("content-type", response.content_type))
    return httpx.Response(response.status, headers=headers, stream=_Body(response, request, patience), request=request)


class _Body(httpx.AsyncByteStream):
    """A body as it arrives: whole, byte by byte, or breaking off half-way."""

    def __init__(self, response: Response, request: httpx.Request, patience: float | None) -> None:
        self._response = response
        self._request = request
        self._patience = patience

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body, pause = self._response.body, self._response.drip_seconds
        if self._response.ending is Ending.CUT_BODY:
            yield body[: len(body) // 2]
            raise httpx.RemoteProtocolError(
                "peer closed connection without sending complete message body", request=self._request
            )
        if not pause:
            yield body
            return
        for start in range(0, len(body), _DRIP_BYTES):
            if self._patience is not None and self._patience < pause:
                await asyncio.sleep(self._patience)
                raise httpx.ReadTimeout("the simulated cloud drips too slowly", request=self._request)
            await asyncio.sleep(pause)
            yield body[start : start + _DRIP_BYTES]
