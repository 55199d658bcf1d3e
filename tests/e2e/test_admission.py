"""What a real apiserver accepts and refuses of each kind, and in which words.

The apiserver is also the judge of the CEL cost budget: a schema that is too dear is refused as a whole.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
import secrets
from pathlib import Path

import pytest
import yaml

from gpucloud.kinds.common import FIRST_CONDITION
from gpucloud.kinds.meta import API_VERSION
from support.crdcases import ACCOUNT, ALL, LEAKY_URL, PRIVATE_KEY, SNAPSHOT, VM, VPC
from support.crdschema import fields, rules, whole
from support.waiting import eventually

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "deploy" / "examples" / "gpuvm.yaml"

each_kind = pytest.mark.parametrize("cases", ALL, ids=lambda cases: cases.kind)


def rows(table):
    """The rows of one table of every kind, each named by its kind and its reason."""
    return [pytest.param(cases, *row[1:], id=f"{cases.kind}: {row[0]}") for cases in ALL for row in getattr(cases, table)]


def edits(table, wanted=lambda cases, row: True):  # noqa: ARG005 - the signature of a filter
    """The fields of one table of every kind, each named by its kind and its path."""
    return [
        pytest.param(cases, row, id=f"{cases.kind}: {row.field}")
        for cases in ALL
        for row in getattr(cases, table)
        if wanted(cases, row)
    ]


def is_required(cases, row):
    return row.field in cases.required


def is_optional(cases, row):
    return row.field not in cases.required


def nested(path, value):
    """``{"a": {"b": value}}`` of ``a.b``."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def merged(one, other):
    """Both, one within the other as deep as they have the same names."""
    below = {
        name: merged(one[name], other[name])
        for name in one.keys() & other.keys()
        if isinstance(other[name], dict) and one[name]
    }
    return {**one, **other, **below}


@pytest.fixture(scope="module")
def reconciler(kubectl, crds):
    """A kubectl in a namespace of this module. No operator runs: what stands here is the apiserver's work alone."""
    assert {f"{cases.definition.plural}.gpucloud.dev" for cases in ALL} <= set(crds)
    name = f"admission-{secrets.token_hex(4)}"
    kubectl.ok("create", "namespace", name)
    yield kubectl.in_namespace(name)
    for cases in ALL:
        kubectl.ok("delete", "--raw", f"/apis/{API_VERSION}/namespaces/{name}/{cases.definition.plural}")
    kubectl.ok("delete", "namespace", name, "--wait=false")


def dry_run(reconciler, manifest, *flags):
    return reconciler.run("create", "--dry-run=server", "--output=json", *flags, "-f", "-", stdin=json.dumps(manifest))


# --- the definition ---------------------------------------------------------------------------------------------------


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


# --- what is accepted and refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cases", "changes"), rows("accepted"))
def test_accepts(reconciler, cases, changes):
    done = dry_run(reconciler, cases.manifest(**changes))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("cases", "changes", "blamed", "says"), rows("refused"))
def test_refuses(reconciler, cases, changes, blamed, says):
    done = dry_run(reconciler, cases.manifest(**changes))
    assert done.returncode != 0
    complaints = [part for part in re.split(r"\n\* |is invalid: (?!\n)", done.stderr) if part.startswith(f"{blamed}: ")]
    assert any(says in complaint for complaint in complaints), done.stderr


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
def test_an_object_needs_a_spec(reconciler, cases):
    manifest = cases.manifest()
    del manifest["spec"]
    assert "spec: Required value" in dry_run(reconciler, manifest).stderr


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
def test_a_secret_in_the_wrong_place_is_not_repeated_to_terminals_and_logs(reconciler, cases, changes, secret):
    done = dry_run(reconciler, cases.manifest(**changes))
    assert done.returncode != 0
    assert secret not in done.stdout + done.stderr


