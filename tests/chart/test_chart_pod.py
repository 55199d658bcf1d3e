"""The pods: what each value does to them, and what no value takes away by default."""

from __future__ import annotations

import pytest

from gpucloud.app import DRAIN_SECONDS
from support.chart import EVERYTHING, SIMULATED, at, merged

ALL_PODS = {"operator", "simulator", "uninstall", "test"}
DIGEST = "sha256:" + "a" * 64
TOLERATION = {"key": "gpu", "operator": "Exists"}
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}

IMAGE = [
    ({}, "registry.example/gpucloud-operator:0.1.0", "without a tag the chart's appVersion"),
    ({"tag": "0.2.0"}, "registry.example/gpucloud-operator:0.2.0", "a tag"),
    ({"digest": DIGEST}, f"registry.example/gpucloud-operator@{DIGEST}", "a digest stands alone"),
    ({"tag": "0.2.0", "digest": DIGEST}, f"registry.example/gpucloud-operator:0.2.0@{DIGEST}", "a tag beside it is for people"),
    ({"repository": "host.example:5000/a/b"}, "host.example:5000/a/b:0.1.0", "a repository of one's own"),
]

# value, where it shows in every pod of the chart, what shows there
EVERY_POD = [
    ({"imagePullSecrets": [{"name": "registry"}]}, "spec.imagePullSecrets", [{"name": "registry"}]),
    ({"nodeSelector": {"disk": "ssd"}}, "spec.nodeSelector", {"disk": "ssd"}),
    ({"tolerations": [TOLERATION]}, "spec.tolerations", [TOLERATION]),
    ({"podSecurityContext": {"runAsUser": 1000}}, "spec.securityContext.runAsUser", 1000),
    ({"securityContext": {"privileged": False}}, "spec.containers.0.securityContext.privileged", False),
    ({"image": {"pullPolicy": "Always"}}, "spec.containers.0.imagePullPolicy", "Always"),
    ({"commonLabels": {"team": "gpu"}}, "metadata.labels.team", "gpu"),
]

# value, where it shows in the Deployment, what shows there
OPERATOR = [
    ({}, "spec.replicas", 2, "one leads and one stands by"),
    ({"replicas": 3}, "spec.replicas", 3, "more stand by"),
    ({"replicas": 0}, "spec.replicas", 0, "switched off for a while"),
    ({}, "spec.strategy.type", "RollingUpdate", "the standby takes over while the other is replaced"),
    ({}, "spec.strategy.rollingUpdate.maxUnavailable", 0, "nobody goes before somebody came"),
    ({"replicas": 1, "leaderElection": {"enabled": False}}, "spec.strategy.type", "Recreate", "two must not run by plan"),
    ({}, "spec.template.spec.terminationGracePeriodSeconds", 45, "35 seconds of finishing, and a margin"),
    ({"terminationGracePeriodSeconds": 90}, "spec.template.spec.terminationGracePeriodSeconds", 90, "more of it"),
    ({}, "spec.template.spec.containers.0.livenessProbe.httpGet", {"path": "/healthz", "port": "health"}, "alive"),
    ({}, "spec.template.spec.containers.0.readinessProbe.httpGet", {"path": "/readyz", "port": "health"}, "serving"),
    ({"livenessProbe": {"periodSeconds": 30}}, "spec.template.spec.containers.0.livenessProbe.periodSeconds", 30, "rarer"),
    ({"readinessProbe": {"periodSeconds": 9}}, "spec.template.spec.containers.0.readinessProbe.periodSeconds", 9, "rarer"),
    ({"resources": {"limits": {"cpu": "1"}}}, "spec.template.spec.containers.0.resources.limits.cpu", "1", "resources"),
    ({"podLabels": {"a": "b"}}, "spec.template.metadata.labels.a", "b", "labels of the pods alone"),
    ({"podLabels": {"a": "b"}}, "metadata.labels.a", None, "and of nothing else"),
    ({"podAnnotations": {"a": "b"}}, "spec.template.metadata.annotations.a", "b", "annotations of the pods"),
    ({"affinity": AFFINITY}, "spec.template.spec.affinity", AFFINITY, "affinity"),
    ({}, "spec.template.spec.priorityClassName", None, "no class unless asked"),
    ({"priorityClassName": "high"}, "spec.template.spec.priorityClassName", "high", "a priority class"),
    ({}, "spec.template.spec.enableServiceLinks", False, "a Service's name sets no variable"),
    ({}, "spec.template.spec.automountServiceAccountToken", True, "it speaks to the apiserver"),
    ({"serviceAccount": {"name": "mine"}}, "spec.template.spec.serviceAccountName", "mine", "a name of one's own"),
    ({"serviceAccount": {"create": False}}, "spec.template.spec.serviceAccountName", "default", "none made, none named"),
    ({"settings": {"metricsPort": 1234}}, "spec.template.spec.containers.0.ports.0.containerPort", 1234, "the port follows"),
    ({"settings": {"healthPort": 1235}}, "spec.template.spec.containers.0.ports.1.containerPort", 1235, "the port follows"),
    ({"topologySpreadConstraints": []}, "spec.template.spec.topologySpreadConstraints", None, "no spread when emptied"),
    (
        {"extraVolumes": [{"name": "more", "emptyDir": {}}]},
        "spec.template.spec.volumes.1",
        {"name": "more", "emptyDir": {}},
        "a volume more, behind ours",
    ),
    (
        {"extraVolumeMounts": [{"name": "more", "mountPath": "/more"}]},
        "spec.template.spec.containers.0.volumeMounts.1",
        {"name": "more", "mountPath": "/more"},
        "and its mount",
    ),
]


