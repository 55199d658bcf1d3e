"""The deletion guard and limits on a real apiserver: what is promised, and how a person releases what is held."""

from __future__ import annotations

import os
import re
import subprocess
import urllib.request

import pytest

from controlplane import ControlPlane
from support.canaries import assert_not_shown, searched
from support.kstatus import condition, ready
from support.kubectl import Kubectl
from support.manifests import gpuvm
from support.operatorproc import CRDS, USER, OperatorProcess, grant_rights, install_crds
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}
RELEASED_AT = "gpucloud.dev/brake-released-at"


def running(here, count):
    """That many VMs, each Running."""
    here.apply([gpuvm(f"vm-{number}") for number in range(count)])
    eventually(lambda: all(ready(item) == "True/Running" for item in here.list("gpuvm")), 60, "all to run")


def held(here):
    """The names of those that the deletion guard holds, and of those that stand beside them."""
    names = {True: set(), False: set()}
    for item in here.list("gpuvm"):
        names[ready(item) == "False/DeletionHeld"].add(item["metadata"]["name"])
    return names[True], names[False]


def all_held(here, at_least, timeout=60):
    def look():
        waiting, others = held(here)
        assert not others
        assert len(waiting) >= at_least
        return waiting

    return eventually(look, timeout, f"{at_least} or more to be held, and nothing beside them to be left")


def looked_again(sim, times=3):
    """Wait until the cloud has been listed again: whatever the operator wanted to do, it has done."""
    before = len(sim.calls("GetServers"))
    eventually(lambda: len(sim.calls("GetServers")) >= before + times, what="further listings")


