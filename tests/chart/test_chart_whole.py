"""The release as a whole: what is in it, what is not asked for and so not in it, and what every object bears."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from chartfiles.places import CHART, CRD_CHART
from support.chart import EVERYTHING, MINIMAL, NAME, RELEASE, SIMULATED, merged

DEFAULT = {
    ("ServiceAccount", NAME),
    ("ClusterRole", NAME),
    ("ClusterRoleBinding", NAME),
    ("Role", f"{NAME}-lease"),
    ("RoleBinding", f"{NAME}-lease"),
    ("ClusterRole", f"{NAME}-view"),
    ("ClusterRole", f"{NAME}-edit"),
    ("ClusterRole", f"{NAME}-admin"),
    ("Deployment", NAME),
    ("PodDisruptionBudget", NAME),
    ("Service", f"{NAME}-metrics"),
    ("ServiceAccount", f"{NAME}-uninstall"),
    ("ClusterRole", f"{NAME}-uninstall"),
    ("ClusterRoleBinding", f"{NAME}-uninstall"),
    ("Job", f"{NAME}-uninstall"),
    ("Pod", f"{NAME}-test"),
}
NETWORK = {"enabled": True, "apiServerCIDRs": ["192.0.2.1/32"], "cloudCIDRs": ["198.51.100.0/24"]}
HELPER = {(kind, f"{NAME}-uninstall") for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")}
AGGREGATED = {("ClusterRole", f"{NAME}-{name}") for name in ("view", "edit", "admin")}
CONSOLE = {("ClusterRole", f"{NAME}-console"), ("ClusterRoleBinding", f"{NAME}-console"), ("Role", f"{NAME}-console-user")}
SIMULATOR = {(kind, f"{NAME}-simulator") for kind in ("Secret", "Service", "Deployment")}

# A switch, what it adds, what it takes away.
SWITCHES = [
    ({"metrics": {"serviceMonitor": {"enabled": True}}}, {("ServiceMonitor", NAME)}, set()),
    ({"metrics": {"podMonitor": {"enabled": True}}}, {("PodMonitor", NAME)}, set()),
    ({"metrics": {"prometheusRule": {"enabled": True}}}, {("PrometheusRule", NAME)}, set()),
    ({"metrics": {"dashboard": {"enabled": True}}}, {("ConfigMap", f"{NAME}-dashboard")}, set()),
    ({"metrics": {"service": {"enabled": False}}}, set(), {("Service", f"{NAME}-metrics")}),
    ({"networkPolicy": NETWORK}, {("NetworkPolicy", NAME)}, set()),
    ({"podDisruptionBudget": {"enabled": False}}, set(), {("PodDisruptionBudget", NAME)}),
    ({"serviceAccount": {"create": False}}, set(), {("ServiceAccount", NAME)}),
    ({"rbac": {"aggregate": False}}, set(), AGGREGATED),
    ({"helmTest": {"enabled": False}}, set(), {("Pod", f"{NAME}-test")}),
    (SIMULATED, SIMULATOR, set()),
    ({"settings": {"console": True}}, CONSOLE, set()),
    (
        {"replicas": 1, "leaderElection": {"enabled": False}},
        set(),
        {("Role", f"{NAME}-lease"), ("RoleBinding", f"{NAME}-lease"), ("PodDisruptionBudget", NAME)},
    ),
    (
        {"rbac": {"create": False}},
        set(),
        {
            *(("ClusterRole", NAME), ("ClusterRoleBinding", NAME), ("Role", f"{NAME}-lease"), ("RoleBinding", f"{NAME}-lease")),
            *HELPER,
        },
    ),
    (
        {"watchNamespaces": ["a"], "settings": {"installTag": "prod1"}},
        {(kind, name) for kind in ("Role", "RoleBinding") for name in (NAME, f"{NAME}-uninstall")},
        {(kind, name) for kind in ("ClusterRole", "ClusterRoleBinding") for name in (NAME, f"{NAME}-uninstall")},
    ),
]
BIG = {
    "everything": EVERYTHING,
    "simulator": merged(SIMULATED, {"networkPolicy": NETWORK}),
    "pod monitor": {**MINIMAL, "metrics": {"podMonitor": {"enabled": True}}},
}


def test_the_default_release_is_this_and_nothing_more(chart):
    assert chart.render().names() == DEFAULT


@pytest.mark.parametrize(("values", "added", "taken"), SWITCHES, ids=[json.dumps(row[0]) for row in SWITCHES])
def test_a_switch_changes_what_it_is_for_and_nothing_else(chart, values, added, taken):
    names = chart.render(values).names()
    assert names - DEFAULT == added
    assert DEFAULT - names == taken


@pytest.mark.parametrize("base", BIG.values(), ids=BIG)
def test_every_object_says_whose_it_is(chart, base):
    for item in chart.render(base=base).objects:
        if item["metadata"]["name"] == "more":
            continue  # an extra object is its author's
        labels = item["metadata"]["labels"]
        assert labels["app.kubernetes.io/part-of"] == "gpucloud-operator"
        assert labels["app.kubernetes.io/managed-by"] == "Helm"
        if item["kind"] != "CustomResourceDefinition":
            assert labels["app.kubernetes.io/instance"] == RELEASE[0]
            assert labels["helm.sh/chart"] == "gpucloud-operator-0.1.0"
            assert set(base.get("commonLabels", {}).items()) <= set(labels.items())


@pytest.mark.parametrize("base", BIG.values(), ids=BIG)
def test_namespaced_objects_name_their_namespace(chart, base):
    """Else `kubectl apply` of the rendered text would put them wherever the reader's context points."""
    cluster = {"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"}
    for item in chart.render(base=base).objects:
        assert item["metadata"].get("namespace") == (None if item["kind"] in cluster else RELEASE[1]), item["kind"]