@each_kind
def test_any_name_of_a_kubernetes_object_is_accepted_since_the_cloud_gets_a_name_of_its_own(reconciler, cases):
    assert dry_run(reconciler, cases.manifest(("a" * 63 + ".") * 3 + "b" * 61)).returncode == 0


@each_kind
def test_an_unknown_field_is_refused_for_strict_clients_and_pruned_for_others(reconciler, cases):
    manifest = cases.manifest(colour="red")
    strict = dry_run(reconciler, manifest)
    assert strict.returncode != 0
    assert 'unknown field "spec.colour"' in strict.stderr
    loose = dry_run(reconciler, manifest, "--validate=ignore")
    assert loose.returncode == 0
    assert json.loads(loose.stdout)["spec"] == cases.minimal | cases.defaults


# --- what is fixed ----------------------------------------------------------------------------------------------------


def object_name(field, *, given):
    return f"{field.lower().replace('.', '-')}-{'with' if given else 'without'}"


@pytest.fixture(scope="module")
def objects(reconciler):
    """For each field two objects: one with a value, one without; parents of nested fields stand in both."""
    manifests = []
    for cases in ALL:
        for row in cases.fixed + cases.free:
            top, _, below = row.field.partition(".")
            full = merged(row.needs, nested(row.field, row.value))
            manifests.append(cases.manifest(object_name(row.field, given=True), **full))
            if row.field not in cases.required:
                bare = {**row.needs, top: {} if below else None, **row.instead}
                manifests.append(cases.manifest(object_name(row.field, given=False), **bare))
    reconciler.apply(manifests)
    return reconciler


def edit(objects, cases, field, value, *, given):
    """Try to set ``field`` of the object that was made with it, or without it; returns the finished kubectl."""
    patch = json.dumps({"spec": nested(field, value)})
    name = object_name(field, given=given)
    return objects.run("patch", cases.short_name, name, "--type=merge", "--dry-run=server", f"--patch={patch}")


def assert_fixed(done, field):
    top = field.partition(".")[0]
    assert done.returncode != 0, f"{field} could be edited: {done.stdout}"
    assert f"spec.{top}: Forbidden: spec.{top} is fixed when the object is created" in done.stderr
    assert "delete this object and create it again" in done.stderr


@pytest.mark.parametrize(("cases", "row"), edits("fixed"))
def test_a_fixed_field_cannot_be_changed(objects, cases, row):
    assert edit(objects, cases, row.field, row.value, given=True).returncode == 0, "saying the same again is no change"
    assert_fixed(edit(objects, cases, row.field, row.other, given=True), row.field)


@pytest.mark.parametrize(("cases", "row"), edits("fixed", is_optional))
def test_a_fixed_field_cannot_be_added(objects, cases, row):
    assert_fixed(edit(objects, cases, row.field, row.value, given=False), row.field)


@pytest.mark.parametrize(("cases", "row"), edits("fixed", is_optional))
def test_a_fixed_field_cannot_be_removed(objects, cases, row):
    assert_fixed(edit(objects, cases, row.field, None, given=True), row.field)


@pytest.mark.parametrize(("cases", "row"), [*edits("fixed", is_required), *edits("free", is_required)])
def test_a_required_field_cannot_be_removed(objects, cases, row):
    assert f"spec.{row.field}: Required value" in edit(objects, cases, row.field, None, given=True).stderr


@pytest.mark.parametrize(("cases", "row"), edits("free"))
def test_a_free_field_can_be_changed(objects, cases, row):
    done = edit(objects, cases, row.field, row.other, given=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("cases", "row"), edits("free", is_optional))
def test_a_free_field_can_be_added_and_removed(objects, cases, row):
    for done in (
        edit(objects, cases, row.field, row.value, given=False),
        edit(objects, cases, row.field, None, given=True),
    ):
        assert (done.returncode, done.stderr) == (0, "")


