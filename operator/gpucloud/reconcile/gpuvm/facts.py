"""Everything a decision about a GpuVM may look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.cloud.models import VmRecord
from gpucloud.kinds.gpuvm import KIND, DeletionPolicy, GpuVMSpec, GpuVMStatus
from gpucloud.kinds.meta import Annotation, Reason
from gpucloud.reconcile.core.facts import CloudFacts, Subject
from gpucloud.reconcile.facts import Absent, Present, SSHKeys, Unknown, Verb
from gpucloud.reconcile.gpuvm.record import observed

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import Operation
    from gpucloud.reconcile.deletion_guard import Hold
    from gpucloud.reconcile.quota import Usage

SUBJECT = Subject(
    kind=KIND,
    noun="VM",
    create=Verb.CREATE,
    destroy=Verb.DESTROY,
    lost=Reason.VM_LOST,
    by_name=True,
    unique_id=False,
    shown=("state", "vm_id", "ip", "private_ip", "price_per_hour"),
    cure=" and create it again with another spec.vmName",
)


@dataclass(frozen=True, slots=True)
class SnapshotOfVm:
    """One snapshot of this VM in the cloud. ``deletable``: a GpuSnapshot of this namespace stands for it, and may lose it."""

    name: str
    deletable: bool


@dataclass(frozen=True, slots=True)
class SnapshotsOfVm:
    """All snapshots of this VM that a listing which began at ``as_of`` shows."""

    items: tuple[SnapshotOfVm, ...]
    as_of: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VmFacts(CloudFacts[GpuVMSpec, GpuVMStatus, VmRecord]):
    """One GpuVM, the VM it stands for as last seen, and what this process remembers of it."""

    subject: ClassVar[Subject] = SUBJECT

    keys: SSHKeys = field(default_factory=SSHKeys)
    lookalikes: tuple[str, ...] = ()  # VMs of our tag and base name that nobody claims
    price_per_hour: str | None = None
    image_snapshot: str | None = None  # the cloud's name of the snapshot that the disk is made from
    snapshots: SnapshotsOfVm | Unknown | None = None  # looked for only while it is deleted together with them
    hold: Hold | None = None  # the brake is on, and this VM is not to be destroyed
    usage: tuple[Usage, ...] = ()  # of its account and namespace, where these have a limit

    @property
    def vm(self) -> Present[VmRecord] | Absent | Unknown:
        """The VM as last seen."""
        return self.found

    @property
    def chosen_name(self) -> bool:
        """Whether the owner chose the VM's name."""
        return self.spec.vm_name is not None

    @property
    def operation(self) -> Operation | None:
        """The last power call or restart on record."""
        return self.status.operation

    @property
    def policy(self) -> DeletionPolicy:
        """What becomes of the VM when this object is deleted."""
        return self.spec.deletion.policy

    def observed(self) -> dict[str, Any]:
        """The VM's record in status, with the price at which it was bought."""
        record = observed(self.found.record, self.identity) if isinstance(self.found, Present) else {}
        return {**record, "price_per_hour": self.status.price_per_hour or self.price_per_hour}

    def answered(self) -> dict[str, Any]:
        """As of every kind; and a restart, where the status holds no order.

        Then there is nothing to restart yet, or the status was lost: whether the VM was restarted since, nobody can know, and
        to restart it twice loses work. The write that records the order anew records that, too: so does one that has not
        found the VM yet.
        """
        if self.status.order is not None:
            return CloudFacts.answered(self)
        return {
            **CloudFacts.answered(self),
            "last_handled_restart_at": self.meta.annotations.get(Annotation.RESTART_REQUESTED_AT),
        }
