"""GpuSnapshot: what its models read from, and write to, the objects of a cluster."""

from __future__ import annotations

from gpucloud.kinds.gpusnapshot import GpuSnapshotSpec, GpuSnapshotStatus


def test_a_snapshot_of_a_gpuvm_has_the_defaults_that_the_schema_states():
    spec = GpuSnapshotSpec.model_validate({"vmRef": {"name": "train"}})
    assert spec.vm_ref.name == "train"
    assert spec.deletion.policy is None
    assert (spec.vm, spec.snapshot_name, spec.account_ref, spec.progress_deadline_seconds) == (None, None, None, 1800)


def test_a_snapshot_of_any_vm_names_it_as_the_cloud_does():
    spec = GpuSnapshotSpec.model_validate({"vm": {"cluster": "Msc1", "vpc": "acme", "name": "vm-1"}})
    assert (spec.vm_ref, spec.vm.cluster, spec.vm.vpc, spec.vm.name) == (None, "Msc1", "acme", "vm-1")


def test_not_ready_is_written_and_unknown_is_left_out():
    assert GpuSnapshotStatus(ready_to_use=False).model_dump(by_alias=True, exclude_none=True)["readyToUse"] is False
    assert "readyToUse" not in GpuSnapshotStatus().model_dump(by_alias=True, exclude_none=True)
