"""The chart before a real apiserver: everything that it can render is accepted, and a release comes and goes."""

from __future__ import annotations

import copy
import json
import os
import secrets

import pytest
import yaml

from chartfiles.places import CHART
from helmcli import Helm, obtain_helm
from support.chart import EVERYTHING, MINIMAL, SIMULATED, Chart, merged
from support.podsecurity import as_pod, restricted_namespace
from support.waiting import eventually

MONITORING = {"ServiceMonitor": "servicemonitors", "PodMonitor": "podmonitors", "PrometheusRule": "prometheusrules"}
SETS = {
    "everything": merged(EVERYTHING, {"crds": {"enabled": True}}),
    "simulator": merged(SIMULATED, {"networkPolicy": {**EVERYTHING["networkPolicy"], "metricsFrom": []}}),
    "pod monitor": {**MINIMAL, "metrics": {"podMonitor": {"enabled": True}}},
    "login": {**MINIMAL, "credentials": {"existingSecret": "s", "kind": "Login"}, "cloudCA": {"secret": "c"}},
    "some namespaces": {
        **MINIMAL,
        "watchNamespaces": ["kube-public"],
        "settings": {"installTag": "prod1"},
        "credentials": {"existingSecret": "s"},
    },
}


@pytest.fixture
def helm(control_plane, tmp_path):
    return Helm(obtain_helm(os.environ), tmp_path, control_plane.kubeconfig)


@pytest.fixture
def restricted(kubectl):
    """A namespace that enforces restricted pod security."""
    name = f"chart-{secrets.token_hex(4)}"
    kubectl.apply(restricted_namespace(name))
    yield name
    kubectl.ok("delete", "namespace", name, "--wait=false")


@pytest.fixture
def monitoring(kubectl):
    """Kinds of the Prometheus operator, as far as they are needed to be spoken of: names, and any spec."""
    for kind, plural in MONITORING.items():
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        kubectl.apply(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.monitoring.coreos.com"},
                "spec": {
                    "group": "monitoring.coreos.com",
                    "scope": "Namespaced",
                    "names": {"kind": kind, "plural": plural},
                    "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
                },
            }
        )
    crds = [f"crd/{plural}.monitoring.coreos.com" for plural in MONITORING.values()]
    established = ("wait", "--for=condition=Established", "--timeout=60s", *crds)
    eventually(lambda: kubectl.run(*established).returncode == 0, 60, "the definitions")  # without conditions it fails at once
    known = ("get", ",".join(MONITORING.values()), "--all-namespaces")
    eventually(lambda: kubectl.run(*known).returncode == 0, what="their kinds to be known")
    yield
    kubectl.ok("delete", "--wait=false", *crds)


def moved(text, namespace):
    return [item for item in yaml.safe_load_all(text.replace("gpucloud-system", namespace)) if item]


def refused(kubectl, items):
    """What a server-side dry run refuses: strict about fields, and restricted about pods."""
    done = kubectl.run(
        *("apply", "--dry-run=server", "--server-side", "--validate=strict", "--force-conflicts", "-f", "-"),
        stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}),
    )
    return "" if done.returncode == 0 else done.stderr


def test_the_apiserver_accepts_everything_that_the_chart_can_render(helm, kubectl, crds, restricted, monitoring):  # noqa: ARG001
    """Fields that do not exist, and pods that are not restricted, would be refused."""
    chart = Chart(helm)
    for name, values in SETS.items():
        rendered = chart.render(base=values)
        pods = [as_pod(f"{component}-pod", template, restricted) for component, template in rendered.pods.items()]
        items = moved(yaml.safe_dump_all(rendered.objects), restricted)
        assert refused(kubectl, [*items, *pods]) == "", name
    loose = copy.deepcopy(pods[0])
    loose["spec"]["securityContext"] = {}
    assert "violates PodSecurity" in refused(kubectl, [loose]), "the namespace would have told"
    typo = {**items[0], "spce": {}}
    assert "spce" in refused(kubectl, [typo]), "and so would the apiserver"


