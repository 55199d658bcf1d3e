"""values.yaml, read as people read it: each key with its default and the comment above it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

_KEY = re.compile(r"(?P<indent> *)(?P<key>[A-Za-z]\w*):")
_COMMENT = re.compile(r" *# ?(?P<text>.*)")
_HEADING = "----"
_LIST = " settings: begin"  # what follows is for the reader of the file


@dataclass(frozen=True)
class Value:
    """One key: its path (``image.tag``), its default, and what the comment says."""

    path: str
    default: Any
    description: str


def read_values(text: str) -> dict[str, Value]:
    """Return every key that bears a comment, by its path, in the order of the file.

    A key without one belongs to the default of the commented key above it (a security context, say).
    """
    defaults = yaml.safe_load(text)
    found: dict[str, Value] = {}
    comment: list[str] = []
    path: list[str] = []
    for line in text.splitlines():
        if said := _COMMENT.fullmatch(line):
            comment.append(said["text"])
            continue
        if key := _KEY.match(line):
            path = [*path[: len(key["indent"]) // 2], key["key"]]
            if comment and _HEADING not in comment[-1]:
                dotted = ".".join(path)
                found[dotted] = Value(dotted, _at(defaults, path), " ".join(comment).split(_LIST)[0])
        comment = []
    return found


def _at(document: Any, path: list[str]) -> Any:
    for key in path:
        document = document[key]
    return document
