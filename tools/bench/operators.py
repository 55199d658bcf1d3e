"""The operators that are measured: how each is started and how it says that it has started."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import product
from bench.results import GO, KOPF, OURS

if TYPE_CHECKING:
    from bench.stage import Surroundings

_NAIVE = Path(__file__).parent / "peers" / "naive_kopf.py"
PENDING_SECONDS = (
    10  # a peer asks about each pending object: two seconds, as ours lists, would be 500 calls/s for 1,000 objects
)
WORKERS = 10  # of controller-runtime; its default is 1
NO_BUDGET = {"--cloud-qps": 1_000_000, "--cloud-burst": 1_000_000}


@dataclass(frozen=True)
class Operator:
    """One operator.

    Attributes:
        name: as in results.
        started: what its log says when it begins to watch.
        program: the peer in Go, where it needs one.
        budget: ours only: leave the default request budget in force.
    """

    name: str
    started: str
    program: Path | None = None
    budget: bool = False

    @property
    def can_power(self) -> bool:
        """Whether it stops and restarts VMs, and so can be measured at that."""
        return self.name == OURS

    def command(self, around: Surroundings) -> list[str]:
        """The command line that starts it, its environment included."""
        if self.name == OURS:
            return self._ours(around)
        if self.name == KOPF:
            return [*_environment(_peer(around)), str(product.PYTHON), "-m", "kopf", "run", "-A", str(_NAIVE)]
        variables = _peer(around) | {"WORKERS": WORKERS, "METRICS_ADDRESS": f"127.0.0.1:{around.metrics_port}"}
        return [*_environment(variables), str(self.program)]

    def _ours(self, around: Surroundings) -> list[str]:
        variables: dict[str, object] = {"KUBECONFIG": around.kubeconfig, "GPUCLOUD_API_KEY_FILE": around.key_file}
        flags: dict[str, object] = {
            "--endpoint": f"default={around.cloud}",
            "--poll-steady-seconds": around.steady_seconds,
            "--metrics-port": around.metrics_port,
            "--health-port": 0,
            **({} if self.budget else NO_BUDGET),
        }
        return [*_environment(variables), *product.command("operator"), *(str(word) for pair in flags.items() for word in pair)]


def ours(*, budget: bool) -> Operator:
    """The product."""
    return Operator(OURS, '"event": "synced"', budget=budget)


def naive_kopf() -> Operator:
    """The usual kopf operator."""
    return Operator(KOPF, "Activity 'start' succeeded")


def controller_runtime(program: Path) -> Operator:
    """The peer in Go."""
    return Operator(GO, "Starting workers", program)


def _peer(around: Surroundings) -> dict[str, object]:
    return {
        "KUBECONFIG": around.kubeconfig,
        "CLOUD_URL": around.cloud,
        "CLOUD_KEY": around.key_file.read_text(),
        "PENDING_SECONDS": PENDING_SECONDS,
        "STEADY_SECONDS": around.steady_seconds,
    }


def _environment(variables: dict[str, object]) -> list[str]:
    """``env`` with these, and without settings of the product that the caller's shell may hold."""
    inherited = [word for name in os.environ if name.startswith("GPUCLOUD_") for word in ("-u", name)]
    return ["env", *inherited, *(f"{name}={value}" for name, value in variables.items())]
