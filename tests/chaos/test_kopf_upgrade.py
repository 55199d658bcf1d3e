"""An older operator and the present one take turns on the same objects, in mid-flight and at rest (G3).

The older one is the code of this repository some commits ago; where the history is not at hand, the present code takes its
place.
"""

from __future__ import annotations

import subprocess
import time
from functools import partial
from pathlib import Path

import pytest
import yaml

from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant
from chaos.rig.workloads import AVAILABLE, COMPLETED, RUNNING
from support.manifests import gpusnapshot, gpuvm, gpuvpc

pytestmark = pytest.mark.timeout(1500)

ROOT = Path(__file__).parents[2]
BACK, TRIED = 10, 100  # commits that changed the operator: at least so far back, and how many before that are looked at
FINALIZERS = ["gpucloud.dev/finalizer"]
VMS = ("train", "p0", "p1")
IN_FLIGHT = ("CreateVpc", "CreateServer", "CreateSnapshot")
REST = 4.0  # seconds, eight slow polls
BOTH = {"orphan_scan_seconds": None}  # flags that only the present one knows are left out


def test_upgraded_and_rolled_back(rig, campaign, tmp_path_factory):
    """Killed while this is under way, each is followed by the other: nothing is done twice, and all becomes Ready."""
    old = older(tmp_path_factory.mktemp("older"))
    runs = [
        Run(f"{'up' if up else 'back'} after {operation}", partial(replaced, rig, old, operation, up))
        for operation in IN_FLIGHT
        for up in (True, False)
    ]
    campaign.carry_out("G3", runs, sample=1, at_once=2)


def older(folder):
    """Where the older code has been unpacked to; None when there is no history."""
    commits = git("rev-list", f"--skip={BACK}", f"--max-count={TRIED}", "HEAD", "--", "operator").split()
    found = next((commit for commit in map(bytes.decode, commits) if runs_on_present_definitions(commit)), None)
    if found is None:
        return None
    subprocess.run(["tar", "-x", "-C", str(folder)], input=git("archive", found, "operator"), check=True)  # noqa: S603, S607
    return folder / "operator"


def runs_on_present_definitions(commit):
    """Whether they have each field that the operator of this commit writes: without it no call is announced, nor sent."""
    return all(
        written(git("show", f"{commit}:{path.relative_to(ROOT)}")) <= written(path.read_bytes())
        for path in sorted((ROOT / "crds").glob("*.yaml"))
    )


def written(definition):
    """The paths of all fields of a definition's status; none where there is no definition, or no status."""
    versions = yaml.safe_load(definition)["spec"]["versions"] if definition else []
    return {path for one in versions for path in fields(one["schema"]["openAPIV3Schema"]["properties"].get("status", {}))}


def fields(schema, *path):
    for name, inner in schema.get("properties", {}).items():
        yield (*path, name)
        yield from fields(inner, *path, name)
    if "items" in schema:
        yield from fields(schema["items"], *path, "[]")


def git(*words):
    """What git says of this repository; nothing where there is no such thing, or no history."""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=False).stdout  # noqa: S603, S607


def replaced(rig, old, operation, up):
    with rig.trial(**BOTH) as trial:
        plant(trial)
        trial.sim.turn(provision_seconds=1.5, snapshot_seconds=1.5)
        present = dict(trial.env)
        if old is None:  # no history to take it from
            raise NotReachedError
        versions = [{"PYTHONPATH": str(old)}, present]
        first, second = versions if up else versions[::-1]
        start(trial, first)
        trial.apply(gpuvpc("lab", name=f"acme-{trial.tag}-lab"), gpusnapshot())
        trial.apply(*(gpuvm(name, vpc=None, vpcRef={"name": "lab"}) for name in VMS))
        trial.wait(lambda: trial.cloud.count(operation), f"{operation}")
        start(trial, second)
        standing = stand(trial)
        changes = len(trial.sim.mutations())
        start(trial, first)
        time.sleep(REST)
        start(trial, second)
        time.sleep(REST)
        found = [f"G3: changed by a mere restart: {change}" for change in trial.sim.mutations()[changes:]]
        found += strange_finalizers(trial) + violations(trial, Expected(standing=standing))
        trial.here.delete("gpuvpc", "lab")
        trial.here.delete("gpusnapshot", "before")
        trial.here.delete("gpuvm", *VMS)
        start(trial, first)
        trial.gone("gpuvm", *VMS)
        trial.gone("gpuvpc", "lab")
        trial.gone("gpusnapshot", "before")
        return found + violations(trial)


def start(trial, version):
    trial.env = version
    trial.restart() if trial.processes else trial.start()


def stand(trial):
    wanted = {"GpuVpc/lab": AVAILABLE, "GpuSnapshot/before": COMPLETED} | {f"GpuVM/{name}": RUNNING for name in VMS}
    for who, word in wanted.items():
        kind, _, name = who.partition("/")
        trial.reach(kind.lower(), name, word)
    return wanted


def strange_finalizers(trial):
    items = trial.here.list("gpuvms,gpuvpcs,gpusnapshots")
    return [
        f"G3: {item['metadata']['name']} has finalizers {item['metadata']['finalizers']}"
        for item in items
        if item["metadata"]["finalizers"] != FINALIZERS
    ]
