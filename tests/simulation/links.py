"""The two links of a process: to the apiserver and to the cloud. Each request takes its time there and back, and may fail.

A request is carried out in the world's own time, whatever becomes of the process that sent it: a killed one's last write may
still be saved, and an order that its caller gave up may still be carried out.
"""

from __future__ import annotations

import asyncio
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from gpucloud.engine.kube.transport import KubeAnswer, NoAnswer
from gpucloud.sim.messages import Ending, Request, Response
from simulation.process import PROCESS
from simulation.weather import CLOUD_READ, CLOUD_WRITE, KUBE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from simulation.process import Process
    from simulation.world import World

USUAL = 0.02
DEADLINE = 30.0
LISTINGS = frozenset({"GetServers", "GetSnapshots", "GetVpcs"})
OF_LISTINGS = frozenset(kind for kind in CLOUD_READ if kind.startswith("list-")) | {"word"}
LIES = frozenset({"list-partial", "list-empty", "list-stale", "list-twice"})  # nothing in them shows that they are untrue
TRUE_AFTER_A_LIE = 2  # listings: one of them may be for another than who took the lie in
DRIP_SECONDS = 9.0
UNREAD = frozenset({401, 429})  # statuses with which a request is refused unread: the client sends it again
DEATHS = ("", "sent", "committed", "answered")


def latency(world: World, domain: str, *, slow: bool) -> float:
    """Seconds one way; with ``slow`` some take seconds, and some longer than anybody waits."""

    def make(part: float) -> float:
        if slow and part > 0.95:
            return DEADLINE + 10 * (part - 0.95)
        if slow and part > 0.8:
            return round(1 + 4 * (part - 0.8) / 0.15, 1)
        return round(0.005 + 0.045 * (part % 0.2) / 0.2, 3)

    return world.choices.pick(f"latency {domain}", USUAL, make)


class Link:
    """What both links have in common: a journey there, a deed, a journey back, and where on it the sender may die."""

    def __init__(self, world: World, process: Process) -> None:
        self.world = world
        self.process = process
        self.closed = False

    async def travel(self, domain: str, *, slow: bool, deed: Callable[[], Any]) -> Any:
        """Carry out a deed in the world, and answer what it answers; None: nothing is answered, for ever."""
        world = self.world
        waiter: asyncio.Future[Any] = world.loop.create_future()
        there, back = (latency(world, f"{domain} {way}", slow=slow) for way in ("there", "back"))
        death = world.arranged.kills(domain) or world.death(self.process, domain)

        def arrive() -> None:
            if death == "sent":
                world.kill(self.process, f"before {domain} arrived")
                if world.choices.draw(f"lost with its sender {domain}") < 0.5:
                    return
            answer = deed()
            if death == "committed":
                world.kill(self.process, f"after {domain} was carried out")
            if answer is not None:
                world.carry(f"answer {domain}", back, come_back, answer)

        def come_back(answer: Any) -> None:
            if not waiter.done():
                waiter.set_result(answer)
            if death == "answered":
                world.kill(self.process, f"right after the answer to {domain}")

        world.carry(f"request {domain}", there, arrive)
        return await waiter


