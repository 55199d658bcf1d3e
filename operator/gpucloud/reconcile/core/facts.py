"""Facts for decisions about an object with a resource in the cloud, for all kinds."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from gpucloud.kinds.common import OWN_ACCOUNT, AdoptingSpec, Adoption, CloudStatus, DeletionPolicy, OrderState, Origin
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import credential, evidence, naming, placement
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import (
    AccountFacts,
    Asked,
    CallHistory,
    Limits,
    ListingPace,
    Now,
    ObjectFacts,
    Observation,
    Present,
    Unknown,
)
from gpucloud.reconcile.ownership import own_record
from gpucloud.reconcile.retention import deletion_policy
from gpucloud.reconcile.tenancy import bound_tenant

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.kinds.common import Order
    from gpucloud.kinds.meta import ConditionType, Reason
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.facts import Attempt, Dependency, ResourceOwner, Verb
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.order import TrackedOrder

P = TypeVar("P", bound=AdoptingSpec)
S = TypeVar("S", bound=CloudStatus)
R = TypeVar("R")

FRESH_INTERVALS = 5  # of the fast poll
FREES_NAME = "free the name"
NOT_RECREATED = "It is not recreated automatically: to get a new one, delete this object and apply it again"


def never(_record: object) -> bool:
    """Whether a resource has failed, of a kind that does not fail."""
    return False


@dataclass(frozen=True, slots=True)
class Subject:
    """The constants of one kind: its noun in messages, and the calls that create and destroy its resource."""

    kind: str  # GpuVM
    noun: str  # VM
    create: Verb
    destroy: Verb
    lost: Reason
    by_name: bool  # the destroying call needs only the identity, so it may be sent without a record
    unique_id: bool  # the cloud never reuses an id, so another resource is recognized by its id
    shown: tuple[str, ...]  # status fields that are cleared when there is no resource
    kept_when_gone: tuple[str, ...]  # others that describe one resource, and are cleared when another one is ordered
    conflict_advice: str  # when its name is another's: what to do, after "delete this object (destroys nothing)"
    without_adoption: str  # what else to do where nothing may be adopted, in the same place
    name_field: str  # of the spec, where it chooses the name
    made_from: str = ""  # how what needs it, until it is there, comes of it: "taken of"
    sharing: str = ""  # how else several objects use what one of this name has: a clause
    billed: bool = True  # the cloud bills it while it exists
    markable: bool = True  # its name can bear the fingerprint of the object's UID
    is_failed: Callable[[Any], bool] = never  # whether a listed resource shows a failure for which it may be destroyed


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFacts(ABC, Generic[P, S, R]):
    """One object, the observation of its resource, and this process's call history."""

    subject: ClassVar[Subject]

    now: Now
    meta: ObjectFacts
    spec: P
    status: S
    identity: Identity
    found: Observation[R]
    history: CallHistory
    tracked: TrackedOrder  # its order, after this look
    limits: Limits = field(default_factory=Limits)
    account: AccountFacts = field(default_factory=lambda: AccountFacts(OWN_ACCOUNT))
    account_undecided: bool = False  # the status was lost: this account is asked first, and if it lacks it, another one
    owner: ResourceOwner | None = None  # the other object of this kind that owns the resource
    needs: tuple[Dependency, ...] = ()  # what must be ready before anything is created
    dependents: tuple[str, ...] = ()  # names of objects that still need the resource, for messages: "GpuVM 'train'"
    dependents_to_delete: tuple[str, ...] | None = ()  # those that nobody has deleted: "gpuvm/train"; None: some are elsewhere
    namespace_terminating: bool = False
    ends_a_vm: bool = False  # it is the final snapshot of a VM whose object is being deleted
    synced: bool = True  # the first list is complete, so claims are complete
    listing_pace: ListingPace = field(default_factory=ListingPace)  # of the slowest kind
    nonce: str = ""  # random, new in each gathering: the beginning of a new record's id
    may_adopt: bool = True  # False: namespaces that share the operator's own account are isolated
    adoption_refused: Dependency | None = None  # why what the spec asks to adopt must not be adopted
    unsearched: Unknown | None = None  # why its resource may be in a cluster that was not searched before it is deleted
    seen_tenancy: str | None = None  # tenant of what was ordered or is seen, as this process knows; status may not say it yet

    @property
    @abstractmethod
    def chosen_name(self) -> bool:
        """Whether the spec sets the name, so that it has no fingerprint that proves the owner."""

    @property
    @abstractmethod
    def declared_policy(self) -> DeletionPolicy | None:
        """What the spec says about the resource when this object is deleted; None if it leaves that open."""

    @property
    def policy(self) -> DeletionPolicy:
        """What happens to the resource when this object is deleted."""
        return deletion_policy(self.declared_policy, adopted=self.adopted)

    @property
    def adoption(self) -> Adoption:
        """Whether the spec allows adoption of an existing resource."""
        return self.spec.adoption

    def conflict_advice(self, free: str, *, named: bool = True) -> str:
        """Return what to do if the name is another's, as a sentence, after one that names the resource.

        To adopt it, where that is allowed; if spec.adoption asks for it already, to wait for a listing that shows it.
        ``free``: what frees the name, if that helps; else empty. ``named``: with the advice to choose another name.
        """
        adopt, name = "adopt it (spec.adoption: IfExists)", self.subject.conflict_advice
        if not self.may_adopt:
            adopt, name = "", self.subject.without_adoption
        elif self.adoption is not Adoption.NEVER:
            adopt = "wait until the cloud lists it (another tenant's is never listed)"
        ways = [*filter(None, (adopt, free)), f"delete this object (destroys nothing){name if named else ''}"]
        words = f"{', '.join(ways[:-1])}{',' if len(ways) > 2 else ''} or {ways[-1]}" if len(ways) > 1 else ways[0]
        late = "" if self.may_adopt else f"; to adopt it, create one {credential.OWN_ACCOUNT_WAY_OUT}"
        return f"{words[0].upper()}{words[1:]}{late}."

    def creation_advice(self, adoption: Adoption) -> str:
        """Return what to do so that the operator creates the resource; ``adoption``: what to set where that is enough."""
        return f"set spec.adoption: {adoption}"

    @property
    def unset_location(self) -> str:
        """The fields of which the spec sets none, though one must say where the resource belongs; empty if one does."""
        return ""

    @property
    def collectable(self) -> bool:
        """Whether the collector of orphans may destroy the resource, where somebody has removed our finalizer."""
        return True

    @property
    def how_lost(self) -> str:
        """How the resource may have been deleted, after "was deleted"."""
        return "outside Kubernetes"

    @property
    def recreates(self) -> bool:
        """Whether the spec asks for a new resource in place of the lost one."""
        return False

    @property
    def way_to_new(self) -> str:
        """What to do for a new resource in place of the lost one."""
        return f"{NOT_RECREATED}."

    @abstractmethod
    def observed(self) -> dict[str, Any]:
        """The status fields that are copied from the cloud's record; empty if there is none."""

    def corrections(self, words: str) -> str:  # noqa: ARG002 - a kind may need it
        """Return what in the spec may be misnamed, after the cloud refused the order with these words; else empty."""
        return ""

    @property
    def correction(self) -> str:
        """How an order that the cloud refuses can be corrected in this object; empty where it takes a new object."""
        return ""

    def beside(self, verdict: Verdict) -> tuple[tuple[ConditionType, Reason, str], ...]:  # noqa: ARG002 - a kind may need it
        """Conditions of this kind that are True beside the verdict."""
        return ()

    @property
    def ordered(self) -> dict[str, Any]:
        """Fields of a new order's record beyond the identity: what is ordered, as far as the kind leaves a choice."""
        return {}

    @property
    def is_as_recorded(self) -> bool:
        """Whether the recorded order is what would be ordered now."""
        return True

    @property
    def place(self) -> str:
        """The scope in which the name is unique, for messages."""
        return f"VPC {self.identity.vpc!r} of cluster {self.identity.cluster!r}"

    @property
    def order(self) -> Order | None:
        """The order record, or None."""
        return self.tracked.order

    @property
    def state(self) -> OrderState:
        """The state of the order."""
        return self.tracked.state

    @property
    def others_record(self) -> Order | None:
        """The order record in status, if it is of an object with another UID, as after a restored backup."""
        return self.status.order if own_record(self.status.order, self.meta.uid) is None else None

    @property
    def unproven_location(self) -> bool:
        """Whether it is looked for where an acceptance put it, under an id or in a place that neither spec nor UID proves."""
        if placement.current_placement(self.order) is None:
            return False
        return self.chosen_name or not naming.proves(self.identity.name, self.meta.uid)

    @property
    def adopted(self) -> bool:
        """Whether it is taken over, as the spec says now: it was there before any order of ours.

        An object that is being deleted takes over nothing more: it would only destroy it.
        """
        if self.adoption is Adoption.NEVER:
            return False
        if self.order is not None and orders.was_seen(self.order):
            return self.order.origin is Origin.ADOPTED
        return not (self.meta.deleting or orders.may_exist(self.order))

    @property
    def ours(self) -> bool:
        """Whether anything may be done to it.

        The proof is the fingerprint in its name; for a chosen name, or an id of the cloud's own, an order that may have made
        it. Of the latter this process itself must have had the answer, since people can edit a status.
        """
        if self.owner is not None:
            return False
        if self.adopted:  # what takes the name of one that is lost is adopted anew, and not during deletion
            return not self.meta.deleting or orders.may_exist(self.order)
        if not (self.chosen_name or self.unproven_location):
            return True
        return self._made and not self.unproven and (not self.unproven_location or self.tracked.own)

    @property
    def unprovable(self) -> bool:
        """Whether the record alone says that it is ours, and another process had the answer. Nothing is done to it."""
        ordered = self._made and not self.adopted and not self.unproven
        return ordered and self.owner is None and self.unproven_location and not self.tracked.own

    @property
    def is_shown(self) -> bool:
        """Whether what is found is shown as this object's.

        What the record alone says is ours is shown only where a spec could adopt it: else whoever may write a status could
        read what is another namespace's.
        """
        return self.ours or (self.unprovable and self.may_adopt)

    @property
    def _made(self) -> bool:
        return self.order is not None and self.order.origin is Origin.CREATED and orders.may_exist(self.order)

    @property
    def unproven(self) -> bool:
        """Whether what bears the chosen name may be of an order of this object that had no clear answer, or another's."""
        if not isinstance(self.found, Present) or self.found.as_of < evidence.shown_from(self.tracked):
            return False
        by_id = not self.subject.markable and not orders.has_most_others(self.order)
        return orders.is_unproven(self.order, proves_owner=by_id or not self.chosen_name)

    @property
    def never_ordered(self) -> bool:
        """Whether nothing was ever asked of the cloud for this object, as the record or this process knows."""
        if self.status.account is not None:  # recorded with the first order, and with the first sight
            return False
        return self.history.seen_new if self.order is None else self.state is OrderState.NOT_ORDERED

    @property
    def unrecorded(self) -> bool:
        """Whether it is unknown what was ordered: no record, and this process did not see the object before any order.

        Another process may have ordered, and somebody may have lost or edited the status since.
        """
        return self.order is None and not self.history.seen_new

    @property
    def never_created(self) -> bool:
        """Whether this process alone has recorded orders, and sent none, or had each refused for certain.

        What the spec adopts may be what the cloud refused the order for.
        """
        if self.state is OrderState.INTENDED:
            return not self.tracked.earlier_unclear
        return orders.never_made(self.tracked) and self.adoption is Adoption.NEVER

    @property
    def tenancy(self) -> str | None:
        """The tenant that the object belongs to; None while nobody knows, and where nothing was made."""
        return bound_tenant(self.tracked, self.status.tenancy) or self.seen_tenancy

    @property
    def seen(self) -> bool:
        """Whether it has ever been seen in a listing, as ours."""
        order = self.order
        if order is None or not orders.was_seen(order):
            return False
        return order.origin is Origin.CREATED or self.adoption is not Adoption.NEVER or not self.chosen_name

    @property
    def may_exist(self) -> bool:
        """Whether something of this object may be in the cloud: it was seen or ordered, or a lost status may have said so."""
        return self.seen or orders.may_exist(self.order) or self.account_undecided

    @property
    def deletion_destroys(self) -> bool:
        """Whether this object's deletion would destroy what may be in the cloud."""
        return self.may_exist and self.policy is not DeletionPolicy.RETAIN

    @property
    def deletion_does(self) -> str:
        """What this object's deletion does to what may be in the cloud, in brackets after a space; empty if nothing is."""
        if self.deletion_destroys:
            return f" (that destroys {f'the {self.subject.noun}' if self.seen else f'a {self.subject.noun} made for it'})"
        return f" (the {self.subject.noun} stays{', billed' if self.subject.billed else ''})" if self.may_exist else ""

    @property
    def asked(self) -> Asked:
        """The last request of a person. An empty annotation requests nothing: no status could record that it was answered."""
        return Asked(self.meta.generation, self.meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT) or None)

    @property
    def deletion_seen(self) -> float:
        """The mono time from which a listing began after the deletion, as this process saw it."""
        return self.now.mono if self.history.deletion_seen is None else self.history.deletion_seen

    @property
    def known_id(self) -> str | None:
        """The unique id of what this very process ordered, and saw listed; None if only a status tells it, or it is a name."""
        order = self.order
        if order is None or not (self.subject.unique_id and self.tracked.own and order.origin is Origin.CREATED):
            return None
        was_listed = self.state in {OrderState.SEEN, OrderState.LOST, OrderState.DESTROYING}
        return order.cloud_id if was_listed and order.cloud_id != order.name else None

    @property
    def fresh_from(self) -> float:
        """The mono time before which a listing began too early to act on it; a slow listing is old when it arrives.

        A single slow one is no slow cloud: the process may have been suspended meanwhile, so the shorter of two counts.
        """
        return self.now.mono - FRESH_INTERVALS * self.limits.pending_interval - self.listing_pace.shorter

    @property
    def confirmed_from(self) -> float:
        """The first of two listings that agree is too old before this.

        The longer of the two may be the first one, which began that long before its end; a pause as long follows each, and
        the second may be as slow. The second is judged by ``fresh_from``.
        """
        return self.now.mono - 2 * FRESH_INTERVALS * self.limits.pending_interval - 3 * self.listing_pace.longer

    @property
    def spread(self) -> float:
        """A number from 0 to 1 by UID, so that objects do not retry at the same moment."""
        return hashlib.sha256(self.meta.uid.encode()).digest()[0] / 256

    @property
    def is_present(self) -> bool:
        """Whether one record, not to be mistaken for another, shows it and it is ours, as far as the record tells."""
        if not isinstance(self.found, Present) or self.found.duplicate_records or self.differs(self.found):
            return False
        return self.is_shown

    def is_unconfirmed(self, found: Present[R]) -> bool:
        """Whether what this listing shows is not known yet to be what was ordered."""
        being_made = self.state in orders.BEING_MADE and not self.unproven
        return being_made or self.tracked.sightings.in_doubt or self.differs(found)

    def differs(self, found: Present[R]) -> bool:
        """Whether this listing shows another's id, though something of this object may stand in the cloud."""
        other = self.subject.unique_id and evidence.is_anothers_id(self.tracked, evidence.id_of(found))
        return other and orders.may_exist(self.order)

    def attempt(self, verb: Verb) -> Attempt | None:
        """The last call of this verb that this process made."""
        return self.history.attempts.get(verb)

    def annotated(self, annotation: Annotation) -> bool:
        """Whether an on/off annotation is set to "true"."""
        return self.meta.annotations.get(annotation) == "true"
