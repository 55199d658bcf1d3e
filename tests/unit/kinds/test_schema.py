"""The walk from pydantic models to structural schemas, on models as small as the question."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

from gpucloud.kinds.markers import CEL, IMMUTABLE, SET, list_map, rules, schema_default
from gpucloud.kinds.schema import NotStructuralError, structural

Name = Annotated[str, Field(max_length=10)]


class Colour(StrEnum):
    RED = "Red"
    BLUE = "Blue"


class Inner(BaseModel):
    """Something inside."""

    name: Annotated[Name, Field(description="Its name.")]


class Gap(BaseModel):
    """Something inside that may be left open."""

    name: Annotated[Name | None, Field(description="Its name.")] = None
    colour: Annotated[Name | None, Field(description="Its colour.")] = None


def printed(annotation, default=...):
    """The schema of one field ``it`` of that type, its description apart."""
    model = create_model("Model", it=(Annotated[annotation, Field(description="It.")], default))
    field = structural(model, "spec")["properties"]["it"]
    assert field.pop("description") == "It."
    return field


PRINTS = [
    ("a bounded string", Name, {"type": "string", "maxLength": 10}),
    ("or None means optional: the type alone stays", Name | None, {"type": "string", "maxLength": 10}),
    ("a pattern bounds nothing, so both are printed", Annotated[Name, Field(pattern="^a+$")],
     {"type": "string", "maxLength": 10, "pattern": "^a+$"}),
    ("a time", datetime, {"type": "string", "format": "date-time"}),
    ("an enum, inlined", Colour, {"type": "string", "enum": ["Red", "Blue"]}),
    ("a literal", Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    ("an unbounded integer needs 64 bits", int, {"type": "integer", "format": "int64"}),
    ("a bounded one 32", Annotated[int, Field(ge=0, le=2**31 - 1)],
     {"type": "integer", "minimum": 0, "maximum": 2**31 - 1, "format": "int32"}),
    ("beyond 32 bits", Annotated[int, Field(le=2**31)],
     {"type": "integer", "maximum": 2**31, "format": "int64"}),
    ("a boolean", bool | None, {"type": "boolean"}),
    ("a list is atomic unless it says otherwise", Annotated[tuple[Name, ...], Field(max_length=3)],
     {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "atomic",
      "items": {"type": "string", "maxLength": 10}}),
    ("a set", Annotated[tuple[Name, ...], Field(max_length=3), SET],
     {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "set",
      "items": {"type": "string", "maxLength": 10}}),
    ("a nested model loses its reference and title", Inner,
     {"type": "object", "required": ["name"],
      "properties": {"name": {"type": "string", "description": "Its name.", "maxLength": 10}}}),
    ("a list by key", Annotated[tuple[Inner, ...], Field(max_length=3), list_map("name")],
     {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
      "items": {"type": "object", "description": "Something inside.", "required": ["name"],
                "properties": {"name": {"type": "string", "description": "Its name.", "maxLength": 10}}}}),
    ("a rule of a value", Annotated[Name, CEL("self != 'x'", "not x")],
     {"type": "string", "maxLength": 10,
      "x-kubernetes-validations": [{"rule": "self != 'x'", "message": "not x"}]}),
    ("rules inside and outside of an optional both stand",
     Annotated[Annotated[Name, CEL("1 == 1", "inner")] | None, CEL("2 == 2", "outer")],
     {"type": "string", "maxLength": 10,
      "x-kubernetes-validations": [{"rule": "1 == 1", "message": "inner"}, {"rule": "2 == 2", "message": "outer"}]}),
    ("all that a rule can say, in the order that people read",
     Annotated[Name, CEL("self == oldSelf", "m", "FieldValueForbidden", ".a", optional_old_self=True)],
     {"type": "string", "maxLength": 10,
      "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "m", "reason": "FieldValueForbidden",
                                    "fieldPath": ".a", "optionalOldSelf": True}]}),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "expected"), [pytest.param(*row, id=why) for why, *row in PRINTS])
def test_prints(annotation, expected):
    assert printed(annotation) == expected


DEFAULTS = [
    ("a value", Name, "x", {"default": "x"}),
    ("an enum's word", Colour, Colour.RED, {"default": "Red"}),
    ("zero and false are values", int, 0, {"default": 0}),
    ("false is a value", bool, False, {"default": False}),
    ("None is absence", Name | None, None, {}),
    ("an empty list is absence", Annotated[tuple[Name, ...], Field(max_length=3)], (), {}),
    ("a model's, on the wire", Inner, Inner(name="n"), {"default": {"name": "n"}}),
    ("a model's, without what it leaves open", Gap, Gap(name="n"), {"default": {"name": "n"}}),
    ("a model that gives nothing", Gap, Gap(), {}),
    ("the schema's own wins", Annotated[Name | None, schema_default("s")], None, {"default": "s"}),
]


@pytest.mark.parametrize(("annotation", "default", "expected"), [pytest.param(*row, id=why) for why, *row in DEFAULTS])
def test_defaults(annotation, default, expected):
    field = printed(annotation, default)
    assert {word: value for word, value in field.items() if word == "default"} == expected


class Node(BaseModel):
    """Contains itself."""

    next: Annotated[Node | None, Field(description="The next one.")] = None


class Free(BaseModel):
    """No field at all."""


class WithDefault(BaseModel):
    """A field with a default."""

    name: Annotated[Name, Field(description="Its name.")] = "n"


class Fixed(BaseModel):
    """An immutable field that is not at the top."""

    name: Annotated[Name, Field(description="Its name."), IMMUTABLE]


class Undescribed(BaseModel):
    """A field without a description."""

    name: Name


REFUSES = [
    ("CEL cost", str, "spec.it: a string needs a max_length"),
    ("CEL cost, optional", str | None, "spec.it: a string needs a max_length"),
    ("a pattern is no bound", Annotated[str, Field(pattern="^a")], "spec.it: a string needs a max_length"),
    ("CEL cost of lists", tuple[Name, ...], "spec.it: a list needs a max_length"),
    ("strings in lists too", Annotated[tuple[str, ...], Field(max_length=3)], "spec.it[]: a string needs"),
    ("tuples of fixed shape have no items", tuple[Name, Name], "spec.it: prefixItems: not allowed"),
    ("unions", int | bool, "spec.it: a union of types is not structural"),
    ("floats: the API conventions", float, "spec.it: type 'number' is not allowed"),
    ("anything", object, "spec.it: type None is not allowed"),
    ("free-form maps", dict[str, Name], "spec.it: additionalProperties: not allowed"),
    ("free-form objects", Free, "spec.it: an object needs named fields"),
    ("exclusive bounds mean something else in a CRD", Annotated[int, Field(gt=0)], "exclusiveMinimum: not allowed"),
    ("formats that only some clients read", Annotated[str, Field(json_schema_extra={"format": "uri"})], "format uri"),
    ("recursion", Node, "spec.it.next: Node contains itself"),
    ("no description", Undescribed, "spec.it.name: a field needs a description"),
    ("a default in list items", Annotated[tuple[WithDefault, ...], Field(max_length=3)],
     "spec.it[].name: a default inside list items"),
    ("immutability that its parent's removal would escape", Fixed, "spec.it.name: immutability belongs"),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "says"), [pytest.param(*row, id=why) for why, *row in REFUSES])
def test_refuses(annotation, says):
    with pytest.raises(NotStructuralError) as refusal:
        printed(annotation)
    assert says in str(refusal.value)


def test_an_immutable_field_is_guarded_by_its_parent():
    class Spec(BaseModel):
        """A spec."""

        model_config = ConfigDict(json_schema_extra=rules(CEL("1 == 1", "own")))
        must: Annotated[Name, Field(description="Must."), IMMUTABLE]
        may: Annotated[Name | None, Field(description="May."), IMMUTABLE] = None
        free: Annotated[Name | None, Field(description="Free.")] = None

    schema = structural(Spec, "spec")
    own, must, may = schema["x-kubernetes-validations"]
    assert own == {"rule": "1 == 1", "message": "own"}
    assert must["rule"] == "self.must == oldSelf.must"
    assert may["rule"] == "has(self.may) == has(oldSelf.may) && (!has(self.may) || self.may == oldSelf.may)"
    assert (must["fieldPath"], may["fieldPath"]) == (".must", ".may")
    assert "spec.may" in may["message"]
    assert not [word for field in schema["properties"].values() for word in field if word.startswith("x-gpucloud")]
