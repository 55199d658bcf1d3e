"""Who waits longest for capacity goes first, and keeps its place."""

import pytest

ON_DEMAND = {"rpool": "on-demand"}
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"


def waits(it, item, since=EARLY, **order):
    """Its status says that it stands in line."""
    placement = {"configuration": "A100_40GB_PCIe_1x", "waitingSince": since, "lookSeconds": 10, "refused": []}
    it.writes(item, placement=placement, **({"order": order} if order else {}))
    it.says(item, "False", "WaitingForCapacity")


def takes_the_last_place(it, name="b", *, waiting="", **asked):
    """An order is accepted, and then nothing is free; a query later the judge looks again."""
    item = it.applied(name)
    if waiting:
        waits(it, item, waiting)
    it.records(item, f"{name}-x")
    it.world.cloud.set_capacity(1)
    assert it.orders(f"{name}-x", **asked) == 202
    it.passes(10.0)
    it.judge.queueing.look_again()


@pytest.mark.parametrize(
    ("waited", "order", "waiting", "found", "why"),
    [
        (100.0, {}, "", ["queue jumped"], "a newcomer is passed over nobody"),
        (100.0, {}, LATE, ["queue jumped"], "who came later goes later"),
        (100.0, {}, EARLY, [], "it waits as long"),
        (20.0, {}, LATE, [], "it has just joined: a query may have been made before"),
        (
            100.0,
            {"state": "Unclear", "name": "a-x", "cluster": "Msc1", "vpc": "acme", "id": "x"},
            LATE,
            [],
            "it cannot order now",
        ),
    ],
)
def test_the_last_place_goes_to_who_waits_longest(courts, waited, order, waiting, found, why):
    it = courts()
    it.world.weather.calm_down()
    waits(it, it.applied("a"), **order)
    it.passes(waited)
    takes_the_last_place(it, waiting=waiting)
    assert it.oracles == found, why


@pytest.mark.parametrize(("resumed", "found"), [(False, []), (True, ["queue jumped"])])
def test_who_is_paused_is_passed_over_by_nobody(courts, resumed, found):
    """A paused GpuVM orders nothing, and leaves its place to others (seeds 92237672 and 92237863)."""
    it = courts()
    it.world.weather.calm_down()
    item = it.applied("a")
    waits(it, item)
    for value in ("true", None)[: 1 + resumed]:
        it.hands.patch(item, {"metadata": {"annotations": {"gpucloud.dev/paused": value}}})
    it.passes(100.0)
    takes_the_last_place(it)
    assert it.oracles == found


@pytest.mark.parametrize(
    ("named", "ago", "gets", "found"),
    [
        ({}, 5.0, ON_DEMAND, []),
        ({}, 61.0, ON_DEMAND, ["queue jumped"]),
        ({}, 5.0, {}, ["queue jumped"]),
        (ON_DEMAND, 5.0, ON_DEMAND, ["queue jumped"]),
    ],
    ids=["seed 92263467", "six queries later", "it is for the newcomer, too", "of a pool that is named queries tell"],
)
def test_what_was_refused_in_no_named_pool_counts_as_taken_for_six_queries(courts, named, ago, gets, found):
    """Nobody knows which pool the cloud had no room in: one that is shown free may be another (docs/adr/0022)."""
    it = courts()
    it.world.weather.calm_down()
    waits(it, it.applied("a", **({"resourcePool": named["rpool"]} if named else {})))
    it.passes(100.0)
    it.world.cloud.turn(create_without_capacity="refuse_503")
    it.world.cloud.set_capacity(0)
    it.records(it.applied("c"), "c-x")
    assert it.orders("c-x", **named) == 503
    it.passes(ago)
    takes_the_last_place(it, **gets)
    assert it.oracles == found


def test_who_pauses_within_a_query_is_passed_over_by_nobody(courts):
    it = courts()
    it.world.weather.calm_down()
    first = it.applied("a")
    waits(it, first)
    it.passes(100.0)
    item = it.applied("b")
    it.records(item, "b-x")
    it.world.cloud.set_capacity(1)
    assert it.orders("b-x") == 202
    it.hands.patch(first, {"metadata": {"annotations": {"gpucloud.dev/paused": "true"}}})
    it.passes(10.0)
    it.judge.queueing.look_again()
    assert it.oracles == []


def test_what_a_restored_etcd_lacks_waits_no_more(courts):
    """Seed 92240495."""
    it = courts()
    it.world.weather.calm_down()
    backup = it.world.api.snapshot()
    waits(it, it.applied("a"))
    it.judge.restoring()
    it.world.api.restore(backup)
    it.judge.restored()
    it.passes(100.0)
    takes_the_last_place(it)
    assert it.oracles == []


def test_who_wants_something_else_is_not_passed_over(courts):
    it = courts()
    it.world.weather.calm_down()
    waits(it, it.applied("a", configuration="A100_40GB_PCIe_2x"))
    it.passes(100.0)
    takes_the_last_place(it)
    assert it.oracles == []


@pytest.mark.parametrize(
    ("state", "recreation", "found"),
    [("Refused", 1, []), ("Gone", None, []), ("Lost", None, []), ("Refused", None, ["queue jumped"])],
)
def test_who_waits_for_a_new_vm_in_place_of_another_waits_in_its_cluster(courts, state, recreation, found):
    """Seed 92255555: its VM had been an alternative of another cluster, and is replaced there."""
    it = courts()
    it.world.weather.calm_down()
    item = it.applied("a", placement={"alternatives": [{"cluster": "Hou1"}]})
    order = {"state": state, "name": "a-x", "cluster": "Hou1", "vpc": "acme", "id": "x"}
    waits(it, item, **order, **({"recreation": recreation} if recreation else {}))
    it.passes(100.0)
    takes_the_last_place(it)
    assert it.oracles == found


def test_who_gets_its_place_within_a_query_is_not_passed_over(courts):
    """Two places came free at the same time."""
    it = courts()
    it.world.weather.calm_down()
    first = it.applied("a")
    waits(it, first)
    it.passes(100.0)
    item = it.applied("b")
    it.records(item, "b-x")
    it.world.cloud.set_capacity(1)
    assert it.orders("b-x") == 202
    it.writes(first, placement=None)
    it.passes(10.0)
    it.judge.queueing.look_again()
    assert it.oracles == []


@pytest.mark.parametrize(("then", "found"), [(LATE, ["place lost"]), (EARLY, [])])
def test_a_place_in_the_line_is_not_lost(courts, then, found):
    it = courts()
    item = it.applied("a")
    waits(it, item)
    waits(it, item, then)
    assert it.oracles == found


def test_a_wait_that_is_over_may_begin_again(courts):
    it = courts()
    item = it.applied("a")
    waits(it, item)
    it.writes(item, placement=None)
    waits(it, item, LATE)
    assert it.oracles == []
