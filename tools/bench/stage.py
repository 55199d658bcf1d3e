"""The processes of one measurement: a control plane, a simulated cloud, one operator. All end with the stage.

A new stage for each operator and number of objects, so that none inherits another's caches, data or memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import product
from bench import proc
from bench.errors import BenchError
from bench.results import KOPF
from controlplane import ControlPlane
from controlplane.access import OPERATOR as USER
from controlplane.supervised import Supervised

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.operators import Operator

REPOSITORY = Path(__file__).parents[2]
NAMESPACE = "bench"
SPEEDS = {"--provision-seconds": 5, "--destroy-seconds": 1, "--stop-seconds": 1, "--start-seconds": 1}
_SIM_READY = "gpucloud sim listening on "
_READY_SECONDS = 60.0


@dataclass(frozen=True)
class Surroundings:
    """What an operator is told of the stage."""

    kubeconfig: Path
    cloud: str
    key_file: Path
    metrics_port: int
    steady_seconds: float


class Stage:
    """Owns the processes; leaving the context ends and removes all.

    Raises:
        BenchError: something does not start.
    """

    def __init__(self, operator: Operator, steady_seconds: float) -> None:
        self._exits = contextlib.ExitStack()
        try:
            self.plane = self._exits.enter_context(ControlPlane.start(audit=True, own=True))
            self._children = self._exits.enter_context(Supervised())
            self._operator, self._starts, self.operator_pid = operator, 0, 0
            self.audit_log = _audit_log(self.plane)
            self.pids = {
                "apiserver": proc.child(self.plane.supervisor_pid, "kube-apiserver"),
                "etcd": proc.child(self.plane.supervisor_pid, "etcd"),
                "driver": os.getpid(),
            }
            self._install()
            key_file = _private(self._children.folder / "api-key", secrets.token_urlsafe(24))
            cloud = self._start_cloud(key_file)
            kubeconfig = self.plane.kubeconfig_for(USER)
            self.around = Surroundings(kubeconfig, cloud, key_file, _free_port(), steady_seconds)
        except BaseException:
            self._exits.close()
            raise

    def start_operator(self) -> None:
        """Start the operator; ``operator_started`` tells when it watches."""
        self._starts += 1
        self.operator_pid = self._children.start(self._operator_name, self._operator.command(self.around))

    def operator_started(self) -> bool:
        """Whether its log says so.

        Raises:
            BenchError: it has ended.
        """
        if (code := self._children.exit_code(self._operator_name)) is not None:
            tail = self._children.log_tail(self._operator_name)
            raise BenchError(f"{self._operator.name} ended with exit code {code}. Its last lines:\n{tail}")
        return self._operator.started in self._log(self._operator_name)

    def kill_operator(self) -> None:
        """Kill it as a crash would."""
        self._children.kill(self._operator_name)
        self.operator_pid = 0

    def metrics(self) -> str:
        """Scrape the operator; nothing from one that serves no metrics."""
        if self._operator.name == KOPF or not self.operator_pid:
            return ""
        return _fetch(f"http://127.0.0.1:{self.around.metrics_port}/metrics")

    def ask_cloud(self, path: str) -> Any:
        """Call the simulator's control API, which costs the cloud's own API nothing."""
        return json.loads(_fetch(f"{self.around.cloud}/_sim/{path}"))

    def save_logs(self, target: Path) -> None:
        """Copy the operator's and the cloud's logs to a folder that outlives the stage."""
        target.mkdir(parents=True, exist_ok=True)
        for file in self._children.folder.glob("*.log"):
            shutil.copy(file, target)

    def close(self) -> None:
        """End and remove everything; closing twice is harmless."""
        self._exits.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _operator_name(self) -> str:
        return f"operator-{self._starts}"

    def _install(self) -> None:
        """Definitions, a namespace, and all rights for the operator: what it may do is no part of the measurement."""
        self._kubectl("apply", "--server-side", "-f", str(REPOSITORY / "crds"))
        _until(lambda: self._succeeds("wait", "--for=condition=Established", "crd", "--all"), "the definitions are established")
        self._kubectl("create", "namespace", NAMESPACE)
        self._kubectl("create", "clusterrolebinding", "bench", "--clusterrole=cluster-admin", f"--user={USER}")

    def _start_cloud(self, key_file: Path) -> str:
        flags = {"--host": "127.0.0.1", "--port": 0, "--api-key-file": key_file, **SPEEDS}
        words = [*product.command("sim"), *(str(word) for pair in flags.items() for word in pair)]
        self.pids["cloud"] = self._children.start("cloud", words)
        _until(lambda: _SIM_READY in self._log("cloud"), "the simulated cloud listens")
        return self._log("cloud").split(_SIM_READY, 1)[1].split()[0]

    def _log(self, name: str) -> str:
        return (self._children.folder / f"{name}.log").read_text(errors="replace")

    def _succeeds(self, *words: str) -> bool:
        return self._run_kubectl(*words).returncode == 0

    def _kubectl(self, *words: str) -> None:
        done = self._run_kubectl(*words)
        if done.returncode != 0:
            raise BenchError(f"`kubectl {' '.join(words)}` failed: {done.stderr.strip()}")

    def _run_kubectl(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603  # kubectl, with words from this module
            [str(self.plane.kubectl), f"--kubeconfig={self.plane.kubeconfig}", *words],
            env={**os.environ, "KUBECACHEDIR": str(self.plane.folder / "cache")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


def _audit_log(plane: ControlPlane) -> Path:
    if plane.audit_log is None:
        raise BenchError(f"There is no audit log ({plane.how}).")
    return plane.audit_log


def _until(met: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not met():
        if time.monotonic() > deadline:
            raise BenchError(f"Not within {_READY_SECONDS:.0f} s: {what}.")
        time.sleep(0.1)


def _fetch(url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback needs no proxy
    try:
        with opener.open(url, timeout=60) as answer:
            text: str = answer.read().decode()
            return text
    except OSError as error:
        raise BenchError(f"{url} does not answer: {error}") from error


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _private(path: Path, content: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(content)
    return path
