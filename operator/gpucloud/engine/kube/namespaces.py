"""Cache of namespaces: whether a namespace is terminating, and whether its deletion guard was released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.engine.kube.shared_reads import SharedReads
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


class Namespaces:
    """Caches ``GET namespace`` for five seconds, so that a thousand new VMs in one namespace cost one read."""

    def __init__(self, kube: KubeClient, clock: Clock) -> None:
        self._kube = kube
        self._reads = SharedReads(self._read, clock, REMEMBERED_SECONDS)

    async def get(self, namespace: str, not_before: float = -math.inf) -> Namespace:
        """Return the namespace as read within the last five seconds, and at ``not_before`` (mono) or later.

        Raises:
            KubeError: the apiserver did not answer.
        """
        return await self._reads.get(namespace, not_before)

    async def terminating(self, namespace: str) -> bool:
        """Whether the namespace is terminating, so that nothing may be created in it.

        Raises:
            KubeError: the apiserver did not answer.
        """
        return (await self.get(namespace)).terminating

    async def _read(self, namespace: str) -> Namespace:
        return _of(await self._kube.namespace(namespace))


def _of(meta: Mapping[str, Any] | None) -> Namespace:
    if meta is None:
        return Namespace(terminating=True)
    return Namespace("deletionTimestamp" in meta, (meta.get("annotations") or {}).get(Annotation.BRAKE_RELEASED_AT))
