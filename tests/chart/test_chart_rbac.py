"""Rights: the operator's are the documented ones, people's leave statuses and Secrets alone, helpers have the fewest."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import yaml

from chartfiles.places import CHART
from support.chart import MINIMAL, NAME, SIMULATED, merged

EXAMPLE = Path(__file__).parents[2] / "deploy" / "examples" / "operator-rbac.yaml"
KINDS = {"gpuvms", "gpuvpcs", "gpusnapshots", "gpuhosts", "gpucloudaccounts"}
NAMESPACED = {"watchNamespaces": ["team-a", "team-b"], "settings": {"installTag": "prod1"}}
OWN_ACCOUNT = {**NAMESPACED, "credentials": {"existingSecret": "cloud-account"}}
LEASES = "coordination.k8s.io"
READ, WRITE = {"get", "list", "watch"}, {"create", "update", "patch", "delete", "deletecollection"}


def rights(*roles):
    """Every single right of these roles: group, resource, verb."""
    return {
        right
        for role in roles
        for rule in role["rules"]
        for right in product(rule["apiGroups"], rule["resources"], rule["verbs"])
    }


def documented():
    """The rights of the example that is proven by the end-to-end tests, without those on the Lease."""
    documents = yaml.safe_load_all(EXAMPLE.read_text())
    found = rights(*(item for item in documents if item["kind"] in {"Role", "ClusterRole"}))
    return {right for right in found if right[0] != LEASES}


def of_the_operator(rendered):
    return [item for item in rendered.objects if item["kind"] in {"Role", "ClusterRole"} and item["metadata"]["name"] == NAME]


def test_the_operators_rights_are_the_documented_ones(chart):
    (role,) = of_the_operator(chart.render())
    assert role["kind"] == "ClusterRole"
    assert rights(role) == documented()


def test_in_some_namespaces_they_are_the_same_by_roles(chart):
    roles = of_the_operator(chart.render(NAMESPACED))
    assert [(role["kind"], role["metadata"]["namespace"]) for role in roles] == [("Role", "team-a"), ("Role", "team-b")]
    assert all(rights(role) == documented() for role in roles)


def test_in_some_namespaces_nothing_is_granted_in_the_whole_cluster(chart):
    rendered = chart.render({**NAMESPACED, "rbac": {"aggregate": False}})
    assert not rendered.all("ClusterRole")
    assert not rendered.all("ClusterRoleBinding")


def test_secrets_that_are_held_can_be_let_go_when_holds_are_switched_off(chart):
    (role,) = of_the_operator(chart.render({"settings": {"noSecretFinalizer": True}}))
    assert rights(role) == documented()


IN_DEFAULT = [
    (OWN_ACCOUNT, 1, "its own account's orphans are told of a definition, and so there"),
    ({**NAMESPACED, **SIMULATED}, 1, "the simulator's key is such an account, too"),
    (NAMESPACED, 0, "an account of a namespace is told in that namespace"),
    ({"credentials": OWN_ACCOUNT["credentials"]}, 0, "the cluster role reaches there"),
    ({**OWN_ACCOUNT, "watchNamespaces": ["default", "team-a"]}, 0, "the Role there has this right already"),
    ({**OWN_ACCOUNT, "settings": {"installTag": "prod1", "orphanScanSeconds": 0}}, 0, "nobody looks for orphans"),
    ({**OWN_ACCOUNT, "settings": {"installTag": "prod1", "orphanScanSeconds": 0.5}}, 1, "somebody does"),
    ({**OWN_ACCOUNT, "rbac": {"create": False}}, 0, "the administrator gives the rights"),
]


@pytest.mark.parametrize(("values", "count", "why"), IN_DEFAULT, ids=[row[2] for row in IN_DEFAULT])
def test_events_about_the_own_account_may_be_told_in_default(chart, values, count, why):
    rendered = chart.render(values)
    roles = [item for item in rendered.all("Role") if item["metadata"]["namespace"] == "default"]
    added = [item for item in roles if item["metadata"]["name"] != NAME and not item["metadata"]["name"].endswith("-uninstall")]
    assert [rights(role) for role in added] == [{("events.k8s.io", "events", "create")}] * count, why


def test_releases_of_one_name_do_not_meet_in_default(helm):
    """Helm would refuse the second one: the Role is the first one's."""
    values = merged(MINIMAL, OWN_ACCOUNT)
    texts = [helm.template(CHART, values, ("gpucloud", namespace)).stdout for namespace in ("team-a", "team-b")]
    roles = [item["metadata"] for text in texts for item in yaml.safe_load_all(text) if item and item["kind"] == "Role"]
    names = [meta["name"] for meta in roles if meta["namespace"] == "default"]
    assert len(names) == len(set(names)) == 2


