"""What the operator may not do in Kubernetes, asked of the apiserver itself; and who may make it spend (S2, S3, S11)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from support.canaries import searched
from support.kubectl import Kubectl
from support.manifests import gpucloudaccount, gpuvm, secret
from support.operatorproc import RBAC, USER, OperatorProcess
from support.waiting import eventually, reach

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "security.md"
FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
}
RESTRICTED = "viewer"  # a user with a token and without any rights but those that a test gives
FOREIGN = 50

# Each is a way to more than the operator needs.
NEVER = {
    "list secrets": "every Secret of the cluster at once",
    "watch secrets": "the same",
    "create secrets": "credentials that nobody gave",
    "update secrets": "another's credential",
    "delete secrets": "a tenant's Secret",
    "list configmaps": "every ConfigMap",
    "create pods": "a pod with any service account",
    "create pods/exec": "a shell in any pod",
    "get nodes": "the cluster's machines",
    "create serviceaccounts/token": "anybody's token",
    "impersonate users": "anybody",
    "impersonate groups": "anybody",
    "bind clusterroles.rbac.authorization.k8s.io": "more rights for itself",
    "escalate clusterroles.rbac.authorization.k8s.io": "more rights for itself",
    "create clusterrolebindings.rbac.authorization.k8s.io": "more rights for itself",
    "create validatingwebhookconfigurations.admissionregistration.k8s.io": "a say in every write",
    "approve certificatesigningrequests.certificates.k8s.io": "a certificate for anybody",
    "create gpuvms.gpucloud.dev": "a purchase that nobody asked for",
    "delete gpuvms.gpucloud.dev": "a destruction that nobody asked for",
    "delete namespaces": "everything",
    "get customresourcedefinitions.apiextensions.k8s.io": "the shape of the API",
}


def rules():
    roles = [item for item in yaml.safe_load_all(RBAC.read_text()) if item["kind"] == "ClusterRole"]
    return [rule for role in roles for rule in role["rules"]]


def test_no_rule_is_wider_than_it_reads():
    words = {word for rule in rules() for part in rule.values() for word in part}
    assert "*" not in words
    assert not words & {"escalate", "bind", "impersonate", "deletecollection", "nodes", "pods", "pods/exec"}
    assert not [rule for rule in rules() if "secrets" in rule["resources"] and {"list", "watch"} & set(rule["verbs"])]


def question(what):
    """Whether the one who asks may do this in any namespace."""
    verb, _, target = what.partition(" ")
    (resource, _, subresource), (name, _, group) = target.partition("/"), target.partition(".")
    fields = {"verb": verb, "resource": name if group else resource, "group": group, "subresource": subresource}
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": fields},
    }


@pytest.mark.usefixtures("rights")
def test_the_apiserver_agrees(control_plane, figure):
    as_operator = Kubectl(control_plane.kubectl, control_plane.kubeconfig_for(USER))
    asked = json.dumps({"apiVersion": "v1", "kind": "List", "items": [question(what) for what in NEVER]})
    answers = as_operator.ok("create", '--output=jsonpath={.status.allowed}{"\\n"}', "-f", "-", stdin=asked).split()
    allowed = [what for what, answer in zip(NEVER, answers, strict=True) if answer != "false"]
    assert not allowed
    figure(f"{len(NEVER)} ways to more: the apiserver says no to each")


def narrow_rights(namespace):
    """The documented rules as a Role of one namespace, for an operator that is to see no other."""
    meta = {"name": "gpucloud-operator", "namespace": namespace}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta, "rules": rules()}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": RESTRICTED}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "gpucloud-operator"}
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": meta}
    return [role, {**binding, "subjects": [subject], "roleRef": reference}]


def test_with_a_role_in_one_namespace_no_other_secret_can_be_read(control_plane, kubectl, here, new_namespace, sim, figure):
    """The tenants' mode that run-the-operator.md describes: it works where it may, and sees nothing elsewhere."""
    there = kubectl.in_namespace(new_namespace())
    there.apply([secret(f"foreign-{number}", apikey=f"made-up-foreign-key-{number}") for number in range(FOREIGN)])
    here.apply(narrow_rights(here.namespace))
    here.apply([secret(apikey=sim.key("ann")["value"]), gpucloudaccount(), gpuvm()])
    kubeconfig = control_plane.kubeconfig_for(RESTRICTED)
    restricted = Kubectl(control_plane.kubectl, kubeconfig, here.namespace)
    eventually(lambda: restricted.run("auth", "can-i", "list", "gpuvms").returncode == 0, what="the rights to be in force")
    flags = {**FLAGS, "namespace": [here.namespace], "install_tag": "narrow"}
    with searched(
        OperatorProcess(sim.url, kubeconfig, None, **flags), sim, kubectl, here.namespace, there.namespace
    ) as process:
        reach(here, "gpuvm", "train", "True/Running")
        here.delete("gpuvm", "train")
        sim.assert_empty()
        assert not [record for record in process.logs() if "forbidden" in str(record).lower()], "it has all that it needs"
    stranger = Kubectl(control_plane.kubectl, kubeconfig, there.namespace)
    done = stranger.run("get", "secrets", *(f"foreign-{number}" for number in range(FOREIGN)))
    assert done.stderr.count("Forbidden") == FOREIGN
    assert done.stdout == ""
    assert stranger.run("get", "secrets").returncode != 0
    figure(f"{FOREIGN} Secrets of another namespace: {FOREIGN} denied")


def sample_policy():
    """The policy on the page, as people copy it."""
    (block,) = re.findall(r"```yaml\n(apiVersion: admissionregistration.*?)```", PAGE.read_text(), re.DOTALL)
    return list(yaml.safe_load_all(block))


@pytest.fixture
def policy(kubectl):
    documents = sample_policy()
    kubectl.apply(documents)
    yield
    for item in documents:
        kubectl.delete(item["kind"].lower(), item["metadata"]["name"])


@pytest.mark.usefixtures("policy", "crds")
def test_who_may_not_read_a_secret_may_not_spend_with_it(control_plane, here):
    """The sample policy of security.md: without it a right to create accounts is a right to use any Secret of the namespace."""
    author = Kubectl(control_plane.kubectl, control_plane.kubeconfig_for(RESTRICTED), here.namespace)
    meta, group = {"name": "author", "namespace": here.namespace}, "rbac.authorization.k8s.io"
    accounts = {"apiGroups": ["gpucloud.dev"], "resources": ["gpucloudaccounts"], "verbs": ["create", "get", "patch"]}
    role = {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": meta, "rules": [accounts]}
    subject = {"apiGroup": group, "kind": "User", "name": RESTRICTED}
    binding = {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": meta, "subjects": [subject]}
    here.apply([role, {**binding, "roleRef": {"apiGroup": group, "kind": "Role", "name": "author"}}])
    dry = ("--dry-run=server",)
    manifest = gpucloudaccount()
    refused = eventually(
        lambda: "may not read the Secret" in (said := author.apply(manifest, *dry, expect_error=True)) and said,
        60,
        "the policy",
    )
    assert "cloud-credential" in refused
    reads = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["cloud-credential"], "verbs": ["get"]}
    here.apply({**role, "rules": [accounts, reads]})
    eventually(lambda: author.apply(manifest, *dry), what="the right to be known")
