"""etcd: objects by key, one version counter for all, the latest changes. Nothing that is stored is ever changed in place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simulation.apiserver.ownership import Claims
    from simulation.apiserver.resources import Resource

FIRST_VERSION = 990  # soon the digits grow by one: versions must not be compared as text


@dataclass(slots=True, eq=False)
class Stored:
    """An object as it lies in etcd (``raw``) and as it is read, with today's defaults (``seen``)."""

    raw: dict[str, Any]
    seen: dict[str, Any]
    claims: Claims
    version: int
    _text: str | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """What is read, as JSON."""
        if self._text is None:
            self._text = dumped(self.seen)
        return self._text


class Change(NamedTuple):
    """One step of the version counter."""

    version: int
    resource: Resource
    key: str
    before: Stored | None
    after: Stored | None


class Commit(NamedTuple):
    """A change for whoever judges the history: who did it, and what stood before and after."""

    version: int
    user: str
    verb: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    plural: str


class Snapshot(NamedTuple):
    """A backup of etcd."""

    version: int
    items: dict[Resource, dict[str, Stored]]


class Store:
    """All objects. Keys are ``namespace/name``, or the name alone."""

    def __init__(self, resources: Iterable[Resource], history: int) -> None:
        self._items: dict[Resource, dict[str, Stored]] = {resource: {} for resource in resources}
        self._history = history
        self._changes: list[Change] = []
        self.version = FIRST_VERSION
        self.compacted = FIRST_VERSION
        self.commits: list[Commit] = []
        self.restored = 0  # how often
        self.on_commit: list[Callable[[], None]] = []

    def get(self, resource: Resource, key: str) -> Stored | None:
        """An object, if it exists."""
        return self._items[resource].get(key)

    def put(self, who: tuple[str, str], resource: Resource, key: str, stored: Stored | None) -> None:
        """Store an object, or with None remove it, under the next version; ``who``: user and verb."""
        items = self._items[resource]
        before = items.get(key)
        self.version += 1
        if stored is None:
            del items[key]
        else:
            items[key] = stored
        self._changes.append(Change(self.version, resource, key, before, stored))
        if len(self._changes) > 2 * self._history:
            self._changes = self._changes[-self._history :]
            self.compacted = self._changes[0].version - 1
        user, verb = who
        old, new = (None if item is None else item.seen for item in (before, stored))
        self.commits.append(Commit(self.version, user, verb, old, new, resource.plural))
        for callback in self.on_commit:
            callback()

    def listed(self, resource: Resource, prefix: str, version: int) -> list[tuple[str, Stored]]:
        """Objects of a kind under a prefix, by key, as they stood at a version that is not older than ``compacted``."""
        items = self._items[resource]
        if version < self.version:
            items = dict(items)
            for change in reversed(self.since(version)):
                if change.resource is not resource:
                    continue
                if change.before is None:
                    del items[change.key]
                else:
                    items[change.key] = change.before
        return [(key, items[key]) for key in sorted(items) if key.startswith(prefix)]

    def since(self, version: int) -> list[Change]:
        """The changes after a version that is not older than ``compacted``."""
        return self._changes[max(0, version - self.compacted) :]

    def snapshot(self) -> Snapshot:
        """A backup."""
        return Snapshot(self.version, {resource: dict(items) for resource, items in self._items.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Put a backup back: objects and versions; of what was before, no change is known any more."""
        self._items = {resource: dict(items) for resource, items in snapshot.items.items()}
        self.version = self.compacted = snapshot.version
        self._changes = []
        self.restored += 1


def dumped(value: Any) -> str:
    """Compact JSON. What is stored holds no stray surrogates, as an apiserver replaces them."""
    return orjson.dumps(value).decode()