SWITCHED = [
    ("a VM's VPC, from name to object", VM, "vpc", {"vpc": None, "vpcRef": {"name": "lab"}}),
    ("a VM's VPC, from object to name", VM, "vpcRef", {"vpc": "acme", "vpcRef": None}),
    (
        "a snapshot's source, from object to name",
        SNAPSHOT,
        "vmRef",
        {"vmRef": None, "vm": {"cluster": "c", "vpc": "v", "name": "n"}},
    ),
    ("a snapshot's source, from name to object", SNAPSHOT, "vm", {"vmRef": {"name": "train"}, "vm": None}),
]


@pytest.mark.parametrize(("cases", "field", "spec"), [pytest.param(*row, id=why) for why, *row in SWITCHED])
def test_one_of_two_cannot_be_switched_for_the_other(objects, cases, field, spec):
    patch = f"--patch={json.dumps({'spec': spec})}"
    name = object_name(field, given=True)
    done = objects.run("patch", cases.short_name, name, "--type=merge", "--dry-run=server", patch)
    for switched in spec:
        assert_fixed(done, switched)


@each_kind
def test_the_tables_name_every_field_of_the_spec(cases):
    named = {row.field for row in cases.fixed + cases.free}
    assert {path for path, _ in fields(cases.schema["spec"]) if "[]" not in path} == named


def test_a_free_field_can_be_changed_beside_fixed_ones_that_stay(reconciler):
    example = yaml.safe_load(EXAMPLE.read_text())
    example["metadata"]["name"] = "edited"
    reconciler.apply(example)
    stopped = copy.deepcopy(example)
    stopped["spec"]["powerState"] = "Stopped"
    assert "configured" in reconciler.apply(stopped)


# --- what a user sees -------------------------------------------------------------------------------------------------


def test_the_example_applied_twice_is_unchanged(reconciler):
    assert "created" in reconciler.apply(EXAMPLE)
    assert "unchanged" in reconciler.apply(EXAMPLE)


@each_kind
def test_a_fresh_object_waits_for_the_operator(reconciler, cases):
    reconciler.apply(cases.manifest("fresh"))
    fresh = reconciler.get(cases.short_name, "fresh")
    assert fresh["spec"] == cases.minimal | cases.defaults
    assert fresh["status"] == {
        **({"users": 0} if cases is ACCOUNT else {}),
        "observedGeneration": -1,
        "conditions": [
            {
                "type": "Ready",
                "status": "Unknown",
                "reason": "Pending",
                "message": FIRST_CONDITION["message"],
                "lastTransitionTime": "1970-01-01T00:00:00Z",
            }
        ],
    }


# (the kind, a status, what kubectl get shows of it, what it shows only if asked for more)
COLUMNS = [
    (
        VM,
        {"state": "ONLINE", "ip": "198.51.100.7", "vmId": "vm-1", "vpc": "acme", "account": "main", "pricePerHour": "2.05"},
        {"STATE": "ONLINE", "CONFIGURATION": "A100_40GB_PCIe_1x", "CLUSTER": "Msc1", "IP": "198.51.100.7"},
        {"VM-ID": "vm-1", "VPC": "acme", "ACCOUNT": "main", "PRICE/H": "2.05"},
    ),
    (
        VPC,
        {"ipRange": "192.0.2.0/24", "isDefault": False, "vpcId": "17", "adopted": True, "account": "(operator)"},
        {"NAME": "acme-lab", "CLUSTER": "Msc1", "IP-RANGE": "192.0.2.0/24", "DEFAULT": "false"},
        {"VPC-ID": "17", "ADOPTED": "true", "ACCOUNT": "(operator)"},
    ),
    (
        SNAPSHOT,
        {
            "sourceName": "train-a",
            "cluster": "Msc1",
            "rootDiskSize": "500Gi",
            "snapshotId": "before-a",
            "vpc": "acme",
            "account": "main",
        },
        {"SOURCE": "train-a", "CLUSTER": "Msc1", "SIZE": "500Gi"},
        {"SNAPSHOT-ID": "before-a", "VPC": "acme", "ACCOUNT": "main"},
    ),
    (
        ACCOUNT,
        {"endpoint": "eu", "tenant": "acme", "users": 3, "credentialKind": "ApiKey", "lastContactAt": "2026-01-02T03:04:05Z"},
        {"ENDPOINT": "eu", "TENANT": "acme", "USERS": "3"},
        {"CREDENTIAL": "ApiKey", "LAST-CONTACT": None},
    ),
]


