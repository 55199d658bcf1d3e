"""Watches: the changes of one kind, in version order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simulation.apiserver.refusals import expired

if TYPE_CHECKING:
    from simulation.apiserver.resources import Resource
    from simulation.apiserver.store import Change, Store, Stored


class Watch:
    """One stream. ``ended``: nothing will come any more, and the watcher has to list anew."""

    def __init__(self, store: Store, resource: Resource, prefix: str, resource_version: str) -> None:
        self._store = store
        self._resource = resource
        self._prefix = prefix
        self._restored = store.restored
        self.ended = False
        self._first: list[dict[str, Any]] = []
        self.position = int(resource_version or "0")
        if self.position == 0:
            self.position = store.version
            self._first = [_event("ADDED", stored, None) for _, stored in store.listed(resource, prefix, store.version)]

    def poll(self) -> list[dict[str, Any]]:
        """The events that are ready. After a restored backup the stream is broken off; one that is too old says so."""
        if self.ended or self._store.restored != self._restored:
            self.ended = True
            return []
        if self.position < self._store.compacted:
            self.ended = True
            message = f"too old resource version: {self.position} ({self._store.compacted})"
            return [{"type": "ERROR", "object": expired(message).document}]
        ready, self._first = self._first, []
        if self.position < self._store.version:
            ready += [self._told(change) for change in self._store.since(self.position) if self._wanted(change)]
            self.position = self._store.version
        return ready

    def _wanted(self, change: Change) -> bool:
        return change.resource is self._resource and change.key.startswith(self._prefix)

    @staticmethod
    def _told(change: Change) -> dict[str, Any]:
        if change.after is not None:
            return _event("MODIFIED" if change.before else "ADDED", change.after, None)
        assert change.before is not None
        return _event("DELETED", change.before, change.version)


def _event(kind: str, stored: Stored, version: int | None) -> dict[str, Any]:
    """A copy, so that no watcher can change what is stored."""
    found = json.loads(stored.text)
    if version is not None:
        found["metadata"]["resourceVersion"] = str(version)
    return {"type": kind, "object": found}
