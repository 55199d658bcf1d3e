"""Manifests all at once, in any order: dependents wait and go on by themselves, and nothing goes before what needs it."""

from __future__ import annotations

import random
import secrets

from support.kstatus import assert_row, condition
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.operatorproc import USER
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 2,
    "cloud_qps": 500,
    "cloud_burst": 100,
}
IN_LAB = {"vpc": None, "vpcRef": {"name": "lab"}}
FROM_GOLDEN = gpuvm("worker", **IN_LAB, image={"snapshotRef": {"name": "golden"}})
GOLDEN = gpusnapshot("golden", vmRef={"name": "builder"})
READY = {
    ("gpucloudaccount", "default"): "True/Connected",
    ("gpuvpc", "lab"): "True/Available",
    ("gpuvm", "builder"): "True/Running",
    ("gpusnapshot", "golden"): "True/Completed",
    ("gpuvm", "worker"): "True/Running",
}
ORDERS = 8  # the two natural ones, and random ones


def folder(vpc="acme-lab"):
    """What a team keeps in one folder, in the order in which a person would write it."""
    return [
        secret(apikey=API_KEY),
        gpucloudaccount(),
        gpuvpc(name=vpc),
        gpuvm("builder", **IN_LAB),
        GOLDEN,
        FROM_GOLDEN,
    ]


def orders(seed):
    dice = random.Random(seed)
    natural = list(range(6))
    return [natural, natural[::-1], *(dice.sample(natural, len(natural)) for _ in range(ORDERS - 2))]


def test_a_folder_in_any_order(kubectl, new_namespace, sim, operator, figure):
    """Applied at once and deleted at once, each time in another order, in a namespace for each."""
    seed, namespaces = secrets.randbits(32), [kubectl.in_namespace(new_namespace()) for _ in range(ORDERS)]
    figure(f"orders by seed {seed}")
    sim.turn(snapshot_seconds=0.3, destroy_seconds=0.3, snapshot_delete_seconds=0.3)
    operator(**FLAGS, api_key_file=None)
    folders = {}
    for number, (here, order) in enumerate(zip(namespaces, orders(seed), strict=True)):
        folders[here] = folder(f"acme-lab-{number}")
        here.apply([folders[here][place] for place in order])
    for here in namespaces:
        for (kind, name), wanted in READY.items():
            reach(here, kind, name, wanted, 120)
    counted = {operation: len(sim.committed(operation)) for operation in ("CreateVpc", "CreateServer", "CreateSnapshot")}
    assert counted == {"CreateVpc": ORDERS, "CreateServer": 2 * ORDERS, "CreateSnapshot": ORDERS}, f"seed {seed}"
    assert {call["status"] for name in counted for call in sim.calls(name)} <= {200, 202}, "nothing was tried too early"

    for here, order in zip(namespaces, orders(seed + 1), strict=True):
        things = [f"{item['kind'].lower()}/{item['metadata']['name']}" for item in folders[here]]
        here.ok("delete", *(things[place] for place in order), "--wait=false")
    for here in namespaces:
        for kind, name in READY:
            gone(here, kind, name, timeout=120)
        eventually(lambda here=here: here.get("secret", "cloud-credential") is None, what="the Secret to go")
    sim.assert_empty()
    destroys = {name: len(sim.committed(name)) for name in ("DestroyVpc", "DestroyServer", "DeleteSnapshot")}
    assert destroys == {"DestroyVpc": ORDERS, "DestroyServer": 2 * ORDERS, "DeleteSnapshot": ORDERS}, f"seed {seed}"
    refused = [call for name in destroys for call in sim.calls(name) if call["status"] not in {200, 202}]
    assert not refused, "nothing was destroyed under what needs it"
    figure(f"{ORDERS} orders of creation and {ORDERS} of deletion of {len(READY)} objects and a Secret: {counted}, {destroys}")


def test_a_dependent_waits_and_goes_on_when_its_dependency_is_ready(here, namespace, sim, operator, audit, figure):
    operator(**{**FLAGS, "poll_steady_seconds": 30})
    sim.turn(snapshot_seconds=0.3)
    here.apply([FROM_GOLDEN, GOLDEN, gpuvm("builder", **IN_LAB)])
    for kind, name, needed in (
        ("gpuvm", "builder", "GpuVpc 'lab'"),
        ("gpusnapshot", "golden", "GpuVM 'builder'"),
        ("gpuvm", "worker", "GpuVpc 'lab'"),
    ):
        item = reach(here, kind, name, "False/DependencyNotReady", says=needed)
        assert_row(here, item, kstatus="InProgress", standing="Reconciling", met=False)
        assert "progressDeadlineAt" not in item["status"], "a wait for others has no deadline"
    assert sim.mutations() == []

    here.apply(gpuvpc())
    for (kind, name), wanted in READY.items():
        if kind != "gpucloudaccount":
            reach(here, kind, name, wanted)
    created = {call["parameters"].get("snapshotName", "-"): call["received"] for call in sim.committed("CreateServer")}
    steps = {
        "VM after its VPC": ("gpuvpcs", "lab", created["-"]),
        "snapshot after its VM": ("gpuvms", "builder", sim.committed("CreateSnapshot")[0]["received"]),
        "VM after its snapshot": ("gpusnapshots", "golden", max(created.values())),
    }
    writes = [one for one in audit.requests(user=USER, namespace=namespace, reads=False) if one.subresource == "status"]
    behind = sim.behind()
    for what, (resource, name, received) in steps.items():
        ordered = received + behind
        ready = max(one.at for one in writes if (one.resource, one.name) == (resource, name) and one.at < ordered)
        figure(f"{what}: ordered {ordered - ready:.3f} s after the status of its dependency was written")