class KubeLink(Link):
    """A ``KubeTransport``: one process's way to the apiserver."""

    def connect(self, connection: Any) -> None:
        """There is one apiserver."""

    async def aclose(self) -> None:
        """Nothing is kept open."""

    async def request(self, method: str, path: str, *, body: str | None, headers: Mapping[str, str]) -> KubeAnswer:
        """Send one request.

        Raises:
            NoAnswer: no whole answer came.
        """
        world = self.world
        world.judge.writes(self.process, method, urlsplit(path).path, body)
        domain = f"kube {method} {_resource(path)}"
        fault = world.weather.strikes(KUBE, domain)
        fault = world.arranged.strikes(domain) or fault
        if world.kube_is_down():
            fault = "kube-lost"
        slow = fault == "kube-slow"

        def deed() -> KubeAnswer | NoAnswer | None:
            if fault in _KUBE_REFUSALS:
                return self._told(method, path, body, KubeAnswer(*_KUBE_REFUSALS[fault]))
            if fault == "kube-lost":
                return self._told(method, path, body, NoAnswer("ConnectionReset"))
            if fault == "kube-late" and method != "GET":
                seconds = world.choices.choose(f"late {domain}", (1.0, 5.0, 29.0, 60.0))
                world.later(seconds, self._carry_out, method, path, body, headers)
                return self._told(method, path, body, NoAnswer("ConnectionReset"))
            if fault == "kube-409":
                world.actors.overtake(urlsplit(path).path)
            world.arranged.arrives(method, urlsplit(path).path)
            answer = self._carry_out(method, path, body, headers)
            return NoAnswer("ConnectionReset") if fault == "kube-unsaid" else answer

        answer = await self.travel(domain, slow=slow, deed=deed)
        world.judge.publishing.answered(urlsplit(path).path, 0 if isinstance(answer, NoAnswer) else answer.status)
        if isinstance(answer, NoAnswer):
            raise answer
        if answer.status < 300:
            world.judge.written.answered(self.process, method, urlsplit(path).path, answer.text)
        return answer  # type: ignore[no-any-return]

    def _carry_out(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> KubeAnswer:
        world = self.world
        answer = world.api.request("operator", method, path, headers=headers, body=body)
        return self._told(method, path, body, KubeAnswer(answer.status, answer.headers, answer.text))

    def _told(self, method: str, path: str, body: str | None, answer: Any) -> Any:
        if method != "GET":
            if "leases" not in path:
                self.world.judge.show(body or "")
            said = answer.reason if isinstance(answer, NoAnswer) else f"{answer.status}"
            if not isinstance(answer, NoAnswer) and answer.status >= 400:
                said += f" {answer.text[:300]}"
            self.world.tell(self.process.name, f"{method} {urlsplit(path).path}", said, lambda: _verdict(body))
        return answer


def is_heard(fault: str, status: int) -> bool:
    """Whether who asked was told something; what fails by a fault, or is refused unread, the client asks again at once."""
    return not fault and status not in UNREAD


def _with_cluster(operation: str, request: Request) -> str:
    """What a plot calls this request, if it means those of one cluster only."""
    return f"{operation} {dict(request.query).get('Cluster', '')}"


class CloudLink(httpx.AsyncBaseTransport, Link):
    """What carries a cloud client's requests to the simulated cloud."""

    def __init__(self, world: World, process: Process) -> None:
        Link.__init__(self, world, process)
        self._true: dict[tuple[str, str], int] = {}  # by operation and cluster: good listings since the last that lied

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer, or raise what a network raises."""
        world = self.world
        plain = await _plain(request)
        world.judge.reaches(self.process, f"{request.url.scheme}://{request.url.host}")
        operation = world.cloud.operation(plain)
        changes = plain.method != "GET" and operation not in {"Authenticate", "RefreshToken"}
        kinds = CLOUD_WRITE if changes else CLOUD_READ if operation in LISTINGS else _READS
        domain = f"cloud {operation}"
        fault = world.weather.strikes(kinds, domain)
        if world.cloud_is_down():
            fault = world.choices.choose("cloud outage", ("cloud-503", "cloud-lost"))
        fault = self._lies_once(operation, plain, fault) if operation in LISTINGS else fault
        fault = world.arranged.strikes(operation) or world.arranged.strikes(_with_cluster(operation, plain)) or fault
        world.judge.rates.requests(self.process, plain)
        if operation == "GetAvailability":
            world.judge.recreating.rooms.asks(plain, told=False)
        if changes:
            world.judge.sent(PROCESS.get() or self.process, operation, plain)
        if operation == "StartServer":
            world.judge.rates.starts(self.process, plain)
        try:
            response: Response = await self.travel(
                domain, slow=fault == "cloud-slow", deed=lambda: world.cloud.carry_out(self.process, operation, plain, fault)
            )
        except asyncio.CancelledError:
            world.judge.unheard(self.process, operation, plain)
            raise
        world.judge.rates.answered(self.process, plain, response)
        if is_heard(fault, response.status):
            self._count(operation, plain)
        world.judge.received(self.process, operation, plain, response, fault)
        if response.ending is Ending.RESET:
            if operation in LISTINGS and world.choices.choose("no error that anybody thought of", (False, True), (5, 1)):
                raise BufferError("what nobody thought of")
            raise httpx.ReadError("the simulated cloud reset the connection", request=request)
        body = _Body(response, request, drips=fault == "cloud-drip")
        return httpx.Response(response.status, headers=_headers(response), stream=body, request=request)

    def _count(self, operation: str, plain: Request) -> None:
        """Tell the judge of a query that is to be asked seldom."""
        if operation == "GetVirtualMachineBootLogs":
            self.world.judge.rates.reads_boot_log(self.process, dict(plain.query)["Id"])
        if operation == "GetAvailability":
            self.world.judge.rates.asks_what_is_free(self.process, plain)
            self.world.judge.recreating.rooms.asks(plain, told=True)

    def _lies_once(self, operation: str, request: Request, fault: str) -> str:
        """The fault; but what is taken for a good listing lies at most once in a row, as one listing proves nothing.

        Neither a listing that fails nor one of another account, which has a link of its own, comes in between.
        """
        key = operation, dict(request.query).get("Cluster", "")
        since = self._true.get(key, TRUE_AFTER_A_LIE)
        if fault in LIES and since >= TRUE_AFTER_A_LIE:
            self._true[key] = 0
            return fault
        if fault in LIES or fault in {"", "word"}:
            self._true[key] = since + 1
        return "" if fault in LIES else fault

    async def aclose(self) -> None:
        """Nothing is kept open."""


_READS = tuple(kind for kind in CLOUD_READ if kind not in OF_LISTINGS)
_FAILED = '{"kind":"Status","status":"Failure","reason":"%s","message":"%s","code":%d}'
_KUBE_REFUSALS: dict[str, tuple[int, dict[str, str], str]] = {
    "kube-401": (401, {}, _FAILED % ("Unauthorized", "Unauthorized", 401)),
    "kube-429": (429, {"Retry-After": "2"}, _FAILED % ("TooManyRequests", "too many requests", 429)),
    "kube-500": (500, {}, _FAILED % ("InternalError", "etcdserver: leader changed", 500)),
    "kube-503": (503, {}, _FAILED % ("ServiceUnavailable", "apiserver is shutting down", 503)),
}


def _verdict(body: str | None) -> str:
    """What a status that is written says, for people."""
    status = json.loads(body).get("status") if body and body.startswith("{") else None
    ready = [one for one in (status or {}).get("conditions") or () if one["type"] == "Ready"]
    return "".join(f"Ready={one['status']}/{one['reason']}: {one['message']}"[:200] for one in ready)


@lru_cache(maxsize=256)
def _resource(path: str) -> str:
    """The resource of a path, with its subresource: ``gpuvms/status``."""
    parts = urlsplit(path).path.strip("/").split("/")
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    return "/".join((parts[0], *parts[2:]))


async def _plain(request: httpx.Request) -> Request:
    return Request(
        method=request.method,
        path=request.url.path,
        query=_query(request.url.query),
        headers=tuple((name.lower(), value) for name, value in request.headers.multi_items()),
        body=await request.aread(),
    )


@lru_cache(maxsize=256)
def _query(text: bytes) -> tuple[tuple[str, str], ...]:
    return tuple(parse_qsl(text.decode("ascii"), keep_blank_values=True))


def _headers(response: Response) -> list[tuple[str, str]]:
    return [*response.headers, ("content-length", str(len(response.body))), ("content-type", response.content_type)]


class _Body(httpx.AsyncByteStream):
    """A body that comes whole, breaks off half-way, or drips for hours: each drop within the time of a single read."""

    def __init__(self, response: Response, request: httpx.Request, *, drips: bool) -> None:
        self._response = response
        self._request = request
        self._drips = drips

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = self._response.body
        while self._drips and body:
            yield body[:1]
            body = body[1:]
            await asyncio.sleep(DRIP_SECONDS)
        if self._response.ending is Ending.CUT_BODY:
            yield body[: len(body) // 2]
            raise httpx.RemoteProtocolError("peer closed connection without sending complete body", request=self._request)
        yield body
