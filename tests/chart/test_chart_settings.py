"""The operator's settings, its endpoints and its account: every one can be said, and arrives as the operator reads it."""

from __future__ import annotations

import json

import pytest

from chartfiles.places import SCHEMA
from chartfiles.settings import GIVEN_BY, settings_of_values
from gpucloud import flags
from support.chart import MINIMAL, NAME, SIMULATED

SPECIAL = {
    "install_tag": "prod1",
    "log_level": "debug",
    "log_format": "text",
    "own_account_sharing": "Shared",
    "proxy": "http://proxy.example:3128",
    "bind_address": "::",
}
FILES = "/var/run/gpucloud"
OPERATOR_ONLY = {"GPUCLOUD_BIND_ADDRESS", "GPUCLOUD_LEADER_ELECT", "GPUCLOUD_LEASE_NAME", "GPUCLOUD_LEASE_NAMESPACE"}

# What the values say, what the operator reads.
WRITTEN = [
    ({"pollPendingSeconds": 0.5}, "GPUCLOUD_POLL_PENDING_SECONDS", "0.5", "a fraction"),
    ({"pollPendingSeconds": 5}, "GPUCLOUD_POLL_PENDING_SECONDS", "5", "a whole number where fractions are allowed"),
    ({"workers": 5000000}, "GPUCLOUD_WORKERS", "5000000", "Helm would write 5e+06, which is no whole number to Python"),
    ({"observeOnly": True}, "GPUCLOUD_OBSERVE_ONLY", "true", "a switch"),
    ({"observeOnly": False}, "GPUCLOUD_OBSERVE_ONLY", "false", "a switch that is off"),
    ({"ownAccountNamespace": ["a", "b"]}, "GPUCLOUD_OWN_ACCOUNT_NAMESPACE", "a,b", "a list"),
    ({"installTag": "123"}, "GPUCLOUD_INSTALL_TAG", "123", "a word of digits stays a word"),
]

# Settings close to what the chart refuses, which the operator must take.
ALLOWED = [
    ({"leaseDurationSeconds": 10.5}, "half a second longer than the default deadline"),
    ({"leaseRenewDeadlineSeconds": 14.5}, "half a second shorter than the default Lease"),
    ({"leaseRenewDeadlineSeconds": 2.5}, "half a second longer than the default period"),
    ({"leaseRetryPeriodSeconds": 9.5}, "half a second shorter than the default deadline"),
    ({"leaseDurationSeconds": 9, "leaseRenewDeadlineSeconds": 6}, "each too short or too long for the other's default"),
    ({"leaseDurationSeconds": 137, "leaseRenewDeadlineSeconds": 107, "leaseRetryPeriodSeconds": 26}, "all of them longer"),
    ({"collectOrphans": True}, "the operator looks for orphans by default"),
    ({"collectOrphans": True, "orphanScanSeconds": 0.5}, "it looks often"),
    ({"collectOrphans": False, "orphanScanSeconds": 0}, "nobody looks, and nobody collects"),
    ({"metricsPort": 8081, "healthPort": 9090}, "each the other's default"),
    ({"metricsPort": 8082}, "the console's default, without a console"),
    ({"consolePort": 8081}, "a port of the console, without a console"),
    ({"console": True, "consolePort": 65535}, "the last port"),
]

ENDPOINTS = [
    ({"endpoints": {"default": "https://a.example"}}, "default=https://a.example", "one"),
    (
        {"endpoints": {"a": "https://a.example", "default": "https://b.example"}, "defaultEndpoint": "default"},
        "default=https://b.example,a=https://a.example",
        "the operator takes the first where none is named",
    ),
    (
        {"endpoints": {"default": "https://d.example", "z": "https://z.example:81/api"}, "defaultEndpoint": "z"},
        "z=https://z.example:81/api,default=https://d.example",
        "which need not be the one called default",
    ),
]

