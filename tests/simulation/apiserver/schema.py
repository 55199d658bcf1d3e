"""Structural schemas, read once: unknown fields go, defaults come, and what is left is checked. CEL rules are not evaluated."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulation.apiserver.refusals import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

    Path = tuple[str | int, ...]

ABSENT: Any = object()
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
BITS = {"int32": 31, "int64": 63}
TYPES: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}
BLOCKING = {"FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid", "FieldValueNotSupported"}
UNCHECKED = "Invalid value: null: some validation rules were not checked because the object was invalid; "
NOT_CHECKED = Cause("FieldValueInvalid", "<nil>", UNCHECKED + "correct the existing errors to complete validation")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A schema and what it says of its children. ``type`` is empty where anything goes."""

    type: str = ""
    properties: Mapping[str, Node] = field(default_factory=dict)
    defaulted: Mapping[str, Any] = field(default_factory=dict)  # of the properties, by name
    items: Node | None = None
    values: Node | None = None  # of a map
    required: tuple[str, ...] = ()
    rules: Mapping[str, Any] = field(default_factory=dict)
    pattern: re.Pattern[str] | None = None
    nullable: bool = False
    open: bool = False  # unknown fields stay
    list_type: str = "atomic"
    keys: tuple[str, ...] = ()
    any_text: bool = False  # a string of which nothing is asked

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> Node:
        """Read a schema."""
        properties = {name: cls.of(child) for name, child in schema.get("properties", {}).items()}
        more = schema.get("additionalProperties")
        kind = str(schema.get("type", ""))
        pattern = schema.get("pattern")
        return cls(
            type=kind,
            properties=properties,
            defaulted={name: child["default"] for name, child in schema.get("properties", {}).items() if "default" in child},
            items=cls.of(schema["items"]) if "items" in schema else None,
            values=cls.of(more) if isinstance(more, dict) else None,
            required=tuple(schema.get("required", ())),
            rules={name: schema[name] for name in LIMITS if name in schema},
            pattern=re.compile(re.sub(r"\$$", r"\\Z", pattern)) if pattern else None,
            nullable=bool(schema.get("nullable")),
            open=not kind or more is True or bool(schema.get("x-kubernetes-preserve-unknown-fields")),
            list_type=str(schema.get("x-kubernetes-list-type", "atomic")),
            keys=tuple(schema.get("x-kubernetes-list-map-keys", ())),
            any_text=kind == "string" and not pattern and not any(name in schema for name in LIMITS),
        )


