"""A life that uses every operation that the operator calls, lived by an impatient person, who asks again twice a second.

The operator waits up to five minutes before it repeats what was refused; ``gpucloud.dev/reconcile-requested-at`` lifts that, so
a run need not wait, and what is asked for too early must do no harm.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from chaos.rig.kubeclient import PLURALS
from chaos.rig.workloads import AVAILABLE, COMPLETED, RUNNING, SECRET
from support.kstatus import condition, ready
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.simcloud import API_KEY
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from chaos.rig.ledger import Summary
    from chaos.rig.trial import Trial

PATIENCE = 150.0  # seconds for one checkpoint, with faults that come and go before it
ASK_EVERY = 0.5
ONCE: Summary = Counter(
    {(who, what): 1 for who in ("GpuVpc/lab", "GpuVM/train", "GpuSnapshot/before") for what in ("created", "destroyed")}
)
ONE_VM: Summary = Counter({("GpuVM/train", "created"): 1, ("GpuVM/train", "destroyed"): 1})


def persist(trial: Trial, look: Callable[[], Any], what: str, *, patience: float = PATIENCE) -> Any:
    """Wait for something, and ask for another try of all that is not as wanted, twice a second."""
    asked = 0.0

    def look_and_ask() -> Any:
        nonlocal asked
        if time.monotonic() >= asked + ASK_EVERY:
            asked = time.monotonic()
            ask_again(trial)
        return look()

    return eventually(look_and_ask, patience, what)


def ask_again(trial: Trial) -> None:
    """Ask for another try of whatever is not Ready: that something failed is said only when it has lasted."""
    for item in trial.here.list(",".join(PLURALS)):
        found = condition(item, "Ready")
        if found is not None and found["status"] != "True":
            wish = {"gpucloud.dev/reconcile-requested-at": secrets.token_hex(4)}
            status, _ = trial.here.answer(
                "PATCH",
                f"/apis/gpucloud.dev/v1alpha1/namespaces/{trial.namespace}/{PLURALS[item['kind']]}/{item['metadata']['name']}",
                {"metadata": {"annotations": wish}},
                "application/merge-patch+json",
            )
            assert status in {200, 404}, status  # it may have gone meanwhile


def reach(trial: Trial, kind: str, name: str, wanted: str, *, patience: float = PATIENCE) -> dict[str, Any]:
    """Wait until Ready says ``status/reason``, asking again meanwhile."""

    def look() -> dict[str, Any]:
        item = trial.here.get(kind, name)
        assert item is not None, "there is none"
        assert ready(item) == wanted, condition(item, "Ready")
        return item

    found: dict[str, Any] = persist(trial, look, f"{kind}/{name} to be {wanted}", patience=patience)
    return found


def gone(trial: Trial, kind: str, *names: str, patience: float = PATIENCE) -> None:
    """Wait until these objects are gone, asking again meanwhile."""

    def look() -> bool:
        left = [item for item in trial.here.list(kind) if item["metadata"]["name"] in names]
        assert not left, [condition(item, "Ready") for item in left]
        return True

    persist(trial, look, f"{kind} {', '.join(names)} to go", patience=patience)


def account(trial: Trial, **data: str) -> None:
    """The account ``default`` with this credential, the simulator's first key unless another is named."""
    trial.apply(secret(SECRET, **(data or {"apikey": API_KEY})), gpucloudaccount())


def tour(trial: Trial, *, patience: float = PATIENCE, **credential: str) -> None:
    """A VPC, a VM in it, a snapshot of it; stopped, started; all deleted. The trial has no account of its own."""
    account(trial, **credential)
    inside = {"vpc": None, "vpcRef": {"name": "lab"}}
    trial.apply(gpuvpc("lab", name=f"acme-{trial.tag}-lab"), gpuvm(**inside), gpusnapshot())
    reach(trial, "gpuvpc", "lab", AVAILABLE, patience=patience)
    reach(trial, "gpuvm", "train", RUNNING, patience=patience)
    reach(trial, "gpusnapshot", "before", COMPLETED, patience=patience)
    trial.here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(trial, "gpuvm", "train", "True/PoweredOff", patience=patience)
    trial.here.patch("gpuvm", "train", {"spec": {"powerState": "Running"}})
    reach(trial, "gpuvm", "train", RUNNING, patience=patience)
    for kind, name in (("gpuvpc", "lab"), ("gpuvm", "train"), ("gpusnapshot", "before")):
        trial.here.delete(kind, name)
    for kind, name in (("gpusnapshot", "before"), ("gpuvm", "train"), ("gpuvpc", "lab")):
        gone(trial, kind, name, patience=patience)
    close_account(trial)


def close_account(trial: Trial) -> None:
    """Delete the account and its Secret, and wait until both have gone."""
    trial.here.delete("gpucloudaccount", "default")
    trial.here.delete("secret", SECRET)
    gone(trial, "gpucloudaccount", "default")
    persist(trial, lambda: trial.here.get("secret", SECRET) is None, "the Secret to go")


def one_vm(trial: Trial) -> None:
    """Create, Ready, delete, gone; with the operator's own account."""
    trial.apply(gpuvm())
    reach(trial, "gpuvm", "train", RUNNING)
    trial.here.delete("gpuvm", "train")
    gone(trial, "gpuvm", "train")