ACCOUNTS = [
    ({}, {}, [], "none of its own"),
    (
        {"existingSecret": "s"},
        {"GPUCLOUD_API_KEY_FILE": f"{FILES}/credentials/api-key"},
        ["api-key"],
        "an API key",
    ),
    (
        {"existingSecret": "s", "apiKeyKey": "k"},
        {"GPUCLOUD_API_KEY_FILE": f"{FILES}/credentials/k"},
        ["k"],
        "under another name",
    ),
    (
        {"existingSecret": "s", "kind": "Login"},
        {
            "GPUCLOUD_USERNAME_FILE": f"{FILES}/credentials/username",
            "GPUCLOUD_PASSWORD_FILE": f"{FILES}/credentials/password",
        },
        ["password", "username"],
        "a user name and a password",
    ),
]


def a_value_of(item):
    """Something else than the default, of the same type."""
    if item.name in SPECIAL:
        return SPECIAL[item.name]
    match item.default:
        case bool():
            return not item.default
        case int() | float():
            return item.default + 1
        case tuple():
            return ["one", "two"]
        case _:
            return f"{item.name}-value"


def as_read(rendered, **files):
    """The settings that the operator would load from this environment; files have no place in it."""
    environ = {name: value for name, value in rendered.env.items() if not name.endswith("_FILE")}
    return flags.load({}, environ | files)


@pytest.mark.parametrize("item", settings_of_values(), ids=lambda item: item.name)
def test_every_setting_can_be_given_and_arrives(chart, item):
    value = a_value_of(item)
    more = {"orphanScanSeconds": 60} if item.name == "collect_orphans" else {}
    read = as_read(chart.render({"settings": {item.field: value, **more}}))
    assert getattr(read, item.name) == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize("item", flags.FLAGS.values(), ids=lambda item: item.name)
def test_no_setting_is_out_of_reach(item):
    schema = json.loads(SCHEMA.read_text())["properties"]
    if item.name not in GIVEN_BY:
        assert item.field in schema["settings"]["properties"]
    elif " " not in GIVEN_BY[item.name]:
        for part in GIVEN_BY[item.name].split("."):
            schema = schema[part].get("properties", {})


def test_what_is_not_set_is_left_to_the_operator(chart):
    """So an upgrade with the old values keeps no old default."""
    assert chart.render().env == {
        "GPUCLOUD_ENDPOINT": "default=https://cloud.example",
        "GPUCLOUD_BIND_ADDRESS": "0.0.0.0",  # noqa: S104  # in a pod
        "GPUCLOUD_LEADER_ELECT": "true",
        "GPUCLOUD_LEASE_NAME": NAME,
        "GPUCLOUD_LEASE_NAMESPACE": "gpucloud-system",
    }


@pytest.mark.parametrize(("given", "variable", "expected", "why"), WRITTEN, ids=[row[3] for row in WRITTEN])
def test_a_value_is_written_as_the_operator_reads_it(chart, given, variable, expected, why):
    assert chart.render({"settings": given}).env[variable] == expected, why


@pytest.mark.parametrize(("given", "why"), ALLOWED, ids=[row[1] for row in ALLOWED])
def test_what_the_chart_allows_the_operator_takes(chart, given, why):
    read = as_read(chart.render({"settings": given}))
    taken = {item.field: getattr(read, item.name) for item in settings_of_values()}
    assert given.items() <= taken.items(), why


@pytest.mark.parametrize(("values", "expected", "why"), ENDPOINTS, ids=[row[2] for row in ENDPOINTS])
def test_endpoints_with_the_default_first(chart, values, expected, why):
    rendered = chart.render(base={"crds": {"enabled": False}, **values})
    assert rendered.env["GPUCLOUD_ENDPOINT"] == expected, why
    assert as_read(rendered).own_endpoint == expected.split(",")[0].split("=")[1]


