"""The CustomResourceDefinitions: what tools rely on, and the command that prints them."""

from __future__ import annotations

import copy
import json

import pytest
import yaml

from gpucloud.cli.main import main
from gpucloud.kinds.crd import custom_resource_definition, to_yaml
from gpucloud.kinds.definitions import ALL_DEFINITIONS, GPUVM
from gpucloud.kinds.jsonschema import file_name, json_schema
from pages import kinds

CRD = custom_resource_definition(GPUVM)
FILE = "gpucloud.dev_gpuvms.yaml"


def test_yaml_is_the_same_each_time_and_says_what_it_came_from():
    assert to_yaml(CRD) == to_yaml(custom_resource_definition(GPUVM))
    assert to_yaml(CRD).startswith("# printed from gpucloud.kinds by `make crds`\n")
    assert yaml.safe_load(to_yaml(CRD)) == CRD


def test_yaml_has_no_anchors_even_where_one_thing_is_said_twice():
    said = {"once": ["x"]}
    assert "&" not in to_yaml({"a": said, "b": said})


def test_the_reference_says_what_is_required_immutable_and_defaulted():
    page = kinds.page(CRD)
    assert "| `spec.cluster` | string | required, immutable |" in page
    assert "| `spec.powerState` | `Running` or `Stopped` | default `Running` |" in page


def test_a_field_that_is_added_shows_on_the_page():
    crd = copy.deepcopy(CRD)
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["colour"] = {"type": "string", "description": "Its colour.", "maxLength": 5}
    assert "| `spec.colour` | string | optional | Its colour. (at most 5 characters) |" in kinds.page(crd)


def test_command_prints_all_definitions(capsys):
    assert main(["crds"]) == 0
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert [item["metadata"]["name"] for item in printed] == [f"{item.plural}.gpucloud.dev" for item in ALL_DEFINITIONS]


def test_command_writes_what_it_then_finds_unchanged(tmp_path):
    crds, schemas = tmp_path / "crds", tmp_path / "schemas"
    whole = [str(crds), "--schemas", str(schemas)]
    assert main(["crds", "--write", *whole]) == 0
    assert (crds / FILE).read_text() == to_yaml(CRD)
    assert json.loads((schemas / file_name("GpuVM")).read_text()) == json_schema(CRD)
    assert main(["crds", "--check", *whole]) == 0


@pytest.mark.parametrize("edited", [f"crds/{FILE}", "schemas/gpucloud.dev/gpuvm_v1alpha1.json"])
def test_command_shows_the_difference_and_the_cure_when_a_file_was_edited(tmp_path, capsys, edited):
    whole = [str(tmp_path / "crds"), "--schemas", str(tmp_path / "schemas")]
    main(["crds", "--write", *whole])
    with (tmp_path / edited).open("a") as file:
        file.write("written by hand\n")
    assert main(["crds", "--check", *whole]) == 1
    said = capsys.readouterr()
    assert "-written by hand" in said.out
    assert edited in said.out
    assert "make crds" in said.err


def test_command_notices_a_missing_file(tmp_path, capsys):
    assert main(["crds", "--check", str(tmp_path)]) == 1
    assert "+kind: CustomResourceDefinition" in capsys.readouterr().out


def test_command_wants_to_know_what_to_do_with_schemas(tmp_path, capsys):
    assert main(["crds", "--schemas", str(tmp_path)]) == 2
    assert "--write or --check: add one of them" in capsys.readouterr().err
