"""The ledger: what the cloud was asked, what it did about it, and what it said, each at its time.

Entries are only ever added to. They hold ids of credentials and redacted parameters, never a secret.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(slots=True)
class Entry:
    """One request. Times are seconds since 1970; None means that the phase has not been reached."""

    seq: int
    operation: str
    method: str
    path: str
    credential: str
    parameters: dict[str, Any]
    received: float
    mutating: bool = False
    secret_in_url: bool = False
    committed: float | None = None
    subject: dict[str, Any] | None = None
    answered: float | None = None
    status: int | None = None
    ending: str = ""
    faults: list[str] = field(default_factory=list)


class Ledger:
    """All entries since the last reset. ``sink`` gets one JSON line a phase, for those who keep a file."""

    def __init__(self, sink: Callable[[str], None] | None = None) -> None:
        self._sink = sink
        self._entries: list[Entry] = []

    def received(self, entry: Entry) -> Entry:
        """Open an entry; its number is given here, from 1."""
        entry.seq = len(self._entries) + 1
        self._entries.append(entry)
        self._tell(entry, "received", entry.received)
        return entry

    def committed(self, entry: Entry, at: float, subject: dict[str, Any]) -> None:
        """Note that the world was changed, and what."""
        entry.committed, entry.subject = at, subject
        self._tell(entry, "committed", at)

    def answered(self, entry: Entry, at: float, status: int, ending: str) -> None:
        """Note how the request ended. An answer that never reached the caller has no time of answering."""
        entry.ending = ending
        if ending in {"complete", "cut_body"}:
            entry.answered, entry.status = at, status
        self._tell(entry, "answered", at)

    def entries(
        self, *, since: int = 0, operation: str = "", credential: str = "", mutating: bool | None = None
    ) -> list[dict[str, Any]]:
        """Return entries after number ``since``, filtered."""
        return [
            asdict(entry)
            for entry in self._entries[max(0, since) :]
            if operation in {"", entry.operation}
            and credential in {"", entry.credential}
            and mutating in {None, entry.mutating}
        ]

    @property
    def last(self) -> int:
        """The number of the newest entry, 0 for none."""
        return len(self._entries)

    def clear(self) -> None:
        """Forget everything; numbers start again."""
        self._entries.clear()

    def _tell(self, entry: Entry, phase: str, at: float) -> None:
        if self._sink is not None:
            self._sink(json.dumps({"phase": phase, "at": at, **asdict(entry)}))