@pytest.mark.parametrize(("cases", "status", "shown", "wide"), [pytest.param(*row, id=row[0].kind) for row in COLUMNS])
def test_columns(reconciler, cases, status, shown, wide):
    reconciler.apply(cases.manifest("listed"))
    reconciler.patch(cases.short_name, "listed", {"status": status}, subresource="status")
    titles, values = reconciler.ok("get", cases.short_name, "listed", "-o", "wide").splitlines()
    head = re.split(r"\s{2,}", titles)
    starts = [found.start() for found in re.finditer(r"\S+(?: \S+)*", titles)]  # a value may be empty
    row = [values[start:end].strip() for start, end in itertools.pairwise([*starts, None])]
    first = ["NAME", "READY", "REASON"]
    assert head == [*first, *shown, "AGE", *wide, "PAUSED", "MESSAGE"]
    seen = [value for name, value in zip(head, row, strict=True) if name not in {"AGE", "LAST-CONTACT"}]
    told = [value for value in [*shown.values(), *wide.values()] if value is not None]
    assert seen == ["listed", "Unknown", "Pending", *told, "", FIRST_CONDITION["message"]]
    plain = reconciler.ok("get", cases.short_name, "listed").splitlines()[0].split()
    assert plain == [*first, *shown, "AGE"]


# (the kind, the spec and status of an object, a selector that finds it, one that does not)
SELECTED = [
    (VM, {"cluster": "Sel1"}, {}, "spec.cluster=Sel1", "spec.cluster=Sel2"),
    (
        VM,
        {},
        {"state": "ONLINE", "vmId": "vm-sel"},
        "status.vmId=vm-sel,status.state=ONLINE,spec.vpc=acme,spec.configuration=A100_40GB_PCIe_1x",
        "status.vmId=vm-sel,status.state=OFFLINE",
    ),
    (VM, {"vpc": None, "vpcRef": {"name": "sel"}}, {}, "spec.vpcRef.name=sel", "spec.vpcRef.name=sel,spec.vpc=acme"),
    (VM, {"accountRef": {"name": "sel"}}, {}, "spec.accountRef.name=sel", "spec.accountRef.name=other"),
    (
        VPC,
        {"name": "acme-sel", "accountRef": {"name": "sel"}},
        {"vpcId": "sel"},
        "spec.cluster=Msc1,spec.name=acme-sel,spec.accountRef.name=sel,status.vpcId=sel",
        "spec.name=acme-sel,status.vpcId=other",
    ),
    (
        SNAPSHOT,
        {"vmRef": {"name": "sel"}, "accountRef": {"name": "sel"}},
        {"snapshotId": "sel", "sourceName": "vm-sel"},
        "spec.vmRef.name=sel,spec.accountRef.name=sel,status.snapshotId=sel,status.sourceName=vm-sel",
        "spec.vmRef.name=sel,status.snapshotId=other",
    ),
    (
        ACCOUNT,
        {"endpoint": "sel", "secretRef": {"name": "sel"}},
        {"tenant": "sel"},
        "spec.endpoint=sel,spec.secretRef.name=sel,status.tenant=sel",
        "spec.endpoint=sel,status.tenant=other",
    ),
]


