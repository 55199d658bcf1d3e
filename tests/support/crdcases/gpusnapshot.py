"""GpuSnapshot: the least object, and what of its spec is accepted, refused, fixed and free."""

from __future__ import annotations

from gpucloud.kinds.definitions import GPUSNAPSHOT
from support.crdcases.cases import CLOUD_ACCEPTED, CLOUD_FIXED, CLOUD_FREE, CLOUD_REFUSED, Cases, Edit, bad_references

SOURCE = {"cluster": "Msc1", "vpc": "acme", "name": "vm-2024093009357617"}
BY_SOURCE = {"vmRef": None, "vm": SOURCE}


def source(**changes):
    """A snapshot of a VM that is no GpuVM, with these changes of its source."""
    return {"vmRef": None, "vm": {field: value for field, value in {**SOURCE, **changes}.items() if value is not None}}


SNAPSHOT_ACCEPTED = [
    *CLOUD_ACCEPTED,
    ("a VM that no GpuVM stands for", BY_SOURCE),
    ("the longest name", {"snapshotName": "a" * 52}),
    ("a name of one character", {"snapshotName": "7"}),
    ("kept when deleted", {"deletion": {"policy": "Retain"}}),
    ("the policy left open", {"deletion": {}}),
    ("adopted", BY_SOURCE | {"snapshotName": "Old_1", "adoption": "Required"}),
]
SNAPSHOT_REFUSED = [
    *CLOUD_REFUSED,
    *bad_references("vmRef"),
    ("no source", {"vmRef": None}, "spec.vmRef", "Name the VM: in spec.vmRef"),
    ("two sources", {"vm": SOURCE}, "spec.vm", "Set spec.vmRef or spec.vm, not both."),
    *((f"a source without {field}", source(**{field: None}), f"spec.vm.{field}", "Required value") for field in SOURCE),
    *((f"a source, {field} empty", source(**{field: ""}), f"spec.vm.{field}", "at least 1 chars long") for field in SOURCE),
    *((f"a source, {field} too long", source(**{field: "x" * 254}), f"spec.vm.{field}", "Too long") for field in SOURCE),
    ("a name too long for the service", {"snapshotName": "a" * 53}, "spec.snapshotName", "may not be more than 52"),
    ("upper case", {"snapshotName": "Before"}, "spec.snapshotName", "Use lower-case letters, digits and '-'"),
    ("a hyphen first", {"snapshotName": "-before"}, "spec.snapshotName", "start and end with a letter or digit"),
    ("a hyphen last", {"snapshotName": "before-"}, "spec.snapshotName", "start and end with a letter or digit"),
    ("a dot", {"snapshotName": "before.1"}, "spec.snapshotName", "lower-case letters, digits and '-'"),
    ("a second line", {"snapshotName": "before\n"}, "spec.snapshotName", "lower-case letters, digits and '-'"),
    ("nothing to adopt by", {"adoption": "IfExists"}, "spec.snapshotName", "adopted by its name"),
    ("an unknown policy", {"deletion": {"policy": "Keep"}}, "spec.deletion.policy", '"Delete", "Retain"'),
]
SNAPSHOT = Cases(
    GPUSNAPSHOT,
    minimal={"vmRef": {"name": "train"}},
    defaults={"adoption": "Never", "progressDeadlineSeconds": 1800},
    accepted=SNAPSHOT_ACCEPTED,
    refused=SNAPSHOT_REFUSED,
    fixed=[
        *CLOUD_FIXED,
        Edit("vmRef", {"name": "train"}, {"name": "test"}, instead={"vm": SOURCE}),
        Edit("vmRef.name", "train", "test"),
        Edit("vm", SOURCE, SOURCE | {"name": "vm-1"}, {"vmRef": None}, {"vmRef": {"name": "train"}}),
        Edit("vm.cluster", "Msc1", "Hou1", BY_SOURCE),
        Edit("vm.vpc", "acme", "acme-lab", BY_SOURCE),
        Edit("vm.name", "vm-2024093009357617", "vm-1", BY_SOURCE),
        Edit("snapshotName", "before", "after"),
    ],
    free=[
        *CLOUD_FREE,
        Edit("adoption", "IfExists", "Never", {"snapshotName": "old"}),
        Edit("deletion", {"policy": "Retain"}, {"policy": "Delete"}),
        Edit("deletion.policy", "Retain", "Delete"),
    ],
    required={"accountRef.name", "vmRef.name", "vm.cluster", "vm.vpc", "vm.name"},
)