def test_a_release_comes_is_changed_and_goes(helm, kubectl, crds, restricted):
    """Without hooks, since nothing runs pods here. The definitions, and so the objects, outlive the release."""
    release = ("op", str(CHART), f"--namespace={restricted}")
    values = {**MINIMAL, "crds": {"enabled": True}, "rbac": {"aggregate": False}, "fullnameOverride": restricted}
    owned = "--take-ownership"  # the definitions were applied by kubectl before
    installed = helm.run("install", *release, "--values=-", "--no-hooks", owned, "--force-conflicts", stdin=json.dumps(values))
    assert installed.returncode == 0, installed.stderr
    assert "has no account of its own" in installed.stdout, "the notes say what to do next"
    assert kubectl.get("deployment", restricted, ns=restricted)["spec"]["replicas"] == 2

    changed = helm.run("upgrade", *release, "--reset-then-reuse-values", "--set=replicas=3", "--no-hooks", "--force-conflicts")
    assert changed.returncode == 0, changed.stderr
    assert kubectl.get("deployment", restricted, ns=restricted)["spec"]["replicas"] == 3

    back = helm.run("rollback", "op", "1", f"--namespace={restricted}", "--no-hooks", "--force-conflicts")
    assert back.returncode == 0, back.stderr
    assert kubectl.get("deployment", restricted, ns=restricted)["spec"]["replicas"] == 2

    gone = helm.run("uninstall", "op", f"--namespace={restricted}", "--no-hooks")
    assert gone.returncode == 0, gone.stderr
    assert kubectl.get("deployment", restricted, ns=restricted) is None
    assert kubectl.get("clusterrole", restricted) is None
    assert {item["metadata"]["name"] for item in kubectl.list("crds")} >= set(crds)


def test_after_a_refused_uninstall_everything_stands_and_the_policy_can_be_changed(helm, kubectl, crds, restricted):  # noqa: ARG001
    """Nothing runs the guard here, so that it fails by its time. Helm then calls the release "uninstalling"."""
    scope = f"--namespace={restricted}"
    release = ("op", str(CHART), scope, "--no-hooks")
    values = {**MINIMAL, "rbac": {"aggregate": False}, "fullnameOverride": restricted}
    installed = helm.run("install", *release, "--values=-", stdin=json.dumps(values))
    assert installed.returncode == 0, installed.stderr

    refused_by_time = helm.run("uninstall", "op", scope, "--timeout=15s")
    assert refused_by_time.returncode != 0
    assert kubectl.get("deployment", restricted, ns=restricted), "the operator stays"
    assert kubectl.get("clusterrole", restricted), "with its rights"
    left = f"{restricted}-uninstall"
    assert kubectl.get("job", left, ns=restricted), "the guard's Job stays, to be read"
    assert kubectl.get("clusterrole", left) is None, "its rights are gone"
    assert kubectl.get("serviceaccount", left, ns=restricted) is None

    drain = ("--reset-then-reuse-values", "--set=uninstall.policy=Drain", "--set=uninstall.timeoutSeconds=600")
    assert "has no deployed releases" in helm.run("upgrade", *release, *drain).stderr, "why the advice begins with a rollback"
    back = helm.run("rollback", "op", "1", scope, "--no-hooks")
    assert back.returncode == 0, back.stderr
    changed = helm.run("upgrade", *release, *drain)
    assert changed.returncode == 0, changed.stderr
    stored = helm.run("get", "hooks", "op", scope).stdout
    assert "--policy=Drain" in stored, "the next uninstall runs the guard that is stored"
    assert "--timeout-seconds=600" in stored, "with the new time"

    gone = helm.run("uninstall", "op", scope, "--no-hooks")
    assert gone.returncode == 0, gone.stderr
    assert kubectl.get("deployment", restricted, ns=restricted) is None