@pytest.mark.parametrize(("image", "expected", "why"), IMAGE, ids=[row[2] for row in IMAGE])
def test_every_pod_runs_the_image_that_was_named(chart, image, expected, why):
    pods = chart.render({**SIMULATED, "image": image}).pods
    assert {name: pod["spec"]["containers"][0]["image"] for name, pod in pods.items()} == dict.fromkeys(ALL_PODS, expected), why


@pytest.mark.parametrize(("values", "path", "expected"), EVERY_POD, ids=[row[1] for row in EVERY_POD])
def test_a_value_for_pods_reaches_every_pod(chart, values, path, expected):
    assert {name: at(pod, path) for name, pod in chart.render({**SIMULATED, **values}).pods.items()} == dict.fromkeys(
        ALL_PODS, expected
    )


@pytest.mark.parametrize(("values", "path", "expected", "why"), OPERATOR, ids=[f"{row[1]}: {row[3]}" for row in OPERATOR])
def test_a_value_shows_in_the_deployment(chart, values, path, expected, why):
    assert at(chart.render(values).one("Deployment"), path) == expected, why


@pytest.mark.parametrize("base", [merged(EVERYTHING, {}), SIMULATED], ids=["everything", "simulator"])
def test_every_pod_is_restricted(chart, base):
    """What the restricted profile of pod security asks for, and a read-only root beside it."""
    for name, pod in chart.render(base=merged(base, {"crds": {"enabled": False}})).pods.items():
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["runAsUser"] >= 10000, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        for container in [*spec["containers"], *spec.get("initContainers", [])]:
            context = container["securityContext"]
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["readOnlyRootFilesystem"] is True, name
            assert "tmp" in {mount["name"] for mount in container["volumeMounts"]}, f"{name} has nowhere to write"
            assert container["resources"]["requests"], name
            assert container["resources"]["limits"]["memory"], name


def test_only_pods_that_speak_to_the_apiserver_get_a_token(chart):
    pods = chart.render(SIMULATED).pods
    assert {name for name, pod in pods.items() if pod["spec"]["automountServiceAccountToken"]} == ALL_PODS - {"simulator"}


def test_pods_are_spread_by_their_own_labels(chart):
    rendered = chart.render()
    labels = rendered.one("Deployment")["spec"]["selector"]["matchLabels"]
    constraints = rendered.operator["topologySpreadConstraints"]
    assert [item["topologyKey"] for item in constraints] == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    assert all(item["labelSelector"] == {"matchLabels": labels} for item in constraints)
    assert all(item["whenUnsatisfiable"] == "ScheduleAnyway" for item in constraints), "one node must do"


def test_a_spread_with_a_selector_keeps_it(chart):
    mine = {"maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {}}}
    assert chart.render({"topologySpreadConstraints": [mine]}).operator["topologySpreadConstraints"] == [mine]


def test_the_grace_is_longer_than_the_drain(chart):
    assert chart.render().operator["terminationGracePeriodSeconds"] >= DRAIN_SECONDS + 5


@pytest.mark.parametrize(
    ("values", "rendered", "why"),
    [
        ({}, True, "two replicas, one may go"),
        ({"replicas": 1}, False, "with one replica it would block every drain"),
        ({"podDisruptionBudget": {"enabled": False}}, False, "switched off"),
    ],
    ids=["two", "one", "off"],
)
def test_a_disruption_budget_where_it_can_be_kept(chart, values, rendered, why):
    found = chart.render(values).all("PodDisruptionBudget")
    assert bool(found) is rendered, why
    assert all(item["spec"]["maxUnavailable"] == 1 for item in found)


def test_selectors_find_the_pods_and_nothing_that_changes_is_in_them(chart):
    rendered = chart.render({**SIMULATED, "commonLabels": {"team": "gpu"}})
    for item in rendered.all("Deployment"):
        selector, labels = item["spec"]["selector"]["matchLabels"], item["spec"]["template"]["metadata"]["labels"]
        assert selector.items() <= labels.items()
        assert not {"team", "helm.sh/chart", "app.kubernetes.io/version"} & set(selector)
    for item in [*rendered.all("Service"), *rendered.all("PodDisruptionBudget")]:
        selector = item["spec"]["selector"]
        wanted = selector.get("matchLabels", selector)
        matching = [name for name, pod in rendered.pods.items() if wanted.items() <= pod["metadata"]["labels"].items()]
        assert matching == [item["metadata"]["labels"]["app.kubernetes.io/component"]], item["metadata"]["name"]


def test_common_labels_change_no_selector(chart):
    """A label of ours that somebody sets to another value stays ours: the Deployment's selector can never change."""
    rendered = chart.render({"commonLabels": {"app.kubernetes.io/name": "mine"}, "podLabels": {"app.kubernetes.io/name": "x"}})
    deployment = rendered.one("Deployment")
    assert deployment["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"] == "gpucloud-operator"
