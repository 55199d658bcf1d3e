"""Deleting a namespace always completes, whatever goes first, and leaves nothing in the cloud.

On a control plane with kube-controller-manager, which is what empties namespaces. All of them are deleted at the same time.
"""

from __future__ import annotations

import json
import random
import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from controlplane import ControlPlane
from support.canaries import assert_not_shown, searched
from support.finals import REQUIRED
from support.kstatus import condition, ready
from support.kubectl import Kubectl
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.operatorproc import USER, OperatorProcess, grant_rights, install_crds
from support.simcloud import API_KEY
from support.waiting import eventually, reach

FLAGS = {"poll_pending_seconds": 0.5, "poll_steady_seconds": 1, "create_grace_seconds": 2, "cloud_qps": 500, "cloud_burst": 100}
KINDS = "gpuvms,gpuvpcs,gpusnapshots,gpucloudaccounts"
SETTLED, HASTY = 20, 10  # namespaces deleted when all in them is Ready, and while it is being made
SEARCHED = 3  # of the settled, for secrets
THINGS = (
    "secret/cloud-credential",
    "gpucloudaccount/default",
    "gpuvpc/lab",
    "gpuvm/builder",
    "gpusnapshot/golden",
    "gpuvm/worker",
)


@pytest.fixture(scope="module")
def whole_plane():
    with ControlPlane.start(controller_manager=True) as plane:
        kubectl = Kubectl(plane.kubectl, plane.kubeconfig)
        install_crds(kubectl)
        grant_rights(kubectl)
        yield plane


def folder(namespace):
    """A team's folder: all in its own VPC, with its own account."""
    inside = {"vpc": None, "vpcRef": {"name": "lab"}}
    items = [
        secret(apikey=API_KEY),
        gpucloudaccount(),
        gpuvpc(name=f"acme-{namespace}"),
        gpuvm("builder", **inside),
        gpusnapshot("golden", vmRef={"name": "builder"}),
        gpuvm("worker", **inside, image={"snapshotRef": {"name": "golden"}}),
    ]
    for item in items:
        item["metadata"]["namespace"] = namespace
    return items


def deletion(kubectl, namespace, dice):
    """Delete the things in a random order, and the namespace at a random point between them."""
    things = dice.sample(THINGS, len(THINGS))
    cut = dice.randint(0, len(things))
    for part in (things[:cut], None, things[cut:]):
        if part is None:
            kubectl.ok("delete", "namespace", namespace, "--wait=false")
        elif part:
            kubectl.ok("delete", *part, "--wait=false", "--ignore-not-found", ns=namespace)
    return [*things[:cut], "the namespace", *things[cut:]]


def everything(kubectl):
    return json.loads(kubectl.ok("get", KINDS, "--all-namespaces", "--output=json"))["items"]


def left(kubectl, names):
    """The namespaces that are not gone yet, and what holds them."""
    standing = {item["metadata"]["name"] for item in kubectl.list("namespaces")} & set(names)
    held = [
        f"{item['metadata']['namespace']} {item['kind']} {item['metadata']['name']}: {condition(item, 'Ready')}"
        for item in everything(kubectl)
        if item["metadata"]["namespace"] in standing
    ]
    return standing, held


