"""A control plane of our own processes on loopback: started, found ready, restarted."""

from __future__ import annotations

import json
import socket
import ssl
import time
import urllib.request
from typing import TYPE_CHECKING

from controlplane import access, programs
from controlplane.errors import ControlPlaneError
from controlplane.programs import APISERVER, CONTROLLER_MANAGER, ETCD, Layout

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controlplane.supervised import Supervised

_READY_SECONDS = 120.0
_PORT_ATTEMPTS = 5
_PORT_TAKEN = "address already in use"


class _PortTakenError(Exception):
    """Somebody else got a port between our choosing and our using it."""


class LocalCluster:
    """etcd, kube-apiserver and, on request, kube-controller-manager under one supervisor."""

    def __init__(self, binaries: Mapping[str, Path], supervised: Supervised, *, audit: bool, workloads: bool = False) -> None:
        self._binaries = binaries
        self._supervised = supervised
        self._audit = audit
        self._workloads = workloads
        self._users = {user.name: user for user in access.standard_users()}
        self._layout = self._free_layout()

    def start(self, *, controller_manager: bool) -> None:
        """Start the programs and wait until the apiserver serves.

        Raises:
            ControlPlaneError: a program ended or is not ready in time; the text holds the last lines of its log.
        """
        _write(self._layout.tokens, access.token_file(tuple(self._users.values())))
        _write(self._layout.audit_policy, json.dumps(access.audit_policy()))
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            try:
                self._start_pair()
                break
            except _PortTakenError:
                if attempt == _PORT_ATTEMPTS:
                    raise ControlPlaneError(f"No free ports on loopback after {attempt} attempts.") from None
                self._layout = self._free_layout()
        if controller_manager:
            kubeconfig = self.kubeconfig_for(access.CONTROLLER_MANAGER)
            program = self._binaries[CONTROLLER_MANAGER]
            command = programs.controller_manager(program, kubeconfig, self._layout, workloads=self._workloads)
            self._supervised.start(CONTROLLER_MANAGER, command)

    def kubeconfig_for(self, user: str) -> Path:
        """Write a kubeconfig with the token of one of the standard users and return its path.

        Raises:
            KeyError: there is no such user.
        """
        config = access.kubeconfig(self._layout.server, self._layout.certificate.read_bytes(), self._users[user].token)
        return _write(self._supervised.folder / f"{user}.kubeconfig", json.dumps(config))

    def knows(self, user: str, groups: tuple[str, ...]) -> bool:
        """Tell whether a standard user has this name, and these groups if any are named."""
        return user in self._users and (not groups or groups == self._users[user].groups)

    @property
    def audit_log(self) -> Path | None:
        """The audit log, when one is written."""
        return self._layout.audit_log if self._audit else None

    def kill_apiserver(self) -> None:
        """Kill the apiserver with SIGKILL; etcd and its data stay."""
        self._supervised.kill(APISERVER)

    def start_apiserver(self) -> None:
        """Start the apiserver at its old address and wait until it serves."""
        self._run_apiserver()
        try:
            self._wait_ready()
        except _PortTakenError:
            raise ControlPlaneError(
                f"{self._layout.server} was taken by another program while the apiserver was down."
            ) from None

    def _free_layout(self) -> Layout:
        return Layout(self._supervised.folder, *_free_ports(3))

    def _start_pair(self) -> None:
        self._supervised.start(ETCD, programs.etcd(self._binaries[ETCD], self._layout))
        self._run_apiserver()
        try:
            self._wait_ready()
        except _PortTakenError:
            self._supervised.kill(APISERVER)
            self._supervised.kill(ETCD)
            raise

    def _run_apiserver(self) -> None:
        program = self._binaries[APISERVER]
        command = programs.apiserver(program, self._layout, audit=self._audit, workloads=self._workloads)
        self._supervised.start(APISERVER, command)

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            for name in (ETCD, APISERVER):
                if (code := self._supervised.exit_code(name)) is not None:
                    tail = self._supervised.log_tail(name)
                    if _PORT_TAKEN in tail:
                        raise _PortTakenError
                    raise ControlPlaneError(f"{name} ended with exit code {code}. Its last lines:\n{tail}")
            if self._answers("/readyz") and self._answers("/api/v1/namespaces/default"):
                return
            time.sleep(0.1)
        raise ControlPlaneError(
            f"kube-apiserver is not ready after {_READY_SECONDS:.0f} s. Its last lines:\n{self._supervised.log_tail(APISERVER)}"
        )

    def _answers(self, path: str) -> bool:
        headers = {"Authorization": f"Bearer {self._users[access.ADMIN].token}"}
        request = urllib.request.Request(self._layout.server + path, headers=headers)  # noqa: S310  # https only
        try:
            trust = ssl.create_default_context(cafile=str(self._layout.certificate))
            # No proxy of the environment may stand between us and loopback.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust))
            with opener.open(request, timeout=5):
                return True
        except OSError:  # not listening yet, no certificate yet, not ready yet
            return False


def _free_ports(count: int) -> list[int]:
    """Ask the kernel for free ports, all held at once so that they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(listener.getsockname()[1]) for listener in sockets]
    finally:
        for listener in sockets:
            listener.close()


def _write(path: Path, text: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(text)
    return path
