"""A fault proxy on loopback between the operator and one of its two servers, the cloud or the apiserver.

It runs in the event loop of a ``Wire``, which both links of a trial share, so that one can shut both at one instant.
Everything passes unless a rule, a hook or a switch says otherwise; all that passes is recorded in order.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from chaos.rig.calls import Call, Phase, Seen, classify
from chaos.rig.rules import DROP, Answer, Drop, Outcome, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from pathlib import Path

    Lines = Iterable[tuple[float, bytes]]

_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host", "te", "trailer", "upgrade"})
_JSON = "application/json"
_CLOSING = 0.1  # seconds
_LINE_LIMIT = 8 * 2**20


class Wire:
    """A thread with an event loop, and the gate that shuts all links of a trial at once."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.waiting = 0  # calls that wait at the gate
        self.era = 0  # rises with each death of the operator: what an older era sent and is not forwarded yet never is
        self._open = asyncio.Event()
        self._open.set()
        self._thread = threading.Thread(target=self._serve, name="wire", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any], timeout: float = 30.0) -> Any:
        """Run a coroutine in the loop from another thread, and wait for it.

        Raises:
            RuntimeError: the loop has ended.
        """
        try:
            running = asyncio.run_coroutine_threadsafe(work, self.loop)
        except RuntimeError:
            work.close()
            raise
        return running.result(timeout)

    def shut(self) -> None:
        """Forward nothing further (in the loop's thread)."""
        self._open.clear()

    def release(self) -> None:
        """Forward again what still waits (in the loop's thread)."""
        self._open.set()

    async def gate(self) -> None:
        """Wait while the links are shut."""
        self.waiting += 1
        await self._open.wait()
        self.waiting -= 1

    def stop(self) -> None:
        """End the loop and its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self.loop.run_until_complete(asyncio.sleep(_CLOSING))  # transports close in later turns of the loop
        self.loop.run_until_complete(asyncio.sleep(0.05))  # the sockets of what was cancelled are closed in the next turns
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


class Link:
    """One proxy. ``url`` is what the operator is given.

    Attributes:
        seen: all calls so far, in order, and what became of each.
        rules: the faults in force; append and remove at will.
        on_answer: is shown every answer of the upstream that is no watch.
        on_line: for a watch, what to send in place of each line: pairs of (seconds from now, line).
        swallow: half-open streams: no line of any watch passes, and none is cut.
    """

    def __init__(self, name: str, wire: Wire, upstream: str, ca_file: Path | None = None) -> None:
        self.name = name
        self.seen: list[Seen] = []
        self.rules: list[Rule] = []
        self.on_line: Callable[[Call, bytes], Lines] | None = None
        self.on_answer: Callable[[Call, bytes], None] = lambda _call, _body: None
        self.swallow = False
        self._wire = wire
        self._upstream = upstream.rstrip("/")
        self._ca_file = ca_file
        self._counts: Counter[str] = Counter()
        self._streams: list[_Stream] = []
        self._connections: set[asyncio.Transport] = set()
        self._later: set[asyncio.Task[None]] = set()
        self._passing: set[asyncio.Task[web.StreamResponse]] = set()
        self._place = socket.socket()  # bound and never listening: nobody else gets our port while we are down
        self._port = 0
        wire.run(self._start())

    @property
    def url(self) -> str:
        """Where the operator finds it."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def calls(self) -> list[Call]:
        """All calls so far, in order."""
        return [one.call for one in self.seen]

    def count(self, word: str) -> int:
        """How many calls of a class there have been."""
        return self._counts[word]

    def add(self, when: Callable[[Call], bool], phase: Phase | str, do: Callable[[Call], Any], *, times: int = 1) -> Rule:
        """Put a rule in force and return it."""
        self.rules.append(Rule(when, Phase(phase), do, times))
        return self.rules[-1]

    def down(self) -> None:
        """Refuse new connections and cut those that are: the server is down."""
        self._wire.run(self._unlisten())

    def up(self) -> None:
        """Listen again, at the same address."""
        self._wire.run(self._listen())

    def cut_streams(self) -> None:
        """Cut every watch."""
        self._wire.run(self._cut())

    def inject(self, line: bytes, resource: str = "") -> int:
        """Write a line into every open watch (of this resource, if one is named); returns how many got it."""
        return int(self._wire.run(self._inject(line, resource)))

    def close(self) -> None:
        """Stop listening and drop everything."""
        self._wire.run(self._close())

    async def _start(self) -> None:
        trust = ssl.create_default_context(cafile=str(self._ca_file)) if self._ca_file else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trust, limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
            auto_decompress=False,
            read_bufsize=_LINE_LIMIT,
            trust_env=False,
            skip_auto_headers=("Content-Type", "User-Agent", "Accept", "Accept-Encoding"),
        )
        self._runner = web.ServerRunner(
            web.Server(self._handle, handler_cancellation=True, access_log=None), shutdown_timeout=0.1
        )
        await self._runner.setup()
        self._site: web.BaseSite | None = None
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self._port = int(self._place.getsockname()[1])
        await self._listen()

    async def _listen(self) -> None:
        if self._site is None:
            self._site = web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True)
            await self._site.start()

    async def _unlisten(self) -> None:
        if self._site is not None:
            await self._site.stop()
            self._site = None
        for transport in list(self._connections):
            transport.abort()

    async def _close(self) -> None:
        await self._unlisten()
        await self._runner.cleanup()
        for work in self._passing:  # before the session: what still connects would leave its socket open
            work.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)
        await self._session.close()
        self._place.close()

    async def _cut(self) -> None:
        for stream in list(self._streams):
            _reset(stream.request)

    async def _inject(self, line: bytes, resource: str) -> int:
        meant = [stream for stream in self._streams if resource in {"", stream.call.resource}]
        for stream in meant:
            await stream.out.write(line.rstrip(b"\n") + b"\n")
        return len(meant)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.transport is not None:
            self._connections.add(request.transport)
            self._connections = {one for one in self._connections if not one.is_closing()}
        seen = self._note(request, await request.read())
        work = self._pass_on(request, seen)
        if seen.call.watches:
            return await work  # it ends with its caller
        passing = asyncio.create_task(work)
        self._passing.add(passing)
        passing.add_done_callback(self._passing.discard)
        return await asyncio.shield(passing)  # it goes on when its caller has died, as on a network

    def _note(self, request: web.BaseRequest, body: bytes) -> Seen:
        path, query = request.rel_url.raw_path, request.rel_url.raw_query_string
        kind = classify(self.name, request.method, path, query)
        self._counts[kind.word] += 1
        call = Call(self.name, len(self.seen) + 1, self._counts[kind.word], kind, request.method, path, query, body)
        self.seen.append(Seen(call, time.monotonic(), time.time()))
        return self.seen[-1]

    async def _pass_on(self, request: web.BaseRequest, seen: Seen) -> web.StreamResponse:
        call, era = seen.call, self._wire.era
        outcome = await self._rule(call, Phase.RECEIVED, seen)
        await self._wire.gate()
        if outcome is None and era != self._wire.era:
            outcome, seen.note = DROP, "its sender had died before it was forwarded"
        if isinstance(outcome, Answer | Drop):
            return await self._instead(request, outcome)
        try:
            return await self._forward(request, seen)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            seen.note = f"{type(error).__name__}: {error}"
            return await self._instead(request, DROP)

    async def _forward(self, request: web.BaseRequest, seen: Seen) -> web.StreamResponse:
        call = seen.call
        headers = CIMultiDict((name, value) for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP)
        seen.forwarded = time.monotonic()
        url = URL(self._upstream + call.target, encoded=True)
        data = call.body or None
        async with self._session.request(call.method, url, headers=headers, data=data, allow_redirects=False) as said:
            body = b"" if call.watches else await said.read()
            seen.answered, seen.status = time.monotonic(), said.status
            self.on_answer(call, body)
            outcome = await self._rule(call, Phase.ANSWERED, seen)
            if isinstance(outcome, Answer | Drop):
                return await self._instead(request, outcome)
            passed = CIMultiDict((name, value) for name, value in said.headers.items() if name.lower() not in _HOP_BY_HOP)
            if call.watches:
                return await self._stream(_Stream(call, request, web.StreamResponse(status=said.status, headers=passed)), said)
        return await self._deliver(request, seen, web.Response(status=said.status, headers=passed, body=body))

    async def _deliver(self, request: web.BaseRequest, seen: Seen, out: web.StreamResponse) -> web.StreamResponse:
        rule = self._fitting(seen.call, Phase.DELIVERED)
        if rule is not None:
            self._wire.shut()
        with suppress(ConnectionError):
            await out.prepare(request)
            await out.write_eof()
            seen.delivered = time.monotonic()
        if rule is not None:
            try:
                await rule.do(seen.call)
            finally:
                self._wire.release()
        return out

    async def _stream(self, stream: _Stream, said: aiohttp.ClientResponse) -> web.StreamResponse:
        await stream.out.prepare(stream.request)
        self._streams.append(stream)
        try:
            while line := await said.content.readline():
                await self._wire.gate()
                await self._lines(stream, line)
            await stream.out.write_eof()
        finally:
            self._streams.remove(stream)
        return stream.out

    async def _lines(self, stream: _Stream, line: bytes) -> None:
        if self.swallow:
            return
        pieces = [(0.0, line)] if self.on_line is None else self.on_line(stream.call, line)
        for seconds, piece in pieces:
            if seconds <= 0:
                await stream.out.write(piece)
            else:
                later = asyncio.create_task(_write_later(stream.out, seconds, piece))
                self._later.add(later)
                later.add_done_callback(self._later.discard)

    def _fitting(self, call: Call, phase: Phase) -> Rule | None:
        return next((rule for rule in list(self.rules) if rule.fits(call, phase)), None)

    async def _rule(self, call: Call, phase: Phase, seen: Seen) -> Outcome:
        rule = self._fitting(call, phase)
        if rule is None:
            return None
        outcome = await rule.do(call)
        seen.note = f"a rule acted when it was {phase}"
        return outcome

    async def _instead(self, request: web.BaseRequest, outcome: Answer | Drop) -> web.StreamResponse:
        if isinstance(outcome, Answer):
            return web.Response(status=outcome.status, body=outcome.body, headers={"Content-Type": _JSON} | outcome.headers)
        _reset(request)
        return web.Response(status=500)


@dataclass(eq=False)
class _Stream:
    """A watch that is open."""

    call: Call
    request: web.BaseRequest
    out: web.StreamResponse


async def _write_later(out: web.StreamResponse, seconds: float, piece: bytes) -> None:
    await asyncio.sleep(seconds)
    with suppress(ConnectionError, RuntimeError):
        await out.write(piece)


def _reset(request: web.BaseRequest) -> None:
    """Reset the caller's connection: it learns nothing of what became of its request."""
    transport = request.transport
    if transport is not None:
        connection = transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()
