"""Roll call: what vanished while the watch was not looking is forgotten, since nothing will ever tell of it.

After a break that is too long the watch lists again. The new list shows what is there and says nothing of what is not, so an
object that went in between would be believed for ever: its name stays claimed, and what it needs waits for it to go.
The other way round, what is there and was never shown tells that the watch does not keep up.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.kube.client import KubeError
from gpucloud.engine.runtime.workqueue import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.staleness import WatchStaleness
    from gpucloud.engine.cache.tombstones import Tombstones
    from gpucloud.engine.controller.controller import Controller
    from gpucloud.engine.kube.client import KubeClient, Roll

log = structlog.get_logger("gpucloud.rollcall")

INTERVAL_SECONDS = 300.0  # also without a sign of a break
SETTLE_SECONDS = 1.0  # a new list arrives object by object


class Resync:
    """Compares what is remembered with what a list shows, after each new list of the watch and every few minutes."""

    def __init__(
        self,
        kube: KubeClient,
        controllers: Mapping[str, Controller[Any, Any, Any]],
        namespaces: tuple[str, ...],
        lag: WatchStaleness,
        broken: Callable[[], None],
        departed: Tombstones,
    ) -> None:
        self._kube = kube
        self._controllers = controllers
        self._namespaces = namespaces
        self._lag = lag
        self._broken = broken
        self._tombstones = departed
        self._relisted = asyncio.Event()

    def relisted(self) -> None:
        """The watch has begun anew."""
        self._relisted.set()

    async def run(self, first_list: asyncio.Task[None] | None = None) -> None:
        """Call the roll until cancelled, from the end of the first list on."""
        if first_list is not None:
            await asyncio.wait([first_list])
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL_SECONDS):
                    await self._relisted.wait()
            await asyncio.sleep(SETTLE_SECONDS)
            self._relisted.clear()
            try:
                await self.call()
            except KubeError as error:
                log.info("no roll call", error=str(error))

    async def call(self) -> None:
        """Forget the objects that were known before a list began and are not in it.

        A consistent list that shows an older version than the one we know, or an object whose DELETED event had come before it
        began, comes of a restored etcd: what follows would be taken for old, and the watch waits for a version that is long in
        coming. Then the process ends; a new one believes what is.

        Raises:
            KubeError: the apiserver did not answer; then nothing more is forgotten.
        """
        for kind, loop in self._controllers.items():
            known = {stored.meta.uid: stored.meta for stored in loop.store}
            versions, departed = _versions(loop), self._tombstones.all()
            there = await self._kube.roll(loop.plural, self._namespaces)
            if _is_older(there, versions) or departed & there.versions.keys():
                log.error("the apiserver has gone back in time: was etcd restored? Ending, to start anew with what is true now")
                self._broken()
                return
            for uid in sorted(known.keys() - there.versions.keys()):
                meta = known[uid]
                log.info("gone unnoticed", kind=kind, namespace=meta.namespace, name=meta.name, uid=uid)
                loop.forget(Key(kind, meta.namespace, meta.name, uid))
            await self._measure(kind, there.versions)

    async def _measure(self, kind: str, listed: Mapping[str, int]) -> None:
        """See whether the watch has brought what a list shows; what has just been written may still be on its way."""
        loop = self._controllers[kind]
        if self._lag.behind(listed, _versions(loop)):
            await asyncio.sleep(SETTLE_SECONDS)
        self._lag.compare(kind, listed, _versions(loop))


def _is_older(listed: Roll, known: Mapping[str, int]) -> bool:
    """Whether a list shows an object in an older version than was known before the list began; 0 is none."""
    return any(0 < listed.versions.get(uid, 0) < version for uid, version in known.items())


def _versions(loop: Controller[Any, Any, Any]) -> dict[str, int]:
    return {stored.meta.uid: stored.version for stored in loop.store}
