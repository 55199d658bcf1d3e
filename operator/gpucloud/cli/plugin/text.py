"""Text from elsewhere, made safe to show."""

from __future__ import annotations


def clean(text: str) -> str:
    """Text on one line that a terminal cannot be led astray by; nothing of it is cut."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
