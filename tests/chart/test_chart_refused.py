"""What the chart refuses, before anything is installed, and in which words."""

from __future__ import annotations

import pytest

from chartfiles.settings import settings_of_values
from gpucloud import flags
from gpucloud.settings import SettingsError
from support.chart import SIMULATED, merged

NETWORK = {"enabled": True, "apiServerCIDRs": ["192.0.2.1/32"], "cloudCIDRs": ["198.51.100.0/24"]}

# By the schema: the values, what the message names.
SCHEMA = [
    ({"replica": 2}, "replica", "a misspelt name"),
    ({"image": {"tga": "1"}}, "tga", "a misspelt name below another"),
    ({"settings": {"pollPendingSecond": 1}}, "pollPendingSecond", "a setting that does not exist"),
    ({"settings": {"endpoint": ["default=https://a.example"]}}, "endpoint", "a setting that another value stands for"),
    ({"settings": {"apiKey": "made-up"}}, "apiKey", "a credential is no setting"),
    ({"credentials": {"apiKey": "made-up"}}, "apiKey", "a credential in the values is seen by all who read the release"),
    ({"credentials": {"kind": "Token"}}, "/credentials/kind", "a kind of credential that does not exist"),
    ({"replicas": "two"}, "/replicas", "a word for a number"),
    ({"replicas": -1}, "/replicas", "a negative number of pods"),
    ({"endpoints": {"default": "cloud.example"}}, "/endpoints/default", "no scheme"),
    ({"endpoints": {"default": "https://user:word@cloud.example"}}, "/endpoints/default", "a credential in an address"),
    ({"endpoints": {"a=b": "https://cloud.example"}}, "a=b", "a name that would end early"),
    ({"endpoints": {"a": "https://a.example,b=https://b.example"}}, "/endpoints/a", "a second endpoint within one"),
    ({"image": {"digest": "sha256:abc"}}, "/image/digest", "half a digest"),
    ({"image": {"digest": "0" * 64}}, "/image/digest", "a digest without its kind"),
    ({"image": {"pullPolicy": "Sometimes"}}, "/image/pullPolicy", "a policy that Kubernetes does not know"),
    ({"settings": {"installTag": "Prod"}}, "/settings/installTag", "capital letters"),
    ({"settings": {"installTag": "toolongtag"}}, "/settings/installTag", "too long"),
    ({"settings": {"workers": 0}}, "/settings/workers", "nobody at work"),
    ({"settings": {"workers": 1.5}}, "/settings/workers", "half a worker"),
    ({"settings": {"brakeVms": -1}}, "/settings/brakeVms", "a negative limit"),
    ({"settings": {"metricsPort": 0}}, "/settings/metricsPort", "a port that nobody could scrape"),
    ({"settings": {"consolePort": 70000}}, "/settings/consolePort", "no port at all"),
    ({"settings": {"consolePort": 0}}, "/settings/consolePort", "a port that the plugin could not find"),
    ({"settings": {"logLevel": "loud"}}, "/settings/logLevel", "a level that does not exist"),
    ({"settings": {"observeOnly": "yes"}}, "/settings/observeOnly", "a word for a switch"),
    ({"settings": {"ownAccountNamespace": "a"}}, "/settings/ownAccountNamespace", "a word for a list"),
    ({"watchNamespaces": "a"}, "/watchNamespaces", "a word for a list"),
    ({"watchNamespaces": ["Team"]}, "/watchNamespaces/0", "no name of a namespace"),
    ({"watchNamespaces": ["a", "a"]}, "/watchNamespaces", "the same namespace twice"),
    ({"uninstall": {"policy": "Force"}}, "/uninstall/policy", "a policy that does not exist"),
    ({"terminationGracePeriodSeconds": 30}, "/terminationGracePeriodSeconds", "shorter than the drain: killed while buying"),
    ({"networkPolicy": {"cloudCIDRs": ["cloud.example"]}}, "/networkPolicy/cloudCIDRs/0", "a policy knows no host names"),
    ({"networkPolicy": {"cloudCIDRs": ["192.0.2.1"]}}, "/networkPolicy/cloudCIDRs/0", "an address without its length"),
    ({"metrics": {"serviceMonitor": {"interval": "soon"}}}, "/metrics/serviceMonitor/interval", "no duration"),
    ({"crds": {"keeep": True}}, "keeep", "a misspelt name of the other chart"),
    ({"extraEnv": [{"value": "a"}]}, "/extraEnv/0", "a variable without a name"),
    ({"commonLabels": {"a": 1}}, "/commonLabels/a", "labels are words"),
]

