"""What is free is asked seldom, and only while somebody waits for capacity."""

import pytest

from gpucloud.sim.messages import Request, Response


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


@pytest.mark.parametrize(("cluster", "found"), [("Msc1", []), ("Hou1", ["availability"])])
def test_who_was_refused_in_a_cluster_and_left_it_may_have_had_others_behind_it(courts, cluster, found):
    """Seed 92312453: one that had waited behind it could not say so, as no write of its status got through."""
    it = courts()
    item = it.bought()
    it.world.cloud.orders[0].told = "refused"
    it.world.actors.owner.patch(item, {"spec": {"cluster": "Oth1"}})
    it.writes(item, order=None)
    it.judge.rates.asks_what_is_free(it.operator, asked(cluster))
    assert it.oracles == found


@pytest.mark.parametrize(("cluster", "found"), [("Msc1", ["availability"]), ("Oth1", [])])
def test_who_was_accepted_in_a_cluster_waits_there_no_more_when_another_refuses_it(courts, cluster, found):
    it = courts()
    item = it.bought()
    it.world.actors.owner.patch(item, {"spec": {"cluster": "Oth1"}})
    it.passes(100.0)  # so that it was heard
    it.records(item, "a-x", cluster="Oth1")
    it.orders("a-x", cluster="Oth1")
    first, second = it.world.cloud.orders
    first.told, second.told = "accepted", "refused"
    it.judge.rates.asks_what_is_free(it.operator, asked(cluster))
    assert [one for one in it.oracles if one == "availability"] == found


def test_the_catalogue_may_ask_without_counts(courts):
    it = courts()
    it.bought()
    it.judge.rates.asks_what_is_free(it.operator, asked(reportNodes="false"))
    assert it.oracles == []


START = Request("POST", "/api/v1/servers/virtual/StartServer", body=b'{"id": "x"}')


def refused(it, status=503):
    it.judge.rates.answered(it.operator, START, Response(status, b"", ()))


@pytest.mark.parametrize(
    ("status", "seconds", "found", "why"),
    [
        (503, 5.0, ["hasty start"], "no listing has shown that it is off all the same"),
        (503, 31.0, [], "it had its time"),
        (202, 5.0, [], "it was accepted: another rule"),
    ],
)
def test_a_start_without_capacity_is_not_repeated_at_once(courts, status, seconds, found, why):
    it = courts()
    refused(it, status)
    it.passes(seconds)
    it.judge.rates.starts(it.operator, START)
    assert it.oracles == found, why


def test_after_somebody_did_something_a_start_may_be_repeated(courts):
    it = courts()
    refused(it)
    it.judge.rates.disturbed()
    it.judge.rates.starts(it.operator, START)
    assert it.oracles == []


def test_what_is_free_may_be_asked_for_a_vm_that_is_to_be_started(courts):
    it = courts()
    it.bought()
    refused(it)
    it.judge.rates.asks_what_is_free(it.operator, asked())
    assert it.oracles == []


PLAN = {
    "changes": [{"name": "configuration", "to": "A100_40GB_PCIe_2x"}],
    "plannedAt": "2026-01-01T00:01:00Z",
    "notBefore": "2026-01-01T00:01:30Z",
}


def test_what_is_free_may_be_asked_for_a_planned_replacement(courts):
    """No status could be written since (seed 92240200): the old VM goes only when there is room for the new one."""
    it = courts()
    it.writes(it.bought(), replacement=PLAN)
    it.judge.rates.asks_what_is_free(it.operator, asked())
    assert it.oracles == []


@pytest.mark.parametrize(("seconds", "found"), [(1.0, []), (600.0, ["availability"])])
def test_a_query_may_be_on_its_way_when_the_wait_ends(courts, seconds, found):
    """Seed 92212970: a VM that was to be replaced was seen to be on, so that its own room counted from then on."""
    it = courts()
    item = it.bought()
    it.writes(item, placement={"configuration": "A100_40GB_PCIe_1x", "waitingSince": "2026-01-01T00:00:00Z"})
    it.writes(item, placement=None)
    it.passes(seconds)
    it.judge.rates.asks_what_is_free(it.operator, asked())
    assert it.oracles == found


@pytest.mark.parametrize(("later", "found"), [(1.0, []), (100.0, ["availability"])])
def test_an_edit_that_names_no_line_any_more_may_not_have_been_heard(courts, later, found):
    """Seed 92512068: who waited in the line of Msc1, and could go to Hou1, named Hou1 alone, and its watch was slow."""
    it = courts()
    it.bought("a", "a-x")
    it.world.cloud.orders[0].told = "refused"
    item = it.applied("b", placement={"alternatives": [{"cluster": "Hou1"}]})
    it.passes(100.0)
    it.world.actors.owner.patch(item, {"spec": {"cluster": "Hou1", "placement": None}})
    it.passes(later)
    it.judge.rates.asks_what_is_free(it.operator, asked("Hou1"))
    assert it.oracles == found
