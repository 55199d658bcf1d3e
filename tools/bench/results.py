"""What a run of the benchmark found, and its form in JSON. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

KOPF, GO, OURS = "kopf", "controller-runtime", "gpucloud"
OPERATORS = (KOPF, GO, OURS)  # in the order of columns


@dataclass(frozen=True)
class Phase:
    """One phase of one operator.

    Attributes:
        wall: seconds from its beginning until its aim was reached.
        steal: CPU seconds that the host withheld meanwhile, of all processors.
        cpu: CPU seconds by process: operator, apiserver, etcd, cloud, driver.
        rss_mb: resident memory of the operator at its end, in MB; ``peak_rss_mb``: the most since the operator's start.
        cloud_calls: requests that the cloud received, by operation.
        api_requests: requests of the operator to the apiserver, as ``verb resource/subresource``.
        seconds: quantiles of latencies, as ``first_status_p50``.
        passes: reconciles of GpuVMs by result, 0 included; empty where the operator does not tell.
        loop_lag_p99: seconds; None where the operator does not tell.
    """

    name: str
    wall: float
    steal: float
    cpu: dict[str, float]
    rss_mb: float
    peak_rss_mb: float
    cloud_calls: dict[str, int]
    api_requests: dict[str, int]
    seconds: dict[str, float] = field(default_factory=dict)
    passes: dict[str, int] = field(default_factory=dict)
    loop_lag_p99: float | None = None


@dataclass(frozen=True)
class Result:
    """One operator at one number of objects; ``failure`` says why phases are missing, or what was wrong in the end."""

    operator: str
    objects: int
    phases: tuple[Phase, ...]
    failure: str = ""

    def phase(self, name: str) -> Phase | None:
        """The phase of this name, if it was measured."""
        return next((phase for phase in self.phases if phase.name == name), None)


@dataclass(frozen=True)
class Run:
    """One run: everything in it was measured on one machine, one operator after the other.

    Attributes:
        name: its time, which also names its files.
        commit: of the product.
        machine: processors, Python, load before the run.
        budget: "none", or "default" for the product's default request budget.
    """

    name: str
    commit: str
    machine: dict[str, str]
    budget: str
    results: tuple[Result, ...]


def to_json(run: Run) -> dict[str, Any]:
    """Plain data."""
    return asdict(run)


def from_json(data: dict[str, Any]) -> Run:
    """The reverse."""
    results = (
        Result(**{**result, "phases": tuple(Phase(**phase) for phase in result["phases"])}) for result in data["results"]
    )
    return Run(**{**data, "results": tuple(results)})
