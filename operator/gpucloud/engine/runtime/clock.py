"""Clock: the only module that reads the time. All other code receives a reading or a ``Clock``."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

from gpucloud.reconcile.facts import Now


class Clock(Protocol):
    """Wall time for statuses and Leases, monotonic seconds for durations."""

    def wall(self) -> datetime:
        """UTC, to the second: the precision of times in a status."""

    def mono(self) -> float:
        """Monotonic seconds since an arbitrary start."""

    def instant(self) -> datetime:
        """UTC, to the microsecond: the precision of times in Leases and Events."""


class SystemClock:
    """The clocks of the host."""

    def wall(self) -> datetime:
        """UTC, to the second."""
        return datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - the one place

    def instant(self) -> datetime:
        """UTC, to the microsecond."""
        return datetime.now(UTC)  # noqa: TID251 - the one place

    def mono(self) -> float:
        """Monotonic seconds since an arbitrary start."""
        return time.monotonic()  # noqa: TID251 - the one place


def reading(clock: Clock) -> Now:
    """Read wall time and monotonic time together."""
    return Now(clock.wall(), clock.mono())
