"""What a real apiserver accepts and refuses of a GpuVM, and in which words.

The apiserver is also the judge of the CEL cost budget: a schema that is too dear is refused as a whole.
"""

from __future__ import annotations

import copy
import json
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import GPUVM
from gpucloud.kinds.gpuvm import GpuVMStatus, Intent
from gpucloud.kinds.meta import API_VERSION, Condition
from support.crdcases import ACCEPTED, FIXED, FREE, MINIMAL, PRIVATE_KEY, REFUSED, REQUIRED, gpuvm
from support.crdschema import fields, rules
from support.waiting import eventually

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "deploy" / "examples" / "gpuvm.yaml"
CRD_FILE = ROOT / "crds" / GPUVM.file_name
SCHEMA = custom_resource_definition(GPUVM)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]


def nested(path, value):
    """``{"a": {"b": value}}`` of ``a.b``."""
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


@pytest.fixture(scope="module")
def room(kubectl, crds):
    """A kubectl in a namespace of this module. No operator runs: what stands here is the apiserver's work alone."""
    assert f"{GPUVM.plural}.gpucloud.dev" in crds
    name = f"admission-{secrets.token_hex(4)}"
    kubectl.ok("create", "namespace", name)
    yield kubectl.in_namespace(name)
    kubectl.ok("delete", "--raw", f"/apis/{API_VERSION}/namespaces/{name}/{GPUVM.plural}")
    kubectl.ok("delete", "namespace", name, "--wait=false")


def dry_run(room, manifest, *flags):
    return room.run("create", "--dry-run=server", "--output=json", *flags, "-f", "-", stdin=json.dumps(manifest))


# --- the definition ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("crds")
def test_the_definition_is_established_without_a_warning(kubectl):
    done = kubectl.run("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", str(CRD_FILE))
    assert (done.returncode, done.stderr) == (0, "")
    standing = kubectl.get("crd", "gpuvms.gpucloud.dev")["status"]["conditions"]
    assert {item["type"]: item["status"] for item in standing} == {"NamesAccepted": "True", "Established": "True"}


@pytest.mark.usefixtures("crds")
def test_every_field_is_explained(kubectl):
    def published():  # the apiserver publishes schemas a little after it has established them
        done = kubectl.run("explain", "gpuvm", "--recursive")
        return done.stdout if done.returncode == 0 else None

    explained = eventually(published, what="kubectl explain knows GpuVM")
    for path, _ in [*fields(SCHEMA["spec"], "spec"), *fields(SCHEMA["status"], "status")]:
        assert re.search(rf"^\s+{re.escape(path.rsplit('.', 1)[-1])}\t<", explained, re.MULTILINE), path
    one = re.sub(r"\s+", " ", kubectl.ok("explain", "gpuvm.spec.vmName"))
    assert SCHEMA["spec"]["properties"]["vmName"]["description"] in one


# --- what is accepted and refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [pytest.param(changes, id=why) for why, changes in ACCEPTED])
def test_accepts(room, changes):
    done = dry_run(room, gpuvm(**changes))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("changes", "blamed", "says"), [pytest.param(*row, id=why) for why, *row in REFUSED])
def test_refuses(room, changes, blamed, says):
    done = dry_run(room, gpuvm(**changes))
    assert done.returncode != 0
    complaints = [part for part in re.split(r"\n\* |is invalid: (?!\n)", done.stderr) if part.startswith(f"{blamed}: ")]
    assert any(says in complaint for complaint in complaints), done.stderr


def test_every_rule_is_refused_by_some_row():
    tried = [(re.sub(r"\[\d+\]", "[]", blamed), says) for _, _, blamed, says in REFUSED]
    untried = [
        (blamed, rule["message"])
        for blamed, rule in rules(SCHEMA["spec"], "spec")
        if "oldSelf" not in rule["rule"] and not any(blamed == at and says in rule["message"] for at, says in tried)
    ]
    assert untried == []


def test_an_object_needs_a_spec(room):
    manifest = gpuvm()
    del manifest["spec"]
    assert "spec: Required value" in dry_run(room, manifest).stderr


@pytest.mark.parametrize("keys", [[PRIVATE_KEY], [PRIVATE_KEY, PRIVATE_KEY], [PRIVATE_KEY + "x" * 8192]])
def test_a_private_key_is_not_repeated_to_terminals_and_logs(room, keys):
    done = dry_run(room, gpuvm(sshKeys=keys))
    assert done.returncode != 0
    assert "bWFkZS11cA" not in done.stdout + done.stderr


def test_any_name_of_a_kubernetes_object_is_accepted_since_the_vm_gets_a_shorter_one(room):
    assert dry_run(room, gpuvm(name=("a" * 63 + ".") * 3 + "b" * 61)).returncode == 0


