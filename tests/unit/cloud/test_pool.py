"""The pool of connections to the cloud: used again while they live, few at once, never left taken."""

import asyncio
import ssl

import httpx
import pytest

from gpucloud.cloud.pool import PooledTransport

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
STALE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nstale"


class Server:
    """Answers each request after a moment; ``last`` closes the connection after each answer, ``twice`` answers once more."""

    def __init__(self):
        self.connections, self.open, self.most, self.last, self.twice, self.delay = 0, 0, 0, False, False, 0.0

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
                if self.twice:
                    await asyncio.sleep(0.01)
                    writer.write(STALE)
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


@pytest.fixture
async def pool():
    made = PooledTransport(ssl.create_default_context(), most=3, most_idle=2)
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
    assert server.open == 2


async def test_a_connection_that_the_server_has_closed_is_not_used(server, pool):
    server.last = True
    for _ in range(3):
        assert await get(pool, server.url) == b"{}"
        await asyncio.sleep(0.02)
    assert server.connections == 3


async def test_an_answer_too_many_is_never_the_answer_to_the_next_call(server, pool):
    """An order that was carried out would be read as refused."""
    server.twice = True
    for _ in range(3):
        assert await get(pool, server.url) == b"{}"
        await asyncio.sleep(0.03)
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
