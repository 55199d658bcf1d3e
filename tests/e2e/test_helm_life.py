"""A real Helm brings, changes and removes the operator, and its pods run: see docs/adr/0012 for what is real about them."""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import sys
from pathlib import Path

import pytest
import yaml

from controlplane import ControlPlane
from helmcli import Helm, obtain_helm
from release.chart import pin
from support.audit import AuditLog
from support.chart import NAME, Chart
from support.connections import CONNECTION, let_a_connection_change
from support.finals import let_a_final_snapshot_be_taken
from support.kstatus import condition, verdict
from support.kubectl import Kubectl
from support.manifests import PUBLIC_KEY, gpucloudaccount, gpuhost, gpusnapshot, gpuvm, gpuvpc, secret
from support.offers import let_an_offer_change_and_end
from support.podrunner.runner import PodRunner
from support.podsecurity import restricted_namespace
from support.release import Release
from support.repeats import held_again
from support.simcloud import API_KEY
from support.waiting import eventually, gone

pytestmark = pytest.mark.timeout(1200)  # many commands, each with a limit of its own

ROOT = Path(__file__).parents[2]
OLD_REPOSITORY, OLD_DIGEST = "registry.example/older/gpucloud-operator", "sha256:" + "0a" * 32
KINDS = "gpuvms,gpuvpcs,gpusnapshots,gpuhosts,gpucloudaccounts"
OPERATOR = "op-gpucloud-operator"
PATIENCE = 300.0  # seconds: takeovers are among what is waited for, on a machine that may be busy
QUICK = {
    "pollPendingSeconds": 0.2,
    "pollSteadySeconds": 1,
    "createGraceSeconds": 1,
    "cloudQps": 500,
    "cloudBurst": 100,
    "offerSeconds": 0.5,
}
# Patient, since a busy machine renews late; what happens then is shown elsewhere.
LEASE = {"leaseDurationSeconds": 60, "leaseRenewDeadlineSeconds": 40, "leaseRetryPeriodSeconds": 0.5}


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    """A control plane that makes pods, and what runs them."""
    if sys.platform != "linux":
        pytest.skip("pods get addresses within 127.0.0.0/8, which only Linux has without further ado")
    with ControlPlane.start(workloads=True, audit=True) as started:
        if started.audit_log is None:
            pytest.skip(f"a borrowed cluster has no image of ours to run ({started.how})")
        with PodRunner(started.kubeconfig, tmp_path_factory.mktemp("pods")) as runner:
            yield started, runner


@pytest.fixture
def cluster(plane):
    return Kubectl(plane[0].kubectl, plane[0].kubeconfig)


@pytest.fixture
def release(plane, cluster, tmp_path):
    """A release's name in a namespace that enforces restricted pod security. Deleting the namespace must end."""
    name = f"chart-{secrets.token_hex(4)}"
    cluster.apply(restricted_namespace(name))
    yield Release(Helm(obtain_helm(os.environ), tmp_path, plane[0].kubeconfig), cluster.in_namespace(name))
    sys.stderr.write("\n".join(plane[1].printed(name)))  # pytest shows it when the test has failed
    removed(cluster, name)


@pytest.fixture
def team(cluster):
    """Where people work. Deleting it must end."""
    name = f"team-{secrets.token_hex(4)}"
    cluster.ok("create", "namespace", name)
    here = cluster.in_namespace(name)
    yield here
    left = [f"{item['kind'].lower()}/{item['metadata']['name']}" for item in here.list(KINDS)]  # of a test that failed
    if left:
        here.run("delete", *left, "--wait=false")  # else an operator that still runs puts its finalizers back
        here.run("patch", *left, "--type=merge", '--patch={"metadata":{"finalizers":null}}')
    removed(cluster, name)


def removed(cluster, namespace):
    """Deleting a namespace ends."""
    cluster.ok("delete", "namespace", namespace, "--wait=false")
    eventually(lambda: cluster.get("namespace", namespace) is None, PATIENCE, f"{namespace} to go")


@pytest.fixture
def audit(plane):
    """The audit log of this control plane from here on."""
    return AuditLog(plane[0].audit_log).since_now()


@pytest.fixture
def values(sim, release):
    """Values for the test's cloud, with an account of the operator's own."""
    release.here.apply(secret("cloud-account", **{"api-key": API_KEY}))
    return {
        "endpoints": {"default": sim.url},
        "credentials": {"existingSecret": "cloud-account"},
        "settings": {**QUICK, **LEASE},
    }


