"""How far listings of the world's cloud are behind."""

from __future__ import annotations

import json

from gpucloud.sim.messages import Request
from simulation.credentials import KEYS


def listed(court):
    """What a listing shows now."""
    signed = (("authorization", f"ApiKey {KEYS['good']}"),)
    request = Request("GET", "/api/v1/servers/virtual/GetServers", (("Cluster", "Msc1"),), signed)
    answer = json.loads(court.world.cloud.carry_out(court.operator, "GetServers", request, "").body)
    return [item["id"] for item in answer.get("result", answer)["items"]]


def test_a_lag_that_begins_later_shows_nothing_older_than_was_shown_before(court):
    """Seed 70003650: two listings in a row lacked a VM that had been shown for long, so it counted as destroyed."""
    court.world.cloud.make_vm("web", "acme", "Msc1", "stranger")
    court.passes(1)
    assert listed(court) == ["web"]
    court.world.weather.plotted.add("lag")
    court.world.cloud.lag = 24.0
    court.passes(5)
    court.world.cloud.end_vm("web", "acme", "Msc1")
    for _ in range(4):
        court.passes(5)
        assert listed(court) == ["web"]
    court.passes(30)
    assert listed(court) == []


def test_a_lag_from_the_beginning_is_one_of_all_listings(court):
    court.world.weather.plotted.add("lag")
    court.world.cloud.lag = 24.0
    court.world.cloud.make_vm("web", "acme", "Msc1", "stranger")
    court.passes(20)
    assert listed(court) == []
    court.passes(10)
    assert listed(court) == ["web"]
