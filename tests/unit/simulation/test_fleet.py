"""Many VMs at once in the simulated world: the same engine, and the judge looks on."""

import sys

import pytest

from gpucloud.reconcile.gpuvm import in_hand, offers
from simulation.fleet import Fleet, resource
from simulation.logs import SimulatedLog

FEW, MANY = 50, 200
GROWTH = 1.05  # of the calls for each object: 1.24 while the judge looked at every thing for each object
ASKED = 60  # calls in one pass about the offers of a VM that accepts only one: 240 while each answer was looked for anew


def lived(objects):
    """A fleet, its judge, and how many functions were called in its whole life: all, and those about offers."""
    made, calls, asked, before = Fleet(objects), 0, 0, sys.getprofile()
    SimulatedLog.world, SimulatedLog.searched = made, False

    def count(frame, event, _arg):
        nonlocal calls, asked
        calls += event.endswith("call")
        asked += event == "call" and frame.f_code.co_filename in {in_hand.__file__, offers.__file__}

    sys.setprofile(count)
    try:
        judge = made.run()
    finally:
        sys.setprofile(before)
    return made, judge, calls, asked


@pytest.fixture(scope="module")
def fleet():
    return lived(MANY)


@pytest.fixture(scope="module")
def small_fleet():
    """With the same log as the other one: a line costs some 200 calls."""
    return lived(FEW)


def test_all_are_made_once_and_are_gone_without_a_violation(fleet):
    made, judge, _, _ = fleet
    assert judge.violations == []
    assert [phase.name for phase in made.phases] == ["create", "delete"]
    assert [made.phases[0].sent["CreateServer"], made.phases[1].sent["DestroyServer"]] == [MANY, MANY]


def test_each_costs_five_writes_and_hardly_a_listing(fleet):
    each = fleet[0].each()
    assert each["writes"] == 5.0
    assert 2.0 <= each["cloud calls"] < 2.2


def test_four_times_as_many_take_four_times_as_many_steps(fleet, small_fleet):
    """The operator, the apiserver, the cloud and the judge together."""
    assert fleet[2] / MANY < GROWTH * small_fleet[2] / FEW


def test_a_vm_that_accepts_one_offer_is_not_asked_about_others(small_fleet):
    made, _, _, asked = small_fleet
    assert asked < ASKED * made.each()["passes"] * FEW


@pytest.mark.parametrize(
    ("path", "plural"),
    [
        ("/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/x/status", "gpuvms"),
        ("/apis/gpucloud.dev/v1alpha1/gpuvms?limit=5", "gpuvms"),
    ],
)
def test_what_is_sent_is_counted_by_its_resource(path, plural):
    assert resource(path) == plural
