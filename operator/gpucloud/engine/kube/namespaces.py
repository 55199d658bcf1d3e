"""Cache of namespaces: whether a namespace is terminating, and whether its deletion guard was released."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.engine.kube.client import KubeError
from gpucloud.kinds.meta import Annotation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock

REMEMBERED_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Namespace:
    """The facts about one namespace. A deleted namespace counts as terminating."""

    terminating: bool
    brake_released_at: str | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    """A read that is under way; ``began`` in mono seconds."""

    began: float
    answer: asyncio.Future[Namespace]

    def failed(self, error: KubeError) -> None:
        """Tell all who wait; nobody may."""
        self.answer.set_exception(error)
        self.answer.exception()


class Namespaces:
    """Caches ``GET namespace`` for five seconds, so that a thousand new VMs in one namespace cost one read."""

    def __init__(self, kube: KubeClient, clock: Clock) -> None:
        self._kube = kube
        self._clock = clock
        self._known: dict[str, tuple[float, Namespace]] = {}
        self._reads: dict[str, _Read] = {}

    async def get(self, namespace: str, not_before: float = -math.inf) -> Namespace:
        """Return the namespace as read within the last five seconds, and at ``not_before`` (mono) or later.

        Raises:
            KubeError: the apiserver did not answer.
        """
        now = self._clock.mono()
        at, known = self._known.get(namespace, (now - REMEMBERED_SECONDS, Namespace(terminating=False)))
        if now - at < REMEMBERED_SECONDS and at >= not_before:
            return known
        read = self._reads.get(namespace)
        if read is not None and read.began >= max(not_before, now - REMEMBERED_SECONDS):
            return await asyncio.shield(read.answer)
        return await self._read(namespace, now)

    async def _read(self, namespace: str, now: float) -> Namespace:
        read = self._reads[namespace] = _Read(now, asyncio.get_running_loop().create_future())
        try:
            known = _of(await self._kube.namespace(namespace))
            read.answer.set_result(known)
        except KubeError as error:
            read.failed(error)
            raise
        finally:
            if not read.answer.done():  # this task ends; whoever waits has to ask again
                read.failed(KubeError(0, "Cancelled", f"nobody reads the namespace {namespace!r} any more"))
            if self._reads.get(namespace) is read:
                del self._reads[namespace]
        self._known[namespace] = (now, known)
        return known

    async def terminating(self, namespace: str) -> bool:
        """Whether the namespace is terminating, so that nothing may be created in it.

        Raises:
            KubeError: the apiserver did not answer.
        """
        return (await self.get(namespace)).terminating


def _of(meta: Mapping[str, Any] | None) -> Namespace:
    if meta is None:
        return Namespace(terminating=True)
    return Namespace("deletionTimestamp" in meta, (meta.get("annotations") or {}).get(Annotation.BRAKE_RELEASED_AT))
