"""The operator as a process: what it needs of a cluster, started by its command, known by its logs, killed at will."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import product
from support.processes import ChildProcess
from support.simcloud import as_flags
from support.waiting import eventually
from support.warm import warm

if TYPE_CHECKING:
    from support.kubectl import Kubectl

USER = "gpucloud-operator"  # whom the operators of the tests run as, and whom the audit log shows
CRDS = Path(__file__).parents[2] / "crds"
RBAC = Path(__file__).parents[2] / "deploy" / "examples" / "operator-rbac.yaml"


def install_crds(kubectl: Kubectl) -> None:
    """Our resource definitions, as the files that users apply."""
    files = sorted(CRDS.glob("*.yaml"))
    assert files, f"no resource definitions in {CRDS.name}/"
    for file in files:
        kubectl.apply(file, "--server-side", "--force-conflicts")
        # A definition without any condition yet makes `kubectl wait` fail at once.
        established = ("wait", "--for=condition=Established", "--timeout=60s", "-f", str(file))
        eventually(
            lambda established=established: kubectl.run(*established).returncode == 0, 60, f"{file.name} to be established"
        )
    kinds = ",".join(file.stem.partition("_")[2] for file in files)
    eventually(lambda: kubectl.run("get", kinds, "--all-namespaces").returncode == 0, 60, f"{kinds} to be known")


def grant_rights(kubectl: Kubectl) -> None:
    """The documented rights, and no others, for the user that the operators of the tests run as."""
    kubectl.apply(RBAC)
    group, meta = "rbac.authorization.k8s.io", {"name": "gpucloud-operator-of-the-tests"}
    for kind, binding, name, where in (
        ("ClusterRole", "ClusterRoleBinding", "gpucloud-operator", {}),
        ("Role", "RoleBinding", "gpucloud-operator-lease", {"namespace": "gpucloud-system"}),
    ):
        kubectl.apply(
            {
                "apiVersion": f"{group}/v1",
                "kind": binding,
                "metadata": meta | where,
                "roleRef": {"apiGroup": group, "kind": kind, "name": name},
                "subjects": [{"apiGroup": group, "kind": "User", "name": USER}],
            }
        )
    # The apiserver learns of a binding by a watch of its own.
    eventually(lambda: kubectl.may(USER, "list", "gpuvms", group="gpucloud.dev"), what="the rights to be in force")
    leases = {"group": "coordination.k8s.io", "ns": "gpucloud-system"}
    eventually(lambda: kubectl.may(USER, "create", "leases", **leases), what="the right to the Lease to be in force")


class OperatorProcess:
    """A running operator. Keywords become flags: ``poll_pending_seconds=0.2``, ``namespace=["a", "b"]``."""

    def __init__(
        self, url: str, kubeconfig: Path, api_key_file: Path | None, *, env: dict[str, str] | None = None, **flags: object
    ) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GPUCLOUD_")}
        account = {} if api_key_file is None else {"GPUCLOUD_API_KEY_FILE": str(api_key_file)}
        env = {**inherited, "KUBECONFIG": str(kubeconfig), **account, **(env or {})}
        # Each test is alone in its cloud; those of the flag itself set it.
        mine = {"own_account_sharing": "Shared", "metrics_port": 0, "health_port": 0, "log_format": "json"}
        flags = {"endpoint": f"default={url}", **mine, **flags}
        command = [*product.command("operator"), *as_flags(flags)]
        self.process = ChildProcess(command, env=env, name="gpucloud-operator", start=warm)

    @property
    def pid(self) -> int:
        return self.process.pid

    def logs(self) -> list[dict[str, Any]]:
        """Return its log records; a line that is no JSON object (a traceback, a warning) becomes ``{"text": line}``."""
        return [_record(line) for line in self.process.lines()]

    def logged(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until it has logged this event so many times, and return these records.

        What a line tells of can be seen in the cluster or the cloud before the line is written.
        """

        def found() -> list[dict[str, Any]]:
            return [record for record in self.logs() if record.get("event") == event]

        eventually(lambda: len(found()) >= count, what=f"{count} log lines {event!r}")
        return found()

    def wait_for_line(self, text: str, timeout: float = 60.0) -> str:
        return self.process.wait_for_line(text, timeout)

    def kill9(self) -> None:
        """Kill it as a crash would."""
        self.process.kill9()

    def stop(self, grace: float = 60.0) -> int:
        """End it as Kubernetes does, with SIGTERM and a grace, and return its exit code."""
        return self.process.terminate(grace)

    def close(self) -> None:
        self.process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    return record if isinstance(record, dict) else {"text": line}
