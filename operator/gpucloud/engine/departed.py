"""Objects whose last event has come. What the watch still shows of them was overtaken on its way, and would bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.engine.clock import Clock

REMEMBERED_SECONDS = 60.0  # no event is so late; an etcd that was restored later than that may show one of them anew


class Departed:
    """Their UIDs, each for a minute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}  # the oldest first

    def add(self, uid: str) -> None:
        """Its last event has come."""
        self._forget_old()
        self._since[uid] = self._clock.mono()

    def __contains__(self, uid: str) -> bool:
        """Whether its last event came a short while ago."""
        self._forget_old()
        return uid in self._since

    def _forget_old(self) -> None:
        until = self._clock.mono() - REMEMBERED_SECONDS
        while self._since and next(iter(self._since.values())) < until:
            del self._since[next(iter(self._since))]
