"""The state machine of an order: the creation of the one cloud resource of an object, and what became of it.

Every fact that a decision needs about an order stands in this record, in ``status.order``. ``transitions.py`` lists every
change of state with the proof that it needs (docs/reference/orders.md is printed from it), and each event that changes nothing
with the reason. ``takeover.py`` begins with the state that another process has recorded.

``TrackedOrder`` is the record as this process knows it: ahead of the status by the answers since the last write, and with the
times, on this process's own clock, from which the waits are counted. A new process counts each wait anew from its first sight
of the record, so a restart can lengthen a wait of this table and never shorten one. Waits after a call that failed are counted
from the call (``retry.py``) and end with the process: what was refused may be sent again at once, upon new listings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import Order, OrderState, Origin
from gpucloud.reconcile import continuity, naming
from gpucloud.reconcile.continuity import Likeness, Match, Sightings
from gpucloud.reconcile.facts import Absent, Present
from gpucloud.reconcile.ownership import record_id
from gpucloud.reconcile.placement import as_ordered, cloud_placement
from gpucloud.reconcile.text import abridged
from gpucloud.reconcile.transitions import ACCEPTED_GRACES, MAY_EXIST, TRANSITIONS, OrderEvent, transition

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.reconcile.facts import Now, Observation, Refusal
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.placement import Placement

OUTSTANDING = frozenset({OrderState.ACCEPTED, OrderState.UNCLEAR})  # sent, or maybe; not shown, and not proven unmade
BEING_MADE = OUTSTANDING | {OrderState.INTENDED, OrderState.OVERDUE}
UNREAD_ACCEPTANCE = frozenset({ErrorKind.MALFORMED, ErrorKind.TOO_LARGE})  # 2xx answers
URGENT = frozenset({OrderState.REFUSED, OrderState.LOST})
WAS_SEEN = frozenset({OrderState.SEEN, OrderState.LOST, OrderState.DESTROYING, OrderState.GONE})


@dataclass(frozen=True, slots=True)
class TrackedOrder:
    """An order as this process knows it. Times are mono seconds of this process."""

    order: Order | None  # None: nothing is recorded, and nothing is known of what was done before
    since: float  # when this process learned that the order is in its state
    recorded: float | None = None  # when this process wrote the record; None when another did
    unresolved: bool = False  # it may have been accepted: another process wrote it, or a 2xx answer could not be read
    earlier_unclear: bool = False  # an earlier order of this name was unclear or accepted: one listing does not show it free
    sightings: Sightings = field(default_factory=Sightings)  # in which listings this process saw it
    absence_counts_from: float | None = None  # mono: a listing that began then or later may prove that it was destroyed

    @property
    def state(self) -> OrderState:
        """The state; not ordered while nothing is recorded."""
        return OrderState.NOT_ORDERED if self.order is None else self.order.state

    @property
    def own(self) -> bool:
        """Whether this process wrote the record, so that no status is believed."""
        return self.recorded is not None


@dataclass(frozen=True, slots=True)
class Proofs:
    """What makes an observation count for one object."""

    marked: bool  # its name bears the fingerprint of the object's UID
    adoptable: bool  # the spec allows what exists to be adopted
    here: Identity
    grace: float
    unique_id: bool = False  # the cloud's id of it is never given twice
    uid: str = ""  # the object's
    nonce: str = ""  # of a record that is made now, of what is seen and was not recorded
    likeness: Likeness = Likeness.SAME  # to what the status records of it: addresses, time of creation
    markable: bool = True  # names of this kind can bear a fingerprint, so that a chosen one proves less


def may_exist(order: Order | None) -> bool:
    """Whether a resource of this order exists, or may exist, in the cloud."""
    return order is not None and order.state in MAY_EXIST


def never_made(tracked: TrackedOrder) -> bool:
    """Whether this process knows that the order made nothing: it was refused for certain, or withdrawn, and none before it."""
    return tracked.state is OrderState.REFUSED and tracked.own and not tracked.earlier_unclear


def may_be_sent(tracked: TrackedOrder | None, recorded: Order | None) -> bool:
    """Whether the creating call may be sent: the order is unused, and its record in status is this process's own."""
    if tracked is None or tracked.order is None or tracked.state is not OrderState.INTENDED or not tracked.own:
        return False
    return recorded is not None and recorded.id == tracked.order.id


