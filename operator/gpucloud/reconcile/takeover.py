"""Takes over the order that a status records: what this process knows of it, and what another process had recorded, in one.

What this process knows goes before what the status says, unless another process wrote that (docs/adr/0013).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.kinds.common import OrderState, Origin
from gpucloud.reconcile.order import OUTSTANDING, WAS_SEEN, TrackedOrder, after_event, calls_of, may_exist, withdrawn
from gpucloud.reconcile.transitions import OrderEvent

if TYPE_CHECKING:
    from gpucloud.kinds.common import DestroyingCall, Order

RecordVersion = tuple[str, OrderState]
# What another process can have learned of an order beyond what this one knows, which no listing would tell it, or only after
# a wait that the other has waited out: a person who asked to order again did so because of Overdue.
FURTHER = {
    OrderState.UNCLEAR: frozenset({OrderState.ACCEPTED, OrderState.OVERDUE, OrderState.SEEN, OrderState.DESTROYING}),
    OrderState.ACCEPTED: frozenset({OrderState.OVERDUE, OrderState.SEEN, OrderState.DESTROYING}),
    OrderState.SEEN: frozenset({OrderState.DESTROYING}),
}
MADE_OF = ("configuration", "resource_pool", "template")  # fields of a record that are corrected while the order stands


def version_of(order: Order) -> RecordVersion:
    """What tells two records in a status apart: the id of the order, and its state."""
    return order.id, order.state


class Written(NamedTuple):
    """What this process wrote to the status of one object, or has taken over from it before."""

    versions: frozenset[RecordVersion] = frozenset()
    calls: frozenset[DestroyingCall | None] = frozenset()  # announced


def take_over(
    known: TrackedOrder | None, recorded: Order | None, written: Written, now: float, *, deleting: bool
) -> TrackedOrder:
    """Return the order from this process's knowledge and the status, with its adoption and its destroying call.

    Each step needs the one before. Only the merged order tells whether its adoption is this process's own: one that another
    process recorded is not taken back. And a destroying call belongs to the order that is left after that.
    """
    merged_order = merged(known, recorded, written.versions, now)
    adopted = _with_recorded_adoption(merged_order, recorded, deleting=deleting)
    if recorded is None or recorded.destroying_call in written.calls:
        return adopted
    return _with_later_call(adopted, recorded)


def merged(known: TrackedOrder | None, recorded: Order | None, versions: frozenset[RecordVersion], now: float) -> TrackedOrder:
    """Return the order from what this process knows and the status: the first step of ``take_over``.

    ``versions`` are those of records that this process wrote, or has taken over before. What this process knows outranks a
    status that shows one of these orders, or no record. Another process wrote any other record, and may act on it until now;
    so it did where an order that it had recorded has come further than this process knows, or was followed by a later one:
    the cache lagged.
    """
    further = known is not None and recorded is not None and _is_further(known, recorded, versions)
    ours = recorded is not None and any(recorded.id == record_id for record_id, _ in versions) and not further
    if recorded is None or (known is not None and ours):
        if known is not None and recorded is not None and _is_withdrawn(known, recorded):
            return after_event(known, OrderEvent.REFUSED, now)
        return TrackedOrder(None, now) if known is None else _with_template(_announced(known, recorded), recorded)
    if not further and known is not None and known.order is not None and known.state in WAS_SEEN | OUTSTANDING:
        return replace(known, since=now, unresolved=known.state in OUTSTANDING, earlier_unclear=True)
    earlier_unclear = recorded.state is not OrderState.NOT_ORDERED
    # An unclear one may have been an intended one that its writer had itself taken over.
    unresolved = recorded.state in {OrderState.INTENDED, OrderState.UNCLEAR} or _is_of_unknown_order(recorded)
    others = frozenset(recorded.others_ids or ()) | (frozenset() if known is None else known.others)
    not_owned = TrackedOrder(recorded, now, unresolved=unresolved, earlier_unclear=earlier_unclear, others=others)
    return after_event(not_owned, OrderEvent.TAKEN_OVER, now)


def _announced(known: TrackedOrder, recorded: Order | None) -> TrackedOrder:
    """Return the order that this process knows: where no record names one, that it has itself announced as Destroying."""
    if known.order is not None or recorded is None or not _is_of_unknown_order(recorded):
        return known
    uncalled = recorded.model_copy(update={"destroying_call": None})  # it is sent by its own plan
    return replace(known, order=uncalled, unresolved=True)


def _with_template(known: TrackedOrder, recorded: Order | None) -> TrackedOrder:
    """Return the order that this process knows, with what the status says that it was made from, if only the status does."""
    if known.order is None or recorded is None or known.order.id != recorded.id:
        return known
    if known.order.template is not None or recorded.template is None:
        return known
    return replace(known, order=known.order.model_copy(update={"template": recorded.template}))


def _with_later_call(known: TrackedOrder, recorded: Order) -> TrackedOrder:
    """Return the order that this process knows, with a destroying call that the status tells of and this process does not."""
    if known.order is None or known.order.id != recorded.id or calls_of(recorded) <= calls_of(known.order):
        return known
    order = known.order.model_copy(update={"destroying_call": recorded.destroying_call})
    return replace(known, order=order, announced=None)


def _with_recorded_adoption(known: TrackedOrder, recorded: Order | None, *, deleting: bool) -> TrackedOrder:
    """Return the order without an adoption that no status records, if the object is being deleted.

    The deletion may be older than the listing that showed what was adopted, and the watch late: nothing tells. The status of an
    object in deletion holds whatever was recorded before it.
    """
    if known.adopted_from is None or known.order is None:
        return known
    if recorded is not None and may_exist(recorded) and _same_adoption(recorded, known.order):
        return replace(known, adopted_from=None)
    return known.adopted_from if deleting and may_exist(known.order) else known


def _same_adoption(recorded: Order, known: Order) -> bool:
    return recorded.origin is Origin.ADOPTED and (recorded.id, recorded.cloud_id) == (known.id, known.cloud_id)


def corrected(known: TrackedOrder, written: Order) -> TrackedOrder:
    """Return the order that this process knows, as it is about to write it: listings show what a VM is made of."""
    if known.order is None or known.order.id != written.id or written.template is None:
        return known
    told = {name: getattr(written, name) for name in MADE_OF if getattr(written, name) != getattr(known.order, name)}
    return replace(known, order=known.order.model_copy(update=told)) if told else known


def _is_of_unknown_order(recorded: Order) -> bool:
    """Whether it is recorded for its destruction only: no listing and no acceptance has named an id, so it may come yet."""
    return recorded.state is OrderState.DESTROYING and recorded.cloud_id is None


def _is_further(known: TrackedOrder, recorded: Order, versions: frozenset[RecordVersion]) -> bool:
    """Whether another process has carried this order further, to a state that this process never recorded, or sent a later one.

    A later order counts while it may exist: a status that was put back holds an earlier one, and nothing is ordered the sooner.
    What this process ordered itself gives way only to an order in its place: what has the name by now was made by that one.
    """
    if known.order is None or version_of(recorded) in versions:
        return False
    if recorded.id != known.order.id:
        follows = _replaces(recorded, known.order) if known.own else _is_later(recorded, known.order)
        return may_exist(recorded) and follows
    return not known.own and recorded.state in FURTHER.get(known.state, ())


def _is_later(recorded: Order, known: Order) -> bool:
    return known.recorded_at is not None and recorded.recorded_at is not None and recorded.recorded_at > known.recorded_at


def _replaces(recorded: Order, known: Order) -> bool:
    """Whether an order was recorded for a resource in place of the known one's. It is counted, so no clock is compared."""
    return (recorded.recreation or 0) > (known.recreation or 0)


def _is_withdrawn(known: TrackedOrder, recorded: Order) -> bool:
    """Whether the status shows that this process withdrew the order that it had recorded."""
    own = withdrawn(known)
    return own is not None and (recorded.id, recorded.state) == (own.id, own.state)
