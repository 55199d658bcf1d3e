"""Texts of others (the cloud, owners of objects) made fit for a status: printable, and no longer than the schema allows."""

from __future__ import annotations

MAX_TEXT = 253  # of a field of a status


def printable(text: str, most: int) -> str:
    """At most ``most`` code points, which is how the apiserver counts; what cannot be printed is a space.

    That covers control characters, line ends, direction marks and lone surrogates, which no UTF-8 can carry. An emoji stays.
    """
    kept = text[:most]
    return kept if kept.isprintable() else "".join(char if char.isprintable() else " " for char in kept)
