"""The operators that are measured: how each is started and how it says that it has started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import product
from bench.environment import CHECKOUT, Environment, env
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
        environment: ours only: what it runs in.
    """

    name: str
    started: str
    program: Path | None = None
    budget: bool = False
    environment: Environment = CHECKOUT

    @property
    def can_power(self) -> bool:
        """Whether it stops and restarts VMs, and so can be measured at that."""
        return self.name == OURS

    def command(self, around: Surroundings) -> list[str]:
        """The command line that starts it, its environment included."""
        if self.name == OURS:
            return self._ours(around)
        if self.name == KOPF:
            return [*env(_peer(around)), str(product.PYTHON), "-m", "kopf", "run", "-A", str(_NAIVE)]
        variables = _peer(around) | {"WORKERS": WORKERS, "METRICS_ADDRESS": f"127.0.0.1:{around.metrics_port}"}
        return [*env(variables), str(self.program)]

    def _ours(self, around: Surroundings) -> list[str]:
        files = {"KUBECONFIG": around.kubeconfig, "GPUCLOUD_API_KEY_FILE": around.key_file}
        flags: dict[str, object] = {
            "--endpoint": f"default={around.cloud}",
            "--poll-steady-seconds": around.steady_seconds,
            "--metrics-port": around.metrics_port,
            "--health-port": 0,
            **({} if self.budget else NO_BUDGET),
        }
        command = self.environment.command("operator", files)
        return [*command, *(str(word) for pair in flags.items() for word in pair)]


def ours(*, budget: bool, environment: Environment = CHECKOUT) -> Operator:
    """The product."""
    return Operator(OURS, '"event": "synced"', budget=budget, environment=environment)


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
