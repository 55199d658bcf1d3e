"""Resync: drop cached objects that a fresh list no longer contains.

A watch that was interrupted for long lists again. The new list holds no DELETED events, so an object that was deleted meanwhile
would stay in the cache, keep its name claimed, and block its dependents. An object that a list contains and the cache lacks
shows that the watch is stale.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.runtime.workqueue import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gpucloud.engine.cache.staleness import WatchStaleness
    from gpucloud.engine.cache.tombstones import Tombstones
    from gpucloud.engine.controller.controller import Controller
    from gpucloud.engine.kube.client import KubeClient, ListedVersions

log = structlog.get_logger("gpucloud.resync")

FIRST_LIST_SECONDS = 60.0  # it usually takes one
INTERVAL_SECONDS = 300.0  # also without a new list of the watch
RETRY_SECONDS = 10.0  # after a resync that failed
SETTLE_SECONDS = 1.0  # a new list arrives object by object


class Resync:
    """Compares the caches with a fresh list, after each new list of the watch and every few minutes."""

    def __init__(
        self,
        kube: KubeClient,
        controllers: Mapping[str, Controller[Any, Any, Any]],
        namespaces: tuple[str, ...],
        staleness: WatchStaleness,
        broken: Callable[[], None],
        tombstones: Tombstones,
    ) -> None:
        self._kube = kube
        self._controllers = controllers
        self._namespaces = namespaces
        self._staleness = staleness
        self._broken = broken
        self._tombstones = tombstones
        self._relisted = asyncio.Event()

    def relisted(self) -> None:
        """The watch has listed again, or the apiserver refuses a cached version again and again: resync soon."""
        self._relisted.set()

    async def run(self, first_list: asyncio.Task[None] | None = None) -> None:
        """Resync until cancelled: after the first list, and once a minute while that is late.

        The first list waits for the watch to show every object. After a restore of etcd the watch may never do so, and only a
        resync notices.
        """
        if first_list is not None:
            await asyncio.wait([first_list], timeout=FIRST_LIST_SECONDS)
        failed = False
        while True:
            late = first_list is not None and not first_list.done()
            with suppress(TimeoutError):
                async with asyncio.timeout(RETRY_SECONDS if failed else FIRST_LIST_SECONDS if late else INTERVAL_SECONDS):
                    await self._relisted.wait()
            await asyncio.sleep(SETTLE_SECONDS)
            self._relisted.clear()
            try:
                await self.resync()
            except KubeError as error:
                log.info("resync failed", error=str(error))
                failed = True
            else:
                failed = False

    async def resync(self) -> None:
        """Drop the objects that were cached before a list began and are not in the list.

        A consistent list that contains an older version than the cached one, or an object with a tombstone, means that etcd was
        restored from a backup. The cache would then ignore new events as old ones, so the process ends and starts anew.

        Raises:
            KubeError: the apiserver did not answer; the remaining kinds are not resynced.
        """
        for kind, controller in self._controllers.items():
            known = {stored.meta.uid: stored.meta for stored in controller.store}
            versions, deleted = _versions(controller), self._tombstones.all()
            listed = await self._kube.list_versions(controller.plural, self._namespaces)
            if _is_older(listed, versions) or deleted & listed.versions.keys():
                log.error(
                    "the apiserver lists older versions than cached: was etcd restored? This process ends, to fill a new cache"
                )
                self._broken()
                return
            for uid in sorted(known.keys() - listed.versions.keys()):
                meta = known[uid]
                log.info(
                    "dropped: a fresh list no longer contains it", kind=kind, namespace=meta.namespace, name=meta.name, uid=uid
                )
                controller.on_delete(Key(kind, meta.namespace, meta.name, uid))
            await self._measure(kind, listed.versions)

    async def _measure(self, kind: str, listed: Mapping[str, int]) -> None:
        """Measure the staleness of the watch. The event of a recent write may still be in transit."""
        controller = self._controllers[kind]
        if self._staleness.behind(listed, _versions(controller)):
            await asyncio.sleep(SETTLE_SECONDS)
        self._staleness.compare(kind, listed, _versions(controller))


def _is_older(listed: ListedVersions, known: Mapping[str, int]) -> bool:
    """Whether a list contains an object in an older version than the one cached before the list began; 0 is no version."""
    return any(0 < listed.versions.get(uid, 0) < version for uid, version in known.items())


def _versions(controller: Controller[Any, Any, Any]) -> dict[str, int]:
    return {stored.meta.uid: stored.version for stored in controller.store}
