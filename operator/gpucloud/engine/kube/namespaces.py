"""Cache of namespaces: whether a namespace is terminating, and whether its deletion guard was released."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
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
    brake_written_at: datetime | None = None  # when that was written, or a little later; None: the apiserver does not say
    read_at: float = field(default=-math.inf, compare=False)  # begin of the read (mono)


class Namespaces:
    """Caches ``GET namespace`` for five seconds, so that a thousand new VMs in one namespace cost one read."""

    def __init__(self, kube: KubeClient, clock: Clock) -> None:
        self._kube, self._clock = kube, clock
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
        began = self._clock.mono()
        return _of(await self._kube.namespace(namespace), began)


def _of(meta: Mapping[str, Any] | None, began: float) -> Namespace:
    if meta is None:
        return Namespace(terminating=True, read_at=began)
    released_at = (meta.get("annotations") or {}).get(Annotation.BRAKE_RELEASED_AT)
    written_at = _written_at(meta, Annotation.BRAKE_RELEASED_AT) if released_at else None
    return Namespace("deletionTimestamp" in meta, released_at, written_at, began)


def _written_at(meta: Mapping[str, Any], annotation: Annotation) -> datetime | None:
    """Return when an annotation was written at the latest, by the field managers that own it; None if nothing tells.

    A manager's time moves on when it changes another of its fields, never back.
    """
    times = []
    for entry in meta.get("managedFields") or ():
        owned = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:annotations") or {}
        if f"f:{annotation}" in owned and entry.get("time"):
            times.append(datetime.fromisoformat(entry["time"]))
    return min(times, default=None)