def test_a_vm_by_the_name_of_its_vpc_needs_no_permission_on_vpcs(here, sim, operator):
    """bob may do all but see VPCs: a VM by ``vpc`` works, a GpuVpc says why it does not, and a VM by ``vpcRef`` waits."""
    key = sim.key("bob")
    operator(**FLAGS, api_key_file=None)
    here.apply([secret(apikey=key["value"]), gpucloudaccount(), gpuvm(), gpuvpc(), gpuvm("inside", **IN_LAB)])
    reach(here, "gpuvm", "train", "True/Running")
    item = reach(here, "gpuvpc", "lab", "False/PermissionDenied")
    assert_row(here, item, kstatus="Failed", standing="Stalled", met=False)
    reach(here, "gpuvm", "inside", "False/DependencyNotReady", says="PermissionDenied")
    account = eventually(
        lambda: (item := here.get("gpucloudaccount", "default")) and condition(item, "Restricted") and item,
        60,
        "the account to say that it is restricted",
    )
    assert "GetVpcs" in condition(account, "Restricted")["message"]
    reach(here, "gpucloudaccount", "default", "True/Connected", says="tenant 'acme'")
    here.ok("delete", "gpuvm,gpuvpc", "--all", "--wait=false")
    gone(here, "gpuvm", "train", "inside")
    gone(here, "gpuvpc", "lab")
    sim.assert_empty()
    assert not sim.calls("CreateVpc")


def test_a_vpc_in_use_says_by_whom_and_is_destroyed_last(here, sim, operator, figure):
    operator(**{**FLAGS, "poll_pending_seconds": 5})  # listings are counted: none for its own sake while a status is written
    sim.turn(snapshot_seconds=0.3)
    here.apply([gpuvpc(), gpuvm(**IN_LAB), gpuvm("by-name", vpc="acme-lab", progressDeadlineSeconds=60)])
    reach(here, "gpuvm", "train", "True/Running")
    here.annotate("gpuvm", "by-name", **{"gpucloud.dev/reconcile-requested-at": "again"})  # it may have come before its VPC
    reach(here, "gpuvm", "by-name", "True/Running")
    here.delete("gpuvpc", "lab", wait=False)
    reach(here, "gpuvpc", "lab", "False/DeletionBlocked", says="GpuVM 'train'")
    item = here.get("gpuvpc", "lab")
    assert "GpuVM 'by-name'" in condition(item, "Ready")["message"]
    assert_row(here, item, kstatus="Terminating", standing="Reconciling", met=False)
    here.apply(gpuvm("late", **IN_LAB))
    reach(here, "gpuvm", "late", "False/DependencyNotReady", says="being deleted")
    here.apply(gpuvm("late-by-name", vpc="acme-lab"))
    reach(here, "gpuvm", "late-by-name", "False/DependencyNotReady", says="being deleted")

    sim.create_vm("theirs", vpc="acme-lab")
    sim.force("theirs", "ONLINE", "acme-lab")
    sim.create_snapshot("of-theirs", "theirs", vpc="acme-lab")
    here.ok("delete", "gpuvm", "--all", "--wait=false")
    gone(here, "gpuvm", "train", "by-name", "late", "late-by-name")
    reach(here, "gpuvpc", "lab", "False/DeletionBlocked", says="VM 'theirs', snapshot 'of-theirs'")
    sim.destroy_vm("theirs", vpc="acme-lab")
    reach(here, "gpuvpc", "lab", "False/DeletionBlocked", says="Still in the VPC: snapshot 'of-theirs'")
    assert not sim.calls("DestroyVpc")

    sim.turn(snapshot_delete_seconds=0)
    sim.delete_snapshot("of-theirs", vpc="acme-lab")
    emptied = sim.calls("DeleteSnapshot")[-1]["answered"]
    gone(here, "gpuvpc", "lab")
    (destroy,) = sim.calls("DestroyVpc")
    for operation in ("GetServers", "GetSnapshots"):
        looked = [call for call in sim.calls(operation) if emptied < call["received"] < destroy["received"]]
        figure(f"{len(looked)} {operation} between the end of the last in the VPC and DestroyVpc")
        assert len(looked) <= 3, "two prove it; one more where a pass comes between those of VMs and those of snapshots"
    sim.assert_empty()
