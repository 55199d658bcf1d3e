"""GpuVM: what its models read from, and write to, the objects of a cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import yaml

from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus, PowerState, SnapshotPolicy

EXAMPLE = Path(__file__).parents[3] / "deploy" / "examples" / "gpuvm.yaml"
MINIMAL = {"cluster": "Msc1", "configuration": "A100_40GB_PCIe_1x", "vpc": "acme", "sshKeys": ["ssh-ed25519 AAAA"]}


def test_a_minimal_object_has_the_defaults_that_the_schema_states():
    spec = GpuVMSpec.model_validate(MINIMAL)
    assert spec.power_state is PowerState.RUNNING
    assert spec.deletion.policy is None
    assert spec.deletion.snapshots is SnapshotPolicy.KEEP
    assert (spec.vpc, spec.vpc_ref, spec.account_ref) == ("acme", None, None)
    assert spec.progress_deadline_seconds == 1800
    assert (spec.image, spec.storage, spec.vm_name, spec.ssh_keys_from) == (None, None, None, ())


def test_references_are_read():
    said = {
        "vpc": None,
        "vpcRef": {"name": "lab"},
        "image": {"snapshotRef": {"name": "before"}},
        "accountRef": {"name": "main"},
        "deletion": {"snapshots": "Delete"},
    }
    spec = GpuVMSpec.model_validate(MINIMAL | said)
    assert (spec.vpc, spec.vpc_ref.name, spec.image.snapshot_ref.name, spec.account_ref.name) == (None, "lab", "before", "main")
    assert (spec.deletion.policy, spec.deletion.snapshots) == (None, SnapshotPolicy.DELETE)


def test_the_example_is_read():
    example = yaml.safe_load(EXAMPLE.read_text())
    assert "namespace" not in example["metadata"]
    spec = GpuVMSpec.model_validate(example["spec"])
    assert spec.cluster == "Msc1"
    assert spec.root_disk_gib == 200
    assert spec.image.operating_system == "Ubuntu 22.04.4 LTS"


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
            "order": {
                "state": "Seen",
                "name": "train-a-1",
                "cluster": "Msc1",
                "vpc": "acme",
                "recordedAt": "2026-01-02T03:00:00Z",
            },
            "vmId": "train-a-1",
            "memoryGB": 112,
        }
    )
    assert status.conditions[0].last_transition_time == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert status.order.recorded_at.tzinfo is not None
    assert (status.vm_id, status.memory_gb, status.state) == ("train-a-1", 112, None)


def test_what_is_not_set_is_absent_from_a_written_status():
    status = GpuVMStatus(observed_generation=1, state="ONLINE")
    written = status.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert written == {"observedGeneration": 1, "conditions": [], "state": "ONLINE"}
