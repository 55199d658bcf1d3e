"""Quantiles of samples are values that were measured; those of histograms are what Prometheus would say."""

from __future__ import annotations

import math

import pytest

from bench.quantiles import histogram_quantile, p50_p99, quantile

HUNDRED = [float(number) for number in range(1, 101)]


@pytest.mark.parametrize(
    ("samples", "share", "wanted", "why"),
    [
        ([], 0.5, None, "nothing was measured"),
        ([7.0], 0.99, 7.0, "one sample is every quantile"),
        (HUNDRED, 0.50, 50.0, "the nearest rank, not 50.5"),
        (HUNDRED, 0.99, 99.0, "one of a hundred is slower"),
        (HUNDRED[::-1], 0.99, 99.0, "in whatever order"),
        ([1.0, 2.0, 9.0], 0.99, 9.0, "of few samples the slowest"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_quantiles_of_samples(samples, share, wanted, why):
    assert quantile(samples, share) == wanted, why


def test_both_quantiles_have_names_and_none_without_samples():
    assert p50_p99("ready", HUNDRED) == {"ready_p50": 50.0, "ready_p99": 99.0}
    assert p50_p99("ready", []) == {}


@pytest.mark.parametrize(
    ("buckets", "wanted", "why"),
    [
        ({}, None, "the operator does not tell"),
        ({0.1: 0, math.inf: 0}, None, "nothing was observed"),
        ({0.1: 100, 1.0: 100, math.inf: 100}, 0.099, "interpolated in the first bucket"),
        ({0.1: 50, 1.0: 100, math.inf: 100}, 0.1 + 0.9 * 49 / 50, "interpolated between two bounds"),
        ({0.1: 50, 1.0: 60, math.inf: 100}, 1.0, "beyond the last bound nothing is known"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_quantiles_of_histograms(buckets, wanted, why):
    assert histogram_quantile(buckets, 0.99) == (None if wanted is None else pytest.approx(wanted)), why