@pytest.mark.timeout(600)
def test_deleting_a_namespace_in_any_order_completes_and_leaves_nothing(whole_plane, sim, figure):
    seed = secrets.randbits(32)
    dice = random.Random(seed)
    figure(f"{SETTLED} + {HASTY} orders by seed {seed}")
    kubectl = Kubectl(whole_plane.kubectl, whole_plane.kubeconfig)
    sim.turn(snapshot_seconds=0.3, destroy_seconds=0.5, snapshot_delete_seconds=0.5)
    run = secrets.token_hex(3)
    settled = [f"test-{run}-settled-{number}" for number in range(SETTLED)]
    hasty = [f"test-{run}-hasty-{number}" for number in range(HASTY)]
    names = settled + hasty
    kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names])
    process = OperatorProcess(sim.url, whole_plane.kubeconfig_for(USER), None, **FLAGS)
    with searched(process, sim, kubectl) as operator:
        kubectl.apply([item for name in settled for item in folder(name)])
        eventually(lambda: not unready(kubectl, settled), 180, "all in the settled namespaces to be Ready")
        assert_not_shown(kubectl, settled[:SEARCHED], [operator], sim)  # each takes with it what stands there
        kubectl.apply([item for name in hasty for item in folder(name)])
        with ThreadPoolExecutor(2) as pool:
            dices = {name: random.Random(dice.random()) for name in hasty + settled}
            told = dict(zip(dices, pool.map(lambda name: deletion(kubectl, name, dices[name]), dices), strict=True))

        def all_gone():
            standing, held = left(kubectl, names)
            assert not standing, f"seed {seed}: {[(name, told[name]) for name in sorted(standing)]}, held by {held}"
            return True

        eventually(all_gone, 180, "all namespaces to go")
        assert operator.process.exit_code is None
    sim.assert_empty()
    made = {name: [call["subject"] for call in sim.committed(name)] for name in ("CreateVpc", "CreateServer", "CreateSnapshot")}
    for operation, subjects in made.items():
        assert max(Counter(map(str, subjects)).values()) == 1, f"{operation}: something was made twice"
    assert len(made["CreateVpc"]) >= SETTLED
    destroyed = [len(sim.committed(name)) for name in ("DestroyVpc", "DestroyServer", "DeleteSnapshot")]
    assert destroyed == [len(subjects) for subjects in made.values()], "each once, by its own object"
    figure(f"{len(names)} namespaces gone; made and destroyed: { {name: len(subjects) for name, subjects in made.items()} }")


def unready(kubectl, names):
    items = everything(kubectl)
    assert len(items) >= 5 * len(names), "not all are there yet"
    return [item["metadata"]["name"] for item in items if item["metadata"]["namespace"] in names and "True/" not in ready(item)]


def test_a_deleted_namespace_waits_for_the_final_snapshot_which_the_cloud_takes(whole_plane, sim):
    """Nobody deletes the GpuVM: the namespace controller does, in a namespace that takes no GpuSnapshot and no Event now."""
    kubectl, name = Kubectl(whole_plane.kubectl, whole_plane.kubeconfig), f"test-{secrets.token_hex(3)}-final"
    kubectl.ok("create", "namespace", name)
    here = kubectl.in_namespace(name)
    sim.turn(snapshot_seconds=5)
    process = OperatorProcess(sim.url, whole_plane.kubeconfig_for(USER), sim.api_key_file, **FLAGS)
    with searched(process, sim, kubectl):
        here.apply(gpuvm(deletion=REQUIRED))
        reach(here, "gpuvm", "train", "True/Running")
        kubectl.ok("delete", "namespace", name, "--wait=false")
        (taken,) = eventually(sim.snapshots, what="the final snapshot to be ordered")
        assert kubectl.get("namespace", name)["status"]["phase"] == "Terminating"
        assert (len(sim.vms()), here.list("gpusnapshots")) == (1, []), "it is not ready, and no GpuSnapshot can be made"
        kubectl.ok("wait", f"namespace/{name}", "--for=delete", "--timeout=90s")
        (released,) = process.logged("released")
    assert (sim.mutations(), sim.vms()) == (["CreateServer", "CreateSnapshot", "DestroyServer"], [])
    assert sim.snapshots() == [taken]
    assert f"Its final snapshot {taken!r} stays in the cloud, and is billed. No GpuSnapshot stands for it." in released["note"]
    events = kubectl.in_namespace("default")
    heard = lambda: [one["regarding"]["name"] for one in events.list("events.events.k8s.io") if taken in one["note"]]  # noqa: E731
    assert eventually(heard, what="the Event") == ["gpuvms.gpucloud.dev"]
