"""From a pydantic model to the structural schema of a CustomResourceDefinition.

A walk over pydantic's JSON schema: references are inlined, "or None" means optional (absent, never null), titles go.
It is stricter than the apiserver: what users could not understand (no description) or what Kubernetes could not bound
(no length) is refused while printing. It knows no kind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.markers import CEL, DEFAULT_NOTE, IMMUTABLE_NOTE, LIST_MAP_KEYS, LIST_TYPE, REPLACEABLE_NOTE, VALIDATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

Schema = dict[str, Any]

INT32_MAX = 2**31 - 1

# What is printed of each type, in this order. Any other word is refused, so nothing is lost silently.
_WORDS = {
    "string": ("format", "enum", "minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum"),
    "boolean": (),
    "array": ("minItems", "maxItems", LIST_TYPE, LIST_MAP_KEYS),
    "object": (),
}
_RULE_WORDS = ("rule", "message", "reason", "fieldPath", "optionalOldSelf")  # pydantic sorts them; people read the rule
_HANDLED = {"title", "type", "description", "default", "properties", "required", "items"} | {
    VALIDATIONS,
    IMMUTABLE_NOTE,
    REPLACEABLE_NOTE,
    DEFAULT_NOTE,
}


class NotStructuralError(Exception):
    """A model cannot be printed as a structural schema; the text names the field and the cure."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is."""

    definitions: Mapping[str, Schema]
    path: str
    inside: frozenset[str] = frozenset()
    depth: int = 0
    in_list: bool = False

    def refuse(self, problem: str) -> NotStructuralError:
        return NotStructuralError(f"{self.path}: {problem}")

    def field(self, name: str) -> _Place:
        return replace(self, path=f"{self.path}.{name}", depth=self.depth + 1)

    def items(self) -> _Place:
        return replace(self, path=f"{self.path}[]", depth=self.depth + 1, in_list=True)


def structural(model: type[BaseModel], path: str) -> Schema:
    """The structural schema of ``model``; ``path`` (for example ``spec``) names it in errors.

    Raises:
        NotStructuralError: something in it cannot or must not be printed.
    """
    printed = model.model_json_schema()
    return _walk(printed, _Place(definitions=printed.get("$defs", {}), path=path))


def _walk(node: Schema, place: _Place) -> Schema:
    node, place = _flatten(node, place)
    kind = node.get("type")
    if kind not in _WORDS:
        raise place.refuse(f"type {kind!r} is not allowed; use one of {', '.join(_WORDS)}")
    unknown = node.keys() - _HANDLED - set(_WORDS[kind]) - {"$defs"}
    if unknown:
        raise place.refuse(f"{', '.join(sorted(unknown))}: not allowed on a value of type {kind}")
    return {
        "type": kind,
        **({"description": node["description"]} if node.get("description") else {}),
        **_default(node, place),
        **{word: node[word] for word in _WORDS[kind] if word in node},
        **_typed(kind, node, place),
    }


def _flatten(node: Schema, place: _Place) -> tuple[Schema, _Place]:
    """Follow references and drop "or None", keeping what was said outside."""
    while True:
        if "$ref" in node:
            name = node["$ref"].rsplit("/", 1)[-1]
            if name in place.inside:
                raise place.refuse(f"{name} contains itself; a structural schema has an end")
            place = replace(place, inside=place.inside | {name})
            node = _merge(place.definitions[name], node, "$ref")
        elif "anyOf" in node:
            choices = [choice for choice in node["anyOf"] if choice != {"type": "null"}]
            if len(choices) != 1:
                raise place.refuse("a union of types is not structural; use one type, or that type or None")
            node = _merge(choices[0], node, "anyOf")
        else:
            return node, place


def _merge(inner: Schema, outer: Schema, gone: str) -> Schema:
    merged = {**inner, **{word: value for word, value in outer.items() if word != gone}}
    both = [*inner.get(VALIDATIONS, []), *outer.get(VALIDATIONS, [])]
    return {**merged, VALIDATIONS: both} if both else merged


