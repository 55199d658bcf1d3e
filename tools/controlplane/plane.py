"""The one thing callers use: a started control plane, whichever way it was come by."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Self

from controlplane import access
from controlplane.borrowed import kind_cluster, self_contained
from controlplane.choice import Way
from controlplane.errors import ControlPlaneError
from controlplane.local import LocalCluster
from controlplane.obtain import choose, needed_binaries, obtain_binaries, obtain_kubectl, say
from controlplane.supervised import Supervised

if TYPE_CHECKING:
    from pathlib import Path

    from controlplane.obtain import Obtained


class ControlPlane:
    """A running control plane. Use it as a context manager, or call ``stop()``; it also goes when we are killed.

    Attributes:
        kubeconfig: a cluster administrator's kubeconfig.
        kubectl: a kubectl of about the server's version.
        audit_log: JSON lines, one an answered request; None when not asked for or when the cluster is not ours.
        how: one line that says which way it was obtained.
        folder: a private folder that goes with it.
        supervisor_pid: the process whose end is the end of everything.
    """

    def __init__(self, supervised: Supervised, kubectl: Path, how: str) -> None:
        self._supervised = supervised
        self._local: LocalCluster | None = None
        self.kubectl = kubectl
        self.how = how
        self.folder = supervised.folder
        self.supervisor_pid = supervised.pid
        self.kubeconfig = self.folder / "admin.kubeconfig"

    @classmethod
    def start(
        cls, *, controller_manager: bool = False, workloads: bool = False, audit: bool = False, own: bool = False
    ) -> Self:
        """Obtain and start a control plane and wait until it serves.

        Args:
            controller_manager: let it empty deleted namespaces and collect garbage.
            workloads: with a controller manager that also makes pods of Deployments and Jobs, service accounts and the
                aggregated roles. Nothing runs these pods: there is neither a scheduler nor a kubelet.
            audit: write an audit log.
            own: only of our own processes, whatever cluster the surroundings offer.

        Raises:
            ControlPlaneError: none can be had; the text says what was tried.
        """
        controller_manager = controller_manager or workloads
        facts, order = choose(os.environ, controller_manager=controller_manager, own=own)
        if order[0] == Way.EXISTING:
            return cls._existing()
        if order[0] == Way.KIND:
            try:
                return cls._kind()
            except ControlPlaneError as error:
                if len(order) == 1:  # it was asked for by name
                    raise
                say(f"{error} Trying the next way.")
        ways = tuple(way for way in order if way != Way.KIND)
        obtained = obtain_binaries(facts, ways, needed_binaries(controller_manager=controller_manager), os.environ)
        return cls._own(obtained, controller_manager=controller_manager, workloads=workloads, audit=audit)

    @classmethod
    def _own(cls, obtained: Obtained, *, controller_manager: bool, workloads: bool, audit: bool) -> Self:
        supervised = Supervised()
        try:
            plane = cls(supervised, obtained.binaries["kubectl"], obtained.how)
            plane._local = LocalCluster(obtained.binaries, supervised, audit=audit, workloads=workloads)
            plane._local.start(controller_manager=controller_manager)
            plane.kubeconfig = plane._local.kubeconfig_for(access.ADMIN)
        except BaseException:
            supervised.close()
            raise
        return plane

    @classmethod
    def _existing(cls) -> Self:
        kubectl = obtain_kubectl(os.environ)
        supervised = Supervised()
        try:
            plane = cls(supervised, kubectl, f"{Way.EXISTING}: the cluster of KUBECONFIG")
            plane.kubeconfig = self_contained(os.environ["KUBECONFIG"], kubectl, plane.folder)
        except BaseException:
            supervised.close()
            raise
        return plane

    @classmethod
    def _kind(cls) -> Self:
        kubectl = obtain_kubectl(os.environ)
        say("making a cluster with kind")
        supervised = Supervised()
        try:
            plane = cls(supervised, kubectl, f"{Way.KIND}: a cluster in containers, deleted at the end")
            plane.kubeconfig = self_contained(kind_cluster(supervised), kubectl, plane.folder)
        except BaseException:
            supervised.close()
            raise
        return plane

    @property
    def audit_log(self) -> Path | None:
        """The audit log, when one is written."""
        return self._local.audit_log if self._local else None

    def kubeconfig_for(self, user: str, groups: tuple[str, ...] = ()) -> Path:
        """Return a kubeconfig for a user.

        ``admin`` (all rights), ``gpucloud-operator`` and ``viewer`` (no rights but what they are given) have tokens of
        their own on a control plane of ours. Anybody else, and everybody on a borrowed cluster, is impersonated by the
        administrator: kubectl obeys that, other clients may ignore it.
        """
        if self._local and self._local.knows(user, groups):
            return self._local.kubeconfig_for(user)
        path = self.folder / f"as-{user.replace('/', '_').replace(':', '_')}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(json.dumps(access.impersonating(json.loads(self.kubeconfig.read_text()), user, groups)))
        return path

    def kill_apiserver(self) -> None:
        """Kill the apiserver as a crash would. ``restart_apiserver`` brings it back with all its data."""
        self._own_processes().kill_apiserver()

    def restart_apiserver(self) -> None:
        """Kill the apiserver if it runs, start it at the same address, and wait until it serves."""
        local = self._own_processes()
        local.kill_apiserver()
        local.start_apiserver()

    def stop(self) -> None:
        """End all processes and remove all files; stopping twice is harmless."""
        self._supervised.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _own_processes(self) -> LocalCluster:
        if self._local is None:
            raise ControlPlaneError(f"The apiserver of a borrowed cluster is not ours to kill ({self.how}).")
        return self._local
