"""Each example is what a learner takes it for: the apiserver takes it strictly, applying it twice changes nothing, it becomes
what its text says, and all of them together leave nothing in the cloud.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import httpx
import pytest

from support.kstatus import ready
from support.simcloud import API_KEY
from support.waiting import eventually

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "deploy" / "examples"
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
RIGHTS = "operator-rbac.yaml"  # of the cluster, for the operator; the others are of a namespace, for its users
FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 1, "create_grace_seconds": 2}
CONFIRM = "Prune=confirm,Delete=confirm"
REACHED = {
    "account.yaml": {"GpuCloudAccount/default": "True/Connected"},
    "vpc.yaml": {"GpuVpc/lab": "True/Available"},
    "vpc-adopted.yaml": {"GpuVpc/tenant-default": "True/Adopted"},
    "snapshot-adopted.yaml": {"GpuSnapshot/monthly": "True/Completed"},
    "snapshot.yaml": {"GpuSnapshot/golden": "True/Completed"},
    "host.yaml": {"GpuHost/metal": "True/Running"},
    "gpuvm.yaml": {"GpuVM/train": "True/Running"},
    "gpuvm-adopted.yaml": {"GpuVM/old-trainer": "True/Running"},
    "gpuvm-alternatives.yaml": {"GpuVM/trainer": "True/Running"},
    "gpuvm-by-names.yaml": {"GpuVM/revival": "True/Running"},
    "gpuvm-by-price.yaml": {"GpuVM/bargain": "True/Running"},
    "gpuvm-clusters.yaml": {"GpuVM/roamer": "True/Running"},
    "gpuvm-connection.yaml": {"GpuVM/exporter": "True/Running"},
    "gpuvm-final-snapshot.yaml": {"GpuVM/notes": "True/Running"},
    "gpuvm-from-snapshot.yaml": {"GpuVM/worker": "True/Running"},
    "gpuvm-in-vpc.yaml": {"GpuVM/builder": "True/Running"},
    "gpuvm-keys-from-secret.yaml": {"GpuVM/notebook": "True/Running"},
    "gpuvm-on-loss.yaml": {"GpuVM/crawler": "True/Running"},
    "gpuvm-replaceable.yaml": {"GpuVM/runner": "True/Running"},
    "gpuvm-stopped.yaml": {"GpuVM/spare": "True/PoweredOff"},
}
MANIFESTS = [EXAMPLES / name for name in REACHED]


@pytest.fixture
def examples(kubectl, namespace):
    """kubectl in a namespace that holds the Secrets of the examples' comments."""
    here = kubectl.in_namespace(namespace)
    here.ok("create", "secret", "generic", "cloud-credential", "--from-file=apikey=/dev/stdin", stdin=API_KEY)
    here.ok("create", "secret", "generic", "team-keys", f"--from-file=authorized_keys={EXAMPLES / 'team-keys.pub'}")
    return here


def files(words):
    return [f"--filename={path}" for path in words]


def apply(kubectl, paths):
    """What kubectl says of each object, strictly validated by the apiserver."""
    return kubectl.ok("apply", "--validate=strict", *files(paths)).splitlines()


def now(kubectl, kind_and_name):
    return ready(json.loads(kubectl.ok("get", *kind_and_name.split("/"), "--output=json")))


def test_no_example_is_forgotten_here():
    assert sorted(path.name for path in EXAMPLES.glob("*.yaml")) == sorted([RIGHTS, *REACHED])


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_a_guide_names_only_examples_that_there_are(guide):
    named = set(re.findall(r"deploy/examples/[\w.-]+", guide.read_text()))
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_applied_twice_each_is_unchanged(examples, path):
    (first,), (again,) = apply(examples, [path]), apply(examples, [path])
    assert first.endswith(" created")
    assert again.endswith(" unchanged")


def test_applied_twice_the_rights_are_unchanged(kubectl, rights):  # noqa: ARG001  # they stand already
    again = apply(kubectl, [EXAMPLES / RIGHTS])
    assert again
    assert [line for line in again if not line.endswith(" unchanged")] == []


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_no_example_goes_by_pruning_unless_a_person_confirms(examples, path):
    shown = json.loads(examples.ok("create", "--dry-run=client", "--output=json", f"--filename={path}"))
    assert shown["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == CONFIRM


def test_all_at_once_they_become_what_they_say_and_go_without_a_trace(examples, sim, operator):
    sim.turn(provision_seconds=7, snapshot_seconds=0.3, stop_seconds=0.2, destroy_seconds=0.2, snapshot_delete_seconds=0.2)
    a_snapshot_that_the_cloud_has_already(sim)
    sim.create_vm("old-trainer")
    sim.force("old-trainer", "ONLINE")
    sim.create_snapshot("monthly", "old-trainer")
    before, last = standing(sim), sim.control("ledger")["last"]
    operator(**FLAGS, api_key_file=None)  # so that all of them use the account of account.yaml
    assert all(line.endswith(" created") for line in apply(examples, MANIFESTS))
    for name, expected in {name: word for words in REACHED.values() for name, word in words.items()}.items():
        eventually(lambda name=name, expected=expected: now(examples, name) == expected, 90, f"{name} to be {expected}")
    again = apply(examples, MANIFESTS)
    assert [line for line in again if not line.endswith(" unchanged")] == [], "nobody writes to what its owner wrote"
    for how in ((), ("--server-side", "--force-conflicts", "--field-manager=argocd-controller")):
        drift = examples.run("diff", *how, *files(MANIFESTS))
        assert (drift.returncode, drift.stdout) == (0, ""), f"an Argo CD application would be out of sync {how}"
    examples.ok("delete", "--timeout=90s", "gpuvm/notes")
    (kept,) = [item["metadata"]["name"] for item in examples.list("gpusnapshot") if "-final-" in item["metadata"]["name"]]
    left = {**before, "snapshots": [*before["snapshots"], examples.get("gpusnapshot", kept)["status"]["snapshotId"]]}
    examples.ok("delete", "--timeout=90s", f"gpusnapshot/{kept}")  # which uses the account, and keeps the snapshot
    examples.ok("delete", "--timeout=90s", "--ignore-not-found", *files(MANIFESTS))
    assert standing(sim) == left
    examples.ok("delete", "secret", "cloud-credential", "--timeout=30s")  # it would hang if it were still held
    sent = Counter(call["operation"] for call in sim.control(f"ledger?since={last}&mutating=true")["entries"])
    assert sent == {
        "CreateServer": 13,
        "CreateVpc": 1,
        "CreateSnapshot": 2,
        "StopServer": 1,
        "DestroyServer": 13,
        "DeleteSnapshot": 1,
        "DestroyVpc": 1,
    }


def a_snapshot_that_the_cloud_has_already(sim):
    """The one that gpuvm-by-names.yaml speaks of, taken by somebody of the tenant, outside Kubernetes."""
    body = {"name": "before-upgrade", "namespace": "acme", "cluster": "Msc1"}
    headers = {"Authorization": f"ApiKey {API_KEY}"}
    with httpx.Client(base_url=sim.url, headers=headers, trust_env=False) as client:
        client.post("/api/v1/servers/snapshots/CreateSnapshot", json=body).raise_for_status()


def standing(sim):
    """What truly is in the cloud."""
    world = sim.control("world")
    names = {kind: [one["name"] for one in world[kind]] for kind in ("snapshots", "vpcs")}
    return {**names, "vms": [vm["order"]["name"] for vm in world["vms"]]}
