"""Whether the watch keeps up: what lists show is compared with what is known here.

A watch can be connected and silent, or bring bookmarks and no events: then nothing fails, and nothing moves. Events do not tell
of that, since an idle cluster has none; a list of what is there does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True, slots=True)
class _Behind:
    """An object that a list showed newer than it is known: as what, since which comparison, and until which."""

    known: int
    since: float
    until: float


class WatchStaleness:
    """Compared after each roll call; asked by whoever scrapes, and by the probe."""

    def __init__(self, kinds: Iterable[str], now: Callable[[], float]) -> None:
        self._now = now
        self._in_step = dict.fromkeys(kinds, now())
        self._behind: dict[str, dict[str, _Behind]] = {kind: {} for kind in self._in_step}

    @staticmethod
    def behind(listed: Mapping[str, int], known: Mapping[str, int]) -> set[str]:
        """Whose listed version is newer than the known one; what a list says no version of must only be known."""
        return {uid for uid, version in listed.items() if uid not in known or known[uid] < version}

    def compare(self, kind: str, listed: Mapping[str, int], known: Mapping[str, int]) -> None:
        """``known`` is what is known now, so later than the list: only what had time to arrive counts as late."""
        now, before = self._now(), self._behind[kind]
        found = {}
        for uid in self.behind(listed, known):
            version, was = known.get(uid, 0), before.get(uid)
            stuck = was is not None and was.known == version
            found[uid] = replace(was, until=now) if was is not None and stuck else _Behind(version, now, now)
        self._behind[kind] = found
        if not found:
            self._in_step[kind] = now

    def brought(self, kind: str, uid: str) -> None:
        """The watch has shown this object: for it, at least, it moves."""
        self._behind[kind].pop(uid, None)

    def ages(self) -> dict[tuple[str], float]:
        """How long ago each kind's watch was last found to have brought everything, in seconds."""
        now = self._now()
        return {(kind,): now - seen for kind, seen in self._in_step.items()}

    def stuck(self) -> tuple[str, float]:
        """The kind whose watch has failed longest to bring one and the same change, and for how long lists have shown it.

        While no list succeeds this stands still: that the apiserver cannot be reached is no fault of the watch.
        """
        lags = ((one.until - one.since, kind) for kind, found in self._behind.items() for one in found.values())
        seconds, kind = max(lags, default=(0.0, ""))
        return kind, seconds
