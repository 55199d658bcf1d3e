"""Text for people: what came from elsewhere made safe to show, spans of time, and lists of names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta


def clean(text: str) -> str:
    """Text on one line that a terminal cannot be led astray by; nothing of it is cut."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def printable(text: str) -> str:
    """Text whose words and gaps stay as they are, without what steers a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def ago(span: timedelta) -> str:
    """A span in the unit that people would say it in."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"


def few(names: list[str]) -> str:
    """The first five of these names, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def cause(error: BaseException) -> str:
    """Why a connection failed, in the system's words without its number."""
    words = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error) or type(error).__name__
    return clean(str(words))
