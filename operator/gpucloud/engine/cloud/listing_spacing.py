"""How often a cluster is listed: by intervals; and when objects ask for it a few times at once, then as its size allows.

Each listing holds all records of the cluster, so in a storm of N objects the work of listing would grow with N squared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LEAST_SPACING_SECONDS = 0.2  # between two listings of one cluster, however many objects ask for one
RECORD_SECONDS = 0.0015  # of spacing for each record: one takes some 50 µs, so listings take a few percent of a core
LONGEST_SPACING_SECONDS = 6.0  # of a cluster of any size: by so much the status may be older than it could be
BURST = 4  # listings that need not be spaced by their size: one VM that is created or destroyed needs no more


@dataclass(frozen=True, slots=True)
class Intervals:
    """Seconds between two listings of a cluster: ``pending`` while an object in it is pending, else ``steady``."""

    pending: float
    steady: float


@dataclass(slots=True)
class ListingSpacing:
    """The spacing of one cluster's listings. Times are mono seconds."""

    _spacing: float = 0.0
    _paid_at: float = -math.inf  # when the listings so far are paid for, each with the spacing of its size

    def listed(self, size: int, now: float) -> None:
        """Count a listing of this size: records that it shows, or that are looked for in it, whichever are more."""
        self._spacing = min(size * RECORD_SECONDS, LONGEST_SPACING_SECONDS)
        self._paid_at = max(self._paid_at, now) + self._spacing

    def rest(self, duration: float, now: float) -> float:
        """Return the seconds until the next listing may begin: as long as the last one took, to spare a slow cloud, or more."""
        unpaid = self._paid_at - BURST * self._spacing - now
        return max(LEAST_SPACING_SECONDS, duration, min(unpaid, self._spacing))  # earlier listings may have been larger
