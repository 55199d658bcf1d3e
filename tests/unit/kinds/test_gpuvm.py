"""GpuVM: what its models read from, and write to, the objects of a cluster."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from pydantic import TypeAdapter, ValidationError

from gpucloud.kinds.crd import custom_resource_definition
from gpucloud.kinds.definitions import GPUVM
from gpucloud.kinds.gpuvm import DeletionPolicy, GpuVMSpec, GpuVMStatus, Intent, PowerState
from gpucloud.kinds.meta import Condition, ConditionType, Reason
from support.crdschema import fields, values

EXAMPLE = Path(__file__).parents[3] / "deploy" / "examples" / "gpuvm.yaml"
SCHEMA = custom_resource_definition(GPUVM)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
MINIMAL = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": ["ssh-ed25519 AAAA"]}


@given(values(SCHEMA["spec"]))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_spec_that_the_schema_accepts_is_read_and_comes_back_unchanged(spec):
    assert GpuVMSpec.model_validate(spec).model_dump(mode="json", by_alias=True, exclude_unset=True) == spec


@given(values(SCHEMA["status"]))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_status_that_the_schema_accepts_is_read_and_comes_back_unchanged(status):
    assert GpuVMStatus.model_validate(status).model_dump(mode="json", by_alias=True, exclude_unset=True) == status


def test_a_minimal_object_has_the_defaults_that_the_schema_states():
    spec = GpuVMSpec.model_validate(MINIMAL)
    assert spec.power_state is PowerState.RUNNING
    assert spec.deletion.policy is DeletionPolicy.DELETE
    assert spec.progress_deadline_seconds == 1800
    assert (spec.image, spec.storage, spec.vm_name, spec.ssh_keys_from) == (None, None, None, ())


def test_the_example_is_read():
    example = yaml.safe_load(EXAMPLE.read_text())
    assert "namespace" not in example["metadata"]
    spec = GpuVMSpec.model_validate(example["spec"])
    assert spec.cluster == "Msc1"
    assert spec.root_disk_gib == 200
    assert spec.image.operating_system == "Ubuntu 22.04.4 LTS"


def test_a_field_of_a_newer_schema_is_no_error():
    assert GpuVMSpec.model_validate({**MINIMAL, "fromTheFuture": {"a": 1}}) == GpuVMSpec.model_validate(MINIMAL)


def test_the_status_of_an_object_in_a_cluster_is_read():
    status = GpuVMStatus.model_validate(
        {
            "observedGeneration": 3,
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "Running",
                    "message": "Online.",
                    "lastTransitionTime": "2026-01-02T03:04:05Z",
                    "observedGeneration": 3,
                }
            ],
            "intent": {"name": "train-a-1", "cluster": "Msc1", "vpc": "acme", "recordedAt": "2026-01-02T03:00:00Z"},
            "vmId": "train-a-1",
            "memoryGB": 112,
        }
    )
    assert status.conditions[0].last_transition_time == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert status.intent.recorded_at.tzinfo is not None
    assert (status.vm_id, status.memory_gb, status.state) == ("train-a-1", 112, None)


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), id="whole seconds"),
        pytest.param(datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC), id="fractions are cut"),
        pytest.param(datetime(2026, 1, 2, 4, 4, 5, tzinfo=timezone(timedelta(hours=1))), id="other zones become UTC"),
    ],
)
def test_times_are_written_as_kubernetes_writes_them(moment):
    intent = Intent(name="n", cluster="c", vpc="v", recorded_at=moment)
    assert intent.model_dump(mode="json", by_alias=True)["recordedAt"] == "2026-01-02T03:04:05Z"


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValidationError, match="timezone"):
        Intent(name="n", cluster="c", vpc="v", recorded_at=datetime(2026, 1, 2))  # noqa: DTZ001 - the point


def test_what_is_not_set_is_absent_from_a_written_status():
    status = GpuVMStatus(observed_generation=1, state="ONLINE")
    written = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert written == {"observedGeneration": 1, "conditions": [], "state": "ONLINE"}


def test_every_reason_and_condition_type_is_one_that_the_schema_accepts():
    conditions = TypeAdapter(list[Condition])
    read = conditions.validate_python(
        [
            {"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": 0}
            for kind in ConditionType
            for reason in Reason
        ]
    )
    assert len(read) == len(ConditionType) * len(Reason)


@pytest.mark.parametrize("reason", ["has-hyphen", "1st", "trailing:", "two words", ""])
def test_a_reason_that_kubernetes_refuses_is_refused_here_first(reason):
    with pytest.raises(ValidationError, match="reason"):
        Condition(type="Ready", status="True", reason=reason, message="", last_transition_time=datetime(2026, 1, 1, tzinfo=UTC))


def test_every_field_is_described():
    below = [*fields(SCHEMA["spec"], "spec"), *fields(SCHEMA["status"], "status")]
    assert len(below) > 60
    assert [path for path, field in below if not field.get("description", "").endswith(".")] == []
