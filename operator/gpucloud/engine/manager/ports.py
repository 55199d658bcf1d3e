"""Everything through which the engine reaches the world outside: apiserver, cloud, chance. Time has its own (``clock``).

Another world can be put in its place: a simulation hands in its own ports, and the engine runs unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.transport import HttpKubeTransport, KubeTransport
from gpucloud.engine.runtime.entropy import Entropy, SystemEntropy

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

    from gpucloud.engine.kube.transport import Connection


@dataclass(frozen=True, slots=True)
class Ports:
    """The real ones unless others are given. ``kube`` and ``cloud`` make one transport for each client, which closes it."""

    kube: Callable[[], KubeTransport] = HttpKubeTransport
    cloud: Callable[[], httpx.AsyncBaseTransport] | None = None  # None: the network, with the settings' trust and proxy
    entropy: Entropy = field(default_factory=SystemEntropy)
    client: Callable[[Callable[[], Connection], Callable[[], bool], KubeTransport], KubeClient] = KubeClient
