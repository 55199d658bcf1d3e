"""Which status a refusal gets, whatever other knobs say."""

import pytest

from gpucloud.sim.answers import status_of
from gpucloud.sim.knobs import Knobs
from gpucloud.sim.world.refusals import Reason


@pytest.mark.parametrize(
    "knobs", [Knobs(), Knobs(duplicate_vm="existing"), Knobs(duplicate_vm="twin", duplicate_snapshot="existing")]
)
def test_what_is_done_of_duplicates_does_not_hinder_another_refusal(knobs):
    assert status_of(Reason.MISSING_VM, knobs) == 404
    assert status_of(Reason.POWER_STATE, Knobs(wrong_power_state="refuse_422")) == 422


def test_the_refusal_of_a_duplicate_is_as_the_knob_says():
    assert status_of(Reason.DUPLICATE_VM, Knobs(duplicate_vm="refuse_500")) == 500
