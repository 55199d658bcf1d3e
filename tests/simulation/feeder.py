"""What stands in for kopf: lists, watches, and hands each event to the engine as ``handlers`` does.

As kopf 1.45 does it: the first list is handed on as events of no type; each object's events are handled one after the other,
by a task of the object; a stream that ends is opened anew from the last version seen, after a pause; after a 410 everything
is listed again, and what was deleted meanwhile is never told.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.definitions import DEFINITIONS
from gpucloud.kinds.gpucloudaccount import KIND as ACCOUNT
from gpucloud.kinds.meta import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.kube.transport import KubeTransport
    from gpucloud.engine.manager.manager import Engine
    from gpucloud.kinds.crd import Definition
    from simulation.world import World

RECONNECT_SECONDS = 1.0
HEALTH_SECONDS = 60.0
PAGE = 500
HAIR = 1e-6
FIRST_BACKOFF, LONGEST_BACKOFF = 0.5, 60.0


class Feeder:
    """Feeds one engine until it is cancelled. ``acting``: ask for the accounts' health, too."""

    def __init__(self, world: World, engine: Engine, link: KubeTransport, *, acting: bool) -> None:
        self._world = world
        self._engine = engine
        self._link = link
        self._acting = acting
        self._queues: dict[str, asyncio.Queue[dict[str, Any]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._accounts: dict[str, tuple[str, str]] = {}

    def start(self) -> list[asyncio.Task[None]]:
        """One task for each kind, and one for the accounts' health."""
        tasks = [asyncio.create_task(self._feed(item), name=f"watch-{item.plural}") for item in DEFINITIONS]
        return [*tasks, asyncio.create_task(self._ask_for_health(), name="health")] if self._acting else tasks

    async def stop(self, tasks: list[asyncio.Task[None]]) -> None:
        """End all."""
        mine = [*tasks, *self._tasks]
        for task in mine:
            task.cancel()
        await asyncio.gather(*mine, return_exceptions=True)

    async def _feed(self, definition: Definition) -> None:
        path = f"/apis/{API_VERSION}/{definition.plural}"
        while True:
            version = await self._listed(definition, path)
            while version is not None:
                version = await self._watched(definition, path, version)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _listed(self, definition: Definition, path: str) -> str | None:
        """Hand on a list; answers its version."""
        token = ""
        while True:
            document = await self._read(f"{path}?limit={PAGE}{token}")
            if document is None:
                return None
            for item in document.get("items") or ():
                self._hand_on(definition, {"type": None, "object": item | {"kind": definition.kind, "apiVersion": API_VERSION}})
            version = str(document["metadata"]["resourceVersion"])
            token = document["metadata"].get("continue") or ""
            if not token:
                return version
            token = f"&continue={token}"

    async def _read(self, path: str) -> dict[str, Any] | None:
        """As kopf: patiently; None after an answer with which the list must begin anew."""
        delay = FIRST_BACKOFF
        while True:
            try:
                answer = await self._link.request("GET", path, body=None, headers={})
            except OSError:
                return None
            if answer.status < 300:
                document: dict[str, Any] = json.loads(answer.text)
                return document
            if answer.status == 410:
                return None
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_BACKOFF)

    async def _watched(self, definition: Definition, path: str, version: str) -> str | None:
        """Hand on a stream to its end; answers where to go on, None to list anew."""
        stream = Stream(self._world, path, version)
        async for event in stream:
            if event["type"] == "ERROR":
                return None
            self._hand_on(definition, event)
            version = str(event["object"]["metadata"]["resourceVersion"])
        return version

    def _hand_on(self, definition: Definition, event: dict[str, Any]) -> None:
        uid = event["object"]["metadata"]["uid"]
        queue = self._queues.get(uid)
        if queue is None:
            queue = self._queues[uid] = asyncio.Queue()
            task = asyncio.create_task(self._serve(definition, uid, queue), name="object")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        queue.put_nowait(event)

    async def _serve(self, definition: Definition, uid: str, queue: asyncio.Queue[dict[str, Any]]) -> None:
        """The events of one object, one after the other, until none is left."""
        while not queue.empty():
            self._handle(definition, queue.get_nowait())
        del self._queues[uid]

    def _handle(self, definition: Definition, event: dict[str, Any]) -> None:
        """As ``handlers/objects.py``."""
        body, meta = event["object"], event["object"]["metadata"]
        self._engine.on_event(definition.kind, event["type"], body)
        if definition.kind == ACCOUNT:
            self._accounts[meta["uid"]] = (meta["namespace"], meta["name"])
            if event["type"] == "DELETED":
                self._accounts.pop(meta["uid"])

    async def _ask_for_health(self) -> None:
        """kopf's timer of each account, all at once."""
        while True:
            await asyncio.sleep(HEALTH_SECONDS)
            for namespace, name in self._accounts.values():
                self._engine.check_account(namespace, name)


class Stream:
    """One watch over the link: events come in order, each after its time; the connection may break or hang."""

    def __init__(self, world: World, path: str, version: str) -> None:
        self._world = world
        self._watch = world.api.watch(path, resource_version=version)
        self._plural = path.rsplit("/", 1)[1]
        self._arrived: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._last = 0.0
        self._open = True
        self._unsubscribe: Callable[[], None] = world.on_commit(self._plural, self._poll)
        self._poll()

    def _poll(self) -> None:
        """In the world: send what is ready on its way, behind what is on its way already."""
        world = self._world
        if not self._open:
            return
        if world.kube_is_down():
            self._send(None, 0.0)
            return
        for event in self._watch.poll():
            domain = f"watch {self._plural}"
            fault = world.weather.strikes(("watch-cut", "watch-410", "watch-slow"), domain)
            slow = world.choices.choose(f"slow {domain}", (5.0, 20.0, 1.0)) if fault == "watch-slow" else 0.0
            arranged, late = world.arranged.told(self._plural)
            fault, slow = arranged or fault, slow + late
            told = {"watch-cut": None, "watch-410": {"type": "ERROR", "object": {"code": 410}}}.get(fault, event)
            self._send(told, world.latency(domain) + slow)
            if not self._open:
                return
        if self._watch.ended:
            self._send(None, 0.02)

    def _send(self, event: dict[str, Any] | None, seconds: float) -> None:
        world = self._world
        # Later than the one before by a hair: timers of one time ring in any order, and a stream keeps its own.
        self._last = max(self._last + HAIR, world.loop.time() + seconds)
        seconds = self._last - world.loop.time()
        world.carry(f"event {self._plural}", seconds, self._arrived.put_nowait, event)
        if event is None or event["type"] == "ERROR":
            self._open = False
            self._unsubscribe()

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> dict[str, Any]:
        event = await self._arrived.get()
        if event is None:
            await asyncio.sleep(0.1)
            raise StopAsyncIteration
        return event
