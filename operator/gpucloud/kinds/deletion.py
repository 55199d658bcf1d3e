"""What deleting a GpuVM does: whether the VM goes, what becomes of its snapshots, and which one must be taken before."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gpucloud.kinds.common import DeletionPolicy  # noqa: TC001 - pydantic reads the annotations
from gpucloud.kinds.model import Model, Time


class SnapshotPolicy(StrEnum):
    """What becomes of the VM's snapshots when the VM is destroyed."""

    KEEP = "Keep"
    DELETE = "Delete"


class FinalSnapshotPolicy(StrEnum):
    """Whether a last snapshot of the VM must be ready before the VM is destroyed."""

    NONE = "None"
    REQUIRED = "Required"


class Deletion(Model):
    """What deleting this object does to the VM."""

    policy: Annotated[
        DeletionPolicy | None,
        Field(
            description="Delete destroys the VM and its data; Retain leaves it running, billed and unmanaged. When not set: "
            "Delete for what the operator created, Retain for what it adopted; status.deletionPolicy says which applies."
        ),
    ] = None
    snapshots: Annotated[
        SnapshotPolicy,
        Field(
            description="Keep leaves the VM's snapshots alone; Delete deletes them with it, as far as they are GpuSnapshots of "
            "this namespace that may be deleted."
        ),
    ] = SnapshotPolicy.KEEP
    final_snapshot: Annotated[
        FinalSnapshotPolicy,
        Field(
            description="Required: the VM is destroyed only after a snapshot of it is ready, which stays as a GpuSnapshot with "
            "deletion.policy Retain. None: it is destroyed without one."
        ),
    ] = FinalSnapshotPolicy.NONE


class FinalSnapshotState(StrEnum):
    """How far the final snapshot is."""

    REQUESTED = "Requested"
    READY = "Ready"


class FinalSnapshot(Model):
    """The snapshot that must be ready before the VM is destroyed. Written before it is requested."""

    state: Annotated[
        FinalSnapshotState,
        Field(description="Requested: announced, and perhaps being taken. Ready: a listing has shown it ready to use."),
    ] = FinalSnapshotState.REQUESTED
    order: Annotated[
        str,
        Field(
            max_length=64,
            description="status.order.id of the VM that it is taken of; in a replacement, then -replaced- and its time.",
        ),
    ] = ""
    gpu_snapshot: Annotated[
        str | None,
        Field(
            max_length=253,
            description="GpuSnapshot that takes it. Absent where none can be made: the operator takes it in the cloud itself.",
        ),
    ] = None
    snapshot_id: Annotated[
        str | None, Field(max_length=253, description="Id, which is the name, of the snapshot in the cloud, once it is known.")
    ] = None
    requests: Annotated[
        int,
        Field(
            ge=0,
            le=1000,
            description="How often the operator has announced that it takes it in the cloud itself. Before each further time "
            "listings must lack it for minutes.",
        ),
    ] = 0
    requested_at: Annotated[Time, Field(description="When it was announced last.")]