def test_the_lease_is_of_the_release_namespace_and_by_name(chart):
    role = chart.render().one("Role", f"{NAME}-lease")
    assert role["metadata"]["namespace"] == "gpucloud-system"
    assert rights(role) == {(LEASES, "leases", verb) for verb in ("create", "get", "update")}
    assert {rule["verbs"][0]: rule.get("resourceNames") for rule in role["rules"]} == {"create": None, "get": [NAME]}


@pytest.mark.parametrize("values", [{}, NAMESPACED, OWN_ACCOUNT], ids=["cluster", "namespaces", "own account"])
def test_every_binding_gives_a_role_that_exists_to_an_account_that_exists(chart, values):
    rendered = chart.render(values)
    accounts = {(item["metadata"]["name"], item["metadata"]["namespace"]) for item in rendered.all("ServiceAccount")}
    bindings = [*rendered.all("RoleBinding"), *rendered.all("ClusterRoleBinding")]
    assert bindings
    for binding in bindings:
        roles = rendered.all(binding["roleRef"]["kind"])
        names = [(item["metadata"]["name"], item["metadata"].get("namespace")) for item in roles]
        assert (binding["roleRef"]["name"], binding["metadata"].get("namespace")) in names
        assert {(subject["name"], subject["namespace"]) for subject in binding["subjects"]} <= accounts


@pytest.mark.parametrize("values", [{}, SIMULATED, NAMESPACED], ids=["plain", "simulator", "namespaces"])
def test_no_right_is_a_wildcard(chart, values):
    rendered = chart.render(values)
    assert not [right for right in rights(*rendered.all("Role"), *rendered.all("ClusterRole")) if "*" in right]


PEOPLE = [
    ("view", {"view", "edit", "admin"}, set(product(KINDS | {"gpuoffers"}, READ)), "whoever sees a namespace sees its objects"),
    ("edit", {"edit", "admin"}, set(product(KINDS - {"gpucloudaccounts"}, WRITE)), "who may make things may make VMs"),
    ("admin", {"admin"}, set(product({"gpucloudaccounts"}, WRITE)), "an account decides with whose Secret is paid"),
]


@pytest.mark.parametrize(("name", "to", "expected", "why"), PEOPLE, ids=[row[0] for row in PEOPLE])
def test_what_people_may_do(chart, name, to, expected, why):
    role = chart.render().one("ClusterRole", f"{NAME}-{name}")
    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    assert {key.removeprefix(prefix) for key in role["metadata"]["labels"] if key.startswith(prefix)} == to, why
    assert rights(role) == {("gpucloud.dev", *right) for right in expected}, why


def test_nobody_but_the_operator_writes_a_status_or_sees_a_secret(chart):
    rendered = chart.render(SIMULATED)
    own = {NAME}
    others = [item for item in [*rendered.all("Role"), *rendered.all("ClusterRole")] if item["metadata"]["name"] not in own]
    assert not [right for right in rights(*others) if right[1].endswith("/status") or right[1] == "secrets"]


@pytest.mark.parametrize(
    ("values", "verbs", "why"),
    [
        ({}, {"list"}, "to refuse it must only see"),
        ({"uninstall": {"policy": "Drain"}}, {"list", "delete"}, "to drain it deletes"),
        ({"uninstall": {"policy": "Retain"}}, {"list", "delete", "patch"}, "to retain it says so in each spec first"),
    ],
    ids=["Refuse", "Drain", "Retain"],
)
@pytest.mark.parametrize("where", [{}, NAMESPACED], ids=["cluster", "namespaces"])
def test_the_guard_has_the_fewest_rights_and_only_while_it_runs(chart, values, verbs, why, where):
    rendered = chart.render({**where, **values})
    roles = [*rendered.all("Role"), *rendered.all("ClusterRole")]
    mine = [item for item in roles if item["metadata"]["name"] == f"{NAME}-uninstall"]
    assert len(mine) == (2 if where else 1)
    assert all(rights(role) == {("gpucloud.dev", kind, verb) for kind in KINDS for verb in verbs} for role in mine), why
    for item in rendered.objects:
        if item["metadata"]["name"] == f"{NAME}-uninstall" and item["kind"] != "Job":
            annotations = item["metadata"]["annotations"]
            assert annotations["helm.sh/hook"] == "pre-delete"
            assert annotations["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"


def test_switched_off_no_right_is_given_at_all(chart):
    rendered = chart.render({"rbac": {"create": False, "aggregate": False}, "serviceAccount": {"name": "given"}})
    kinds = {item["kind"] for item in rendered.objects}
    assert not kinds & {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
    assert rendered.pods["uninstall"]["spec"]["serviceAccountName"] == "given", "the guard then uses what there is"
