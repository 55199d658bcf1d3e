"""Definitions, hooks, network, metrics: each part by what it must hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from chartfiles.places import CHART, CRD_CHART, ROOT
from gpucloud.cli import check, uninstall
from support.chart import EVERYTHING, HOOK, MINIMAL, NAME, RELEASE, SIMULATED, merged

CRDS = {path.name: yaml.safe_load(path.read_text()) for path in sorted((ROOT / "crds").glob("*.yaml"))}
NETWORK = {"enabled": True, "apiServerCIDRs": ["192.0.2.1/32"], "cloudCIDRs": ["198.51.100.0/24"]}
WITH_CRDS = {**MINIMAL, "crds": {"enabled": True}}


def specs(objects):
    return {item["metadata"]["name"]: item["spec"] for item in objects}


# ---- definitions


def test_the_charts_definitions_are_those_of_the_repository(chart, helm):
    expected = specs(CRDS.values())
    assert specs(chart.render(base=WITH_CRDS).all("CustomResourceDefinition")) == expected
    alone = helm.template(CRD_CHART, {}, RELEASE)
    assert specs(yaml.safe_load_all(alone.stdout)) == expected


@pytest.mark.parametrize(
    ("crds", "annotations", "why"),
    [
        ({}, {"helm.sh/resource-policy": "keep"}, "to uninstall must not delete every VM"),
        ({"keep": False}, None, "unless asked for"),
        ({"annotations": {"a": "b"}}, {"a": "b", "helm.sh/resource-policy": "keep"}, "beside annotations of one's own"),
        ({"keep": False, "annotations": {"a": "b"}}, {"a": "b"}, "or these alone"),
    ],
    ids=["default", "not kept", "annotated", "both"],
)
def test_definitions_outlive_the_release(chart, helm, crds, annotations, why):
    by_operator = chart.render(base=merged(WITH_CRDS, {"crds": crds})).all("CustomResourceDefinition")
    alone = list(yaml.safe_load_all(helm.template(CRD_CHART, crds, RELEASE).stdout))
    assert [item["metadata"].get("annotations") for item in [*by_operator, *alone]] == [annotations] * 2 * len(CRDS), why


def test_the_crd_chart_is_closed_too(helm):
    done = helm.template(CRD_CHART, {"keeep": False}, RELEASE)
    assert "keeep" in done.stderr


# ---- hooks


@pytest.mark.parametrize(
    ("policy", "seconds"), [("Refuse", 270), ("Drain", 600), ("Retain", 60)], ids=["Refuse", "Drain", "Retain"]
)
def test_the_guard_is_told_what_to_do(chart, policy, seconds):
    values = {"uninstall": {"policy": policy, "timeoutSeconds": seconds}, "watchNamespaces": ["a", "b"]}
    job = chart.render({**values, "settings": {"installTag": "prod1"}}).one("Job", f"{NAME}-uninstall")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    expected = [f"--policy={policy}", f"--timeout-seconds={seconds}", "--namespace=a", "--namespace=b"]
    assert container["args"] == ["uninstall", *expected]
    assert job["spec"]["activeDeadlineSeconds"] > seconds, "it says what is left before it is ended"
    assert job["spec"]["backoffLimit"] == 0, "a refusal is an answer, and not to be asked for again"


def test_the_guard_comes_after_its_rights_and_is_read_when_it_refuses(chart):
    rendered = chart.render()
    weights = {
        item["kind"]: int(item["metadata"]["annotations"]["helm.sh/hook-weight"]) for item in hooks(rendered, "pre-delete")
    }
    assert weights["ServiceAccount"] < weights["ClusterRoleBinding"] < weights["Job"]
    annotations = rendered.one("Job", f"{NAME}-uninstall")["metadata"]["annotations"]
    assert annotations["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded", "a refusal stays, to be read"
    assert annotations["helm.sh/hook-output-log-policy"] == "hook-failed,hook-succeeded", "and Helm shows what it says"
    container = rendered.pods["uninstall"]["spec"]["containers"][0]
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError", "and so does kubectl describe"


def test_nothing_else_is_a_hook(chart):
    rendered = chart.render(base=merged(EVERYTHING, {"simulator": {}}))
    assert {item["metadata"]["name"] for item in rendered.objects if HOOK in item["metadata"].get("annotations", {})} == {
        f"{NAME}-uninstall",
        f"{NAME}-test",
    }


def hooks(rendered, event):
    return [item for item in rendered.objects if item["metadata"].get("annotations", {}).get(HOOK) == event]


def test_the_helpers_run_commands_that_exist(chart):
    """Each container's arguments begin with a verb of ours, and its flags are of that verb."""
    pods = chart.render(SIMULATED).pods
    verbs = {name: pod["spec"]["containers"][0]["args"][0] for name, pod in pods.items()}
    assert verbs == {"operator": "operator", "simulator": "sim", "uninstall": "uninstall", "test": "check"}
    assert "Refuse" in uninstall.POLICIES
    assert "endpoint" in check.FLAGS


