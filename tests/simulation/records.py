"""What a history is told by: one line a thing that happened, in order, with virtual time."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Line(NamedTuple):
    """Time in virtual seconds; who did what; what came of it."""

    at: float
    who: str
    what: str
    answer: str = ""

    def __str__(self) -> str:
        return f"{self.at:10.3f}  {self.who:<14}  {self.what}" + (f"  →  {self.answer}" if self.answer else "")


class Trace:
    """All lines of one run. Its hash tells whether two runs were the same."""

    def __init__(self, *, keep: bool) -> None:
        self.lines: list[Line] = []
        self._keep = keep
        self._hash = blake2b(digest_size=8)

    def add(self, at: float, who: str, what: str, answer: str = "", note: Callable[[], str] | None = None) -> None:
        """Something happened. ``note`` tells more of it, to people only."""
        self._hash.update(f"{at:.9f} {who} {what} {answer}\n".encode("utf-8", "surrogatepass"))
        if self._keep:
            self.lines.append(Line(at, who, what, answer + (f"  {note()}" if note else "")))

    def digest(self) -> str:
        """Of everything so far."""
        return self._hash.hexdigest()
