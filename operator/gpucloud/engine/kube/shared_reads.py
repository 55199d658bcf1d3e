"""Reads of the apiserver that many reconciles share: one read answers all who need nothing older."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from gpucloud.engine.kube.errors import KubeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gpucloud.engine.runtime.clock import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Read(Generic[T]):
    """A read that is under way; ``began`` in mono seconds."""

    began: float
    answer: asyncio.Future[T]

    def failed(self, error: KubeError) -> None:
        """Tell all who wait; nobody may."""
        self.answer.set_exception(error)
        self.answer.exception()


class SharedReads(Generic[T]):
    """The last answer for each namespace, and the read that is under way."""

    def __init__(self, read: Callable[[str], Awaitable[T]], clock: Clock, remembered_seconds: float) -> None:
        """``read`` asks for one namespace; ``remembered_seconds``: how long its answer is used."""
        self._ask, self._clock, self._remembered = read, clock, remembered_seconds
        self._known: dict[str, tuple[float, T]] = {}
        self._reads: dict[str, _Read[T]] = {}
        self._sweep_at = -math.inf  # mono

    def __len__(self) -> int:
        """Of how many namespaces an answer is kept."""
        return len(self._known)

    async def get(self, namespace: str, not_before: float = -math.inf) -> T:
        """Return the answer of a read that began at ``not_before`` (mono) or later and is not too old.

        Raises:
            KubeError: the apiserver did not answer.
        """
        now = self._clock.mono()
        oldest = max(not_before, math.nextafter(now - self._remembered, math.inf))
        known = self._known.get(namespace)
        if known is not None and known[0] >= oldest:
            return known[1]
        read = self._reads.get(namespace)
        if read is not None and read.began >= oldest:
            return await asyncio.shield(read.answer)
        return await self._read(namespace, now)

    async def _read(self, namespace: str, now: float) -> T:
        read = self._reads[namespace] = _Read(now, asyncio.get_running_loop().create_future())
        try:
            known = await self._ask(namespace)
            read.answer.set_result(known)
        except KubeError as error:
            read.failed(error)
            raise
        finally:
            if not read.answer.done():  # this task ends; whoever waits has to ask again
                read.failed(KubeError(0, "Cancelled", f"nobody reads of the namespace {namespace!r} any more"))
            if self._reads.get(namespace) is read:
                del self._reads[namespace]
        self._forget_old(self._clock.mono())
        self._known[namespace] = (now, known)
        return known

    def _forget_old(self, now: float) -> None:
        """Drop the answers that nobody may use any more: of namespaces that are gone, too."""
        if now >= self._sweep_at:
            self._sweep_at = now + self._remembered
            self._known = {name: known for name, known in self._known.items() if known[0] > now - self._remembered}
