"""Ports of the engine: transports to the apiserver and the cloud, the source of random numbers, the tracer; time is ``clock``.

A simulation passes its own ports, and runs the unchanged engine.
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
    from gpucloud.engine.telemetry.tracing import Tracer


@dataclass(frozen=True, slots=True)
class Ports:
    """By default the real ports. ``kube`` and ``cloud`` make one transport per client, and the client closes it."""

    kube: Callable[[], KubeTransport] = HttpKubeTransport
    cloud: Callable[[], httpx.AsyncBaseTransport] | None = None  # None: the network, with the settings' trust and proxy
    entropy: Entropy = field(default_factory=SystemEntropy)
    tracer: Tracer | None = None  # None: no traces
    client: Callable[[Callable[[], Connection], Callable[[], bool], KubeTransport], KubeClient] = KubeClient