@pytest.fixture
def older(tmp_path):
    """The chart as an older version was published, with its image: nothing has been, so it is this one under other numbers."""
    folder, _ = pin(ROOT, tmp_path / "older", OLD_REPOSITORY, OLD_DIGEST)
    meta = yaml.safe_load((folder / "Chart.yaml").read_text())
    (folder / "Chart.yaml").write_text(yaml.safe_dump({**meta, "version": "0.0.9", "appVersion": "0.0.9"}))
    return folder


def twenty():
    """An account, a VPC, 13 VMs (some in it, published, or with their keys elsewhere), 4 snapshots, and a host."""
    keys = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "keys"}, "data": {"mine": PUBLIC_KEY}}
    inside = {"vpc": None, "vpcRef": {"name": "lab"}}
    elsewhere = {"sshKeys": None, "sshKeysFrom": [{"configMapKeyRef": {"name": "keys", "key": "mine"}}]}
    more = [inside] * 3 + [inside | {"connection": CONNECTION}] + [elsewhere] * 2 + [{}] * 7
    objects = [
        gpucloudaccount(),
        gpuvpc(),
        *(gpuvm(f"train-{number}", **fields) for number, fields in enumerate(more)),
        *(gpusnapshot(f"before-{number}", vmRef={"name": f"train-{number}"}) for number in range(4)),
        gpuhost(),
    ]
    assert len(objects) == 20
    return [keys, secret(apikey=API_KEY), *objects]


def settled(here):
    """All of our objects once they are Ready, each with its identity and its whole status."""

    def look():
        found = here.list(KINDS)
        assert {verdict(item) for item in found} == {"Current"}
        for item in found:  # what only informs is written seconds after the verdict
            if item["kind"] == "GpuCloudAccount":
                assert "tenant 'acme'" in condition(item, "Ready")["message"]
            assert item["kind"] != "GpuVM" or item["status"]["pricePerHour"]
        return found

    items = eventually(look, PATIENCE, "all to be Ready")
    return {(item["kind"], item["metadata"]["name"]): (item["metadata"]["uid"], _lasting(item)) for item in items}


def _lasting(item):
    """An account tells as well who used it, and how, since the operator started."""
    status = item["status"]
    return status["conditions"] if item["kind"] == "GpuCloudAccount" else status


def granted(*roles):
    """What roles give, as (verb, resource)."""
    rules = [rule for role in roles for rule in role["rules"]]
    return {(verb, resource) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}


def used(requests):
    """What was asked for with a right of the chart's, as (verb, resource); everybody may ask what they may do."""
    objects = [one for one in requests if not one.resource.startswith(("/", "selfsubjectaccessreviews"))]
    return {(one.verb, f"{one.resource}/{one.subresource}".rstrip("/")) for one in objects}


def told(notes):
    """The sample in what Helm prints at the end, and the command that waits for it."""
    sample = re.search(r"kubectl apply -f - <<'END'\n(.*?)\n  END\n", notes, re.DOTALL)[1]
    wait = re.search(r"\n  kubectl (wait .*)\n", notes)[1]
    return sample, shlex.split(wait)


def image(release):
    """The image that the operator's pods are made of."""
    (container,) = release.here.get("deployment", OPERATOR)["spec"]["template"]["spec"]["containers"]
    return container["image"]


def test_a_trial_without_an_account_is_what_the_notes_say(cluster, release):
    """The simulated cloud runs in the cluster. Nothing is typed but what Helm prints."""
    simulated = {"enabled": True, "provisionSeconds": 0.2}
    notes = release.install({"simulator": simulated, "settings": {**QUICK, **LEASE}, "uninstall": {"policy": "Drain"}})
    ready = {item["metadata"]["name"]: item["status"]["readyReplicas"] for item in release.here.list("deployments")}
    assert ready == {OPERATOR: 2, f"{OPERATOR}-simulator": 1}
    assert "ok     cloud:" in release.test()
    eventually(lambda: release.here.get("pdb", OPERATOR)["status"]["currentHealthy"] == 2, PATIENCE, "the budget to count both")
    eventually(lambda: ("list", "gpuvms") in granted(cluster.get("clusterrole", "view")), PATIENCE, "people to see our kinds")
    sample, wait = told(notes)
    cluster.apply(sample)
    cluster.ok(*wait)
    assert "Nothing of ours lives" in release.uninstall(), "Helm shows what the guard says, of what stays as well"
    assert cluster.list("gpuvms", "default") == []
    eventually(lambda: release.here.list("deployments,replicasets,jobs") == [], PATIENCE, "the rest to go")


