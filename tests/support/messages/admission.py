"""Messages of the apiserver's refusals: the rules in the custom resource definitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Refusal:
    """What the apiserver says when a manifest breaks a rule at this field."""

    kind: str
    field: str
    words: str


def refusals() -> list[Refusal]:
    """Every message of a rule, in the order of the fields."""
    found = []
    for item in DEFINITIONS:
        (version,) = custom_resource_definition(item)["spec"]["versions"]
        found += [
            Refusal(item.kind, field or "the object", words) for field, words in _rules(version["schema"]["openAPIV3Schema"])
        ]
    return list(dict.fromkeys(found))


def _rules(schema, field="") -> Iterator[tuple[str, str]]:
    for rule in schema.get("x-kubernetes-validations", ()):
        yield field, " ".join(rule.get("message", "").split())
    for name, inner in schema.get("properties", {}).items():
        yield from _rules(inner, f"{field}.{name}".lstrip("."))
    if "items" in schema:
        yield from _rules(schema["items"], f"{field}[]")
