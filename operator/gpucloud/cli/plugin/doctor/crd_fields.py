"""Fields of a custom resource definition: by them doctor tells which version is installed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.meta import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def fields_of(definition: Mapping[str, Any]) -> set[str]:
    """Return the dotted path of every field of our version."""
    versions = (definition.get("spec") or {}).get("versions") or ()
    chosen: Mapping[str, Any] = next((item for item in versions if item.get("name") == VERSION), {})
    schema = (chosen.get("schema") or {}).get("openAPIV3Schema") or {}
    return set(_paths(schema, ""))


def _paths(node: Mapping[str, Any], path: str) -> Iterator[str]:
    inner = node.get("items") if isinstance(node.get("items"), dict) else node
    for name, below in ((inner or {}).get("properties") or {}).items():
        yield f"{path}{name}"
        yield from _paths(below, f"{path}{name}.")
