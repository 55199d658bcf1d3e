"""The user of the benchmark: creates, edits and deletes objects, 32 requests in flight, and watches what becomes of them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
import time
from typing import TYPE_CHECKING, Any, Self

import aiohttp

from bench.errors import BenchError
from bench.fleet import Fleet
from bench.stage import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping
    from pathlib import Path

IN_FLIGHT = 32
_PATH = f"/apis/gpucloud.dev/v1alpha1/namespaces/{NAMESPACE}/gpuvms"
_LOOK_SECONDS = 0.05
_ATTEMPTS = 5
_LONGEST_LINE = 1 << 20
_SPEC = {
    "cluster": "Msc1",
    "vpc": "acme",
    "configuration": "A100_40GB_PCIe_1x",
    "sshKeys": ["ssh-ed25519 AAAAexampleexampleexampleexample-replace-me you@example.com"],
}


class Driver:
    """Use it as a context manager: the watch runs inside. ``sent`` says when each object's last request left."""

    def __init__(self, kubeconfig: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self._url = cluster["server"] + _PATH
        self._trust = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self._headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}"}
        self.fleet = Fleet()
        self.sent: dict[str, float] = {}

    async def create(self, names: Iterable[str]) -> None:
        """Create objects."""

        async def one(name: str) -> None:
            body = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVM", "metadata": {"name": name}, "spec": _SPEC}
            await self._send(name, "POST", "", body)

        await _at_once(one, names)

    async def edit(self, names: Iterable[str], change: Mapping[str, Any]) -> None:
        """Merge a change into objects."""

        async def one(name: str) -> None:
            await self._send(name, "PATCH", f"/{name}", change)

        await _at_once(one, names)

    async def delete(self, names: Iterable[str]) -> None:
        """Delete objects one by one, as kubectl does."""

        async def one(name: str) -> None:
            await self._send(name, "DELETE", f"/{name}", None)

        await _at_once(one, names)

    async def until(self, met: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait until the watch has shown something.

        Raises:
            BenchError: it did not in time, or the watch itself has failed.
        """
        deadline = time.monotonic() + seconds
        while not met():
            if self._watching.done():
                self._watching.result()
            if time.monotonic() > deadline:
                raise BenchError(f"Not within {seconds:.0f} s: {what}.")
            await asyncio.sleep(_LOOK_SECONDS)

    async def _send(self, name: str, method: str, path: str, body: Mapping[str, Any] | None) -> None:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        data = None if body is None else json.dumps(body)
        for attempt in range(_ATTEMPTS):
            self.sent[name] = time.time()
            async with self._session.request(method, self._url + path, data=data, headers={"Content-Type": kind}) as answer:
                text = await answer.text()
                if answer.status < 300:
                    return
            if answer.status != 429 and answer.status < 500:
                break
            await asyncio.sleep(0.1 * 2**attempt)
        raise BenchError(f"{method} of {name} was answered {answer.status}: {text[:500]}")

    async def _watch(self, version: str) -> None:
        """Follow all objects; the apiserver closes watches now and then, and more of them under load."""
        while True:
            parameters = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true"}
            async with self._session.get(self._url, params=parameters) as answer, _cut_at_end(answer):
                async for line in _lines(answer.content):
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise BenchError(f"The driver's watch failed: {event['object']}")
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self.fleet.take(event["type"], event["object"], time.time())

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self._trust),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
            read_bufsize=_LONGEST_LINE,
        )
        async with self._session.get(self._url, params={"limit": "1"}) as answer:
            version = (await answer.json())["metadata"]["resourceVersion"]
        self._watching = asyncio.create_task(self._watch(version))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        await self._session.close()


@contextlib.asynccontextmanager
async def _cut_at_end(answer: aiohttp.ClientResponse) -> AsyncIterator[None]:
    """Cut the connection of an answer that has not ended: no session waits for its TLS shutdown, which outlives the loop."""
    connection = answer.connection
    try:
        yield
    finally:
        if connection is not None and connection.transport is not None:
            connection.transport.abort()


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """The lines of an answer, however it ends."""
    with contextlib.suppress(aiohttp.ClientPayloadError):
        async for line in content:
            yield line


async def _at_once(work: Callable[[str], Any], names: Iterable[str]) -> None:
    left = iter(names)

    async def one() -> None:
        for name in left:
            await work(name)

    await asyncio.gather(*(one() for _ in range(IN_FLIGHT)))
