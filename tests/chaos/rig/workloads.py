"""Six pieces of a user's life. Each needs only the apiserver and the cloud's control, never a living operator.

They wait at checkpoints of their own, so the operator may die at any time; all end with nothing left of what is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chaos.rig.strangers import plant
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.simcloud import API_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.rig.trial import Trial

RUNNING, AVAILABLE, COMPLETED = "True/Running", "True/Available", "True/Completed"
SECRET = "cloud-credential"


@dataclass(frozen=True)
class Workload:
    """``options`` are the trial's; ``speeds`` are knobs of the cloud; ``live`` runs once an operator has been started."""

    name: str
    live: Callable[[Trial], None]
    options: dict[str, Any] = field(default_factory=dict)
    speeds: dict[str, float] = field(default_factory=dict)

    def prepare(self, trial: Trial) -> None:
        """What is there before the operator is."""
        trial.sim.turn(**self.speeds)
        plant(trial)


def vm(trial: Trial) -> None:
    """Create, Ready, delete, gone."""
    trial.apply(gpuvm())
    trial.reach("gpuvm", "train", RUNNING)
    trial.here.delete("gpuvm", "train")
    trial.gone("gpuvm", "train")


def edits(trial: Trial) -> None:
    """Stop, start, restart, another edit; then delete."""
    here = trial.here
    trial.apply(gpuvm())
    trial.reach("gpuvm", "train", RUNNING)
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    trial.reach("gpuvm", "train", "True/PoweredOff")
    here.patch("gpuvm", "train", {"spec": {"powerState": "Running"}})
    _settled(trial, "train")
    asked = "2026-01-02T03:04:05Z"
    here.annotate("gpuvm", "train", **{"gpucloud.dev/restart-requested-at": asked})
    trial.wait(lambda: _status(trial, "train")["lastHandledRestartAt"] == asked, "the restart to be answered")
    trial.reach("gpuvm", "train", RUNNING)
    here.patch("gpuvm", "train", {"spec": {"progressDeadlineSeconds": 900}})
    _settled(trial, "train")
    here.delete("gpuvm", "train")
    trial.gone("gpuvm", "train")


def snapshot(trial: Trial) -> None:
    """A VM, a snapshot of it, a VM from the snapshot."""
    trial.apply(gpuvm(), gpusnapshot(), gpuvm("p0", image={"snapshotRef": {"name": "before"}}))
    for name in ("train", "p0"):
        trial.reach("gpuvm", name, RUNNING)
    trial.reach("gpusnapshot", "before", COMPLETED)
    trial.here.delete("gpuvm", "p0")
    trial.here.delete("gpusnapshot", "before")
    trial.here.delete("gpuvm", "train")
    trial.gone("gpuvm", "p0", "train")
    trial.gone("gpusnapshot", "before")


def vpc(trial: Trial) -> None:
    """A VPC and three VMs in it, applied at once and deleted at once, the VPC first."""
    names = ("train", "p0", "p1")
    inside = {"vpc": None, "vpcRef": {"name": "lab"}}
    trial.apply(*(gpuvm(name, **inside) for name in names), _vpc(trial))
    for name in names:
        trial.reach("gpuvm", name, RUNNING)
    trial.here.delete("gpuvpc", "lab")
    trial.here.delete("gpuvm", *names)
    trial.gone("gpuvm", *names)
    trial.gone("gpuvpc", "lab")


def rotation(trial: Trial) -> None:
    """The Secret gets a new key and the old one is revoked while the VM is being created; the Secret is deleted first."""
    old, new = trial.sim.key("ann"), trial.sim.key("ann")
    trial.apply(secret(SECRET, apikey=old["value"]), gpucloudaccount(), gpuvm())
    trial.wait(lambda: trial.sim.calls("CreateServer"), "the VM to be ordered")
    trial.apply(secret(SECRET, apikey=new["value"]))
    trial.sim.revoke(old)
    trial.here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/reconcile-requested-at": "now"})
    trial.reach("gpuvm", "train", RUNNING)
    trial.here.delete("secret", SECRET)
    trial.here.delete("gpucloudaccount", "default")
    trial.here.delete("gpuvm", "train")
    trial.gone("gpuvm", "train")
    trial.gone("gpucloudaccount", "default")
    trial.wait(lambda: trial.here.get("secret", SECRET) is None, "the Secret to go")


def namespace(trial: Trial) -> None:
    """All kinds in one namespace, which is deleted."""
    inside = {"vpc": None, "vpcRef": {"name": "lab"}}
    trial.apply(
        secret(SECRET, apikey=API_KEY),
        gpucloudaccount(),
        _vpc(trial),
        gpuvm("builder", **inside),
        gpusnapshot("golden", vmRef={"name": "builder"}),
        gpuvm("p0", **inside, image={"snapshotRef": {"name": "golden"}}),
    )
    trial.reach("gpuvpc", "lab", AVAILABLE)
    for name in ("builder", "p0"):
        trial.reach("gpuvm", name, RUNNING)
    trial.reach("gpusnapshot", "golden", COMPLETED)
    trial.here.delete("namespace", trial.namespace)
    trial.wait(lambda: trial.here.get("namespace", trial.namespace) is None, "the namespace to go")


def _vpc(trial: Trial) -> dict[str, Any]:
    return gpuvpc("lab", name=f"acme-{trial.tag}-lab")


def _status(trial: Trial, name: str) -> dict[str, Any]:
    return dict((trial.here.get("gpuvm", name) or {})["status"])


def _settled(trial: Trial, name: str) -> None:
    """Running, by a status that knows the newest spec."""

    def look() -> bool:
        item = trial.here.get("gpuvm", name) or {}
        return bool(item["status"]["observedGeneration"] == item["metadata"]["generation"])

    trial.wait(look, f"{name} to be observed")
    trial.reach("gpuvm", name, RUNNING)


WORKLOADS = {
    one.name: one
    for one in (
        Workload("vm", vm),
        Workload("edits", edits),
        Workload("snapshot", snapshot),
        Workload("vpc", vpc),
        Workload("rotation", rotation, {"own_account": False}, {"provision_seconds": 1.0}),
        Workload("namespace", namespace, {"own_account": False}),
    )
}
