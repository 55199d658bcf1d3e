"""Many VMs at once in the simulated world: the same engine, and the judge looks on."""

import pytest

from simulation.fleet import Fleet, resource
from simulation.logs import SimulatedLog

MANY = 200


@pytest.fixture(scope="module")
def fleet():
    made = Fleet(MANY)
    SimulatedLog.world, SimulatedLog.searched = made, False
    return made, made.run()


def test_all_are_made_once_and_are_gone_without_a_violation(fleet):
    made, judge = fleet
    assert judge.violations == []
    assert [phase.name for phase in made.phases] == ["create", "delete"]
    assert [made.phases[0].sent["CreateServer"], made.phases[1].sent["DestroyServer"]] == [MANY, MANY]


def test_each_costs_five_writes_and_hardly_a_listing(fleet):
    each = fleet[0].each()
    assert each["writes"] == 5.0
    assert 2.0 <= each["cloud calls"] < 2.2


@pytest.mark.parametrize(
    ("path", "plural"),
    [
        ("/apis/gpucloud.dev/v1alpha1/namespaces/team/gpuvms/x/status", "gpuvms"),
        ("/apis/gpucloud.dev/v1alpha1/gpuvms?limit=5", "gpuvms"),
    ],
)
def test_what_is_sent_is_counted_by_its_resource(path, plural):
    assert resource(path) == plural
