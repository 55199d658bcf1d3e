"""GpuOffer: a record that the operator writes whole, so that it has neither spec nor status, nor conditions."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import ALL_DEFINITIONS, DEFINITIONS, GPUOFFER
from gpucloud.kinds.gpuoffer import GpuOffer
from gpucloud.kinds.jsonschema import json_schema
from pages import kinds
from support.crdschema import fields, values

CRD = custom_resource_definition(GPUOFFER)
(VERSION,) = CRD["spec"]["versions"]
SCHEMA = VERSION["schema"]["openAPIV3Schema"]
NAMES = GpuOffer.model_json_schema(by_alias=True)["properties"]
OWN = {"type": "object", "required": SCHEMA["required"], "properties": {name: SCHEMA["properties"][name] for name in NAMES}}


def test_it_is_printed_with_the_other_kinds_and_watched_with_none():
    assert GPUOFFER in ALL_DEFINITIONS
    assert GPUOFFER not in DEFINITIONS


def test_names():
    names = CRD["spec"]["names"]
    assert names["shortNames"] == ["goffer"]
    assert "categories" not in names, "kubectl get gpucloud shows what people declare"


def test_one_write_makes_it_whole_since_no_part_of_it_is_a_subresource():
    assert "subresources" not in VERSION
    assert {"spec", "status"}.isdisjoint(SCHEMA["properties"])


def test_it_must_say_what_is_offered_where_and_to_whom():
    assert SCHEMA["required"] == ["account", "configuration", "cluster"]
    assert json_schema(CRD)["required"] == ["apiVersion", "kind", "metadata", "account", "configuration", "cluster"]


@given(data=st.data())
@settings(max_examples=100)
def test_all_that_the_schema_accepts_is_read_and_comes_back_unchanged(data):
    said = data.draw(values(OWN))
    assert GpuOffer.model_validate(said).model_dump(mode="json", by_alias=True, exclude_unset=True) == said


def test_columns():
    columns = VERSION["additionalPrinterColumns"]
    plain = [column["name"] for column in columns if not column.get("priority")]
    assert plain == ["Configuration", "GPU", "GPUs", "Memory-GB", "Price/h", "Cluster", "Pool", "Available"]
    types = {f".{path}": field["type"] for path, field in fields(OWN, "")}
    types = {path.replace("..", "."): kind for path, kind in types.items()} | {".metadata.creationTimestamp": "date"}
    assert {column["jsonPath"]: column["type"] for column in columns}.items() <= types.items()
    assert {item["jsonPath"] for item in VERSION["selectableFields"]} <= types.keys()


def test_the_reference_names_every_field():
    page = kinds.page(CRD)
    for name, field in OWN["properties"].items():
        assert f"| `{name}` |" in page
        assert field["description"] in page