def uses_quota(order: Order | None) -> bool:
    """Whether the order counts against quotas: its resource may exist, or it was refused and may be ordered again."""
    return may_exist(order) or (order is not None and order.state is OrderState.REFUSED)


def is_unproven(order: Order | None, *, proves_owner: bool) -> bool:
    """Whether no acceptance named it, and nor does its name prove the owner: by a mark, or since its kind can bear none."""
    return order is not None and order.state is OrderState.UNCLEAR and order.cloud_id is None and not proves_owner


def shown_from(tracked: TrackedOrder) -> float:
    """A listing that shows a chosen name counts from here on: an earlier one shows what stood there before the order."""
    return tracked.since if tracked.recorded is None else tracked.recorded


def being_made(order: Order | None) -> bool:
    """Whether the resource is ordered, or about to be, and was not listed yet."""
    return order is not None and order.state in BEING_MADE


def may_be_recorded(state: OrderState) -> bool:
    """Whether a new order may follow one in this state."""
    return (state, OrderEvent.RECORDED) in TRANSITIONS


def was_seen(order: Order | None) -> bool:
    """Whether a listing has ever shown the resource as this object's."""
    return order is not None and order.state in WAS_SEEN


def id_of(found: Present[Any]) -> str | None:
    """The cloud's id of what a listing shows, as a record holds it: no longer than the schema allows."""
    seen_id: str | None = getattr(found.record, "id", None)
    return seen_id and abridged(seen_id)


def _vpc_of(found: Present[Any]) -> str:
    """The VPC that a listing names for a VM or snapshot; empty if it names none."""
    return abridged(getattr(found.record, "namespace", None) or "")


def is_urgent(before: Order | None, after: Order | None, uid: str) -> bool:
    """Whether the record must be written at once. The rest only informs: a new process waits out what it does not know.

    That a listing showed an order under a chosen name must be known, and what it showed of it: the thing may be gone when
    somebody looks next, and what is made under the name meanwhile would be taken for it. A marked name proves itself.
    """
    if before is None or after is None:
        return before is not after
    if before.id != after.id or cloud_placement(before) != cloud_placement(after):
        return True
    if before.missing_since is None and after.missing_since is not None:
        return True
    shown = after.state is OrderState.SEEN and before.state in BEING_MADE
    if shown and not naming.proves(after.name, uid):
        return True
    return before.state is not after.state and after.state in URGENT


def withdrawn(tracked: TrackedOrder) -> Order | None:
    """Return the withdrawn record of an order that this process recorded and does not send; None for any other order."""
    if tracked.state is not OrderState.INTENDED or not tracked.own or tracked.order is None:
        return None
    return tracked.order.model_copy(update={"state": OrderState.REFUSED})


def missing_from(tracked: TrackedOrder, grace: float, first_seen: float) -> float:
    """Return the mono time from which a listing without the resource counts."""
    if tracked.state is OrderState.ACCEPTED or tracked.unresolved:
        return max(first_seen, tracked.since + ACCEPTED_GRACES * grace)
    if tracked.state is OrderState.UNCLEAR:
        return max(first_seen, tracked.since + grace)
    return first_seen


def status_lost_until(first_seen: float, grace: float) -> float:
    """Return the mono time from which a listing lacks what was ordered before the status was lost: perhaps a moment before."""
    return first_seen + ACCEPTED_GRACES * grace


