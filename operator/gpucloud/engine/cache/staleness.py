"""Watch staleness: compares the versions in a list with the cached versions.

A watch can be connected and deliver no events, or only bookmarks. An idle cluster has no events either, so only a list shows
that the watch is stale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True, slots=True)
class _Behind:
    """An object that a list shows newer than the cache: the cached version, and the first and last comparison that found it."""

    known: int
    since: float
    until: float


class WatchStaleness:
    """Staleness of each kind's watch. Resync updates it; the metric and the liveness probe read it."""

    def __init__(self, kinds: Iterable[str], now: Callable[[], float]) -> None:
        self._now = now
        self._in_step = dict.fromkeys(kinds, now())
        self._behind: dict[str, dict[str, _Behind]] = {kind: {} for kind in self._in_step}

    @staticmethod
    def behind(listed: Mapping[str, int], known: Mapping[str, int]) -> set[str]:
        """UIDs whose listed version is newer than the cached one. With listed version 0, the UID only has to be cached."""
        return {uid for uid, version in listed.items() if uid not in known or known[uid] < version}

    def compare(self, kind: str, listed: Mapping[str, int], known: Mapping[str, int]) -> None:
        """Compare a list with ``known``, the versions cached after the list, so that events in transit had time to arrive."""
        now, before = self._now(), self._behind[kind]
        found = {}
        for uid in self.behind(listed, known):
            version, was = known.get(uid, 0), before.get(uid)
            stuck = was is not None and was.known == version
            found[uid] = replace(was, until=now) if was is not None and stuck else _Behind(version, now, now)
        self._behind[kind] = found
        if not found:
            self._in_step[kind] = now

    def observed(self, kind: str, uid: str) -> None:
        """The watch delivered an event of this object, so the object is not stale."""
        self._behind[kind].pop(uid, None)

    def ages(self) -> dict[tuple[str], float]:
        """Seconds since each kind's watch last matched a list."""
        now = self._now()
        return {(kind,): now - seen for kind, seen in self._in_step.items()}

    def stuck(self) -> tuple[str, float]:
        """The kind whose watch has missed one change for longest, and the seconds for which lists have shown that change.

        The seconds grow only with successful lists: an apiserver outage is no fault of the watch.
        """
        stuck = ((one.until - one.since, kind) for kind, found in self._behind.items() for one in found.values())
        seconds, kind = max(stuck, default=(0.0, ""))
        return kind, seconds
