"""Dependencies that every controller gets from the manager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.kube.event_recorder import EventRecorder
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.runtime.entropy import Entropy
    from gpucloud.engine.runtime.workqueue import WorkQueue
    from gpucloud.engine.telemetry.metrics import Metrics
    from gpucloud.engine.telemetry.tracing import Tracer


@dataclass(frozen=True, slots=True)
class ControllerDeps:
    """Dependencies of every controller. ``longest_spacing``: of reconciles without a cause outside, in seconds."""

    queue: WorkQueue
    kube: KubeClient
    events: EventRecorder
    metrics: Metrics
    clock: Clock
    entropy: Entropy
    is_leader: Callable[[], bool]  # checked right before a call
    longest_spacing: float
    outdated: Callable[[], None]  # requests a resync: the apiserver's answers show that the cache is stale
    tracer: Tracer | None = None
