"""The state machine of an order: the creation of the one cloud resource of an object, and what became of it.

Every fact that a decision needs about an order stands in this record, in ``status.order``. ``transitions.py`` lists every
change of state with the proof that it needs (docs/reference/orders.md is printed from it), and each event that changes nothing
with the reason. Here are the record, the questions asked of it, and its changes by what this process does; ``evidence.py`` has
those by what a listing shows, and ``takeover.py`` begins with the state that another process has recorded.

``TrackedOrder`` is the record as this process knows it: ahead of the status by the answers since the last write, and with the
times, on this process's own clock, from which the waits are counted. A new process counts each wait anew from its first sight
of the record, so a restart can lengthen a wait of this table and never shorten one. Only the wait between two destroying calls
is counted from the time in the record. Waits after a creating call that failed are counted from the call (``retry.py``) and end
with the process: what was refused may be sent again at once, upon new listings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import (
    MOST_DESTROYING_CALLS,
    MOST_OTHERS_IDS,
    DestroyingCall,
    DestroyingPurpose,
    Order,
    OrderState,
    Origin,
)
from gpucloud.reconcile import naming
from gpucloud.reconcile.continuity import Sightings
from gpucloud.reconcile.ownership import record_id
from gpucloud.reconcile.placement import as_ordered, cloud_placement
from gpucloud.reconcile.transitions import ACCEPTED_GRACES, MAY_EXIST, TRANSITIONS, OrderEvent, transition

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.reconcile.facts import Now, Refusal
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
    untouched: bool = False  # being destroyed, and this process knows that no destroying call was carried out
    announced: DestroyingCall | None = None  # by this process, and certainly not carried out: it may be sent, however old
    adopted_from: TrackedOrder | None = None  # the order before an adoption that no status has recorded yet
    others: frozenset[str] = frozenset()  # unique ids that had the name before the order: it made none of them

    @property
    def state(self) -> OrderState:
        """The state; not ordered while nothing is recorded."""
        return OrderState.NOT_ORDERED if self.order is None else self.order.state

    @property
    def own(self) -> bool:
        """Whether this process wrote the record, so that no status is believed."""
        return self.recorded is not None


def may_exist(order: Order | None) -> bool:
    """Whether a resource of this order exists, or may exist, in the cloud."""
    return order is not None and order.state in MAY_EXIST


def stands(order: Order | None) -> bool:
    """Whether the resource was seen as this object's, and nothing shows it gone."""
    return order is not None and order.state in {OrderState.SEEN, OrderState.DESTROYING}


def never_made(tracked: TrackedOrder) -> bool:
    """Whether this process knows that the order made nothing: it was refused for certain, or withdrawn, and none before it."""
    return tracked.state is OrderState.REFUSED and tracked.own and not tracked.earlier_unclear


def may_have_made(tracked: TrackedOrder) -> bool:
    """Whether the order, or one before it without a clear answer, may have made something that nothing shows gone."""
    return uses_quota(tracked.order) and not never_made(tracked)


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


def is_unrecorded(order: Order | None) -> bool:
    """Whether no record tells what was ordered: there is none, or one that was made only to destroy whatever there may be."""
    if order is None:
        return True
    destroyed = order.state in {OrderState.DESTROYING, OrderState.GONE}
    return destroyed and order.recorded_at is None and order.cloud_id is None


def being_made(order: Order | None) -> bool:
    """Whether the resource is ordered, or about to be, and was not listed yet."""
    return order is not None and order.state in BEING_MADE


def may_be_recorded(state: OrderState) -> bool:
    """Whether a new order may follow one in this state."""
    return (state, OrderEvent.RECORDED) in TRANSITIONS


def was_seen(order: Order | None) -> bool:
    """Whether a listing has ever shown the resource as this object's."""
    return order is not None and order.state in WAS_SEEN


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
    return TrackedOrder(order, now, recorded=now, earlier_unclear=earlier_unclear, others=others_before(tracked))


def others_before(tracked: TrackedOrder) -> frozenset[str]:
    """Return the unique ids that an order does not make which is recorded now: something had them before."""
    return tracked.others if tracked.order is None else tracked.others | _adopted_id(tracked.order)


