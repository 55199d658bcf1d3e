"""Facts for decisions about a GpuSnapshot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.cloud.models import SnapshotRecord, VmRecord
from gpucloud.kinds.common import DeletionPolicy
from gpucloud.kinds.gpusnapshot import KIND, GpuSnapshotSpec, GpuSnapshotStatus
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.core.facts import CloudFacts, Subject
from gpucloud.reconcile.core.record import cut, moment
from gpucloud.reconcile.facts import Absent, Present, Unknown, Verb

if TYPE_CHECKING:
    from gpucloud.reconcile.conditions import Verdict

SUBJECT = Subject(
    kind=KIND,
    noun="snapshot",
    create=Verb.CREATE_SNAPSHOT,
    destroy=Verb.DELETE_SNAPSHOT,
    lost=Reason.SNAPSHOT_LOST,
    by_name=True,
    unique_id=False,
    shown=("adopted", "root_disk_size", "ready_to_use"),
    kept_when_gone=("creation_date",),
    conflict_advice=" and choose another spec.snapshotName",
    without_adoption=" and choose another spec.snapshotName",
    name_field="spec.snapshotName",
    made_from="made from",
)


@dataclass(frozen=True, slots=True)
class Source:
    """The VM to take the snapshot of: its id in the cloud, and its observation."""

    name: str
    seen: Present[VmRecord] | Absent | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotFacts(CloudFacts[GpuSnapshotSpec, GpuSnapshotStatus, SnapshotRecord]):
    """Facts of one GpuSnapshot: the object, the observation of its snapshot, and this process's call history."""

    subject: ClassVar[Subject] = SUBJECT

    source: Source | None = None  # None while its GpuVM does not exist
    # Of a snapshot that is not listed: when the last listing of VMs in its cluster began, or why that is not believed. None:
    # VMs are not listed there, or a person has accepted this absence.
    vms_listed: float | Unknown | None = None

    @property
    def chosen_name(self) -> bool:
        """Whether the spec sets the snapshot's name."""
        return self.spec.snapshot_name is not None

    @property
    def unset_location(self) -> str:
        """The fields that name the snapshot's VM, if none of them is set: an older definition lets such a spec pass."""
        return "spec.vm and spec.vmRef" if self.spec.vm is None and self.spec.vm_ref is None else ""

    @property
    def declared_policy(self) -> DeletionPolicy | None:
        """What the spec says about the snapshot when this object is deleted."""
        return self.spec.deletion.policy

    @property
    def how_lost(self) -> str:
        """Whether a GpuVM's deletion may delete the snapshot too. The GpuVM may be gone, so its spec cannot be read."""
        if self.policy is DeletionPolicy.RETAIN:
            return "outside Kubernetes"
        return "with its VM (spec.deletion.snapshots: Delete of the GpuVM), or outside Kubernetes"

    def beside(self, verdict: Verdict) -> tuple[tuple[ConditionType, Reason, str], ...]:
        """A finished snapshot has succeeded, for tools that wait for work that ends."""
        if verdict.reason is not Reason.COMPLETED:
            return ()
        return ((ConditionType.SUCCEEDED, verdict.reason, verdict.message),)

    def observed(self) -> dict[str, Any]:
        """The status fields of the snapshot's record. It names no cluster, so that is the cluster that was listed."""
        if not isinstance(self.found, Present):
            return {}
        record = self.found.record
        texts = {
            "snapshot_id": record.id or self.identity.name,
            "source_name": record.source_name,
            "cluster": self.identity.cluster,
            "vpc": record.namespace or self.identity.vpc,
            "os_image": record.os_image,
            "custom_package": record.custom_package,
            "root_disk_size": record.root_disk_size,
            "username": record.username,
            "tenancy": record.tenancy_name,
        }
        return {**cut(texts), "creation_date": moment(record.creation_date), "ready_to_use": record.ready_to_use}
