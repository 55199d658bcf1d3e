"""What is free is asked seldom, and only while somebody waits for capacity."""

import pytest

from gpucloud.sim.messages import Request


def asked(cluster="Msc1", **query):
    return Request("GET", "/api/v1/servers/virtual/GetAvailability", query=(("cluster", cluster), *query.items()))


@pytest.mark.parametrize(
    ("polls", "found"),
    [((5, 5), []), ((5, 2), ["availability"]), ((0, 0), ["availability"])],
    ids=["seldom", "too soon again", "at once"],
)
def test_what_is_free_is_asked_seldom(courts, polls, found):
    it = courts()
    it.bought()
    it.world.cloud.orders[0].told = "unclear"
    for number in polls:
        it.passes(number * it.world.scenario.settings.poll_pending_seconds)
        it.judge.rates.asks_what_is_free(it.operator, asked())
    assert it.oracles == found


def test_nothing_is_asked_where_nobody_waits(courts):
    it = courts()
    it.bought()
    it.judge.rates.asks_what_is_free(it.operator, asked())
    assert it.oracles == ["availability"]


@pytest.mark.parametrize(("cluster", "found"), [("Msc1", []), ("Hou1", ["availability"])])
def test_nothing_is_asked_of_a_cluster_where_nobody_waits(courts, cluster, found):
    it = courts()
    it.bought()
    it.world.cloud.orders[0].told = "unclear"
    it.judge.rates.asks_what_is_free(it.operator, asked(cluster))
    assert it.oracles == found


def test_the_catalogue_may_ask_without_counts(courts):
    it = courts()
    it.bought()
    it.judge.rates.asks_what_is_free(it.operator, asked(reportNodes="false"))
    assert it.oracles == []
