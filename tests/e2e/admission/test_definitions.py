"""What a real apiserver accepts and refuses of each kind, and in which words.

The apiserver is also the judge of the CEL cost budget: a schema that is too dear is refused as a whole.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.crdcases.gpucloudaccount import ACCOUNT, LEAKY_URL
from support.crdcases.gpuvm import PRIVATE_KEY, VM
from support.crdcases.kinds import ALL, each_kind
from support.crdschema import fields, rules
from support.kubeapi import DRY_RUN, STRICT
from support.waiting import eventually

ROOT = Path(__file__).parents[3]


def rows(table):
    """The rows of one table of every kind, each named by its kind and its reason."""
    return [pytest.param(cases, *row[1:], id=f"{cases.kind}: {row[0]}") for cases in ALL for row in getattr(cases, table)]


def dry_run(namespaced, manifest, *flags):
    return namespaced.run("create", "--dry-run=server", "--output=json", *flags, "-f", "-", stdin=json.dumps(manifest))


def tried(namespaced, manifest):
    """The apiserver's own answer to the same."""
    return namespaced.api.create(manifest, namespaced.namespace, **DRY_RUN, **STRICT)


@each_kind
@pytest.mark.usefixtures("crds")
def test_the_definition_is_established_without_a_warning(kubectl, cases):
    file = ROOT / "crds" / cases.definition.file_name
    done = kubectl.run("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    standing = kubectl.get("crd", f"{cases.definition.plural}.gpucloud.dev")["status"]["conditions"]
    assert {item["type"]: item["status"] for item in standing} == {"NamesAccepted": "True", "Established": "True"}


@each_kind
@pytest.mark.usefixtures("crds")
def test_every_field_is_explained(kubectl, cases):
    kind = cases.kind.lower()

    def published():  # the apiserver publishes schemas a little after it has established them
        done = kubectl.run("explain", kind, "--recursive")
        return done.stdout if done.returncode == 0 else None

    explained = eventually(published, what=f"kubectl explain knows {cases.kind}")
    for path, _ in [*fields(cases.schema["spec"], "spec"), *fields(cases.schema["status"], "status")]:
        assert re.search(rf"^\s+{re.escape(path.rsplit('.', 1)[-1])}\t<", explained, re.MULTILINE), path
    last, field = list(cases.schema["spec"]["properties"].items())[-1]
    one = re.sub(r"\s+", " ", kubectl.ok("explain", f"{kind}.spec.{last}"))
    assert field["description"] in one


@pytest.mark.parametrize(("cases", "changes"), rows("accepted"))
def test_accepts(namespaced, cases, changes):
    answer = tried(namespaced, cases.manifest(**changes))
    assert (answer.complaints, answer.warnings) == ([], ())


@pytest.mark.parametrize(("cases", "changes", "blamed", "says"), rows("refused"))
def test_refuses(namespaced, cases, changes, blamed, says):
    found = tried(namespaced, cases.manifest(**changes)).complaints
    assert any(complaint.startswith(f"{blamed}: ") and says in complaint for complaint in found), found


@each_kind
def test_every_rule_is_refused_by_some_row(cases):
    tried = [(re.sub(r"\[\d+\]", "[]", blamed), says) for _, _, blamed, says in cases.refused]
    untried = [
        (blamed, rule["message"])
        for blamed, rule in rules(cases.schema["spec"], "spec")
        if "oldSelf" not in rule["rule"] and not any(blamed == at and says in rule["message"] for at, says in tried)
    ]
    assert untried == []


@each_kind
def test_an_object_needs_a_spec(namespaced, cases):
    manifest = cases.manifest()
    del manifest["spec"]
    assert "spec: Required value" in dry_run(namespaced, manifest).stderr


SECRET = "made-up-p4ssphrase"
LEAKS = [
    ("a private key", VM, {"sshKeys": [PRIVATE_KEY]}, "bWFkZS11cA"),
    ("a private key twice", VM, {"sshKeys": [PRIVATE_KEY, PRIVATE_KEY]}, "bWFkZS11cA"),
    ("too long a private key", VM, {"sshKeys": [PRIVATE_KEY + "x" * 8192]}, "bWFkZS11cA"),
    ("a private key beside no VPC", VM, {"sshKeys": [PRIVATE_KEY], "vpc": None}, "bWFkZS11cA"),
    ("a URL with a password", ACCOUNT, {"endpoint": LEAKY_URL}, SECRET),
    ("too long a URL with a password", ACCOUNT, {"endpoint": LEAKY_URL + "x" * 254}, SECRET),
    ("a password for its Secret's name", ACCOUNT, {"secretRef": {"name": f"{SECRET}!"}}, SECRET),
    ("a password for its Secret", ACCOUNT, {"secretRef": SECRET}, SECRET),
    ("a password in a field that is none", ACCOUNT, {"password": SECRET}, SECRET),
]


@pytest.mark.parametrize(("cases", "changes", "secret"), [pytest.param(*row, id=why) for why, *row in LEAKS])
def test_a_secret_in_the_wrong_place_is_not_repeated_to_terminals_and_logs(namespaced, cases, changes, secret):
    done = dry_run(namespaced, cases.manifest(**changes))
    assert done.returncode != 0
    assert secret not in done.stdout + done.stderr


@each_kind
def test_any_name_of_a_kubernetes_object_is_accepted_since_the_cloud_gets_a_name_of_its_own(namespaced, cases):
    assert dry_run(namespaced, cases.manifest(("a" * 63 + ".") * 3 + "b" * 61)).returncode == 0


@each_kind
def test_an_unknown_field_is_refused_for_strict_clients_and_pruned_for_others(namespaced, cases):
    manifest = cases.manifest(colour="red")
    strict = dry_run(namespaced, manifest)
    assert strict.returncode != 0
    assert 'unknown field "spec.colour"' in strict.stderr
    loose = dry_run(namespaced, manifest, "--validate=ignore")
    assert loose.returncode == 0
    assert json.loads(loose.stdout)["spec"] == cases.minimal | cases.defaults
