"""What runs during the demo: control plane, simulated cloud, operator, the watch. All of it goes when the demo goes.

Two supervisors own everything (see ``controlplane.supervisor``), so kill -9 of the demo leaves nothing either. It must not
know the story.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import product
from controlplane import ControlPlane, shell
from controlplane.supervised import Supervised
from demo import watch
from demo.errors import DemoError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAMS = Path(sys.executable).parent  # gpucloud and its plugin are installed beside the interpreter
REPOSITORY = Path(__file__).parents[2]
SIM, OPERATOR = "sim", "operator"
NAMESPACE = "gpucloud-demo"
OPERATOR_NAMESPACE = "gpucloud-system"  # of its service account and its Lease, as in operator-rbac.yaml
PROVISION_SECONDS = 7
_SIM_READY = "gpucloud sim listening on "
_OPERATOR_READY = '"event": "synced"'
_READY_SECONDS = 60.0


class Stage:
    """A control plane and what is started beside it; leaving the context ends and removes all."""

    def __init__(self) -> None:
        self._exits = contextlib.ExitStack()
        try:
            self.plane = self._exits.enter_context(ControlPlane.start(audit=True))
            self._children = self._exits.enter_context(Supervised())
        except BaseException:
            self._exits.close()
            raise
        self.folder = self._children.folder
        self.kubeconfig = _private(self.folder / "kubeconfig", _scoped(_read(self.plane.kubeconfig)))
        self.key_file = _private(self.folder / "api-key", secrets.token_urlsafe(24))
        programs = {name: PROGRAMS / name for name in ("gpucloud", "kubectl-gpucloud", "kubectl_complete-gpucloud")}
        self.exports = shell.exports(self.folder, self.kubeconfig, {"kubectl": self.plane.kubectl, **programs})
        self._started: list[str] = []

    @property
    def cloud_words(self) -> list[str]:
        """The words after ``gpucloud`` that start the simulated cloud."""
        flags: dict[str, object] = {"--port": 0, "--provision-seconds": PROVISION_SECONDS, "--api-key-file": self.key_file}
        return ["sim", *(str(word) for pair in flags.items() for word in pair)]

    def start_cloud(self) -> str:
        """Start the simulated cloud and return its base URL.

        Raises:
            DemoError: it ended, or says nothing in time.
        """
        self._start(SIM, _gpucloud(self.cloud_words))
        return self._wait_for_line(SIM, _SIM_READY).split(_SIM_READY, 1)[1].split()[0]

    @property
    def operator_kubeconfig(self) -> Path:
        """What the operator logs in to the apiserver with."""
        return self.folder / "operator.kubeconfig"

    def operator_words(self, cloud: str) -> list[str]:
        """The words after ``gpucloud`` that start the operator for the namespace of the demo.

        It gets no credential of the cloud: objects bring theirs. By its Lease `kubectl gpucloud doctor` and `version` see it.
        """
        flags: dict[str, object] = {"--endpoint": f"default={cloud}", "--namespace": NAMESPACE, "--poll-pending-seconds": 1}
        ports: dict[str, object] = {"--metrics-port": 0, "--health-port": 0}
        words = ["operator", *(str(word) for pair in (flags | ports).items() for word in pair)]
        borrowed = self.plane.audit_log is None  # there its Lease may be another operator's, which it would wait for
        return words if borrowed else [*words, "--leader-elect", "--lease-namespace", OPERATOR_NAMESPACE]

    def start_operator(self, cloud: str, token: str) -> None:
        """Start the operator as the user whose token this is, and wait until it serves.

        Raises:
            DemoError: as above.
        """
        config = _read(self.plane.kubeconfig)
        _private(self.operator_kubeconfig, {**config, "users": [_user(config, token)]})
        inherited = [word for name in os.environ if name.startswith("GPUCLOUD_") for word in ("-u", name)]
        with_it = f"KUBECONFIG={self.operator_kubeconfig}"
        self._start(OPERATOR, ["env", *inherited, with_it, *_gpucloud(self.operator_words(cloud))])
        self._wait_for_line(OPERATOR, _OPERATOR_READY)

    def start_watches(self) -> list[watch.Watch]:
        """Start following all our objects of the namespace, a watch a kind."""
        for kind in watch.KINDS:
            self._start(f"watch-{kind}", [*self._kubectl(), *watch.command(kind)])
        return [watch.Watch(self.log(f"watch-{kind}")) for kind in watch.KINDS]

    def own_namespace(self) -> None:
        """Say that the namespace is of our making, so that it goes at the end where the cluster stays."""
        if self.plane.audit_log is None:  # a borrowed cluster
            self._children.at_the_end([*self._kubectl(), "delete", "namespace", NAMESPACE, "--wait=false"])

    def check(self) -> None:
        """See that everything that was started still runs.

        Raises:
            DemoError: something ended; the text holds the last lines of its log.
        """
        for name in self._started:
            if (code := self._children.exit_code(name)) is not None:
                raise DemoError(f"The {name} ended with exit code {code}. Its last lines:\n{self._children.log_tail(name)}")

    def log(self, name: str) -> Path:
        """Return the file that a process writes to."""
        return self.folder / f"{name}.log"

    def save_logs(self, target: Path) -> None:
        """Copy the logs to a folder that outlives the demo."""
        target.mkdir(parents=True, exist_ok=True)
        for file in [*self.folder.glob("*.log"), *self.plane.folder.glob("*.log")]:
            shutil.copy(file, target)

    def close(self) -> None:
        """End and remove everything; closing twice is harmless."""
        self._exits.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _kubectl(self) -> list[str]:
        """Return the first words of a kubectl command; its cache is ours too, never in the home of whoever runs this."""
        cache = f"KUBECACHEDIR={self.exports['KUBECACHEDIR']}"
        return ["env", cache, str(self.plane.kubectl), f"--kubeconfig={self.kubeconfig}"]

    def _wait_for_line(self, name: str, text: str) -> str:
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            for line in self.log(name).read_text(errors="replace").splitlines():
                if text in line:
                    return line
            self.check()
            time.sleep(0.05)
        raise DemoError(f"The {name} is not ready within {_READY_SECONDS:.0f} s.")

    def _start(self, name: str, command: list[str]) -> None:
        self._children.start(name, command)
        self._started.append(name)


def _gpucloud(words: Sequence[str]) -> list[str]:
    command, *flags = words
    return [*product.command(command), *flags]


def _read(kubeconfig: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads(kubeconfig.read_text())
    return config


def _scoped(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kubeconfig that looks at the demo's namespace, so that no command needs ``-n``."""
    contexts = [{**item, "context": {**item["context"], "namespace": NAMESPACE}} for item in config["contexts"]]
    return {**config, "contexts": contexts}


def _user(config: Mapping[str, Any], token: str) -> dict[str, Any]:
    return {"name": config["users"][0]["name"], "user": {"token": token}}


def _private(path: Path, content: Mapping[str, Any] | str) -> Path:
    path.touch(mode=0o600)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
