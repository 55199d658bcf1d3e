"""Searches everything that an object refers to for a text."""

from collections.abc import Iterator
from typing import Any


def mentions(root: Any, text: str) -> list[str]:
    """Where this text stands, by path from the root. Of classes only our own are entered."""
    return [path for path, value in _walk(root, "", set()) if value == text]


def _walk(value: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, str):
        yield path, value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    for name, part in _parts(value):
        yield from _walk(part, f"{path}.{name}", seen)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, part in list(value.items()):
            yield "(key)", key
            yield str(key)[:40], part
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((str(number), part) for number, part in enumerate(value))
    elif type(value).__module__.startswith("gpucloud."):
        names = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        for name in {*names, *getattr(value, "__dict__", {})}:
            yield name, getattr(value, name, None)