@pytest.mark.parametrize("base", BIG.values(), ids=BIG)
def test_no_secret_is_rendered_but_the_simulators_public_word(chart, base):
    secrets = chart.render(base=base).all("Secret")
    assert [item["stringData"] for item in secrets] == [{"api-key": "made-up-key-of-the-simulated-cloud"}] * len(secrets)
    assert bool(secrets) is bool(base.get("simulator"))


@pytest.mark.parametrize("base", BIG.values(), ids=BIG)
def test_rendering_twice_gives_the_same(helm, base):
    """What is drawn or looked up anew at each rendering is drift for Argo CD and for kubectl diff."""
    first, second = (helm.template(CHART, base, RELEASE).stdout for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"nameOverride": "op"}, "gpucloud-op"),
        ({"fullnameOverride": "exactly-this"}, "exactly-this"),
        ({"fullnameOverride": "x" * 80}, "x" * 50),
    ],
    ids=["name", "full name", "too long"],
)
def test_names_can_be_chosen_and_fit(chart, values, expected):
    for item in chart.render(merged(SIMULATED, values)).objects:
        name = item["metadata"]["name"]
        assert name == expected or name.startswith(f"{expected}-")
        assert len(name) <= 63


def test_a_release_named_like_the_chart_is_not_named_twice(helm):
    done = helm.template(CHART, MINIMAL, ("gpucloud-operator", "ns"))
    names = {item["metadata"]["name"] for item in yaml.safe_load_all(done.stdout) if item}
    assert "gpucloud-operator" in names
    assert all(name.startswith("gpucloud-operator") for name in names)
    assert not [name for name in names if "gpucloud-operator-gpucloud-operator" in name]


EXTRA = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-more"}}


@pytest.mark.parametrize("extra", [EXTRA, yaml.safe_dump(EXTRA)], ids=["a map", "a string"])
def test_extra_objects_are_templates(chart, extra):
    assert ("ConfigMap", "gpucloud-more") in chart.render({"extraObjects": [extra]}).names()


@pytest.mark.parametrize("folder", [CHART, CRD_CHART], ids=lambda path: path.name)
def test_helm_lint_has_nothing_to_say(helm, folder):
    done = helm.run("lint", "--strict", str(folder), *(["--set=simulator.enabled=true"] if folder == CHART else []))
    assert done.returncode == 0, done.stdout
    assert not re.findall(r"\[(?:WARNING|ERROR)\].*", done.stdout)


def test_a_package_holds_the_definitions_and_no_stray_file(helm, tmp_path):
    done = helm.run("package", str(CHART), f"--destination={tmp_path}")
    assert done.returncode == 0, done.stderr
    (package,) = tmp_path.iterdir()
    again = helm.template(package, SIMULATED, RELEASE)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("kind: CustomResourceDefinition") == 6
    assert helm.run("show", "chart", str(package)).returncode == 0


def test_the_two_charts_and_the_product_bear_one_version():
    charts = [yaml.safe_load((folder / "Chart.yaml").read_text()) for folder in (CHART, CRD_CHART)]
    product = re.search(r'^version = "(.+)"$', (CHART.parents[2] / "pyproject.toml").read_text(), re.MULTILINE)
    assert product
    assert {item["version"] for item in charts} == {item["appVersion"] for item in charts} == {product[1]}
    assert charts[0]["dependencies"][0]["version"] == charts[1]["version"]


def test_artifact_hub_is_told_of_every_kind():
    annotations = yaml.safe_load((CHART / "Chart.yaml").read_text())["annotations"]
    kinds = {item["kind"] for item in yaml.safe_load(annotations["artifacthub.io/crds"])}
    examples = {item["kind"] for item in yaml.safe_load(annotations["artifacthub.io/crdsExamples"])}
    assert kinds == examples == {"GpuVM", "GpuVpc", "GpuSnapshot", "GpuHost", "GpuCloudAccount"}
    images = yaml.safe_load(annotations["artifacthub.io/images"])
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert images[0]["image"].startswith(values["image"]["repository"])
