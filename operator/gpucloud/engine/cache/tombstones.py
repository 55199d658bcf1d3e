"""Tombstones: objects whose DELETED event has come. A late watch event of one is ignored, since it would bring it back.

A list that began after the tombstone cannot show it: if one does, etcd was restored from a backup (``rollcall``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.engine.runtime.clock import Clock

LATE_SECONDS = 60.0  # no event is so late; an etcd that was restored later than that may show one of them anew
REMEMBERED_SECONDS = 900.0  # three roll calls


class Tombstones:
    """Their UIDs, each for some roll calls."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}  # the oldest first

    def add(self, uid: str) -> None:
        """Its last event has come."""
        self._forget_old()
        self._since.pop(uid, None)
        self._since[uid] = self._clock.mono()

    def __contains__(self, uid: str) -> bool:
        """Whether its last event came so short a while ago that others may still be on their way."""
        since = self._since.get(uid)
        return since is not None and self._clock.mono() - since <= LATE_SECONDS

    def all(self) -> frozenset[str]:
        """Those whose last event came since the last few roll calls."""
        self._forget_old()
        return frozenset(self._since)

    def _forget_old(self) -> None:
        until = self._clock.mono() - REMEMBERED_SECONDS
        while self._since and next(iter(self._since.values())) < until:
            del self._since[next(iter(self._since))]