def test_an_unknown_field_is_refused_for_strict_clients_and_pruned_for_others(room):
    manifest = gpuvm(gpus=8)
    strict = dry_run(room, manifest)
    assert strict.returncode != 0
    assert 'unknown field "spec.gpus"' in strict.stderr
    loose = dry_run(room, manifest, "--validate=ignore")
    assert loose.returncode == 0
    assert json.loads(loose.stdout)["spec"].keys() & {"gpus", "cluster"} == {"cluster"}


# --- what is fixed ----------------------------------------------------------------------------------------------------


def object_name(field, *, given):
    return f"{field.lower().replace('.', '-')}-{'with' if given else 'without'}"


@pytest.fixture(scope="module")
def objects(room):
    """For each field two objects: one with a value, one without; parents of nested fields stand in both."""
    manifests = []
    for field, value, _, needs in FIXED + FREE:
        top, _, below = field.partition(".")
        bare = gpuvm(object_name(field, given=False), **{**needs, top: {} if below else None})
        full = gpuvm(object_name(field, given=True), **{**needs, **nested(field, value)})
        manifests += [full] if field in REQUIRED else [full, bare]
    room.apply(manifests)
    return room


def edit(objects, field, value, *, given):
    """Try to set ``field`` of the object that was made with it, or without it; returns the finished kubectl."""
    patch = json.dumps({"spec": nested(field, value)})
    name = object_name(field, given=given)
    return objects.run("patch", "gvm", name, "--type=merge", "--dry-run=server", f"--patch={patch}")


def assert_fixed(done, field):
    top = field.partition(".")[0]
    assert done.returncode != 0, f"{field} could be edited: {done.stdout}"
    assert f"spec.{top}: Forbidden: spec.{top} is fixed when the object is created" in done.stderr
    assert "delete this object and create it again" in done.stderr


FIXED_FIELDS = [pytest.param(*row[:3], id=row[0]) for row in FIXED]
FREE_FIELDS = [pytest.param(*row[:3], id=row[0]) for row in FREE]
OPTIONAL_FIXED_FIELDS = [pytest.param(*row[:2], id=row[0]) for row in FIXED if row[0] not in REQUIRED]


@pytest.mark.parametrize(("field", "value", "other"), FIXED_FIELDS)
def test_a_fixed_field_cannot_be_changed(objects, field, value, other):
    assert edit(objects, field, value, given=True).returncode == 0, "saying the same again is no change"
    assert_fixed(edit(objects, field, other, given=True), field)


@pytest.mark.parametrize(("field", "value"), OPTIONAL_FIXED_FIELDS)
def test_a_fixed_field_cannot_be_added(objects, field, value):
    assert_fixed(edit(objects, field, value, given=False), field)


@pytest.mark.parametrize(("field", "value"), OPTIONAL_FIXED_FIELDS)
def test_a_fixed_field_cannot_be_removed(objects, field, value):  # noqa: ARG001 - one table for both
    assert_fixed(edit(objects, field, None, given=True), field)


@pytest.mark.parametrize("field", sorted(REQUIRED))
def test_a_required_field_cannot_be_removed(objects, field):
    assert f"spec.{field}: Required value" in edit(objects, field, None, given=True).stderr


@pytest.mark.parametrize(("field", "value", "other"), FREE_FIELDS)
def test_a_free_field_can_be_changed_added_and_removed(objects, field, value, other):
    for done in (
        edit(objects, field, other, given=True),
        edit(objects, field, value, given=False),
        edit(objects, field, None, given=True),
    ):
        assert (done.returncode, done.stderr) == (0, "")


def test_the_tables_name_every_field_of_the_spec():
    named = {row[0] for row in FIXED + FREE}
    assert {path for path, _ in fields(SCHEMA["spec"]) if "[]" not in path} == named


def test_a_free_field_can_be_changed_beside_fixed_ones_that_stay(room):
    example = yaml.safe_load(EXAMPLE.read_text())
    example["metadata"]["name"] = "edited"
    room.apply(example)
    stopped = copy.deepcopy(example)
    stopped["spec"]["powerState"] = "Stopped"
    assert "configured" in room.apply(stopped)


# --- what a user sees -------------------------------------------------------------------------------------------------


def test_the_example_applied_twice_is_unchanged(room):
    assert "created" in room.apply(EXAMPLE)
    assert "unchanged" in room.apply(EXAMPLE)