# ---- network


def policy_of(chart, **network):
    return chart.render({"networkPolicy": {**NETWORK, **network}}).one("NetworkPolicy")["spec"]


def blocks(egress):
    return [[peer["ipBlock"]["cidr"] for peer in rule["to"] if "ipBlock" in peer] for rule in egress]


@pytest.mark.parametrize(
    ("network", "expected", "why"),
    [
        ({}, [[], ["192.0.2.1/32"], ["198.51.100.0/24"]], "names, apiserver, cloud"),
        ({"dnsCIDRs": ["169.254.20.10/32"]}, [["169.254.20.10/32"], ["192.0.2.1/32"], ["198.51.100.0/24"]], "a node's cache"),
        (
            {"cloudCIDRs": ["2001:db8::/32", "198.51.100.7/32"]},
            [[], ["192.0.2.1/32"], ["2001:db8::/32", "198.51.100.7/32"]],
            "IPv6",
        ),
    ],
    ids=["default", "cache", "two"],
)
def test_packets_may_go_where_the_operator_must_and_nowhere_else(chart, network, expected, why):
    spec = policy_of(chart, **network)
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert blocks(spec["egress"]) == expected, why
    assert all(rule["to"] for rule in spec["egress"]), "a rule without a peer is open to all"


@pytest.mark.parametrize(
    ("network", "rule", "ports"),
    [
        ({}, 1, [443, 6443]),
        ({"apiServerPorts": [16443]}, 1, [16443]),
        ({}, 2, [443]),
        ({"cloudPorts": [8443, 3128]}, 2, [8443, 3128]),
    ],
)
def test_and_by_these_ports_only(chart, network, rule, ports):
    assert [item["port"] for item in policy_of(chart, **network)["egress"][rule]["ports"]] == ports


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ({}, [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]),
        ({"metricsFrom": [{"ipBlock": {"cidr": "192.0.2.9/32"}}]}, [{"ipBlock": {"cidr": "192.0.2.9/32"}}]),
    ],
    ids=["default", "named"],
)
def test_metrics_are_read_by_those_who_may(chart, network, expected):
    (rule,) = policy_of(chart, **network)["ingress"]
    assert rule == {"from": expected, "ports": [{"protocol": "TCP", "port": "metrics"}]}


def test_nobody_may_read_the_metrics(chart):
    assert policy_of(chart, metricsFrom=[])["ingress"] == []


