"""The CustomResourceDefinitions: what tools rely on, and the command that prints them."""

from __future__ import annotations

import copy

import pytest
import yaml

from gpucloud.cli.main import main
from gpucloud.kinds.crd import custom_resource_definition, to_yaml
from gpucloud.kinds.definitions import DEFINITIONS, GPUVM
from gpucloud.kinds.reference import reference_page
from support.crdschema import fields, rules

CRD = custom_resource_definition(GPUVM)
VERSION = CRD["spec"]["versions"][0]
STATUS = VERSION["schema"]["openAPIV3Schema"]["properties"]["status"]
SPEC = VERSION["schema"]["openAPIV3Schema"]["properties"]["spec"]
FILE = "gpucloud.dev_gpuvms.yaml"


def test_names():
    assert CRD["metadata"]["name"] == "gpuvms.gpucloud.dev"
    assert CRD["spec"]["names"]["shortNames"] == ["gvm"]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda item: item.kind)
def test_no_kind_is_in_the_category_all_whose_deletion_would_destroy_paid_machines(definition):
    assert custom_resource_definition(definition)["spec"]["names"]["categories"] == ["gpucloud"]


def test_a_fresh_object_is_not_taken_for_a_finished_one():
    assert STATUS["default"] == {}
    assert STATUS["properties"]["observedGeneration"]["default"] == -1
    assert STATUS["properties"]["observedGeneration"]["format"] == "int64"
    (first,) = STATUS["properties"]["conditions"]["default"]
    assert (first["type"], first["status"], first["reason"]) == ("Ready", "Unknown", "Pending")
    assert first["lastTransitionTime"] == "1970-01-01T00:00:00Z"
    assert "observedGeneration" not in first


def test_conditions_are_told_apart_by_type():
    assert STATUS["properties"]["conditions"]["x-kubernetes-list-map-keys"] == ["type"]


def test_status_is_a_subresource():
    assert VERSION["subresources"] == {"status": {}}


def test_columns():
    shown = [column["name"] for column in VERSION["additionalPrinterColumns"] if not column.get("priority")]
    wide = [column["name"] for column in VERSION["additionalPrinterColumns"] if column.get("priority")]
    assert shown == ["Ready", "Reason", "State", "Configuration", "Cluster", "IP", "Age"]
    assert wide == ["VM-ID", "VPC", "Price/h", "Message"]


def test_columns_and_selectable_fields_name_fields_that_exist():
    known = {f".{path}" for path, _ in [*fields(SPEC, "spec"), *fields(STATUS, "status")]}
    plain = [column["jsonPath"] for column in VERSION["additionalPrinterColumns"] if "[?" not in column["jsonPath"]]
    selectable = [field["jsonPath"] for field in VERSION["selectableFields"]]
    assert {*plain, *selectable} - known == {".metadata.creationTimestamp"}


def test_everything_but_power_deletion_and_patience_is_fixed_at_creation():
    fixed = {path for path, rule in rules(SPEC, "spec") if "oldSelf" in rule["rule"]}
    free = {f"spec.{name}" for name in SPEC["properties"]} - fixed
    assert free == {"spec.powerState", "spec.deletion", "spec.progressDeadlineSeconds"}


def test_yaml_is_the_same_each_time_and_says_what_it_came_from():
    assert to_yaml(CRD) == to_yaml(custom_resource_definition(GPUVM))
    assert to_yaml(CRD).startswith("# printed from gpucloud.kinds by `make crds`\n")
    assert yaml.safe_load(to_yaml(CRD)) == CRD


def test_yaml_has_no_anchors_even_where_one_thing_is_said_twice():
    said = {"once": ["x"]}
    assert "&" not in to_yaml({"a": said, "b": said})


def test_the_reference_names_every_field_and_rule():
    page = reference_page(CRD)
    for path, field in [*fields(SPEC, "spec"), *fields(STATUS, "status")]:
        assert f"| `{path}` |" in page
        assert field["description"] in page
    for path, rule in rules(SPEC, "spec"):
        row = f"| `{path}` | {rule['message'].replace('|', '&#124;')} |"
        assert (row in page) == ("oldSelf" not in rule["rule"]), "what is fixed is said once, beside the field"
    assert "| `spec.cluster` | string | required, fixed |" in page
    assert "| `spec.powerState` | `Running` or `Stopped` | default `Running` |" in page


def test_a_field_that_is_added_shows_on_the_page():
    crd = copy.deepcopy(CRD)
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["colour"] = {"type": "string", "description": "Its colour.", "maxLength": 5}
    assert "| `spec.colour` | string | optional | Its colour. (at most 5 characters) |" in reference_page(crd)


def test_command_prints_all_definitions(capsys):
    assert main(["crds"]) == 0
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert [item["metadata"]["name"] for item in printed] == [f"{item.plural}.gpucloud.dev" for item in DEFINITIONS]


def test_command_writes_what_it_then_finds_unchanged(tmp_path):
    crds, docs = tmp_path / "crds", tmp_path / "docs"
    assert main(["crds", "--write", str(crds), "--docs", str(docs)]) == 0
    assert (crds / FILE).read_text() == to_yaml(CRD)
    assert (docs / "gpuvm.md").read_text() == reference_page(CRD)
    assert main(["crds", "--check", str(crds), "--docs", str(docs)]) == 0


@pytest.mark.parametrize("edited", [f"crds/{FILE}", "docs/gpuvm.md"])
def test_command_shows_the_difference_and_the_cure_when_a_file_was_edited(tmp_path, capsys, edited):
    crds, docs = str(tmp_path / "crds"), str(tmp_path / "docs")
    main(["crds", "--write", crds, "--docs", docs])
    with (tmp_path / edited).open("a") as file:
        file.write("written by hand\n")
    assert main(["crds", "--check", crds, "--docs", docs]) == 1
    said = capsys.readouterr()
    assert "-written by hand" in said.out
    assert edited in said.out
    assert "make crds" in said.err


def test_command_notices_a_missing_file(tmp_path, capsys):
    assert main(["crds", "--check", str(tmp_path)]) == 1
    assert "+kind: CustomResourceDefinition" in capsys.readouterr().out


def test_command_wants_to_know_what_to_do_with_docs(tmp_path, capsys):
    assert main(["crds", "--docs", str(tmp_path)]) == 2
    assert "--write or --check" in capsys.readouterr().err
