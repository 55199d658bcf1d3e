"""``gpucloud uninstall`` and ``gpucloud check`` with the rights that the chart gives them, beside a running operator."""

from __future__ import annotations

import os
import secrets
import subprocess

import pytest

import product
from controlplane.access import VIEWER
from helmcli import Helm, obtain_helm
from support.chart import NAME, Chart
from support.finals import REQUIRED
from support.manifests import gpucloudaccount, gpuvm, secret

RIGHTS = "rbac.authorization.k8s.io"


def run(verb, kubeconfig, *args, **env):
    """A verb of ours as the chart's pods run it."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GPUCLOUD_")}
    return subprocess.run(  # noqa: S603  # our own program
        [*product.command(verb), *args],
        env={**environ, "KUBECONFIG": str(kubeconfig), **env},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture
def has_finalizer(control_plane, kubectl, tmp_path):
    """A function that runs the guard with a policy, as a user who has the rights of the chart's own role for it."""
    made = []

    def guard(policy, *args):
        helm = Helm(obtain_helm(os.environ), tmp_path)
        role = Chart(helm).render({"uninstall": {"policy": policy}}).one("ClusterRole", f"{NAME}-uninstall")
        name = f"guard-{secrets.token_hex(4)}"
        made.append(name)
        kubectl.apply({**role, "metadata": {"name": name}})
        kubectl.apply(
            {
                "apiVersion": f"{RIGHTS}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": name},
                "roleRef": {"apiGroup": RIGHTS, "kind": "ClusterRole", "name": name},
                "subjects": [{"apiGroup": RIGHTS, "kind": "User", "name": VIEWER}],
            }
        )
        return run("uninstall", control_plane.kubeconfig_for(VIEWER), f"--policy={policy}", *args)

    yield guard
    for name in made:
        kubectl.ok("delete", f"clusterrole/{name}", f"clusterrolebinding/{name}", "--ignore-not-found")


def test_refused_while_a_vm_lives_then_drained(here, sim, operator, has_finalizer, namespace):
    operator()
    only = f"--namespace={namespace}"
    assert has_finalizer("Refuse", only).returncode == 0, "nothing lives yet"
    here.apply(gpuvm("train"))
    here.wait("gpuvm", "train", "condition=Ready")

    refused = has_finalizer("Refuse", only)
    assert refused.returncode == 1
    assert f"GpuVM {namespace}/train Running" in refused.stderr
    assert "nothing is uninstalled" in refused.stderr
    assert here.get("gpuvm", "train"), "to refuse changes nothing"

    drained = has_finalizer("Drain", only, "--timeout-seconds=200")
    assert drained.returncode == 0, drained.stderr
    assert here.list("gpuvms") == []
    assert sim.vms() == []


def test_a_drain_waits_for_the_final_snapshot_of_a_vm(here, sim, operator, has_finalizer, namespace):
    """The cloud is busy at first: the GpuSnapshot that waits to order it is not deleted, so it is requested once."""
    sim.fault(operation="CreateSnapshot", kind="status", status=429, times=1)
    process = operator(poll_pending_seconds=0.2, poll_steady_seconds=0.5, create_grace_seconds=1)
    here.apply(gpuvm("train", deletion=REQUIRED))
    here.wait("gpuvm", "train", "condition=Ready")
    drained = has_finalizer("Drain", f"--namespace={namespace}", "--timeout-seconds=200")
    assert drained.returncode == 0, drained.stderr
    assert sim.mutations() == ["CreateServer", "CreateSnapshot", "DestroyServer"]
    assert [line.get("outcome") for line in process.logs()].count("FinalSnapshotRequested") == 1
    assert (here.list("gpusnapshots"), sim.vms(), len(sim.snapshots())) == ([], [], 1)
    assert f"GpuSnapshot {namespace}/train-final-" in drained.stdout + drained.stderr, "what stays is told"


def test_retained_the_vm_runs_on_and_the_object_is_gone(here, sim, operator, has_finalizer, namespace):
    operator()
    here.apply(gpuvm("train"))
    here.wait("gpuvm", "train", "condition=Ready")
    kept = has_finalizer("Retain", f"--namespace={namespace}", "--timeout-seconds=200")
    assert kept.returncode == 0, kept.stderr
    assert here.list("gpuvms") == []
    assert len(sim.vms()) == 1
    assert sim.calls("DestroyServer") == []


def test_without_an_operator_a_drain_ends_and_says_what_is_left(here, has_finalizer, namespace):
    """The object bears our finalizer and nobody takes it off: the guard gives up in time, and the release stays."""
    here.apply({**gpuvm("train"), "metadata": {"name": "train", "finalizers": ["gpucloud.dev/finalizer"]}})
    left = has_finalizer("Drain", f"--namespace={namespace}", "--timeout-seconds=3")
    assert left.returncode == 1
    assert f"GpuVM {namespace}/train" in left.stderr
    assert "that the operator runs" in left.stderr


def test_a_check_tells_what_works(control_plane, crds, sim, here):  # noqa: ARG001
    here.apply(secret(apikey=sim.api_key_file.read_text()))
    here.apply(gpucloudaccount())
    kubeconfig = control_plane.kubeconfig
    well = run("check", kubeconfig, f"--endpoint=default={sim.url}", GPUCLOUD_API_KEY_FILE=str(sim.api_key_file))
    assert well.returncode == 0, well.stdout + well.stderr
    assert [line.split()[:2] for line in well.stdout.splitlines()] == [
        ["ok", f"{kind}:"] for kind in ("GpuVM", "GpuVpc", "GpuSnapshot", "GpuHost", "GpuCloudAccount", "cloud")
    ]
    wrong = run("check", kubeconfig, f"--endpoint=default={sim.url}", GPUCLOUD_API_KEY="made-up-p4ssphrase")
    assert wrong.returncode == 1
    assert "FAILED cloud" in wrong.stdout
    assert "made-up-p4ssphrase" not in wrong.stdout + wrong.stderr
