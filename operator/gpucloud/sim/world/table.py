"""A table of rows that remembers what it said before, so that a listing can be as stale as a fault asks.

Rows are frozen; the log keeps what each change replaced. It knows nothing of what rows mean.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

Row = TypeVar("Row")
_REMEMBERED_CHANGES = 200_000


@dataclass(frozen=True, slots=True)
class Change(Generic[Row]):
    """One change: the row before and after it; None stands for absence. ``at`` is seconds since 1970."""

    at: float
    key: Hashable
    before: Row | None
    after: Row | None


class Table(Generic[Row]):
    """Current rows by key, in order of insertion, and the changes that led to them."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, Row] = {}
        self.changes: deque[Change[Row]] = deque(maxlen=_REMEMBERED_CHANGES)

    def get(self, key: Hashable) -> Row | None:
        """Return the current row, or None."""
        return self._rows.get(key)

    def put(self, key: Hashable, row: Row, at: float) -> Row:
        """Insert or replace a row."""
        self.changes.append(Change(at, key, self._rows.get(key), row))
        self._rows[key] = row
        return row

    def remove(self, key: Hashable, at: float) -> None:
        """Remove a row that exists; raises KeyError otherwise."""
        self.changes.append(Change(at, key, self._rows.pop(key), None))

    def rows(self, as_of: float | None = None) -> Iterable[Row]:
        """Return the rows now, or as they were at an earlier time."""
        if as_of is None:
            return self._rows.values()
        past = dict(self._rows)
        for change in reversed(self.changes):
            if change.at <= as_of:
                break
            if change.before is None:
                past.pop(change.key, None)
            else:
                past[change.key] = change.before
        return past.values()
