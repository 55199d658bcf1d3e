"""Classes C4 and C5 of the catalogue: manifests applied anew to a rebuilt cluster, and resource definitions that are deleted.

After a re-apply every object is a new one to Kubernetes, with a UID of its own and no status; the VMs are the old ones.
"""

from __future__ import annotations

import time
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.kubelet import Kubelet
from chaos.rig.ledger import Books
from chaos.rig.oracles import Expected, violations
from chaos.rig.rig import Rig
from chaos.rig.strangers import plant, things
from chaos.rig.workloads import AVAILABLE, COMPLETED, RUNNING
from controlplane import ControlPlane
from support.manifests import gpusnapshot, gpuvm, gpuvpc
from support.operatorproc import install_crds

DUPLICATE, CONFLICT, BLOCKED = "False/PossibleDuplicate", "False/Conflict", "False/DependencyNotReady"


def manifests(trial):
    """A VM by its own name, one by a chosen name, a VPC with a VM in it, a snapshot."""
    return (
        gpuvm("train"),
        gpuvm("named", vmName=f"chosen-{trial.tag}"),
        gpuvpc("lab", name=f"acme-{trial.tag}-lab"),
        gpuvm("inside", vpc=None, vpcRef={"name": "lab"}),
        gpusnapshot("before"),
    )


def forgotten(trial):
    """The old cluster is lost: its objects are gone, and nobody destroyed what they stand for."""
    trial.kill()
    for kind in ("GpuSnapshot", "GpuVM", "GpuVpc"):
        for item in trial.here.list(f"{kind.lower()}s"):
            name = item["metadata"]["name"]
            trial.here.delete(kind, name)
            trial.here.patch(kind, name, {"metadata": {"finalizers": None}})


def reapplied(rig, tag, standing):
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(*manifests(trial))
        for name in ("train", "named", "inside"):
            trial.reach("gpuvm", name, RUNNING)
        trial.reach("gpuvpc", "lab", AVAILABLE)
        trial.reach("gpusnapshot", "before", COMPLETED)
        forgotten(trial)
        before, sent = things(trial.sim), len(mutations(trial))
        trial.start(install_tag=tag or trial.tag)
        trial.apply(*manifests(trial))
        for who, wanted in standing.items():
            kind, _, name = who.partition("/")
            trial.reach(kind, name, wanted)
        time.sleep(3.0)  # longer than the grace
        destroys = [call for call in mutations(trial)[sent:] if not call.startswith("Create")]
        after = things(trial.sim)
        found = [f"C4: {name} was {was}, and is {after.get(name)}" for name, was in before.items() if after.get(name) != was]
        found += [f"C4: sent after the re-apply: {call}" for call in destroys]
        if not tag:
            found += [f"C4: made a second time: {name}" for name in after.keys() - before.keys()]
        wrong = violations(trial, Expected(standing=standing, cloud=False))
        return found + [
            one for one in wrong if "chosen-" not in one and "GpuVM/named" not in one
        ]  # whose name tells nobody whose it is


def mutations(trial):
    return [str(call) for call in trial.cloud.calls if call.writes]


HELD = {
    "GpuVM/train": DUPLICATE,
    "GpuVM/named": CONFLICT,
    "GpuVpc/lab": CONFLICT,
    "GpuVM/inside": BLOCKED,
    "GpuSnapshot/before": BLOCKED,
}
BOUGHT = {"GpuVM/train": RUNNING, "GpuSnapshot/before": COMPLETED}


def test_manifests_applied_anew_to_a_rebuilt_cluster(rig, campaign):
    """C4. With the old cluster's ``--install-tag`` nothing is made a second time, and a person is asked about each.

    Without it the names say that the VMs are another cluster's, of which the tenant may well have two: then those that have no
    name of their owner's choice are bought for this one. Nothing is destroyed or taken over in either case.
    """
    runs = [
        Run("with the old tag", partial(reapplied, rig, "", HELD)),
        Run("with another tag", partial(reapplied, rig, "fresh", HELD | BOUGHT)),
    ]
    campaign.carry_out("C4", runs, sample=1)


# --- C5


def definitions_deleted(rig, _name):
    """The objects' own deletion comes with that of their definitions: all are destroyed, and the definitions go after them."""
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        names = [f"vm{number}" for number in range(6)]
        trial.apply(*(gpuvm(name) for name in names), gpuvpc("lab", name=f"acme-{trial.tag}-lab"))
        for name in names:
            trial.reach("gpuvm", name, RUNNING)
        trial.reach("gpuvpc", "lab", AVAILABLE)
        with Kubelet(trial) as kubelet:
            for plural in ("gpuvms", "gpuvpcs"):
                trial.here.call("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.gpucloud.dev")
            trial.wait(lambda: things(trial.sim) == trial.strangers, "everything of ours to be destroyed")
            trial.wait(lambda: defined(trial) == [], "the definitions to go")
            time.sleep(5.0)
            install_crds(rig.kubectl)
            trial.last_start = time.monotonic() + 60
            trial.apply(gpuvm("again"))
            trial.reach("gpuvm", "again", RUNNING)
            found = violations(
                trial,
                Expected(standing={"GpuVM/again": RUNNING}, dies=bool(kubelet.exits), logs=("APINotFoundError", "Traceback")),
            )
        summary = Books.of(trial).summary()
        found += [
            f"C5: {name} was destroyed {summary[f'GpuVM/{name}', 'destroyed']} times"
            for name in names
            if summary[f"GpuVM/{name}", "destroyed"] != 1
        ]
        return found


def defined(trial):
    answers = [
        trial.here.answer("GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.gpucloud.dev")[0]
        for plural in ("gpuvms", "gpuvpcs")
    ]
    return [status for status in answers if status != 404]


def test_resource_definitions_deleted_with_objects_alive(tmp_path_factory, campaign):
    """C5, on a control plane of its own, since the definitions are everybody's."""
    with ControlPlane.start() as plane:
        if plane.how.startswith(("existing", "kind")):
            pytest.skip(f"the definitions of a borrowed cluster are not ours to delete ({plane.how})")
        rig = Rig(plane, tmp_path_factory.mktemp("own-rig"))
        try:
            runs = [Run("definitions deleted and made anew", partial(definitions_deleted, rig, ""))]
            campaign.carry_out("C5", runs, sample=1)
        finally:
            rig.close()
