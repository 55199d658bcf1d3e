"""Texts of others (the cloud, owners of objects) made fit for a status: printable, and no longer than the schema allows."""

from __future__ import annotations

import hashlib

MAX_TEXT = 253  # of a field of a status


def printable(text: str, most: int) -> str:
    """At most ``most`` code points, which is how the apiserver counts; what cannot be printed is a space.

    That covers control characters, line ends, direction marks and lone surrogates, which no UTF-8 can carry. An emoji stays.
    """
    kept = text[:most]
    return kept if kept.isprintable() else "".join(char if char.isprintable() else " " for char in kept)


def abridged(name: str) -> str:
    """A name of the cloud's own as a status holds it: itself, or, where it cannot be held, its beginning and its hash.

    Two names stay two, so what a listing shows can be told by it; calls take the name as the cloud spells it.
    """
    if len(name) <= MAX_TEXT and name.isprintable():
        return name
    digest = hashlib.sha256(name.encode(errors="backslashreplace")).hexdigest()
    return f"{printable(name, MAX_TEXT - len(digest) - 1)}~{digest}"
