"""One entry per object: all that this process knows of it beside its newest view. Dropping the entry forgets the object.

Each user keeps its state of an object in one part, of a type of its own: pacing, Events, the order, the last reconcile.
An entry lives as long as the store has the object. What is noted of an object that is gone is kept nowhere.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


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

    def __len__(self) -> int:
        return len(self._entries)

    def open(self, uid: str) -> None:
        """Make an entry for an object that is seen for the first time."""
        if uid not in self._entries:
            self._entries[uid] = ObjectEntry(next(self._count))

    def drop(self, uid: str) -> None:
        """Drop the entry of an object that is gone, with all its parts."""
        self._entries.pop(uid, None)

    def part(self, uid: str, kind: type[T]) -> T:
        """Return the object's part of this type, made on first use. Of an object that is gone, it is a new one each time."""
        entry = self._entries.get(uid)
        if entry is None:
            return kind()
        part = entry.parts.get(kind)
        if part is None:
            part = entry.parts[kind] = kind()
        return cast("T", part)

    def find(self, uid: str, kind: type[T]) -> T | None:
        """Return the object's part of this type; None if nothing has been noted in one."""
        entry = self._entries.get(uid)
        return None if entry is None else entry.parts.get(kind)

    def all(self, kind: type[T]) -> Iterator[tuple[str, T]]:
        """Iterate over the UIDs and parts of all objects that have a part of this type."""
        return ((uid, entry.parts[kind]) for uid, entry in list(self._entries.items()) if kind in entry.parts)

    def number(self, uid: str) -> int:
        """Return the object's place in the order in which objects were first seen."""
        return self._entries[uid].number
