"""A scripted cloud behind httpx's transport seam, and a raw TCP server for what only sockets can do."""

import asyncio
import contextlib
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

from gpucloud.cloud import ApiKey, CallReport, ClientOptions, CloudClient, Login

BASE = "http://127.0.0.1:9"
KEY = "canary-key-0001"
PASSWORD = "canary-password-0002"
LOGIN = Login("ann@example.com", PASSWORD)


class FakeCloud(httpx.AsyncBaseTransport):
    """Answers every request by one function and remembers the requests with their times."""

    def __init__(self, answer):
        self.answer = answer
        self.requests: list[httpx.Request] = []
        self.times: list[float] = []

    async def handle_async_request(self, request):
        self.requests.append(request)
        self.times.append(asyncio.get_running_loop().time())
        response = self.answer(request)
        return await response if inspect.isawaitable(response) else response

    def sent_to(self, operation: str) -> list[httpx.Request]:
        return [request for request in self.requests if request.url.path.endswith(f"/{operation}")]

    @property
    def logins(self) -> int:
        return len(self.sent_to("Authenticate"))


def in_turn(*answers):
    """Answer with each in turn, the last for ever; exceptions are raised."""
    queue = list(answers)

    def answer(_request):
        item = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(item, BaseException):
            raise item
        return httpx.Response(item.status_code, headers=item.headers, content=item.content)

    return answer


def plain(value, status=200, **headers):
    return httpx.Response(status, content=json.dumps(value).encode(), headers=headers)


def wrapped(result, status=200, **fields):
    body = {"result": result, "targetUrl": None, "success": True, "error": None, "unAuthorizedRequest": False}
    return plain(body | {"__abp": True} | fields, status)


def refusal(status, message, *, code=0, unauthorized=False, **headers):
    body = {
        "result": None,
        "success": False,
        "error": {"code": code, "message": message, "details": None, "validationErrors": None},
        "unAuthorizedRequest": unauthorized,
        "__abp": True,
    }
    return plain(body, status, **headers)


def token(value="canary-token-0003", seconds=86400, **fields):
    return wrapped({"accessToken": value, "expireInSeconds": seconds, "refreshToken": "canary-refresh-0004"} | fields)


class Rig:
    """A client, the fake cloud behind it, and the reports it made."""

    def __init__(self, answer, *, credential=None, **options):
        self.cloud = FakeCloud(answer)
        self.reports: list[CallReport] = []
        self.client = CloudClient(
            BASE,
            credential or ApiKey(KEY),
            options=ClientOptions(**options),
            transport=self.cloud,
            on_call=self.reports.append,
        )


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def raw_server(serve: Serve) -> AsyncIterator[str]:
    """Serve raw TCP on a free port of the loopback; ``serve`` runs after a request's head has been read."""
    tasks: set[asyncio.Task] = set()

    async def connected(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            await reader.readuntil(b"\r\n\r\n")
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
