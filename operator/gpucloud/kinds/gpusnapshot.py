"""GpuSnapshot (``gsnap``): a snapshot of a virtual machine of the GPU cloud."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from gpucloud.kinds.common import AdoptingSpec, CloudName, CloudStatus, DeletionPolicy, Reference, naming_rules
from gpucloud.kinds.markers import CEL, IMMUTABLE, rules
from gpucloud.kinds.model import Model, Time

KIND = "GpuSnapshot"
PLURAL = "gpusnapshots"


class SnapshotSource(Model):
    """A VM of the cloud that no GpuVM of this namespace stands for."""

    cluster: Annotated[str, Field(min_length=1, max_length=253, description="Cluster that the VM is in.")]
    vpc: Annotated[str, Field(min_length=1, max_length=253, description="Name of the VPC that the VM is in.")]
    name: Annotated[str, Field(min_length=1, max_length=253, description="Name, and so id, of the VM in the cloud.")]


class SnapshotDeletion(Model):
    """What deleting this object does to the snapshot."""

    policy: Annotated[
        DeletionPolicy | None,
        Field(
            description="Delete deletes the snapshot in the cloud; Retain leaves it there, unmanaged. When not set: Delete for "
            "what the operator created, Retain for what it adopted; status.deletionPolicy says which applies."
        ),
    ] = None


class GpuSnapshotSpec(AdoptingSpec):
    """The snapshot as its owner wants it. The operator never writes here."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            CEL(
                "has(self.vmRef) || has(self.vm)",
                "Name the VM: in spec.vmRef a GpuVM of this namespace, or in spec.vm by its cluster, vpc and name in the "
                "cloud.",
                reason="FieldValueRequired",
                field_path=".vmRef",
            ),
            CEL(
                "!(has(self.vmRef) && has(self.vm))",
                "Set spec.vmRef or spec.vm, not both.",
                reason="FieldValueForbidden",
                field_path=".vm",
            ),
            *naming_rules("snapshotName", "snapshot"),
        )
    )

    vm_ref: Annotated[
        Reference | None,
        Field(description="GpuVM of this namespace to take the snapshot of. The snapshot waits until its VM has been seen."),
        IMMUTABLE,
    ] = None
    vm: Annotated[
        SnapshotSource | None,
        Field(description="VM to take the snapshot of, in place of vmRef, when no GpuVM of this namespace stands for it."),
        IMMUTABLE,
    ] = None
    snapshot_name: Annotated[
        CloudName | None,
        Field(description="Name of the snapshot in the cloud. When not set, a name is made that proves whose snapshot it is."),
        IMMUTABLE,
    ] = None
    deletion: Annotated[SnapshotDeletion, Field(description="What deleting this object does to the snapshot.")] = (
        SnapshotDeletion()
    )


class GpuSnapshotStatus(CloudStatus):
    """What the operator observed. Rebuilt whole in every write."""

    snapshot_id: Annotated[
        str | None, Field(max_length=253, description="Id, which is the name, of the snapshot, once it has been seen.")
    ] = None
    source_name: Annotated[str | None, Field(max_length=253, description="Name of the VM that it was taken of.")] = None
    cluster: Annotated[str | None, Field(max_length=253, description="Cluster that the snapshot is in.")] = None
    vpc: Annotated[str | None, Field(max_length=253, description="VPC that the snapshot is in.")] = None
    os_image: Annotated[
        str | None, Field(max_length=253, description="Operating system image of the VM, as the cloud writes it.")
    ] = None
    custom_package: Annotated[str | None, Field(max_length=253, description="Custom package, as the cloud writes it.")] = None
    root_disk_size: Annotated[str | None, Field(max_length=253, description="Root disk size, as the cloud writes it.")] = None
    creation_date: Annotated[Time | None, Field(description="When the snapshot was taken, as the cloud reports it.")] = None
    username: Annotated[str | None, Field(max_length=253, description="User of the cloud that took the snapshot.")] = None
    ready_to_use: Annotated[bool | None, Field(description="Whether the cloud calls the snapshot ready to use.")] = None