def test_twenty_objects_outlive_upgrade_and_rollback_and_go_with_a_drain(release, team, sim, values, older, audit):
    release.install(values, older)
    team.apply(twenty())
    settled(team)
    let_an_offer_change_and_end(team, sim)
    let_a_connection_change(team, "train-3")
    let_a_final_snapshot_be_taken(team)
    before, asked = settled(team), sim.mutations()
    assert len(before) == 20
    assert image(release) == f"{OLD_REPOSITORY}@{OLD_DIGEST}"

    release.upgrade({"replicas": 3, "settings": {"logLevel": "debug"}})
    assert release.here.get("deployment", OPERATOR)["status"]["readyReplicas"] == 3
    assert image(release) == Chart(release.helm).render().container["image"], "the new chart's, though no value was reset"
    team.apply(gpuvm("after-upgrade"))
    after = settled(team)
    assert {key: after[key] for key in before} == before
    assert sim.mutations() == [*asked, "CreateServer"]

    release.rollback(1)
    assert release.here.get("deployment", OPERATOR)["status"]["readyReplicas"] == 2
    team.delete("gpuvm", "after-upgrade", wait=False)
    gone(team, "gpuvm", "after-upgrade", timeout=PATIENCE)
    assert settled(team) == before
    assert sim.mutations() == [*asked, "CreateServer", "DestroyServer"]

    refused = release.refused("uninstall", release.name)
    assert "20 objects of gpucloud.dev still live" in refused
    assert settled(team) == before
    assert release.revisions()[-1] == (3, "uninstalling")

    release.rollback(3)
    release.upgrade({"uninstall": {"policy": "Drain"}})
    held_again(team, PATIENCE)
    roles = [release.here.get("clusterrole", OPERATOR), release.here.get("role", f"{OPERATOR}-lease")]
    release.uninstall()
    assert team.list(KINDS) == []
    sim.assert_empty()
    assert_rights_fit(audit, release, roles)


def assert_rights_fit(audit, release, roles):
    """Nothing was denied, and nothing is granted that was not used, to the operator and to the guard.

    When the guard has ended, Helm takes pods and rights away at once: the last operator may not even release its Lease.
    """
    account = f"system:serviceaccount:{release.here.namespace}:{OPERATOR}"
    asked, guard = audit.requests(user=account), audit.requests(user=f"{account}-uninstall")
    denied = [one for one in [*asked, *guard] if one.code in {401, 403} and one.at <= guard[-1].at]
    assert denied == []
    assert used(asked) == granted(*roles)
    rendered = Chart(release.helm).render({"uninstall": {"policy": "Drain"}})
    assert granted(rendered.one("ClusterRole", f"{NAME}-uninstall")) == used(guard)


def application(folder, name="app", **spec):
    """A chart of a user's own, with a GpuVM."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: app\nversion: 1.0.0\n")
    (folder / "templates" / "vm.yaml").write_text(json.dumps(gpuvm(name, **spec)))
    return folder


def test_helm_waits_for_a_vm_stops_at_a_stalled_one_and_retain_keeps_it(release, team, sim, values, tmp_path):
    """Helm knows nothing of our kinds: it goes by the same rules as Flux does."""
    release.install({**values, "uninstall": {"policy": "Retain"}})
    app = Release(release.helm, team, "app")
    app.install({}, application(tmp_path / "good"))
    assert verdict(team.get("gpuvm", "app")) == "Current", "when Helm has ended, it is Ready"

    stalled = Release(release.helm, team, "stalled")
    not_there = application(tmp_path / "stalled", name="stalled", configuration="H100_80GB_SXM_8x")
    said = stalled.refused("install", "stalled", str(not_there))
    assert "H100_80GB_SXM_8x" in said
    assert "deadline" not in said, "it stopped before its time"

    release.uninstall()
    assert team.list("gpuvms") == []
    assert len(sim.vms()) == 1
    assert sim.calls("DestroyServer") == []