# By what values mean together: the values, a part of the message.
TOGETHER = [
    ({"endpoints": {}}, "endpoints: name at least one cloud API", "nowhere to go"),
    ({"endpoints": {"b": "https://b.example"}}, "say which of the endpoints (b, default)", "two and no first"),
    ({"defaultEndpoint": "a"}, '"a" is not among endpoints (default)', "a default that is not declared"),
    ({"simulator": {"enabled": True}}, "simulator.enabled is for a trial", "a simulator beside a cloud"),
    ({"watchNamespaces": ["a"]}, "settings.installTag: set it", "it may not read the cluster's identity"),
    (
        {"watchNamespaces": ["a"], "settings": {"installTag": "prod1"}, "crds": {"enabled": True, "keep": False}},
        "crds.keep: leave it on with watchNamespaces",
        "an end that would take the objects of other releases along, unseen",
    ),
    ({"leaderElection": {"enabled": False}}, "replicas: without leaderElection.enabled", "two that both act"),
    ({"cloudCA": {"configMap": "a", "secret": "b"}}, "cloudCA: name a ConfigMap or a Secret", "two authorities"),
    (
        {"metrics": {"serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True}}},
        "would scrape every pod twice",
        "two monitors",
    ),
    (
        {"metrics": {"service": {"enabled": False}, "serviceMonitor": {"enabled": True}}},
        "metrics.serviceMonitor: it needs metrics.service.enabled",
        "a monitor of nothing",
    ),
    ({"networkPolicy": {**NETWORK, "apiServerCIDRs": []}}, "kubectl get endpointslices", "cut off from the apiserver"),
    (
        {"networkPolicy": {**NETWORK, "cloudCIDRs": []}},
        "networkPolicy.cloudCIDRs: name the addresses",
        "cut off from the cloud",
    ),
    (
        {"extraEnv": [{"name": "GPUCLOUD_PASSWORD", "value": "made-up-p4ssphrase"}]},
        "GPUCLOUD_PASSWORD must not stand in values",
        "a password in the release",
    ),
    ({"settings": {"metricsPort": 8081}}, "must differ; they are 8081, 8081", "metrics on the default port of health"),
    ({"settings": {"healthPort": 7000, "metricsPort": 7000}}, "must differ; they are 7000, 7000", "one port given twice"),
    ({"settings": {"console": True, "consolePort": 9090}}, "they are 9090, 8081, 9090", "the console on the port of metrics"),
    ({"settings": {"console": True, "healthPort": 8082}}, "they are 9090, 8082, 8082", "health on the console's default port"),
]

# Settings that contradict each other: the settings, what the chart says, what the operator says.
CONTRARY = [
    (
        {"leaseDurationSeconds": 10},
        "settings.leaseRenewDeadlineSeconds: 10 must be less than leaseDurationSeconds, 10",
        "--lease-renew-deadline-seconds",
        "a Lease as short as the default deadline",
    ),
    (
        {"leaseRenewDeadlineSeconds": 15.5},
        "settings.leaseRenewDeadlineSeconds: 15.5 must be less than leaseDurationSeconds, 15",
        "--lease-renew-deadline-seconds",
        "a deadline beyond the default Lease",
    ),
    (
        {"leaseRenewDeadlineSeconds": 2},
        "settings.leaseRetryPeriodSeconds: 2 must be less than leaseRenewDeadlineSeconds, 2",
        "--lease-retry-period-seconds",
        "a deadline as short as the default period",
    ),
    (
        {"leaseRetryPeriodSeconds": 10},
        "settings.leaseRetryPeriodSeconds: 10 must be less than leaseRenewDeadlineSeconds, 10",
        "--lease-retry-period-seconds",
        "a period as long as the default deadline",
    ),
    (
        {"collectOrphans": True, "orphanScanSeconds": 0},
        "settings.collectOrphans: set orphanScanSeconds above 0",
        "--collect-orphans",
        "to collect what nobody looks for",
    ),
]


@pytest.mark.parametrize(("values", "names", "why"), SCHEMA, ids=[f"{row[1]}: {row[2]}" for row in SCHEMA])
def test_the_schema_refuses_and_names_the_place(chart, values, names, why):
    said = chart.refused(values)
    assert "don't meet the specifications of the schema" in said, why
    assert names in said, said


@pytest.mark.parametrize(("values", "says", "why"), TOGETHER, ids=[row[2] for row in TOGETHER])
def test_a_contradiction_is_refused_with_what_to_do(chart, values, says, why):
    assert says in chart.refused(values), why


@pytest.mark.parametrize(("given", "says", "flag", "why"), CONTRARY, ids=[row[3] for row in CONTRARY])
def test_what_the_operator_refuses_at_its_start_the_chart_refuses_first(chart, given, says, flag, why):
    assert says in chart.refused({"settings": given}), why
    told = {item.name: str(given[item.field]) for item in settings_of_values() if item.field in given}
    with pytest.raises(SettingsError, match=flag):
        flags.load({"endpoint": ["default=https://cloud.example"], **told}, {})


def test_a_trial_takes_no_credentials(chart):
    said = chart.refused({"credentials": {"existingSecret": "s"}}, base=merged(SIMULATED, {"crds": {"enabled": False}}))
    assert "switch the simulator off" in said


def test_a_refusal_repeats_no_secret(chart):
    said = chart.refused({"extraEnv": [{"name": "GPUCLOUD_API_KEY", "value": "made-up-p4ssphrase"}]})
    assert "made-up-p4ssphrase" not in said


@pytest.mark.parametrize(
    "values",
    [
        {"affinity": {"podAffinity": {"inventedLater": []}}},
        {"resources": {"claims": [{"name": "gpu"}]}},
        {"podSecurityContext": {"inventedLater": True}},
        {"extraVolumes": [{"name": "a", "inventedLater": {}}]},
        {"tolerations": [{"key": "a", "inventedLater": 1}]},
        {"topologySpreadConstraints": [{"topologyKey": "a", "inventedLater": 1}]},
        {"livenessProbe": {"inventedLater": 1}},
        {"networkPolicy": {**NETWORK, "metricsFrom": [{"inventedLater": {}}]}},
        {"global": {"imageRegistry": "host.example"}},
    ],
    ids=lambda values: next(iter(values)),
)
def test_what_kubernetes_defines_is_left_to_kubernetes(chart, values):
    chart.render(values)
