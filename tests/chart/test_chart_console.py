"""The console, switched on by a value: the operator may ask what it must ask, and the plugin finds its pods and its port."""

from __future__ import annotations

from itertools import product

import pytest
import yaml

from chartfiles import manifests
from chartfiles.places import CHART, ROOT
from gpucloud.cli.plugin.cloud import console
from gpucloud.cli.plugin.cluster import OPERATOR_PODS
from gpucloud.flags import FLAGS
from support.chart import MINIMAL, SIMULATED, Rendered, merged

BY_HAND = ROOT / "deploy" / "console-rbac.yaml"
ON = {"settings": {"console": True}}
QUESTIONS = {
    ("authentication.k8s.io", "tokenreviews", "create"),
    ("authorization.k8s.io", "subjectaccessreviews", "create"),
}
# A release's name and namespace, and values over the fewest.
RELEASES = [
    (("gpucloud-operator", "gpucloud-system"), {}, "as the pages have it"),
    (("op", "gpucloud-system"), {}, "another name of the release: the account is op-gpucloud-operator"),
    (("gpucloud-operator", "elsewhere"), {}, "another namespace"),
    (("op", "ns"), {"nameOverride": "x"}, "another name of the chart"),
    (("op", "ns"), {"fullnameOverride": "x"}, "another full name"),
    (("op", "ns"), {"serviceAccount": {"name": "mine"}}, "an account's name of one's own"),
    (("op", "ns"), {"serviceAccount": {"create": False, "name": "given"}}, "an account that is there already"),
    (("op", "ns"), {"watchNamespaces": ["a"], "settings": {"installTag": "prod1"}}, "a release with Roles"),
]
EVERY_RELEASE = pytest.mark.parametrize(("release", "values", "why"), RELEASES, ids=[row[2] for row in RELEASES])


def rendered(helm, release, *values):
    wanted = MINIMAL
    for more in values:
        wanted = merged(wanted, more)
    done = helm.template(CHART, wanted, release)
    assert done.returncode == 0, done.stderr
    return Rendered([item for item in yaml.safe_load_all(done.stdout) if item])


def cluster_rights(release, namespace):
    """What the operator's own account may do in the whole cluster."""
    account = {"kind": "ServiceAccount", "name": release.operator["serviceAccountName"], "namespace": namespace}
    bound = [item["roleRef"]["name"] for item in release.all("ClusterRoleBinding") if account in item["subjects"]]
    rules = [rule for name in bound for rule in release.one("ClusterRole", name)["rules"]]
    return {one for rule in rules for one in product(rule["apiGroups"], rule["resources"], rule["verbs"])}


@EVERY_RELEASE
def test_switched_on_the_operator_may_ask_two_things_more(helm, release, values, why):
    off, on = (rendered(helm, release, values, more) for more in ({}, ON))
    assert cluster_rights(on, release[1]) - cluster_rights(off, release[1]) == QUESTIONS, why
    assert not cluster_rights(off, release[1]) & QUESTIONS, "and off it may not"


def test_without_rbac_its_rights_are_left_to_the_administrator(chart):
    release = chart.render({**ON, "rbac": {"create": False, "aggregate": False}})
    assert not [item for item in release.objects if item["metadata"]["name"].endswith(("-console", "-console-user"))]


def test_the_file_by_hand_is_what_the_chart_renders_for_the_usual_names(helm):
    def plain(items):
        found = {manifests.identity(item): item for item in items}
        for item in found.values():
            item["metadata"].pop("labels", None)
        return found

    off, on = (plain(manifests.rendered(helm, merged(manifests.BASE, more))) for more in ({}, ON))
    added = {identity: item for identity, item in on.items() if identity not in off}
    assert plain(yaml.safe_load_all(BY_HAND.read_text())) == added


def test_its_users_may_only_find_the_pods_and_reach_them(chart):
    role = chart.render(ON).one("Role", "gpucloud-gpucloud-operator-console-user")
    assert {one for rule in role["rules"] for one in product(rule["resources"], rule["verbs"])} == {
        ("pods", "list"),
        ("pods/portforward", "get"),
        ("pods/portforward", "create"),
        ("leases", "list"),
    }


LABELS = {"app.kubernetes.io/part-of": "mine", "app.kubernetes.io/component": "mine"}
OVERRIDES = [*(row[1] for row in RELEASES), {"commonLabels": LABELS}, {"podLabels": LABELS}]


@pytest.mark.parametrize("values", OVERRIDES, ids=str)
def test_the_plugin_finds_the_operators_pods_whatever_they_are_called(helm, values):
    base = {**SIMULATED, "endpoints": {}}
    pods = rendered(helm, ("op", "ns"), base, ON, values).pods
    wanted = dict(pair.split("=") for pair in OPERATOR_PODS.split(","))
    found = [name for name, pod in pods.items() if wanted.items() <= pod["metadata"]["labels"].items()]
    assert found == ["operator"], "and no helper, which has no console"


PORTS = [
    ({}, FLAGS["console_port"].default, "the operator's own default"),
    ({"consolePort": 9999}, 9999, "the port follows"),
]


@pytest.mark.parametrize(("settings", "expected", "why"), PORTS, ids=[row[2] for row in PORTS])
def test_the_plugin_finds_the_port(chart, settings, expected, why):
    pod = chart.render({"settings": {"console": True, **settings}}).pods["operator"]
    assert console._port(pod) == expected, why
    assert "console" in {port["name"] for port in pod["spec"]["containers"][0]["ports"]}, "by its name"


def test_switched_off_no_port_is_named(chart):
    assert {port["name"] for port in chart.render().container["ports"]} == {"metrics", "health"}