def _default(node: Schema, place: _Place) -> Schema:
    """The default to print. None, an empty list and a model that gives nothing mean "absent" and are none."""
    value = node.get(DEFAULT_NOTE, node.get("default"))
    if isinstance(value, dict):
        value = {name: part for name, part in value.items() if part is not None}
    if value in (None, [], {}):
        return {}
    if place.in_list:
        raise place.refuse("a default inside list items makes every kubectl apply a change; make it optional instead")
    return {"default": value}


def _typed(kind: str, node: Schema, place: _Place) -> Schema:
    """What only this type needs, and the rules, which come last."""
    rules = [{word: rule[word] for word in _RULE_WORDS if word in rule} for rule in node.get(VALIDATIONS, [])]
    printed: Schema = {}
    match kind:
        case "string":
            _check_string(node, place)
        case "integer":
            printed["format"] = "int32" if node.get("maximum", INT32_MAX + 1) <= INT32_MAX else "int64"
        case "array":
            printed = _array(node, place)
        case "object":
            printed = _properties(node, place)
            rules = [*rules, *_immutability(node, place)]
    return {**printed, VALIDATIONS: rules} if rules else printed


def _check_string(node: Schema, place: _Place) -> None:
    if node.get("format") not in {None, "date-time"}:
        raise place.refuse(f"format {node['format']} is not one that every client reads; use a plain string")
    if not ({"maxLength", "enum", "format"} & node.keys()):
        raise place.refuse("a string needs a max_length: CEL costs and sizes are bounded by it")


def _array(node: Schema, place: _Place) -> Schema:
    if "maxItems" not in node:
        raise place.refuse("a list needs a max_length: CEL costs and sizes are bounded by it")
    if not isinstance(node.get("items"), dict):
        raise place.refuse("a list needs one type of items")
    list_type = {} if LIST_TYPE in node else {LIST_TYPE: "atomic"}
    return {**list_type, "items": _walk(node["items"], place.items())}


def _properties(node: Schema, place: _Place) -> Schema:
    fields = node.get("properties")
    if not fields:
        raise place.refuse("an object needs named fields; free-form objects would be pruned")
    walked = {name: _walk(field, place.field(name)) for name, field in fields.items()}
    for name, field in walked.items():
        if "description" not in field:
            raise place.field(name).refuse("a field needs a description: kubectl explain shows it")
    required = {"required": node["required"]} if node.get("required") else {}
    return {**required, "properties": walked}


def _immutability(node: Schema, place: _Place) -> list[Schema]:
    """One rule for each immutable field, said by its parent: a rule of the field itself does not see it come or go."""
    marked = [name for name, field in node["properties"].items() if field.get(IMMUTABLE_NOTE)]
    if marked and place.depth > 0:
        raise place.field(marked[0]).refuse("immutability belongs on a field of the top level, which cannot go away")
    destroys = "deletion" in node["properties"]  # of a kind that orders something
    way_out = "Put the old value back, or delete this object and create it again."
    if destroys:
        way_out += " Deleting it destroys what it ordered, unless spec.deletion.policy is Retain."
    replaced = (
        "Put the old value back. Or set spec.replacePolicy: Recreate, or delete this object and create it again: both destroy "
        "the VM, unless spec.deletion.policy is Retain."
    )
    rules = []
    for name in marked:
        replaceable = node["properties"][name].get(REPLACEABLE_NOTE, False)
        rule = _unchanged(name, required=name in node.get("required", []))
        rules.append(
            CEL(
                rule=f"self.replacePolicy == 'Recreate' || ({rule})" if replaceable else rule,
                message=f"{place.path}.{name} is immutable. {replaced if replaceable else way_out}",
                reason="FieldValueForbidden",
                field_path=f".{name}",
            ).entry()
        )
    return rules


def _unchanged(name: str, *, required: bool) -> str:
    same = f"self.{name} == oldSelf.{name}"
    return same if required else f"has(self.{name}) == has(oldSelf.{name}) && (!has(self.{name}) || {same})"