def test_a_fresh_object_waits_for_the_operator(room):
    room.apply(gpuvm("fresh"))
    fresh = room.get("gvm", "fresh")
    assert fresh["status"] == {
        "observedGeneration": -1,
        "conditions": [
            {
                "type": "Ready",
                "status": "Unknown",
                "reason": "Pending",
                "message": "Waiting for the operator",
                "lastTransitionTime": "1970-01-01T00:00:00Z",
            }
        ],
    }
    defaults = {"powerState": "Running", "deletion": {"policy": "Delete"}, "progressDeadlineSeconds": 1800}
    assert fresh["spec"] == MINIMAL | defaults


def test_columns(room):
    room.apply(gpuvm("listed"))
    status = {"state": "ONLINE", "ip": "198.51.100.7", "vmId": "vm-1", "pricePerHour": "2.05"}
    room.patch("gvm", "listed", {"status": status}, subresource="status")
    head, row = (re.split(r"\s{2,}", line) for line in room.ok("get", "gvm", "listed", "-o", "wide").splitlines())
    seen = dict(zip(head, row, strict=True))
    assert isinstance(seen.pop("AGE"), str)
    assert seen == {
        "NAME": "listed",
        "READY": "Unknown",
        "REASON": "Pending",
        "STATE": "ONLINE",
        "CONFIGURATION": "A100_40GB_PCIe_1x",
        "CLUSTER": "Msc1",
        "IP": "198.51.100.7",
        "VM-ID": "vm-1",
        "VPC": "acme",
        "PRICE/H": "2.05",
        "MESSAGE": "Waiting for the operator",
    }
    plain = room.ok("get", "gvm", "listed").splitlines()[0].split()
    assert plain == ["NAME", "READY", "REASON", "STATE", "CONFIGURATION", "CLUSTER", "IP", "AGE"]


def test_objects_can_be_selected_by_field(room):
    room.apply([gpuvm("here", cluster="Sel1"), gpuvm("there", cluster="Sel2")])
    room.patch("gvm", "there", {"status": {"state": "ONLINE", "vmId": "vm-sel"}}, subresource="status")

    def select(selector):
        return room.ok("get", "gvm", f"--field-selector={selector}", "-o", "name").split()

    assert select("spec.cluster=Sel1") == ["gpuvm.gpucloud.dev/here"]
    assert select("spec.cluster=Sel2,status.state=ONLINE") == ["gpuvm.gpucloud.dev/there"]
    assert select("status.vmId=vm-sel,spec.vpc=acme,spec.configuration=A100_40GB_PCIe_1x") == ["gpuvm.gpucloud.dev/there"]


def test_the_category_is_ours_and_not_all(room):
    room.apply(gpuvm("categorised"))
    assert "gpuvm.gpucloud.dev/categorised" in room.ok("get", "gpucloud", "-o", "name").split()
    assert "gpuvm" not in room.ok("get", "all", "-o", "name")


# --- status -----------------------------------------------------------------------------------------------------------

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def written_status():
    """A status with every field set, as the operator writes it."""
    texts = {name: "x" for name, field in GpuVMStatus.model_fields.items() if field.annotation == str | None}
    ready = Condition(
        type="Ready", status="True", reason="Running", message="Ok.", observed_generation=1, last_transition_time=NOW
    )
    status = GpuVMStatus(
        **texts,
        observed_generation=1,
        conditions=(ready,),
        intent=Intent(name="n", cluster="c", vpc="v", recorded_at=NOW),
        gpus=1,
        vcpus=14,
        memory_gb=112,
        storage_gb=1700,
        direct_attached_storage_persisted=False,
        progress_deadline_at=NOW,
    )
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)


def test_a_whole_status_is_kept_as_it_was_written(room):
    room.apply(gpuvm("reported"))
    status = written_status()
    assert status.keys() == SCHEMA["status"]["properties"].keys()
    room.patch("gvm", "reported", {"status": status}, subresource="status")
    assert room.get("gvm", "reported")["status"] == status


CONDITION = {"type": "Ready", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}
BAD_STATUS = [
    ("a reason with a hyphen", {"conditions": [CONDITION | {"reason": "not-camel"}]}, "conditions[0].reason"),
    ("a status that is none", {"conditions": [CONDITION | {"status": "Maybe"}]}, "conditions[0].status"),
    ("one type twice", {"conditions": [CONDITION, CONDITION]}, "conditions[1]"),
    ("no time", {"conditions": [{**CONDITION, "lastTransitionTime": "yesterday"}]}, "conditions[0].lastTransitionTime"),
    ("a text for a generation, which hangs Helm", {"observedGeneration": "1"}, "status.observedGeneration"),
]


@pytest.mark.parametrize(("status", "blamed"), [pytest.param(*row, id=why) for why, *row in BAD_STATUS])
def test_a_status_that_tools_would_trip_over_is_refused(room, status, blamed):
    room.apply(gpuvm("misreported"))
    assert blamed in room.patch("gvm", "misreported", {"status": status}, subresource="status", expect_error=True)