def observed(tracked: TrackedOrder, found: Observation[object], proofs: Proofs, now: Now, first_seen: float) -> TrackedOrder:
    """Return the order after an observation. Unknown changes nothing, nor do duplicate records."""
    if isinstance(found, Present) and not found.duplicate_records:
        if _was_never_made(tracked, found, proofs, first_seen):
            tracked = after_event(tracked, OrderEvent.MISSING, now.mono)
        return _shown(tracked, found, proofs, now.mono)
    if isinstance(found, Absent) and tracked.sightings.back is not None:
        tracked = replace(tracked, sightings=Sightings(tracked.sightings.last))
    if isinstance(found, Absent) and _is_missing(tracked, found, proofs.grace, first_seen):
        return after_event(tracked, OrderEvent.MISSING, now.mono)
    if isinstance(found, Absent) and found.confirmed is not None and not (proofs.marked or proofs.unique_id):
        return _record_away(tracked, now.wall)
    return tracked


def _record_away(tracked: TrackedOrder, now: datetime) -> TrackedOrder:
    """Record that two listings lack what bears a chosen name. A new process must know: what it sees there may be another's."""
    order = tracked.order
    if order is None or order.state not in {OrderState.SEEN, OrderState.DESTROYING} or order.missing_since is not None:
        return tracked
    return replace(tracked, order=order.model_copy(update={"missing_since": now}))


def destroyed_from(tracked: TrackedOrder, grace: float, first_seen: float) -> float:
    """Return the mono time from which listings without the resource prove that it was destroyed.

    From the answer of the destroying call; without one, a grace later. What no record told of may be ordered still, by the call
    of an earlier process: a grace from the first sight must be over, too.
    """
    answered = tracked.since + grace if tracked.absence_counts_from is None else tracked.absence_counts_from
    return max(answered, first_seen + grace) if tracked.unresolved else answered


def _is_missing(tracked: TrackedOrder, found: Absent, grace: float, first_seen: float) -> bool:
    """Whether the listings prove what ``MISSING`` needs in this state: two that agree, young enough."""
    confirmed = found.confirmed
    if tracked.state in OUTSTANDING:
        lacked = tracked.sightings.last is None or found.as_of >= found.since + grace
        return lacked and confirmed is not None and confirmed >= missing_from(tracked, grace, first_seen)
    if tracked.state is OrderState.SEEN:
        return confirmed is not None and found.as_of >= found.since + grace
    if tracked.state is OrderState.DESTROYING:
        return confirmed is not None and confirmed >= destroyed_from(tracked, grace, first_seen)
    return False


def _was_never_made(tracked: TrackedOrder, found: Present[object], proofs: Proofs, first_seen: float) -> bool:
    """Whether two listings proved that an unclear order made nothing, before this one showed a chosen name.

    Nobody may have reconciled in between: it is paused, or a request hangs. Two that lack what was shown before prove less.
    """
    if tracked.state is not OrderState.UNCLEAR or proofs.marked or tracked.sightings.last is not None:
        return False
    return found.presence.confirmed is not None and found.presence.confirmed >= missing_from(tracked, proofs.grace, first_seen)


def _shown(tracked: TrackedOrder, found: Present[object], proofs: Proofs, now: float) -> TrackedOrder:
    seen_id, (match, tracked) = id_of(found), _judged(tracked, found, proofs)
    if match is Match.REPLACED:
        tracked = after_event(tracked, OrderEvent.REPLACED, now)
    if match is not Match.SAME and (tracked.state not in {OrderState.LOST, OrderState.GONE} or not proofs.adoptable):
        return tracked
    tracked, taken = (replace(tracked, sightings=Sightings(last)) for last in (tracked.sightings.last, found.as_of))
    if tracked.state is OrderState.SEEN:
        return _with_id(taken, seen_id)
    ordered = tracked.state in BEING_MADE - {OrderState.INTENDED}
    if ordered and not proofs.marked and found.as_of < shown_from(tracked):
        return tracked
    if ordered and is_unproven(tracked.order, proves_owner=proofs.marked or not proofs.markable):
        return after_event(taken, OrderEvent.NAME_TAKEN, now)
    if ordered or proofs.marked or _is_back(tracked, seen_id, proofs):
        origin = Origin.CREATED
    elif proofs.adoptable and tracked.state is not OrderState.DESTROYING:
        origin = Origin.ADOPTED
    else:  # what is being destroyed is there still
        return taken if tracked.state is OrderState.DESTROYING else after_event(tracked, OrderEvent.NAME_TAKEN, now)
    return _with_id(_seen(taken, found, proofs, now, origin), seen_id)


