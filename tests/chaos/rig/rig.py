"""What the trials of one test session share: a control plane, and simulators that serve one trial after another."""

from __future__ import annotations

import queue
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from chaos.rig.kubeclient import Cluster
from chaos.rig.trial import Trial
from support.canaries import Canaries, WatchedCloud
from support.kubectl import Kubectl
from support.operatorproc import USER, grant_rights, install_crds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from controlplane import ControlPlane

T = TypeVar("T")
SPEEDS = {
    "provision_seconds": 0.2,
    "start_seconds": 0.2,
    "stop_seconds": 0.2,
    "destroy_seconds": 0.2,
    "snapshot_seconds": 0.3,
    "snapshot_delete_seconds": 0.2,
}


class Rig:
    """A session's: ``with rig.trial() as trial: …`` in any thread, several at once."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane = plane
        self.folder = folder
        self.kubectl = Kubectl(plane.kubectl, plane.kubeconfig)
        self.cluster = Cluster.of(plane.kubeconfig)
        self.token = Cluster.of(plane.kubeconfig_for(USER)).token
        self.ca_file = folder / "ca.pem"
        self.ca_file.write_text(self.cluster.ca)
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="starter")
        self._sims: queue.SimpleQueue[WatchedCloud] = queue.SimpleQueue()
        self._made: list[WatchedCloud] = []
        install_crds(self.kubectl)
        grant_rights(self.kubectl)

    def trial(self, **options: Any) -> Trial:
        """A trial; keywords become flags of its operators (see ``Trial``)."""
        return Trial(self, **options)

    def spawn(self, start: Callable[[], T]) -> T:
        """Start a child process. The kernel ends a child with the thread that started it, so one thread starts all."""
        return self._starter.submit(start).result()

    def take_sim(self) -> WatchedCloud:
        """A simulator as new: one that is free, else another."""
        try:
            sim = self._sims.get_nowait()
        except queue.Empty:
            folder = self.folder / f"sim-{secrets.token_hex(4)}"
            folder.mkdir()
            sim = self.spawn(lambda: WatchedCloud(folder, Canaries()))  # the trial that takes it has its own
            self._made.append(sim)
        sim.control("reset", {})
        sim.turn(**SPEEDS)
        return sim

    def give_back(self, sim: WatchedCloud) -> None:
        """It serves the next trial."""
        self._sims.put(sim)

    def close(self) -> None:
        """End the simulators."""
        for sim in self._made:
            sim.close()
        self._starter.shutdown()
