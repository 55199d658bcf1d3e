"""The one reader of time. Everything else is given a reading, or this clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

from gpucloud.reconcile.facts import Now


class Clock(Protocol):
    """Wall time for people, monotonic seconds for durations."""

    def wall(self) -> datetime:
        """UTC, to the second: what goes into status."""

    def mono(self) -> float:
        """Seconds that never jump."""

    def instant(self) -> datetime:
        """UTC, to the microsecond: what a Lease tells people."""


class SystemClock:
    """The machine's clocks."""

    def wall(self) -> datetime:
        """UTC, to the second."""
        return datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - the one place

    def instant(self) -> datetime:
        """UTC, to the microsecond: what a Lease tells people."""
        return datetime.now(UTC)  # noqa: TID251 - the one place

    def mono(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()  # noqa: TID251 - the one place


def reading(clock: Clock) -> Now:
    """Both clocks at once."""
    return Now(clock.wall(), clock.mono())
