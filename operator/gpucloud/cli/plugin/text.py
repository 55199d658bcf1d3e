"""Text for people: what came from elsewhere made safe to show, and the known word that may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta


def clean(text: str) -> str:
    """Text on one line that a terminal cannot be led astray by; nothing of it is cut."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def printable(text: str) -> str:
    """Text whose words and gaps stay as they are, without what steers a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def near(word: str, known: Iterable[str]) -> str:
    """Which known words may be meant, in any case of letters: those that begin so, else the near ones. Empty when none does."""
    from gpucloud.reconcile.text import nearest  # noqa: PLC0415 - for an error only

    names = tuple(known)
    begun = tuple(name for name in names if len(word) > 2 and name.lower().startswith(word.lower()))
    found = nearest(word, begun) or begun[:3] or nearest(word, names)
    return f" Did you mean {' or '.join(found)}?" if found else ""


def ago(span: timedelta) -> str:
    """A span in the unit that people would say it in."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


def few(names: list[str]) -> str:
    """The first five of these names, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
