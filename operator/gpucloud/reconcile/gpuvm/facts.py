"""Facts for decisions about a GpuVM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import KIND, DeletionPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.recreation import OnLoss, ReplacePolicy
from gpucloud.reconcile.core.facts import NOT_RECREATED, CloudFacts, Subject
from gpucloud.reconcile.facts import Absent, Present, SSHKeys, Unknown, Verb
from gpucloud.reconcile.gpuvm import boot_log, connection, in_hand, offers, on_loss, template
from gpucloud.reconcile.gpuvm.billing import billed
from gpucloud.reconcile.gpuvm.misnamed import KnownNames, corrections
from gpucloud.reconcile.gpuvm.offer_facts import VmOfferFacts
from gpucloud.reconcile.gpuvm.record import observed
from gpucloud.reconcile.gpuvm.snapshots import FinalSnapshotFacts, is_required
from gpucloud.reconcile.gpuvm.vm_states import is_replaceable
from gpucloud.reconcile.placement import cloud_placement, placed_message

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.common import Adoption
    from gpucloud.kinds.gpuvm import Operation
    from gpucloud.kinds.meta import ConditionType
    from gpucloud.kinds.recreation import ReplacedField
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.deletion_guard import Hold
    from gpucloud.reconcile.gpuvm.snapshots import SnapshotsOfVm
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.quota import Usage
    from gpucloud.reconcile.time_annotations import Said
    from gpucloud.reconcile.waiting_line import Offer

SUBJECT = Subject(
    kind=KIND,
    noun="VM",
    create=Verb.CREATE,
    destroy=Verb.DESTROY,
    lost=Reason.VM_LOST,
    by_name=True,
    unique_id=False,
    shown=(
        "adopted",
        "state",
        "vm_id",
        "ip",
        "private_ip",
        "price_per_hour",
        "billed_since",
        "billed_seconds",
        "boot_log",
        "failed_since",
    ),
    kept_when_gone=("settled_generation", "operation", "deletion_held_at", "replacement"),
    conflict_advice=" and choose another spec.vmName",
    without_adoption=" and choose another spec.vmName",
    name_field="spec.vmName",
    is_failed=is_replaceable,
    made_from="taken of",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VmFacts(VmOfferFacts):
    """Facts of one GpuVM: the object, the observation of its VM, and this process's call history."""

    subject: ClassVar[Subject] = SUBJECT

    keys: SSHKeys = field(default_factory=SSHKeys)
    lookalikes: tuple[str, ...] = ()  # unclaimed VMs with our tag and base name
    elsewhere: tuple[Identity, ...] = ()  # where else listings show VMs of the name that the spec would adopt
    strays: tuple[Identity, ...] | Unknown = ()  # where else VMs of its name are that may be its own, as its status was lost
    price_per_hour: str | None = None
    image_snapshot: str | None = None  # the cloud's name of the snapshot that the disk is made from
    snapshots: SnapshotsOfVm | Unknown | None = None  # known only during a deletion that deletes them, or needs a final one
    final: FinalSnapshotFacts | None = None  # known only during a deletion that needs a final snapshot
    hold: Hold | None = None  # why the deletion guard holds this VM's destruction
    replacement_price: str | None = None  # of another VM in place of this one
    usage: tuple[Usage, ...] = ()  # of its account and namespace, where a quota is set
    known: KnownNames = field(default_factory=KnownNames)
    reassert_seconds: float = 60.0  # between two looks whether what is published still stands
    said_to_buy: Said  # what the annotation buy-anyway says

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
    def unset_location(self) -> str:
        """The fields that name the VPC, if none of them is set: an older definition lets such a spec pass."""
        return "spec.vpc and spec.vpcRef" if self.spec.vpc is None and self.spec.vpc_ref is None else ""

    @property
    def declared_policy(self) -> DeletionPolicy | None:
        """What the spec says about the VM when this object is deleted."""
        return self.spec.deletion.policy

    @property
    def ordered(self) -> dict[str, Any]:
        """The offer, as a new order's record names it, the spec that it is made from, and which recreation it is."""
        earlier, offer = 0 if self.order is None else self.order.recreation or 0, offers.current_offer(self)
        made_of = {"configuration": offer.configuration, "resource_pool": offer.resource_pool}
        return {**made_of, "template": template.of(self.spec), "recreation": earlier + self.recreates or None}

    @property
    def is_as_recorded(self) -> bool:
        """Whether the recorded order is what would be ordered now: the spec may be edited meanwhile."""
        same = offers.ordered_offer(self.spec, self.order) == offers.current_offer(self)
        return same and not template.changes(self.spec, self.made_from)

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

    @property
    def asks_recreation(self) -> bool:
        """Whether a new VM is asked for where this one is lost. Not of one that the cloud has named or placed itself.

        Once such a VM is lost, it is looked for where it was ordered: there no listing could show that it is back.
        """
        placed = cloud_placement(self.order) is not None
        return on_loss.asks_recreation(self.spec) and not (self.adopted or self.meta.deleting or placed)

    @property
    def replaces_failed(self) -> bool:
        """Whether a failed VM is destroyed for a new one."""
        return self.asks_recreation and self.ours and on_loss.replaces_failed(self.spec, self.policy)

    @property
    def recreates(self) -> bool:
        """Whether a new VM takes the place of one that is proven lost, or was destroyed for another one."""
        lost = self.asks_recreation and self.seen and self.state in {OrderState.LOST, OrderState.GONE}
        return lost or (self.is_replaced and self.state is OrderState.GONE)

    @property
    def shows_another(self) -> bool:
        """Whether the cloud shows another configuration than was ordered: then the order's record tells of another VM.

        So it does after a restore of etcd, or where an order that was given up was carried out late. Asked only where the VM
        may be replaced: a cloud may show another word than it takes in an order, and no VM would be Ready any more for that.
        """
        asked = self.spec.replace_policy is ReplacePolicy.RECREATE and not self.adopted
        ordered = None if self.order is None or not asked else self.order.configuration
        return ordered is not None and self.configuration_in_use not in {None, ordered}

    @property
    def made_from(self) -> tuple[str, ...] | None:
        """What the VM was made from, by its order's record; None if that does not tell, or tells of another VM."""
        return None if self.order is None or self.shows_another else self.order.template

    @property
    def changes(self) -> tuple[ReplacedField, ...]:
        """The fields in which the spec differs from what the VM was made from, and is. A deletion does not ask for them."""
        differing = () if self.meta.deleting else template.changes(self.spec, self.made_from)
        return tuple(one for one in differing if not in_hand.has_already(self, one.name))

    @property
    def asks_replacement(self) -> bool:
        """Whether another VM is asked for in place of this one, and nothing keeps this one."""
        return template.asks_another(self.spec, self.order) and self.ours and bool(self.changes)

    @property
    def replacement_is_planned(self) -> bool:
        """Whether the replacement of a VM is planned: the old one is not destroyed before the new one can be ordered."""
        return self.status.replacement is not None and self.asks_replacement

    @property
    def awaits_replacement(self) -> bool:
        """Whether another VM is asked for, and the destruction of this one is not announced."""
        return self.state is OrderState.SEEN and self.asks_replacement

    @property
    def is_replaced(self) -> bool:
        """Whether the VM is being destroyed for another one, or was: the new one is ordered, whatever the spec says since."""
        going = self.state in {OrderState.DESTROYING, OrderState.GONE} and not (self.adopted or self.meta.deleting)
        return going and self.status.replacement is not None

    @property
    def deletion_seen(self) -> float:
        """As the base's; of a VM that is replaced, the mono time at which that was planned."""
        planned = self.status.replacement
        if self.meta.deleting or planned is None:
            return super(VmFacts, self).deletion_seen
        return self.now.mono - max(0.0, (self.now.wall - planned.planned_at).total_seconds())

    @property
    def way_to_new(self) -> str:
        """What to do for a new VM in place of a lost one."""
        if self.spec.on_loss is OnLoss.RECREATE:
            placed = placed_message(self.order)
            if placed is not None:
                return (
                    f"{placed}, so it is not recreated: if the cloud no longer shows it, delete this object and apply it again."
                )
            return "It is recreated when spec.powerState is Running: set that, or delete this object."
        return f"{NOT_RECREATED}, or set spec.onLoss: Recreate."

    def observed(self) -> dict[str, Any]:
        """The VM's record in status, its price when it was bought, since when it is billed, and what its boot log shows."""
        price = {"price_per_hour": self.status.price_per_hour or self.price_per_hour}
        if not isinstance(self.found, Present):
            return price
        seen = observed(self.found.record, self.identity)
        bill = billed(self.status, seen["state"], self.now.wall)
        since = min(self.status.failed_since or self.now.wall, self.now.wall)  # another process's clock may have been ahead
        failed = since if is_replaceable(self.found.record) else None
        goes = failed is not None or self.meta.deleting or self.is_replaced or self.asks_replacement
        held = self.status.deletion_held_at if goes else None
        return {**seen, **price, **bill, "boot_log": boot_log.finding(self), "failed_since": failed, "deletion_held_at": held}

    def corrections(self, words: str) -> str:
        """Names in the spec that the cloud does not know."""
        return corrections(offers.with_offer(self.spec, self._refused_offer), self.known, words)

    @property
    def correction(self) -> str:
        """An alternative may be edited, which keeps the place in the waiting line; the spec's own offer may not."""
        own = self._refused_offer == offers.offers(self.spec)[0]
        return "" if own else offers.CORRECT_ALTERNATIVES

    @property
    def _refused_offer(self) -> Offer:
        return offers.ordered_offer(self.spec, self.order) or offers.current_offer(self)

    def beside(self, verdict: Verdict) -> tuple[tuple[ConditionType, Reason, str], ...]:  # noqa: ARG002 - as of all kinds
        """PublicationFailed, while spec.connection could not be published or withdrawn."""
        return connection.trouble(self)
