"""Makes texts of others (the cloud, owners of objects) fit for a status: printable, and within the schema's limits."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from gpucloud.reconcile.commands import AFTER_COMMAND, ends_in_command

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_TEXT = 253  # characters of a status field
MAX_QUOTED = 1024  # characters of another system's words within a message
_ONE_WORD = re.compile(r"[\w.+-]+")


def printable(text: str, most: int) -> str:
    """Return at most ``most`` code points, as the apiserver counts; unprintable characters become spaces.

    That covers control characters, line ends, direction marks and lone surrogates, which no UTF-8 can carry. An emoji stays.
    """
    kept = text[:most]
    return kept if kept.isprintable() else "".join(char if char.isprintable() else " " for char in kept)


def abridged(name: str) -> str:
    """Return a name of the cloud as a status can hold it: itself, or its beginning and its hash if it is too long.

    Two names stay two, so what a listing shows can be told by it; calls take the name as the cloud spells it.
    """
    if len(name) <= MAX_TEXT and name.isprintable():
        return name
    digest = hashlib.sha256(name.encode(errors="backslashreplace")).hexdigest()
    return f"{printable(name, MAX_TEXT - len(digest) - 1)}~{digest}"


def quoted(words: str, otherwise: str) -> str:
    """Return another system's words in quotes, as a part of a sentence; if it said nothing, ``otherwise``.

    They hold no quote of the kind that they stand in, nor end in a backslash, which would make the one that ends them a part of
    them: so nobody takes a part of them for the operator's own words.
    """
    said = printable(words.strip(), MAX_QUOTED).rstrip(". \\")
    if "'" in said:
        said = said.replace('"', "'")
    mark = "'" if '"' in said else '"'
    return f"{mark}{said}{mark}" if said else otherwise


def bracketed(words: str) -> str:
    """Return another system's words in quotes and brackets, with a space before them; empty if it said nothing."""
    said = quoted(words, "")
    return f" ({said})" if said else ""


def followed(words: str, more: str) -> str:
    """Return both in a row; a command that ends the first is parted from the second, so that it can be pasted."""
    return f"{words}{AFTER_COMMAND}{more}" if words and ends_in_command(words) else f"{words} {more}".strip()


def sentence(words: str) -> str:
    """Return words with a full stop; nothing follows a command that ends them."""
    return words if ends_in_command(words) else f"{words}."


def in_brackets(words: str) -> str:
    """Return another object's message in brackets; without them if a command ends it, which a bracket would spoil."""
    return words if ends_in_command(words) else f"({words})"


NAMED = 5  # names in one message


def listed(names: tuple[str, ...]) -> str:
    """Join names for a message; beyond the first few give their number."""
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")


def cloud_names(names: Iterable[str]) -> str:
    """Join names that the cloud shows: each bare if it is one word, else quoted, so that none is taken for a command."""
    return ", ".join(name if _ONE_WORD.fullmatch(name) else repr(name) for name in names)


def misnamed(missing: str, field: str, near: Iterable[str]) -> str:
    """Return what to do about an object that does not exist, if a field that names it may mean one of the near."""
    instead = either(near)
    return f"Then delete this object and create it again with {field}.name: {instead}. Else create {missing}."


def either(names: Iterable[str]) -> str:
    """Join names for a message of which one will do: "a, b or c"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
