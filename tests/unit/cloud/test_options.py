"""Options of a client: limits under which nothing could be sent, or nothing would be bounded, are refused."""

import math

import pytest

from gpucloud.cloud import ClientOptions

LIMITS = ("qps", "burst", "connect_timeout_seconds", "total_deadline_seconds", "max_body_bytes")


@pytest.mark.parametrize("value", [0, -1, math.nan])
@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_a_number_above_zero(name, value):
    with pytest.raises(ValueError, match=f"{name} must be greater than 0"):
        ClientOptions(**{name: value})
