"""What a VM costs, on a real apiserver: in its status, in the metrics and in the plugin, while it runs, is off, and is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from datetime import datetime
from pathlib import Path

import pytest

from support.manifests import gpuvm
from support.waiting import eventually, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}


@pytest.fixture
def plugin(control_plane, here):
    """The answer of ``kubectl gpucloud status -o json``."""

    def run():
        env = {**os.environ, "KUBECONFIG": str(control_plane.kubeconfig)}
        command = [str(Path(sys.executable).parent / "kubectl-gpucloud"), "status", "-n", here.namespace, "-o", "json"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603
        assert done.returncode in {0, 3}, done.stderr  # 3: something is Stalled
        return json.loads(done.stdout)

    return run


def series(process, name):
    """The values of a metric, by its labels as the operator writes them."""
    process.wait_for_line('"listening"')
    port = next(record["metrics_port"] for record in process.logs() if record.get("event") == "listening")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        lines = [line for line in answer.read().decode().splitlines() if line.startswith(f"{name}{{")]
    return {line.partition(" ")[0].removeprefix(name): float(line.rpartition(" ")[2]) for line in lines}


def listed(sim, times=5):
    """Wait until the cloud has been listed so often again."""
    before = len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) >= before + times, what="further listings")


def test_what_a_vm_costs_while_it_runs_is_off_and_is_lost(here, sim, operator, plugin):
    process = operator(**FLAGS, max_price_per_hour_per_namespace=50, max_vms_per_account=3)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    labels = f'{{account="(operator)",namespace="{here.namespace}"}}'
    running = eventually(lambda: (item := here.get("gpuvm", "train"))["status"].get("billedSince") and item, what="a bill")
    assert "billedSeconds" not in running["status"]
    assert datetime.fromisoformat(running["status"]["billedSince"]) >= datetime.fromisoformat(
        running["metadata"]["creationTimestamp"]
    )
    online = f'{{account="(operator)",namespace="{here.namespace}",state="ONLINE"}}'
    assert series(process, "gpucloud_price_dollars_per_hour") == {online: 2.05}
    assert series(process, "gpucloud_price_limit_dollars_per_hour") == {'{scope="namespace"}': 50}
    counted = {labels: 2.05}
    assert series(process, "gpucloud_price_limit_usage_dollars_per_hour") == counted
    assert series(process, "gpucloud_vm_limit") == {'{scope="account"}': 3}
    assert series(process, "gpucloud_vm_limit_usage") == {labels: 1}
    first = eventually(lambda: series(process, "gpucloud_accrued_cost_dollars").get(labels), what="some cost")
    eventually(lambda: series(process, "gpucloud_accrued_cost_dollars")[labels] > first, what="the cost to grow")
    listed(sim)
    assert here.get("gpuvm", "train")["metadata"]["resourceVersion"] == running["metadata"]["resourceVersion"], (
        "passing time is written nowhere"
    )

    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    off = reach(here, "gpuvm", "train", "True/PoweredOff")["status"]
    assert "billedSince" not in off
    assert set(series(process, "gpucloud_price_dollars_per_hour").values()) == {0}, "not billed"
    assert series(process, "gpucloud_price_limit_usage_dollars_per_hour") == counted, "and the limit counts it"
    assert series(process, "gpucloud_vm_limit_usage") == {labels: 1}, "as the limit on VMs does"
    assert off["billedSeconds"] > 0
    assert series(process, "gpucloud_accrued_cost_dollars") == {labels: pytest.approx(2.05 * off["billedSeconds"] / 3600)}
    (vm,) = (item for item in plugin()["objects"] if item["kind"] == "GpuVM")
    assert (vm["billedSince"], vm["accruedCost"]) == (None, f"{2.05 * off['billedSeconds'] / 3600:.2f}")

    process.kill9()
    process = operator(**FLAGS)
    here.patch("gpuvm", "train", {"spec": {"powerState": "Running"}})
    again = reach(here, "gpuvm", "train", "True/Running")["status"]
    assert again["billedSeconds"] == off["billedSeconds"], "the period before is kept"
    assert again["billedSince"] > running["status"]["billedSince"], "and a new one has begun"

    sim.destroy_vm(sim.vms()[0])
    lost = reach(here, "gpuvm", "train", "False/VMLost")["status"]
    assert {"billedSince", "billedSeconds", "pricePerHour"}.isdisjoint(lost)
    assert series(process, "gpucloud_price_dollars_per_hour") == {}
    assert series(process, "gpucloud_accrued_cost_dollars") == {}


def test_what_never_started_costs_nothing(here, sim, operator, plugin):
    process = operator(**FLAGS)
    sim.fault(kind="status", operation="CreateServer", status=400, message="no such configuration")
    here.apply(gpuvm())
    status = reach(here, "gpuvm", "train", "False/Rejected")["status"]
    assert {"billedSince", "billedSeconds"}.isdisjoint(status)
    assert series(process, "gpucloud_price_dollars_per_hour") == {}
    assert series(process, "gpucloud_accrued_cost_dollars") == {}
    document = plugin()
    assert (document["pricePerHour"], document["accruedCost"]) == ("0.00", "0.00")