LIMITS = ("enum", "format", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum")


def shaped(value: Any, node: Node, *, nulls: bool = False, like: Any = None) -> Any:
    """The value without unknown fields, with defaults, and without stray nulls unless ``nulls``.

    Never changes ``value``; answers itself when nothing changes. What is the very same in ``like`` is taken as it is.
    """
    if isinstance(value, dict):
        known = like if isinstance(like, dict) else {}
        return _shaped_object(value, node, known, nulls=nulls) if node.properties or node.values else value
    if isinstance(value, list) and node.items is not None:
        items = [shaped(item, node.items, nulls=nulls) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _shaped_object(value: dict[str, Any], node: Node, known: dict[str, Any], *, nulls: bool) -> dict[str, Any]:
    made: dict[str, Any] = {}
    changed = False
    properties, values = node.properties, node.values
    for name, old in value.items():
        child = properties.get(name, values)
        if (child is not None and type(old) is str) or (child is None and node.open):
            made[name] = old
        elif child is None or (old is None and not child.nullable and (name in node.defaulted or not nulls)):
            changed = True  # a default takes the place of a null, if there is one
        elif not isinstance(old, (dict, list)) or old is known.get(name):
            made[name] = old
        else:
            made[name] = new = shaped(old, child, nulls=nulls, like=known.get(name))
            changed = changed or new is not old
    for name, default in node.defaulted.items():
        if name not in made:
            made[name] = shaped(default, node.properties[name])
            changed = True
    return made if changed else value


def causes(new: Any, old: Any, node: Node, path: Path) -> list[Cause]:
    """What is wrong with ``new``; what is the very same as ``old`` was checked before."""
    found: list[Cause] = []
    _check(new, old, node, path, found)
    return found


def fits(value: Any, kind: str) -> bool:
    """Whether a value is of a JSON type."""
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check(new: Any, old: Any, node: Node, path: Path, found: list[Cause]) -> None:
    if new is old or not node.type or (new is None and node.nullable):
        return
    if not fits(new, node.type):
        wanted = node.rules.get("format", node.type)
        message = f'Invalid value: "{type_of(new)}": {dotted(path)} in body must be of type {wanted}: "{type_of(new)}"'
        found.append(Cause("FieldValueTypeInvalid", dotted(path), message))
        if node.type == "integer" and isinstance(new, float):
            found.append(_unfit(path, wanted))
    elif node.type == "object":
        _check_object(new, old if isinstance(old, dict) else {}, node, path, found)
    elif node.type == "array":
        _check_list(new, node, path, found)
    elif node.type == "string":
        _check_string(new, node, path, found)
    elif node.type == "integer":
        _check_integer(new, node, path, found)


def _check_object(new: dict[str, Any], old: dict[str, Any], node: Node, path: Path, found: list[Cause]) -> None:
    properties, values = node.properties, node.values
    for name, value in new.items():
        child = properties.get(name, values)
        if child is not None and not (child.any_text and type(value) is str):
            _check(value, old.get(name, ABSENT), child, (*path, name), found)
    absent = [name for name in node.required if name not in new]
    found.extend(Cause("FieldValueRequired", dotted((*path, name)), "Required value") for name in absent)


def _check_list(new: list[Any], node: Node, path: Path, found: list[Cause]) -> None:
    if len(new) > node.rules.get("maxItems", len(new)):
        message = f"Too many: {len(new)}: must have at most {node.rules['maxItems']} items"
        found.append(Cause("FieldValueTooMany", dotted(path), message))
    if node.items is not None:
        for index, item in enumerate(new):
            _check(item, ABSENT, node.items, (*path, index), found)
    _check_unique(new, node, path, found)


def _check_string(new: str, node: Node, path: Path, found: list[Cause]) -> None:
    rules = node.rules
    if not rules and node.pattern is None:
        return
    if len(new) > rules.get("maxLength", len(new)):
        message = f"Too long: may not be more than {rules['maxLength']} bytes"
        found.append(Cause("FieldValueTooLong", dotted(path), message))
    if len(new) < rules.get("minLength", 0):
        found.append(_bad(new, path, f"should be at least {rules['minLength']} chars long"))
    if node.pattern is not None and not node.pattern.search(new):
        found.append(_bad(new, path, f"should match '{node.pattern.pattern}'"))
    if "enum" in rules and new not in rules["enum"]:
        allowed = ", ".join(f'"{word}"' for word in rules["enum"])
        found.append(Cause("FieldValueNotSupported", dotted(path), f'Unsupported value: "{new}": supported values: {allowed}'))
    if rules.get("format") == "date-time" and not DATE_TIME.fullmatch(new):
        message = f'Invalid value: "{new}": {dotted(path)} in body must be of type date-time: "{new}"'
        found.append(Cause("FieldValueTypeInvalid", dotted(path), message))


def _check_integer(new: int, node: Node, path: Path, found: list[Cause]) -> None:
    rules = node.rules
    if abs(new) >> BITS.get(rules.get("format", ""), 64):
        found.append(_unfit(path, rules["format"]))
    if new < rules.get("minimum", new):
        found.append(_bad(new, path, f"should be greater than or equal to {rules['minimum']}"))
    if new > rules.get("maximum", new):
        found.append(_bad(new, path, f"should be less than or equal to {rules['maximum']}"))


def _check_unique(new: list[Any], node: Node, path: Path, found: list[Cause]) -> None:
    if node.list_type == "atomic":
        return
    seen = []
    for index, item in enumerate(new):
        key = item if node.list_type == "set" else [item.get(name) for name in node.keys] if isinstance(item, dict) else None
        if key in seen:
            found.append(Cause("FieldValueDuplicate", dotted((*path, index)), f"Duplicate value: {key}"))
        seen.append(key)


def _bad(value: Any, path: Path, what: str) -> Cause:
    told = f'"{value}"' if isinstance(value, str) else value
    return Cause("FieldValueInvalid", dotted(path), f"Invalid value: {told}: {dotted(path)} in body {what}")


def _unfit(path: Path, wanted: str) -> Cause:
    message = f'Invalid value: "": Checked value must be of type integer with format {wanted} in {dotted(path)}'
    return Cause("FieldValueInvalid", "<nil>", message)


def type_of(value: Any) -> str:
    """The JSON type as an apiserver names it."""
    if isinstance(value, bool):
        return "boolean"
    names = {dict: "object", list: "array", str: "string", int: "integer", float: "float64"}
    return names.get(type(value), "null")


def dotted(path: Path) -> str:
    """``status.conditions[0].type``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
