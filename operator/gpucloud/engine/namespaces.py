"""Whether a namespace is going away: asked only before something is bought, and remembered for a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.engine.clock import Clock
    from gpucloud.engine.kube import KubeClient

REMEMBERED_SECONDS = 5.0


class Namespaces:
    """A short memory over ``GET namespace``, so that a thousand new VMs in one namespace cost one read."""

    def __init__(self, kube: KubeClient, clock: Clock) -> None:
        self._kube = kube
        self._clock = clock
        self._known: dict[str, tuple[float, bool]] = {}

    async def terminating(self, namespace: str) -> bool:
        """Whether nothing may be created there any more.

        Raises:
            KubeError: the apiserver did not answer.
        """
        now = self._clock.mono()
        at, answer = self._known.get(namespace, (None, False))
        if at is None or now - at >= REMEMBERED_SECONDS:
            answer = await self._kube.namespace_terminating(namespace)
            self._known[namespace] = (now, answer)
        return answer