@pytest.mark.parametrize(("credentials", "env", "files", "why"), ACCOUNTS, ids=[row[3] for row in ACCOUNTS])
def test_the_operators_own_account_comes_from_files(chart, credentials, env, files, why):
    rendered = chart.render({"credentials": credentials})
    assert {name: value for name, value in rendered.env.items() if name.endswith("_FILE")} == env, why
    volumes = [item["secret"] for item in rendered.operator["volumes"] if item["name"] == "credentials"]
    assert [volume["secretName"] for volume in volumes] == ["s"] * bool(files)
    assert all(volume["defaultMode"] == 0o440 for volume in volumes), "readable by the pod's group alone"
    assert sorted(item["path"] for volume in volumes for item in volume["items"]) == files, "nothing else of the Secret"
    assert not rendered.all("Secret"), "the chart never holds a credential"


@pytest.mark.parametrize(("kind", "source"), [("configMap", "configMap"), ("secret", "secret")])
def test_an_authority_of_ones_own(chart, kind, source):
    rendered = chart.render({"cloudCA": {kind: "authority", "key": "root.pem"}})
    assert rendered.env["GPUCLOUD_CA_FILE"] == f"{FILES}/ca/root.pem"
    (volume,) = [item for item in rendered.operator["volumes"] if item["name"] == "cloud-ca"]
    assert volume[source]["items"] == [{"key": "root.pem", "path": "root.pem"}]
    assert volume[source].get("name", volume[source].get("secretName")) == "authority"


def test_more_environment_may_come_from_a_secret(chart):
    source = {"secretKeyRef": {"name": "s", "key": "k"}}
    env = chart.render({"extraEnv": [{"name": "GPUCLOUD_API_KEY", "valueFrom": source}]}).env
    assert env["GPUCLOUD_API_KEY"] == source


def test_the_helm_test_looks_with_the_operators_eyes(chart):
    values = {"credentials": {"existingSecret": "s"}, "cloudCA": {"secret": "c"}, "settings": {"proxy": "http://p.example"}}
    rendered = chart.render(values)
    tested = rendered.pods["test"]["spec"]
    env = {item["name"]: item["value"] for item in tested["containers"][0]["env"]}
    assert {name: value for name, value in rendered.env.items() if name not in OPERATOR_ONLY} == env
    assert tested["volumes"] == rendered.operator["volumes"]
    assert tested["serviceAccountName"] == rendered.operator["serviceAccountName"]


def test_the_simulators_key_is_the_operators(chart):
    rendered = chart.render(SIMULATED)
    simulator = rendered.pods["simulator"]["spec"]["containers"][0]
    key_file = rendered.env["GPUCLOUD_API_KEY_FILE"]
    assert f"--api-key-file={key_file}" in simulator["args"]
    assert rendered.env["GPUCLOUD_ENDPOINT"] == f"simulator=http://{NAME}-simulator.gpucloud-system.svc:8080"
    (service,) = [item for item in rendered.all("Service") if item["metadata"]["name"] == f"{NAME}-simulator"]
    assert service["spec"]["ports"] == [{"name": "http", "port": 8080, "targetPort": "http"}]
    for name in ("simulator", "operator", "test"):
        assert rendered.pods[name]["spec"]["volumes"][1]["secret"]["secretName"] == f"{NAME}-simulator"


@pytest.mark.parametrize(
    ("values", "expected"),
    [({}, NAME), ({"leaderElection": {"leaseName": "mine"}}, "mine"), ({"fullnameOverride": "op"}, "op")],
    ids=["by the release", "named", "by the override"],
)
def test_the_lease_bears_one_name_everywhere(chart, values, expected):
    rendered = chart.render(values)
    assert rendered.env["GPUCLOUD_LEASE_NAME"] == expected
    rules = [rule for item in rendered.all("Role") for rule in item["rules"] if rule["apiGroups"] == ["coordination.k8s.io"]]
    assert [rule.get("resourceNames") for rule in rules] == [None, [expected]]


def test_without_an_election_nothing_speaks_of_a_lease(chart):
    rendered = chart.render({"replicas": 1, "leaderElection": {"enabled": False}})
    assert "lease" not in json.dumps(rendered.objects).lower().replace("release", "")


def test_watched_namespaces_are_passed_on(chart):
    rendered = chart.render({"watchNamespaces": ["a", "b"], "settings": {"installTag": "prod1"}}, base=MINIMAL)
    assert as_read(rendered).namespace == ("a", "b")