def test_the_helpers_of_the_release_are_covered_too(chart):
    values = merged(SIMULATED, {"networkPolicy": NETWORK})
    rendered = chart.render(values)
    selector = rendered.one("NetworkPolicy")["spec"]["podSelector"]
    (expression,) = selector["matchExpressions"]
    covered = {
        name
        for name, pod in rendered.pods.items()
        if selector["matchLabels"].items() <= pod["metadata"]["labels"].items() and name in expression["values"]
    }
    assert covered == {"operator", "test", "uninstall"}
    simulator = rendered.one("NetworkPolicy", f"{NAME}-simulator")["spec"]
    assert simulator["egress"] == [], "the simulated cloud calls nobody"
    assert simulator["podSelector"]["matchLabels"].items() <= rendered.pods["simulator"]["metadata"]["labels"].items()


# ---- metrics


@pytest.mark.parametrize(
    ("kind", "values", "endpoints"),
    [("ServiceMonitor", "serviceMonitor", "endpoints"), ("PodMonitor", "podMonitor", "podMetricsEndpoints")],
)
def test_a_monitor_finds_its_port_and_says_what_was_asked(chart, kind, values, endpoints):
    asked = {
        "interval": "30s",
        "scrapeTimeout": "10s",
        "relabelings": [{"action": "labeldrop", "regex": "pod"}],
        "metricRelabelings": [{"action": "drop", "regex": "go_.*"}],
    }
    rendered = chart.render({"metrics": {values: {"enabled": True, "labels": {"release": "kps"}, **asked}}})
    monitor = rendered.one(kind)
    assert monitor["metadata"]["labels"]["release"] == "kps"
    assert monitor["spec"][endpoints] == [{"port": "metrics", "path": "/metrics", **asked}]
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": [RELEASE[1]]}
    chosen = (
        rendered.one("Service", f"{NAME}-metrics")
        if kind == "ServiceMonitor"
        else rendered.one("Deployment")["spec"]["template"]
    )
    assert monitor["spec"]["selector"]["matchLabels"].items() <= chosen["metadata"]["labels"].items()


def test_the_simulators_service_is_not_scraped(chart):
    rendered = chart.render(merged(SIMULATED, {"metrics": {"serviceMonitor": {"enabled": True}}}))
    wanted = rendered.one("ServiceMonitor")["spec"]["selector"]["matchLabels"]
    found = [
        item["metadata"]["name"] for item in rendered.all("Service") if wanted.items() <= item["metadata"]["labels"].items()
    ]
    assert found == [f"{NAME}-metrics"]


def rules():
    return [rule for group in yaml.safe_load((CHART / "files" / "rules.yaml").read_text())["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_every_alert_has_a_runbook_and_words(chart, rule):
    url = "https://runbooks.example/x"
    rendered = chart.render({"metrics": {"prometheusRule": {"enabled": True, "runbookUrl": url}}}).one("PrometheusRule")
    (found,) = [item for group in rendered["spec"]["groups"] for item in group["rules"] if item["alert"] == rule["alert"]]
    assert found["annotations"]["runbook_url"] == f"{url}#{rule['alert'].lower()}"
    headings = re.findall(r"^## (\w+)$", (ROOT / "docs" / "how-to" / "alerts.md").read_text(), re.MULTILINE)
    assert rule["alert"] in headings
    assert found["annotations"]["summary"]
    assert found["annotations"]["description"]
    assert found["labels"]["severity"] in {"warning", "critical"}
    assert found["expr"] == rule["expr"], "what Prometheus reads is not changed by the template"


def test_the_dashboard_arrives_whole(chart):
    config = chart.render({"metrics": {"dashboard": {"enabled": True, "annotations": {"folder": "gpu"}}}}).one(
        "ConfigMap", f"{NAME}-dashboard"
    )
    assert config["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert config["metadata"]["annotations"] == {"folder": "gpu"}
    (text,) = config["data"].values()
    assert json.loads(text) == json.loads((CHART / "files" / "dashboard.json").read_text())


def test_files_of_the_chart_are_used():
    """A file that no template reads would be delivered for nothing."""
    templates = "".join(path.read_text() for path in (CHART / "templates").iterdir())
    assert [path.name for path in Path(CHART / "files").iterdir() if path.name not in templates] == []
