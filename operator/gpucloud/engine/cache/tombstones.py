"""Tombstones: late watch events for deleted UIDs are ignored.

A list that began after the DELETED event cannot contain the object. If it does, etcd was restored from a backup (``resync``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.engine.runtime.clock import Clock

LATE_SECONDS = 60.0  # the longest delay of an event; after that, a new event means a restored etcd
REMEMBERED_SECONDS = 900.0  # three resyncs


class Tombstones:
    """UIDs of deleted objects, each kept for three resyncs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}  # the oldest first

    def add(self, uid: str) -> None:
        """Record the DELETED event of this UID."""
        self._forget_old()
        self._since.pop(uid, None)
        self._since[uid] = self._clock.mono()

    def __contains__(self, uid: str) -> bool:
        """Whether this UID was deleted so recently that older events may still arrive."""
        since = self._since.get(uid)
        return since is not None and self._clock.mono() - since <= LATE_SECONDS

    def all(self) -> frozenset[str]:
        """All UIDs whose tombstones are kept."""
        until = self._clock.mono() - REMEMBERED_SECONDS
        return frozenset(uid for uid, since in self._since.items() if since >= until)

    def _forget_old(self) -> None:
        until = self._clock.mono() - REMEMBERED_SECONDS
        while self._since and next(iter(self._since.values())) < until:
            del self._since[next(iter(self._since))]
