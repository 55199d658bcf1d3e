"""What the kinds have in common: references, times and the names of accounts."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from gpucloud.kinds import common, gpuvm
from gpucloud.kinds.common import DEFAULT_ACCOUNT, OWN_ACCOUNT, Order, OrderState, Reference
from gpucloud.kinds.meta import FINALIZER, SECRET_FINALIZER
from gpucloud.kinds.model import Condition
from gpucloud.kinds.schema import structural


def test_no_object_can_bear_the_name_that_stands_for_the_operators_own_account():
    (rule,) = structural(Reference, "ref")["properties"]["name"]["x-kubernetes-validations"]
    pattern = rule["rule"].removeprefix("self.matches('").removesuffix("')")
    assert re.fullmatch(pattern, DEFAULT_ACCOUNT)
    assert not re.fullmatch(pattern, OWN_ACCOUNT)


def test_a_secret_is_held_by_a_finalizer_of_its_own_so_that_the_two_are_never_mixed_up():
    assert SECRET_FINALIZER != FINALIZER
    assert SECRET_FINALIZER.startswith("gpucloud.dev/"), "the apiserver warns about a name without a domain"


def test_what_moved_is_the_same_under_its_old_name():
    assert gpuvm.DeletionPolicy is common.DeletionPolicy


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), id="whole seconds"),
        pytest.param(datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC), id="fractions are cut"),
        pytest.param(datetime(2026, 1, 2, 4, 4, 5, tzinfo=timezone(timedelta(hours=1))), id="other zones become UTC"),
    ],
)
def test_times_are_written_as_kubernetes_writes_them(moment):
    order = Order(state=OrderState.INTENDED, name="n", cluster="c", vpc="v", recorded_at=moment)
    assert order.model_dump(mode="json", by_alias=True)["recordedAt"] == "2026-01-02T03:04:05Z"


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValidationError, match="timezone"):
        Order(state=OrderState.INTENDED, recorded_at=datetime(2026, 1, 2))  # noqa: DTZ001 - the point


@pytest.mark.parametrize("reason", ["has-hyphen", "1st", "trailing:", "two words", ""])
def test_a_reason_that_kubernetes_refuses_is_refused_here_first(reason):
    with pytest.raises(ValidationError, match="reason"):
        Condition(type="Ready", status="True", reason=reason, message="", last_transition_time=datetime(2026, 1, 1, tzinfo=UTC))


def test_a_field_that_does_not_exist_cannot_be_set():
    """pydantic's own copy takes it, and forgets it: a misspelt field of a status would never be shown."""
    status = gpuvm.GpuVMStatus()
    assert status.model_copy(update={"private_ip": "10.0.0.1"}).private_ip == "10.0.0.1"
    with pytest.raises(TypeError, match="no field privateip"):
        status.model_copy(update={"privateip": "10.0.0.1"})
