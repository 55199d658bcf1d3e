"""Text for people: what came from elsewhere made safe to show, and the known word that may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def clean(text: str) -> str:
    """Text on one line that a terminal cannot be led astray by; nothing of it is cut."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def near(word: str, known: Iterable[str]) -> str:
    """Which known word may be meant, in any case of letters, as a sentence; empty when none is near."""
    import difflib  # noqa: PLC0415 - for an error only

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), by_lower, 1)
    if not found and len(word) > 2:  # or the beginning of one
        found = [name for name in by_lower if name.startswith(word.lower())]
    return f" Did you mean {by_lower[found[0]]}?" if found else ""