@pytest.mark.parametrize(("cases", "spec", "status", "finds", "misses"), [pytest.param(*row, id=row[3]) for row in SELECTED])
def test_objects_can_be_selected_by_field(reconciler, cases, spec, status, finds, misses):
    name = f"selected-{secrets.token_hex(4)}"
    reconciler.apply(cases.manifest(name, **spec))
    reconciler.patch(cases.short_name, name, {"status": status}, subresource="status")

    def select(selector):
        return reconciler.ok(
            "get", cases.short_name, f"--field-selector={selector}", "-o", "jsonpath={.items[*].metadata.name}"
        ).split()

    assert select(finds) == [name]
    assert select(misses) == []


def test_every_selectable_field_is_tried():
    tried = {(row[0].kind, part.split("=")[0]) for row in SELECTED for part in row[3].split(",")}
    assert tried == {(cases.kind, path[1:]) for cases in ALL for path in cases.definition.selectable_fields}


def test_the_category_is_ours_and_not_all(reconciler):
    reconciler.apply([cases.manifest("categorised") for cases in ALL])
    ours = reconciler.ok("get", "gpucloud", "-o", "name").split()
    assert {f"{cases.kind.lower()}.gpucloud.dev/categorised" for cases in ALL} <= set(ours)
    assert "gpucloud.dev" not in reconciler.ok("get", "all", "-o", "name")


# --- status -----------------------------------------------------------------------------------------------------------


@each_kind
def test_a_whole_status_is_kept_as_it_was_written(reconciler, cases):
    model = cases.definition.status.model_validate(whole(cases.schema["status"]))
    status = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert {path for path, _ in fields(cases.schema["status"])} == set(paths(status))
    reconciler.apply(cases.manifest("reported"))
    reconciler.patch(cases.short_name, "reported", {"status": status}, subresource="status")
    assert reconciler.get(cases.short_name, "reported")["status"] == status


def paths(value, path=""):
    """Every name below ``value``, in the form of ``support.crdschema.fields``."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        here = f"{path}.{name}" if path else name
        yield here
        yield from paths(inner[0], f"{here}[]") if isinstance(inner, list) else paths(inner, here)


CONDITION = {"type": "Ready", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}
OPERATION = {"name": "CreateVpc", "access": "Forbidden"}
BAD_STATUS = [
    *(
        row
        for cases in ALL
        for row in (
            ("a reason with a hyphen", cases, {"conditions": [CONDITION | {"reason": "not-camel"}]}, "conditions[0].reason"),
            ("a status that is none", cases, {"conditions": [CONDITION | {"status": "Maybe"}]}, "conditions[0].status"),
            ("one type twice", cases, {"conditions": [CONDITION, CONDITION]}, "conditions[1]"),
            (
                "no time",
                cases,
                {"conditions": [{**CONDITION, "lastTransitionTime": "now"}]},
                "conditions[0].lastTransitionTime",
            ),
            ("a text for a generation, which hangs Helm", cases, {"observedGeneration": "1"}, "status.observedGeneration"),
        )
    ),
    ("an operation twice", ACCOUNT, {"operations": [OPERATION, OPERATION]}, "operations[1]"),
    ("an access that is none", ACCOUNT, {"operations": [OPERATION | {"access": "Maybe"}]}, "operations[0].access"),
    ("a cluster twice", ACCOUNT, {"clusters": ["Msc1", "Msc1"]}, "clusters[1]"),
    ("a credential of a third kind", ACCOUNT, {"credentialKind": "Token"}, "status.credentialKind"),
]


@pytest.mark.parametrize(
    ("cases", "status", "blamed"), [pytest.param(*row, id=f"{row[0].kind}: {why}") for why, *row in BAD_STATUS]
)
def test_a_status_that_tools_would_trip_over_is_refused(reconciler, cases, status, blamed):
    reconciler.apply(cases.manifest("misreported"))
    refused = reconciler.patch(cases.short_name, "misreported", {"status": status}, subresource="status", expect_error=True)
    assert blamed in refused
