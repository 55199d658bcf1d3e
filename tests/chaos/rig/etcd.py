"""The etcd of a control plane of our own: killed, started, and put back to an earlier day."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from chaos.rig.kubeclient import PLURALS, Cluster, KubeClient
from controlplane import programs
from support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from controlplane import ControlPlane


class Etcd:
    """It knows the inside of ``ControlPlane``, which by itself lets nobody at its etcd."""

    def __init__(self, plane: ControlPlane) -> None:
        local = plane._local
        assert local is not None, "only a control plane of our own processes has an etcd to kill"
        self._plane = plane
        self._local = local
        self._data = plane.folder / f"etcd-{local._layout.etcd_client_port}"

    def kill(self) -> None:
        """kill -9, and the apiserver with it: it ends by itself without its etcd, or hangs."""
        self._plane.kill_apiserver()
        self._local._supervised.kill(programs.ETCD)

    def start(self) -> None:
        """Start it again upon its data; the apiserver stays down."""
        self._local._supervised.start(programs.ETCD, programs.etcd(self._local._binaries[programs.ETCD], self._local._layout))

    def back_up(self, folder: Path) -> None:
        """Copy its data, both stopped meanwhile."""
        self.kill()
        shutil.copytree(self._data, folder)
        self.start()
        self.serve_again()

    def restore(self, folder: Path) -> None:
        """Put the copy in the place of what is: all that was written since is gone, resource versions begin again there."""
        self.kill()
        shutil.rmtree(self._data)
        shutil.copytree(folder, self._data)
        self.start()
        self.serve_again()

    def serve_again(self) -> None:
        """Start the apiserver, and wait until it serves our kinds too, whose storage it opens last."""
        self._plane.restart_apiserver()
        everybody = KubeClient(Cluster.of(self._plane.kubeconfig), "default")
        eventually(lambda: everybody.list(",".join(PLURALS)) == [], 60, "our kinds to be served")
        everybody.close()