def _is_back(tracked: TrackedOrder, seen_id: str | None, proofs: Proofs) -> bool:
    """Whether a lost resource is listed again under its unique id."""
    order = tracked.order
    lost = order is not None and order.state is OrderState.LOST and order.origin is Origin.CREATED
    return lost and proofs.unique_id and order is not None and seen_id is not None and seen_id == order.cloud_id


def _judged(tracked: TrackedOrder, found: Present[object], proofs: Proofs) -> tuple[Match, TrackedOrder]:
    """Whether the listing shows the resource of the order, or another under its name."""
    order, seen_id = tracked.order, id_of(found)
    if order is None or not may_exist(order):
        return Match.SAME, tracked
    if proofs.unique_id and order.cloud_id and seen_id and seen_id != order.cloud_id:
        # What a status of another process says may be out of date, or edited: the difference must last for a grace.
        settled = tracked.own or found.as_of >= tracked.since + proofs.grace
        return Match.REPLACED if settled else Match.UNDECIDED, tracked
    if proofs.marked or proofs.unique_id or order.state not in {OrderState.SEEN, OrderState.DESTROYING}:
        return Match.SAME, tracked
    destroying, away = order.state is OrderState.DESTROYING, order.missing_since is not None
    gap = continuity.gap_since(tracked.sightings, found.presence, tracked.since, destroying=destroying, away=away)
    match, sightings = continuity.judged(tracked.sightings, found.as_of, gap, proofs.likeness)
    if away and match is Match.SAME:
        order = order.model_copy(update={"missing_since": None})
    return match, replace(tracked, order=order, sightings=sightings)


def _seen(tracked: TrackedOrder, found: Present[object], proofs: Proofs, now: float, origin: Origin) -> TrackedOrder:
    here, order = proofs.here, tracked.order
    if order is None or not order.name:
        # Only the listing tells the VPC where the GpuVpc that the spec refers to is gone.
        order = unordered(here._replace(vpc=here.vpc or _vpc_of(found)), proofs.uid, proofs.nonce)
    elif not may_exist(order):  # it is shown where it was ordered
        order = as_ordered(order) or order
    moved = after_event(replace(tracked, order=order), OrderEvent.SHOWN, now)
    if moved.order is None:
        return moved
    if moved.state is OrderState.DESTROYING:
        # What the spec adopts after ours had gone is retained, unless the spec says Delete.
        return replace(moved, order=moved.order.model_copy(update={"origin": origin}))
    return replace(
        moved,
        order=moved.order.model_copy(
            update={"origin": origin, "reorders": 0, "refused_generation": None, "missing_since": None}
        ),
    )


def _with_id(tracked: TrackedOrder, seen_id: str | None) -> TrackedOrder:
    order = tracked.order
    if order is None or seen_id is None or order.cloud_id == seen_id:
        return tracked
    return replace(tracked, order=order.model_copy(update={"cloud_id": seen_id}))


def unordered(here: Identity, uid: str, nonce: str) -> Order:
    """Return a record for a resource of which no record tells: NotOrdered, until an event says more."""
    return Order(
        id=record_id(nonce, uid, here.name), state=OrderState.NOT_ORDERED, name=here.name, cluster=here.cluster, vpc=here.vpc
    )


