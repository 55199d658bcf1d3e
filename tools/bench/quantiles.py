"""Quantiles of samples and of Prometheus histograms. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def quantile(samples: Sequence[float], share: float) -> float | None:
    """The nearest-rank quantile: a value that was measured, not one between two. None without samples."""
    if not samples:
        return None
    rank = max(1, math.ceil(share * len(samples)))
    return sorted(samples)[rank - 1]


def p50_p99(name: str, samples: Sequence[float]) -> dict[str, float]:
    """Both quantiles under ``<name>_p50`` and ``<name>_p99``; nothing without samples."""
    found = {f"{name}_p50": quantile(samples, 0.50), f"{name}_p99": quantile(samples, 0.99)}
    return {key: value for key, value in found.items() if value is not None}


def histogram_quantile(buckets: Mapping[float, float], share: float) -> float | None:
    """A quantile from cumulative counts by upper bound, interpolated within its bucket as Prometheus does.

    What lies beyond the last finite bound is answered as that bound. None without observations.
    """
    bounds = sorted(buckets)
    total = buckets[bounds[-1]] if bounds else 0
    if total <= 0:
        return None
    rank, lower, below = share * total, 0.0, 0.0
    for bound in bounds:
        count = buckets[bound]
        if count >= rank and math.isinf(bound):
            return lower
        if count >= rank:
            return lower + (bound - lower) * (rank - below) / (count - below)
        lower, below = bound, count
    return lower
