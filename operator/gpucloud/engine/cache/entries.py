"""One entry per object holds all of its runtime state beside the cached view. Dropping the entry drops all of that state.

Each module keeps its state of an object in one part, of a type of its own: pacing, Events, the order, a search, the last
reconcile. An entry lives as long as the store has the object. State that is written after that is not kept.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


class Ending(ABC):
    """A part that other places know of, too: it takes the object out of them when its entry is dropped."""

    @abstractmethod
    def end(self, uid: str) -> None:
        """Take the deleted object out of what this part names."""


class ObjectEntry:
    """The parts of one object, by type. ``number`` counts objects in the order in which they were first seen."""

    __slots__ = ("number", "parts")

    def __init__(self, number: int) -> None:
        self.number = number
        self.parts: dict[type, Any] = {}


class Entries:
    """Entries by UID, of all kinds."""

    def __init__(self) -> None:
        self._entries: dict[str, ObjectEntry] = {}
        self._count = itertools.count()

    def __contains__(self, uid: str) -> bool:
        return uid in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def open(self, uid: str) -> None:
        """Add an entry for a new object; no effect if it has one."""
        if uid not in self._entries:
            self._entries[uid] = ObjectEntry(next(self._count))

    def drop(self, uid: str) -> None:
        """Drop the entry of a deleted object, with all its parts, and end those that reach elsewhere."""
        entry = self._entries.pop(uid, None)
        for part in () if entry is None else entry.parts.values():
            if isinstance(part, Ending):
                part.end(uid)

    def part(self, uid: str, kind: type[T]) -> T:
        """Return the object's part of this type, made on first use; for a deleted object a new part that is not kept."""
        entry = self._entries.get(uid)
        if entry is None:
            return kind()
        part = entry.parts.get(kind)
        if part is None:
            part = entry.parts[kind] = kind()
        return cast("T", part)

    def find(self, uid: str, kind: type[T]) -> T | None:
        """Return the object's part of this type, or None if it has none yet."""
        entry = self._entries.get(uid)
        return None if entry is None else entry.parts.get(kind)

    def all(self, kind: type[T]) -> Iterator[tuple[str, T]]:
        """Iterate over the UIDs and parts of all objects that have a part of this type."""
        return ((uid, entry.parts[kind]) for uid, entry in list(self._entries.items()) if kind in entry.parts)

    def number(self, uid: str) -> int:
        """Return the object's place in the order in which objects were first seen."""
        return self._entries[uid].number