def follow(kubectl, message, what):
    """Type the command that the message gives, as a person would."""
    (command,) = re.findall(rf"kubectl annotate {what} .*?\)", message)
    env = {**os.environ, "KUBECONFIG": str(kubectl.kubeconfig), "PATH": f"{kubectl.path.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603, S607
    assert done.returncode == 0, f"{command}: {done.stderr}"


def metric(process, name):
    process.wait_for_line('"listening"')
    port = next(record["metrics_port"] for record in process.logs() if record.get("event") == "listening")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        return [line for line in answer.read().decode().splitlines() if line.startswith(name)]


def test_eight_deleted_at_once(kubectl, here, sim, operator):
    """Promised: at most three are destroyed (the first may go before the guard holds them), and the rest waits for a person."""
    process = operator(**FLAGS, brake_vms=3)
    running(here, 8)
    here.ok("delete", "gpuvm", "--all", "--wait=false")
    waiting = all_held(here, 5)
    destroyed = len(sim.committed("DestroyServer"))
    assert destroyed <= 3
    assert len(waiting) == len(sim.vms()) == 8 - destroyed
    assert metric(process, "gpucloud_deletions_held{") == [
        f'gpucloud_deletions_held{{namespace="{here.namespace}"}} {len(waiting)}.0'
    ]
    assert [record["exceeded"] for record in process.logged("deletions are held")] == ["--brake-vms 3"]

    def warned():
        return [name for name, reason in here.events() if reason == "DeletionHeld"]

    eventually(lambda: set(warned()) == waiting, what="each to be warned of")
    assert len(warned()) == len(waiting), "once"

    process.kill9()
    operator(**FLAGS, brake_vms=3).wait_for_line('"synced"')
    looked_again(sim)
    assert held(here) == (waiting, set()), "a restart lets nothing go"
    assert len(sim.committed("DestroyServer")) == destroyed

    one = min(waiting)
    message = condition(here.get("gpuvm", one), "Stalled")["message"]
    follow(kubectl, message, "gpuvm")
    gone(here, "gpuvm", one)
    looked_again(sim)
    assert held(here) == (waiting - {one}, set()), "its own annotation releases one"
    follow(kubectl, message, "namespace")
    gone(here, "gpuvm", *waiting)
    sim.assert_empty()
    assert len(sim.committed("DestroyServer")) == 8


def test_deleted_while_the_operator_was_down_none_goes(here, sim, operator):
    """Known together none is destroyed; and while held, a person's word still counts."""
    process = operator(**FLAGS)
    running(here, 4)
    assert process.stop() == 0
    here.ok("delete", "gpuvm", "--all", "--wait=false")
    operator(**FLAGS, brake_price_per_hour=5)
    assert len(all_held(here, 4)) == 4
    held = "4 VMs (8.20 dollars an hour) deleted in"  # the first to be held may have told of fewer
    message = condition(reach(here, "gpuvm", "vm-0", "False/DeletionHeld", says=held), "Stalled")["message"]
    assert "exceed --brake-price-per-hour 5." in message

    here.annotate("gpuvm", "vm-0", **{RELEASED_AT: "at once"})
    reach(here, "gpuvm", "vm-0", "False/DeletionHeld", says="'at once', not a time")
    here.annotate("gpuvm", "vm-1", **{"gpucloud.dev/paused": "true"})
    reach(here, "gpuvm", "vm-1", "False/DeletionBlocked")
    here.annotate("gpuvm", "vm-1", **{"gpucloud.dev/paused": None})
    reach(here, "gpuvm", "vm-1", "False/DeletionHeld")
    here.patch("gpuvm", "vm-2", {"spec": {"deletion": {"policy": "Retain"}}})
    gone(here, "gpuvm", "vm-2")
    looked_again(sim)
    assert (len(sim.vms()), sim.calls("DestroyServer")) == (4, []), "the retained one stays in the cloud, the others wait"


def test_few_deletions_are_not_in_its_way(here, sim, operator):
    operator(**FLAGS, brake_vms=3, brake_price_per_hour=10)
    running(here, 3)
    here.ok("delete", "gpuvm", "--all", "--timeout=60s")
    sim.assert_empty()


@pytest.mark.parametrize(
    ("limit", "room", "setting"),
    [
        ({"max_vms_per_namespace": 4}, 4, "--max-vms-per-namespace allows 4"),
        ({"max_vms_per_account": 3}, 3, "The operator's own account has 3 VMs"),
        ({"max_price_per_hour_per_account": 6.2}, 3, "--max-price-per-hour-per-account allows 6.2"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_ten_applied_at_once_stop_exactly_at_the_limit(here, sim, operator, limit, room, setting):
    operator(**FLAGS, **limit)
    here.apply([gpuvm(f"vm-{number}") for number in range(10)])

    def settled():
        states = [ready(item) for item in here.list("gpuvm")]
        assert sorted(set(states)) == ["False/LimitReached", "True/Running"], states
        return states.count("True/Running")

    eventually(lambda: settled() == room, 60, f"{room} to run and the others to be refused")
    assert len(sim.calls("CreateServer")) == len(sim.vms()) == room
    items = {item["metadata"]["name"]: ready(item) for item in here.list("gpuvm")}
    refused = [name for name, state in items.items() if state == "False/LimitReached"]
    eventually(lambda: setting in condition(here.get("gpuvm", refused[0]), "Stalled")["message"], what=setting)
    assert here.get("gpuvm", refused[0])["status"]["order"]["state"] == "NotOrdered"

    here.delete("gpuvm", next(name for name, state in items.items() if state == "True/Running"))
    eventually(lambda: len(sim.calls("CreateServer")) == room + 1, 60, "one more to be bought")
    eventually(lambda: settled() == room, 60, f"{room} to run and the others to be refused")
    looked_again(sim)
    assert len(sim.vms()) == room, "and no more than one"


# --- with kube-controller-manager, which empties namespaces and counts quotas


@pytest.fixture(scope="module")
def whole():
    """kubectl, and where an operator finds the cluster."""
    with ControlPlane.start(controller_manager=True) as plane:
        kubectl = Kubectl(plane.kubectl, plane.kubeconfig)
        install_crds(kubectl)
        grant_rights(kubectl)
        yield kubectl, plane.kubeconfig_for(USER)


def test_a_deleted_namespace_waits_for_the_deletion_guard_and_says_so(whole, sim):
    kubectl, kubeconfig = whole
    kubectl.ok("create", "namespace", "held")
    here = kubectl.in_namespace("held")
    with searched(OperatorProcess(sim.url, kubeconfig, sim.api_key_file, **FLAGS, brake_vms=1), sim, kubectl) as operator:
        running(here, 4)
        kubectl.ok("delete", "namespace", "held", "--wait=false")
        waiting = all_held(here, 3)
        assert len(sim.vms()) == len(waiting)
        message = condition(here.get("gpuvm", min(waiting)), "Stalled")["message"]
        assert_not_shown(kubectl, ["held"], [operator], sim)  # the namespace takes with it what stands there
        assert kubectl.get("namespace", "held")["status"]["phase"] == "Terminating"
        follow(kubectl, message, "namespace")
        kubectl.ok("wait", "namespace/held", "--for=delete", "--timeout=90s")
    sim.assert_empty()


@pytest.mark.timeout(600)
def test_deleted_resource_definitions_cost_no_vm(whole, sim):
    """As docs/how-to/disaster-recovery.md has it: held, let go with their VMs kept, and met again by their manifests."""
    kubectl, kubeconfig = whole
    kubectl.ok("create", "namespace", "bereft")
    here = kubectl.in_namespace("bereft")
    with searched(OperatorProcess(sim.url, kubeconfig, sim.api_key_file, **FLAGS, brake_vms=1), sim, kubectl):
        running(here, 4)
        kubectl.ok("delete", "-f", str(CRDS), "--wait=false")
        for plural in ("gpuvpcs", "gpusnapshots", "gpucloudaccounts"):  # without objects they vanish, and the operator ends
            kubectl.ok("wait", f"crd/{plural}.gpucloud.dev", "--for=delete", "--timeout=90s")
    kubectl.ok("apply", "-f", str(CRDS))
    with searched(OperatorProcess(sim.url, kubeconfig, sim.api_key_file, **FLAGS, brake_vms=1), sim, kubectl):
        # One may have been told to go right before the first operator ended: its object may be held with the others.
        staying = 4 - len(sim.committed("DestroyServer"))
        waiting = all_held(here, staying)
        alive = eventually(lambda: len(now := sim.vms()) == staying and now, what="what was told to go to be gone")
        kept = [item["metadata"]["name"] for item in here.list("gpuvm") if item["status"]["vmId"] in alive]
        here.ok("patch", "gpuvm", *waiting, "--type=merge", '--patch={"spec":{"deletion":{"policy":"Retain"}}}')
        kubectl.ok("wait", "crd/gpuvms.gpucloud.dev", "--for=delete", "--timeout=90s")
    assert len(sim.vms()) == len(kept)
    install_crds(kubectl)
    here.apply([gpuvm(name) for name in kept])
    with searched(OperatorProcess(sim.url, kubeconfig, sim.api_key_file, **FLAGS), sim, kubectl, "bereft"):
        for name in kept:
            reach(here, "gpuvm", name, "False/PossibleDuplicate")
        here.ok("delete", "gpuvm", "--all", "--timeout=60s")
    assert len(sim.vms()) == len(kept), "nothing was bought, and nothing destroyed"
    kubectl.ok("delete", "namespace", "bereft", "--wait=false")


QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpu-vms}
spec:
  hard:
    count/gpuvms.gpucloud.dev: "2"
"""


def test_the_native_quota_refuses_objects_at_once(whole):
    """As docs/how-to/brakes-and-limits.md shows it.

    The quota controller looks for new kinds every half minute. A quota that was made before it knew ours is counted minutes
    later only, so it is made anew until then.
    """
    kubectl, _ = whole
    install_crds(kubectl)  # the test before takes them away
    kubectl.ok("create", "namespace", "quota")
    here = kubectl.in_namespace("quota")

    def used():
        return here.get("resourcequota", "gpu-vms")["status"]["used"]["count/gpuvms.gpucloud.dev"]

    def counted():
        here.run("delete", "resourcequota", "gpu-vms")
        here.apply(QUOTA)
        return eventually(lambda: used() == "0", 5)

    eventually(counted, 120, "the quota controller to know our kind")
    here.apply([gpuvm("one"), gpuvm("two")])
    eventually(lambda: used() == "2", what="two to be used")
    assert "exceeded quota: gpu-vms" in here.apply(gpuvm("three"), expect_error=True)
    kubectl.ok("delete", "namespace", "quota", "--wait=false")
