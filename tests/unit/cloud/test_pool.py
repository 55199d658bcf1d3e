"""The pool of connections to the cloud: used again while they live, few at once, never left taken."""

import asyncio
import contextlib
import ssl

import httpx
import pytest

from gpucloud.cloud.options import ClientOptions
from gpucloud.cloud.pool import PooledTransport
from gpucloud.cloud.transport import real_transport
from gpucloud.engine.cloud.aiohttp_transport import AiohttpTransport

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Server:
    """Answers each request after a moment; ``last`` closes the connection after each answer."""

    def __init__(self):
        self.connections, self.open, self.most, self.last, self.delay = 0, 0, 0, False, 0.0

    async def serve(self, reader, writer):
        self.connections += 1
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(self.delay)
                writer.write(ANSWER)
                await writer.drain()
                if self.last:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.open -= 1
            writer.close()


@pytest.fixture
async def server():
    found = Server()
    listening = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    yield found
    listening.close()


def pooled(context, most):
    return PooledTransport(context, most, most_idle=2)


@pytest.fixture(params=[pooled, AiohttpTransport], ids=["httpcore", "aiohttp"])
async def pool(request):
    made = request.param(ssl.create_default_context(), 3)
    yield made
    await made.aclose()


async def get(transport, url, **timeout):
    answer = await transport.handle_async_request(httpx.Request("GET", url, extensions={"timeout": timeout}))
    try:
        return await answer.aread()
    finally:
        await answer.aclose()


async def test_one_connection_serves_one_call_after_the_other(server, pool):
    for _ in range(5):
        assert await get(pool, server.url) == b"{}"
    assert server.connections == 1


async def test_no_more_connections_than_allowed_and_few_are_kept(server, pool):
    server.delay = 0.05
    assert await asyncio.gather(*(get(pool, server.url) for _ in range(12))) == [b"{}"] * 12
    assert server.most == 3
    await asyncio.sleep(0.05)
    assert server.open == (2 if isinstance(pool, PooledTransport) else 3)


async def test_a_connection_that_the_server_has_closed_is_not_used(server, pool):
    server.last = True
    for _ in range(3):
        assert await get(pool, server.url) == b"{}"
        await asyncio.sleep(0.02)
    assert server.connections == 3


async def test_calls_that_are_cut_off_leave_no_connection_taken(server, pool):
    server.delay = 60.0
    for _ in range(4):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await get(pool, server.url)
    server.delay = 0.0
    assert await get(pool, server.url, pool=1.0) == b"{}"


async def test_who_finds_none_free_in_time_has_sent_nothing(server, pool):
    server.delay = 60.0
    calls = [asyncio.create_task(get(pool, server.url)) for _ in range(3)]
    await asyncio.sleep(0.05)
    with pytest.raises(httpx.PoolTimeout):
        await get(pool, server.url, pool=0.05)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_failures_are_those_of_httpx(pool):
    with pytest.raises(httpx.ConnectError):
        await get(pool, "http://127.0.0.1:9/")


class Departures:
    """Answers each request but the last, and closes the connection then; counts what arrives."""

    def __init__(self, answered):
        self.answered, self.heads = answered, []

    async def serve(self, reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError), contextlib.closing(writer):
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.heads.append(head)
                if len(self.heads) > self.answered:
                    break
                writer.write(ANSWER)


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
async def test_what_was_sent_over_a_kept_connection_is_not_sent_again(pool, method):
    departures = Departures(1)
    listening = await asyncio.start_server(departures.serve, "127.0.0.1", 0)
    async with listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        await get(pool, url)
        with pytest.raises(httpx.TransportError) as caught:
            await pool.handle_async_request(httpx.Request(method, url))
    assert len(departures.heads) == 2
    assert not isinstance(caught.value, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)


class TakenBackError(Exception):
    """The caller does not want it any more."""


@pytest.mark.parametrize("kept", [False, True], ids=["a new connection", "a kept connection"])
async def test_it_says_when_a_request_begins_to_leave_and_none_leaves_that_is_taken_back(pool, kept):
    departures, steps = Departures(9), []

    async def trace(step, _info):
        steps.append((step.rpartition(".send_request_headers.")[2], len(departures.heads)))
        raise TakenBackError

    listening = await asyncio.start_server(departures.serve, "127.0.0.1", 0)
    async with listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
        if kept:
            await get(pool, url)
        before = len(departures.heads)
        only_headers = lambda step, info: trace(step, info) if "send_request_headers" in step else asyncio.sleep(0)  # noqa: E731
        with pytest.raises(TakenBackError):
            await pool.handle_async_request(httpx.Request("POST", url, json={}, extensions={"trace": only_headers}))
        await asyncio.sleep(0.05)
    assert steps == [("started", before)]
    assert len(departures.heads) == before, "not a byte has left"


async def test_an_answer_may_have_a_long_header_and_no_cookie_is_kept(pool):
    heads = []

    async def serve(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError), contextlib.closing(writer):
            while True:
                heads.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=" + b"x" * 20_000 + b"\r\nContent-Length: 2\r\n\r\n{}")

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/a%2Fb?c=%2B&d=%20x"
        for _ in range(2):
            assert await get(pool, url) == b"{}"
    assert all(head.startswith(b"GET /a%2Fb?c=%2B&d=%20x HTTP/1.1\r\n") for head in heads), "the URL as it is"
    assert not any(b"ookie" in head for head in heads)


async def test_other_connections_take_the_place_of_the_pool_but_not_of_a_proxy():
    for proxy, kind in ((None, AiohttpTransport), ("http://127.0.0.1:9", httpx.AsyncHTTPTransport)):
        made = real_transport(ClientOptions(proxy=proxy, connections=AiohttpTransport))
        assert type(made) is kind
        await made.aclose()
    assert type(real_transport(ClientOptions())) is PooledTransport
