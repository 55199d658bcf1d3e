"""The names that the tables of decisions give to objects, namespaces and what is in the cloud, read from their facts.

So a name that a new row brings cannot reach the page of all messages unseen: placeholders and their test know it by this.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from support.decisions.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

# Fields whose words are the cloud's, Kubernetes' or our own, and which the page shows as they are.
_NO_NAMES = {
    *("kind", "scope", "field", "verb", "type", "exceeded", "after", "resource_version", "reason", "version", "text"),
    *("status", "state", "provisioning_state", "operational_status"),
}
_NAME = re.compile(r"(?!\d[\d.]*$)[\w.-]+(?: \d+)?")
# Names that are also words of the messages: only in quotes are they names.
_ALSO_WORDS = {"another", "configuration", "default", "first", "here", "new", "now", "old", "other", "others", "s", "there"}
_MEANT = "'default'"  # an account's name that means something
_OWN = re.compile(r"(?<=\w)'s\b|\bspec\.\w+|status\.\w+|\{[^{}]*\}")  # what has no name in it, whatever a row is named


@cache
def names() -> frozenset[str]:
    """All names in the facts of the tables."""
    given = (table.facts(**row.given) for table in TABLES.values() for row in table.rows.values())
    return frozenset(word for facts in given for field, word in _words(facts) if _is_name(field, word))


def found_in(words: str) -> list[str]:
    """The names that a message has, but for its placeholders."""
    left = _OWN.sub("", words.replace(_MEANT, ""))
    quoted = set(re.findall(r"'([^']*)'", left))
    return sorted((set(re.findall(r"[\w.-]*\w", left)) - _ALSO_WORDS | quoted) & names())


def _is_name(field: str, word: str) -> bool:
    return field not in _NO_NAMES and "/" not in field and not isinstance(word, Enum) and _NAME.fullmatch(word) is not None


def _words(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Each text in the facts, with the name of the field that it stands in."""
    match value:
        case str():
            yield field, value
        case BaseModel():
            for name in type(value).model_fields:
                yield from _words(getattr(value, name), name)
        case Mapping():
            for key, item in value.items():
                yield from _words(item, str(key))
        case list() | tuple() | set() | frozenset():
            for item in value:
                yield from _words(item, field)
        case _ if dataclasses.is_dataclass(value):
            for one in dataclasses.fields(value):
                yield from _words(getattr(value, one.name), one.name)
