"""Makes texts of others (the cloud, owners of objects) fit for a status: printable, and within the schema's limits."""

from __future__ import annotations

import hashlib

MAX_TEXT = 253  # characters of a status field


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


NAMED = 5  # names in one message


def listed(names: tuple[str, ...]) -> str:
    """Join names for a message; beyond the first few give their number."""
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