def record(tracked: TrackedOrder, order: Order, now: float) -> TrackedOrder:
    """Return the order when this process is about to write the record of a new order."""
    known = tracked.order
    base = Order(state=OrderState.NOT_ORDERED) if known is None else known
    if not may_be_recorded(base.state):
        raise ValueError(f"an order that is {base.state} is not recorded anew")
    earlier_unclear = tracked.earlier_unclear or base.state in {OrderState.UNCLEAR, OrderState.OVERDUE}
    return TrackedOrder(order, now, recorded=now, earlier_unclear=earlier_unclear)


def answered(
    tracked: TrackedOrder,
    refusal: Refusal | None,
    placed: Placement,
    now: float,
    *,
    chosen_name: bool,
    final_for: int | None = None,
) -> TrackedOrder:
    """Return the order after the creating call: its answer, or no answer.

    A refusal because the name exists is a certain one of a chosen name, which then is another's. Of a name that only this
    object can bear it says that an earlier order was carried out. ``final_for`` is the generation for which a refusal is final.
    """
    if refusal is None:
        moved = after_event(tracked, OrderEvent.ANSWERED, now)
        return moved if moved.order is None else replace(moved, order=moved.order.model_copy(update=placed.changes()))
    exists = refusal.kind == "Conflict" and not chosen_name
    if refusal.ambiguous or exists:
        moved = after_event(tracked, OrderEvent.UNANSWERED, now)
        return replace(moved, unresolved=True) if moved is not tracked and refusal.kind in UNREAD_ACCEPTANCE else moved
    moved = after_event(tracked, OrderEvent.REFUSED, now)
    if final_for is None or moved.order is None:
        return moved
    return replace(moved, order=moved.order.model_copy(update={"refused_generation": final_for}))


def asked_again(tracked: TrackedOrder, request: str | None, handled: str | None, now: float) -> TrackedOrder:
    """The order when a person asks to order again; ``request`` is the annotation, ``handled`` the one answered last.

    The record says so from then on: whatever else must be waited for, the request is not asked for twice, nor forgotten.
    """
    if request in {None, handled} or tracked.order is None:
        return tracked
    moved = after_event(tracked, OrderEvent.ASKED_AGAIN, now)
    anew = {"reorders": 0, "refused_generation": None}
    return replace(moved, order=(moved.order or tracked.order).model_copy(update=anew))


def destroying(tracked: TrackedOrder, now: float) -> TrackedOrder:
    """Return the order when the destroying call is about to be announced; of a lost one, for what bears the object's mark."""
    moved = after_event(tracked, OrderEvent.DESTROYED, now)
    return moved if tracked.state is not OrderState.LOST else replace(moved, order=as_ordered(moved.order))


def destroy_answered(tracked: TrackedOrder, refusal: Refusal | None, grace: float, now: float) -> TrackedOrder:
    """Return the order after the answer to the destroying call.

    After an acceptance, or where nothing was found, listings prove at once that it is gone; after a refusal for certain, only
    after as long as an accepted order may take to show. Without a clear answer: a grace.
    """
    if refusal is None:
        return replace(tracked, absence_counts_from=now)
    if refusal.ambiguous or tracked.absence_counts_from is not None:
        return tracked
    return replace(tracked, absence_counts_from=now + ACCEPTED_GRACES * grace)


def after_event(tracked: TrackedOrder, event: OrderEvent, now: float) -> TrackedOrder:
    """Return the order after an event; an event that the table lacks for this state changes nothing."""
    found = transition(tracked.state, event)
    if found is None or tracked.order is None or found.to is tracked.state:
        return tracked
    earlier_unclear = tracked.earlier_unclear or tracked.state in OUTSTANDING
    order = tracked.order.model_copy(update={"state": found.to})
    keeps = found.to is OrderState.UNCLEAR and tracked.unresolved
    return replace(
        tracked,
        order=order,
        since=now,
        unresolved=keeps,
        earlier_unclear=earlier_unclear,
        sightings=Sightings(tracked.sightings.last),
    )
