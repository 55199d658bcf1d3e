"""Two measured sizes make straight lines, and lines make the arithmetic of any fleet."""

import pytest

from bench import model, page
from bench.results import KOPF, OURS, Phase, Result

FLEET = model.Fleet(vms=100_000, accounts=100, turnover=0.36)


def a_phase(name, cpu, memory=10.0, requests=None):
    spent = dict.fromkeys(("operator", "apiserver", "etcd", "cloud", "driver"), cpu)
    return Phase(name, 30.0, 0.0, spent, memory, memory, {}, requests or {})


def a_result(objects, failure="", operator=OURS):
    """3 s and 4 ms an object for creation, 1 ms for deletion, 1 s a minute and 10 us when idle, 50 MB and 20 kB.

    After the restart it needs less memory.
    """
    memory = 50.0 + 0.02 * objects
    phases = (
        a_phase("create", 3.0 + 0.004 * objects, memory, {"update gpuvms/status": 3 * objects, "create events": objects}),
        a_phase("idle", 0.5 + 0.000_005 * objects),
        a_phase("restart", 1.0 + 0.001 * objects),
        a_phase("delete", 0.001 * objects, 0.7 * memory, {"update gpuvms/status": 2 * objects}),
    )
    return Result(operator, objects, phases, failure)


@pytest.fixture
def costs():
    return model.costs([a_result(1_000), a_result(200), a_result(10_000, "not all Ready")])


@pytest.mark.parametrize(
    ("cost", "fixed", "each"),
    [
        ("create", 3.0, 0.004),
        ("delete", 0.0, 0.001),
        ("idle_minute", 1.0, 0.000_01),  # the idle phase lasted half a minute
        ("restart", 1.0, 0.001),
        ("memory", 50.0, 0.02),
    ],
)
def test_a_cost_has_a_fixed_part_and_one_for_each_object(costs, cost, fixed, each):
    line = getattr(costs, cost)
    assert (line.fixed, line.each) == (pytest.approx(fixed), pytest.approx(each))
    assert line.at(500) == pytest.approx(fixed + 500 * each)


def test_what_failed_is_not_computed_with(costs):
    assert (costs.lowest, costs.highest) == (200, 1_000)


def test_writes_of_a_life_are_counted_in_the_larger_run(costs):
    assert (costs.writes_a_life, costs.events_a_life) == (5.0, 1.0)


def test_the_processor_is_busy_with_idleness_and_with_lives(costs):
    """1 s + 1 s a minute while idle; 10 lives a second of 5 ms each."""
    assert model.busy(costs, FLEET) == pytest.approx(2.0 / 60 + 10 * 0.005)


def test_one_processor_bounds_the_lives_of_an_hour(costs):
    assert model.lives_an_hour(costs, FLEET) == pytest.approx(3600 * (1 - 2.0 / 60) / 0.005)


def test_a_line_takes_two_sizes():
    with pytest.raises(ValueError, match="two numbers of objects"):
        model.costs([a_result(200), a_result(200)])
    assert "not measured" in "\n".join(page.fleets([a_result(200)]))


def test_the_page_says_from_which_runs_it_computes():
    shown = "\n".join(page.fleets([a_result(200), a_result(1_000)]))
    assert "with 200 and 1,000 objects" in shown
    assert "| peak memory, MB | 70 | 250 | 2,050 |" in shown


def test_a_phase_that_was_not_measured_is_named():
    cut = Result(KOPF, 1_000, a_result(1_000).phases[:1])
    with pytest.raises(ValueError, match="no phase"):
        model.costs([a_result(200), cut])