def with_others(order: Order, others: frozenset[str]) -> Order:
    """Return the record with these ids of others, for the next process; those that it holds already come first.

    Once its own id is known, that tells it from any other.
    """
    held = order.others_ids or ()
    kept = (*held, *sorted(others - {*held}))[:MOST_OTHERS_IDS]
    if may_exist(order) and order.cloud_id is not None:
        kept = ()
    return order if kept == held else order.model_copy(update={"others_ids": kept or None})


def has_most_others(order: Order | None) -> bool:
    """Whether the record has no room for another's id: then no id tells what this order made from what it did not."""
    return order is not None and len(order.others_ids or ()) >= MOST_OTHERS_IDS


def _adopted_id(order: Order) -> frozenset[str]:
    """Return the unique id of what was adopted: no order made it. A VM's or snapshot's id is its name, and says nothing."""
    if order.origin is not Origin.ADOPTED or order.cloud_id is None or order.cloud_id == order.name:
        return frozenset()
    return frozenset({order.cloud_id})


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
        moved, made = after_event(tracked, OrderEvent.ANSWERED, now), placed
        if placed.cloud_id in tracked.others:  # a cloud may answer with what has the name already
            made = placed._replace(cloud_id=None)
        if moved.order is None:
            return moved
        return replace(moved, order=with_others(moved.order.model_copy(update=made.changes()), moved.others))
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


def calls_of(order: Order) -> int:
    """Return how many destroying calls the record tells of."""
    return 0 if order.destroying_call is None else order.destroying_call.number


def recreates(tracked: TrackedOrder) -> bool:
    """Whether the last destroying call that was announced is followed by a new resource."""
    call = tracked.announced or (None if tracked.order is None else tracked.order.destroying_call)
    return call is not None and call.purpose is DestroyingPurpose.RECREATION


def with_next_call(tracked: TrackedOrder, wall: datetime, purpose: DestroyingPurpose) -> Order | None:
    """Return the record with one destroying call more: as this process has announced it already, or announced now.

    An announcement never becomes too old: if writing it takes long, one that is made anew takes as long, and nothing is ever
    sent. A new process counts its wait from the announcement, so it waits shorter by the time that passed before the call.
    """
    order, call = tracked.order, tracked.announced
    if order is None:
        return None
    if call is None:
        call = DestroyingCall(number=min(calls_of(order) + 1, MOST_DESTROYING_CALLS), announced_at=wall)
    return order.model_copy(update={"destroying_call": call.model_copy(update={"purpose": purpose})})


def called_before(call: DestroyingCall, now: Now) -> float:
    """Return when (mono) the destroying call was announced that another process has recorded.

    If the clock of that process is ahead of this one's, the call counts as announced now.
    """
    return now.mono - max(0.0, (now.wall - call.announced_at).total_seconds())


def destroying(tracked: TrackedOrder, now: float) -> TrackedOrder:
    """Return the order when the destroying call is about to be announced; of a lost one, for what bears the object's mark."""
    moved = after_event(tracked, OrderEvent.DESTROYED, now)
    if moved is not tracked:
        moved = replace(moved, untouched=True)
    return moved if tracked.state is not OrderState.LOST else replace(moved, order=as_ordered(moved.order))


def destroy_answered(tracked: TrackedOrder, refusal: Refusal | None, grace: float, now: float) -> TrackedOrder:
    """Return the order after the answer to the destroying call.

    After an acceptance, or where nothing was found, listings prove at once that it is gone; after a refusal for certain, only
    after as long as an accepted order may take to show. Without a clear answer: a grace. It may be destroyed from now on.
    """
    refused = refusal is not None and not refusal.ambiguous
    tracked = replace(_called(tracked, refused=refused), since=now, untouched=tracked.untouched and refused)
    if refusal is None:
        return replace(tracked, absence_counts_from=now)
    if refusal.ambiguous or tracked.absence_counts_from is not None:
        return tracked
    return replace(tracked, absence_counts_from=now + ACCEPTED_GRACES * grace)


def _called(tracked: TrackedOrder, *, refused: bool) -> TrackedOrder:
    """Return the order with the destroying call that was announced, now that it was sent.

    What was refused for certain is sent again under the same announcement. So the next process, which takes the last call for
    an accepted one, counts its wait from the first of them, and a repetition costs no write.
    """
    call = tracked.announced
    if call is None or tracked.order is None:
        return tracked
    order = tracked.order.model_copy(update={"destroying_call": call})
    return replace(tracked, order=order, announced=call if refused else None)


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
