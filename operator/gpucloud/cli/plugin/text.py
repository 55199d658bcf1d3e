"""Text for people: what came from elsewhere made safe to show, and the known word that may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def clean(text: str) -> str:
    """Text on one line that a terminal cannot be led astray by; nothing of it is cut."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def near(word: str, known: Iterable[str]) -> str:
    """Which known words may be meant, in any case of letters, as a sentence; empty when none is near."""
    from gpucloud.reconcile.text import nearest  # noqa: PLC0415 - for an error only

    names = tuple(known)
    found = nearest(word, names)
    if not found and len(word) > 2:  # or the beginning of some
        found = tuple(name for name in names if name.lower().startswith(word.lower()))[:3]
    return f" Did you mean {' or '.join(found)}?" if found else ""
