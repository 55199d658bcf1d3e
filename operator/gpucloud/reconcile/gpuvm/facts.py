"""Facts for decisions about a GpuVM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.kinds.gpuvm import KIND, DeletionPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.core.facts import CloudFacts, Subject
from gpucloud.reconcile.facts import Absent, Present, SSHKeys, Unknown, Verb
from gpucloud.reconcile.gpuvm import boot_log, connection, offers
from gpucloud.reconcile.gpuvm.billing import billed
from gpucloud.reconcile.gpuvm.misnamed import KnownNames, corrections
from gpucloud.reconcile.gpuvm.record import observed
from gpucloud.reconcile.gpuvm.snapshots import FinalSnapshotFacts, is_required

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.common import Adoption
    from gpucloud.kinds.gpuvm import Operation
    from gpucloud.kinds.meta import ConditionType
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.deletion_guard import Hold
    from gpucloud.reconcile.gpuvm.snapshots import SnapshotsOfVm
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.quota import Usage

SUBJECT = Subject(
    kind=KIND,
    noun="VM",
    create=Verb.CREATE,
    destroy=Verb.DESTROY,
    lost=Reason.VM_LOST,
    by_name=True,
    unique_id=False,
    shown=("adopted", "state", "vm_id", "ip", "private_ip", "price_per_hour", "billed_since", "billed_seconds", "boot_log"),
    kept_when_gone=("settled_generation",),
    conflict_advice=" and choose another spec.vmName",
    without_adoption=" and choose another spec.vmName",
    name_field="spec.vmName",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VmFacts(offers.Facts):
    """Facts of one GpuVM: the object, the observation of its VM, and this process's call history."""

    subject: ClassVar[Subject] = SUBJECT

    keys: SSHKeys = field(default_factory=SSHKeys)
    lookalikes: tuple[str, ...] = ()  # unclaimed VMs with our tag and base name
    elsewhere: tuple[Identity, ...] = ()  # where else listings show VMs of the name that the spec would adopt
    strays: tuple[Identity, ...] | Unknown = ()  # where else VMs of its name are that may be its own, as its status was lost
    configuration_in_use: str | None = None  # by the catalogue, of the VM that is listed; None: not known
    price_per_hour: str | None = None
    image_snapshot: str | None = None  # the cloud's name of the snapshot that the disk is made from
    snapshots: SnapshotsOfVm | Unknown | None = None  # known only during a deletion that deletes them, or needs a final one
    final: FinalSnapshotFacts | None = None  # known only during a deletion that needs a final snapshot
    hold: Hold | None = None  # why the deletion guard holds this VM's destruction
    usage: tuple[Usage, ...] = ()  # of its account and namespace, where a quota is set
    known: KnownNames = field(default_factory=KnownNames)
    reassert_seconds: float = 60.0  # between two looks whether what is published still stands

    @property
    def vm(self) -> Present[VmRecord] | Absent | Unknown:
        """The observed VM."""
        return self.found

    @property
    def chosen_name(self) -> bool:
        """Whether the spec sets the VM's name."""
        return self.spec.vm_name is not None

    @property
    def operation(self) -> Operation | None:
        """The last power call or restart on record."""
        return self.status.operation

    @property
    def unset_place(self) -> str:
        """The fields that name the VPC, if none of them is set: an older definition lets such a spec pass."""
        return "spec.vpc and spec.vpcRef" if self.spec.vpc is None and self.spec.vpc_ref is None else ""

    @property
    def declared_policy(self) -> DeletionPolicy | None:
        """What the spec says about the VM when this object is deleted."""
        return self.spec.deletion.policy

    @property
    def ordered(self) -> dict[str, Any]:
        """The offer, as a new order's record names it."""
        return offers.current_offer(self)._asdict()

    @property
    def is_as_recorded(self) -> bool:
        """Whether the recorded order is for the offer that would be ordered now: the alternatives may be edited meanwhile."""
        return offers.ordered_offer(self.spec, self.order) == offers.current_offer(self)

    def creation_advice(self, adoption: Adoption) -> str:
        """As the base's; a spec without SSH keys allows an adoption only, and keys are immutable."""
        if self.spec.ssh_keys or self.spec.ssh_keys_from:
            return CloudFacts.creation_advice(self, adoption)
        return "delete this object and create it with spec.sshKeys and without spec.adoption"

    @property
    def needs_final_snapshot(self) -> bool:
        """Whether a deletion must not destroy the VM without a final snapshot."""
        return is_required(self.spec.deletion, self.policy)

    @property
    def collectable(self) -> bool:
        """Whether the VM may be destroyed when nobody can take its final snapshot any more."""
        return not self.needs_final_snapshot

    def observed(self) -> dict[str, Any]:
        """The VM's record in status, its price when it was bought, since when it is billed, and what its boot log shows."""
        price = {"price_per_hour": self.status.price_per_hour or self.price_per_hour}
        if not isinstance(self.found, Present):
            return price
        seen = observed(self.found.record, self.identity)
        bill = billed(self.status, seen["state"], self.now.wall)
        return {**seen, **price, **bill, "boot_log": boot_log.finding(self)}

    def corrections(self, words: str) -> str:
        """Names in the spec that the cloud does not know."""
        refused = offers.ordered_offer(self.spec, self.order) or offers.current_offer(self)
        return corrections(offers.with_offer(self.spec, refused), self.known, words)

    def beside(self, verdict: Verdict) -> tuple[tuple[ConditionType, Reason, str], ...]:  # noqa: ARG002 - as of all kinds
        """PublicationFailed, while spec.connection could not be published or withdrawn."""
        return connection.trouble(self)
