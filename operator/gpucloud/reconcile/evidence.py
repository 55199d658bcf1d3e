"""What listings prove of an order: that its resource is there, is another's, is missing, or was never made.

A listing moves an order only with the proof that ``transitions.py`` names. The waits before a listing counts stand here, too.
``order.py`` knows nothing of listings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpucloud.kinds.common import OrderState, Origin
from gpucloud.reconcile import continuity
from gpucloud.reconcile.continuity import Doubt, Likeness, Match, Sightings
from gpucloud.reconcile.facts import Absent, Present
from gpucloud.reconcile.naming import same_cluster
from gpucloud.reconcile.order import (
    BEING_MADE,
    OUTSTANDING,
    TrackedOrder,
    after_event,
    has_most_others,
    is_unproven,
    is_unrecorded,
    may_exist,
    unordered,
    with_others,
)
from gpucloud.reconcile.ownership import record_id
from gpucloud.reconcile.placement import Placement, as_ordered, cloud_placement
from gpucloud.reconcile.text import abridged
from gpucloud.reconcile.transitions import ACCEPTED_GRACES, DESTROYED_WITHIN_SECONDS, OrderEvent

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.facts import CallHistory, Now, Observation
    from gpucloud.reconcile.naming import Identity


@dataclass(frozen=True, slots=True)
class Proofs:
    """What makes an observation count for one object."""

    marked: bool  # its name bears the fingerprint of the object's UID
    adoptable: bool  # the spec allows what exists to be adopted, and the object is not being deleted
    here: Identity
    grace: float
    unique_id: bool = False  # the cloud's id of it is never given twice
    uid: str = ""  # the object's
    nonce: str = ""  # of a record that is made now, of what is seen and was not recorded
    likeness: Likeness = Likeness.SAME  # to what the status records of it: addresses, time of creation
    markable: bool = True  # names of this kind can bear a fingerprint, so that a chosen one proves less
    spared: bool = False  # nothing asks for its destruction: the object is not being deleted, and it has not failed
    movable: bool = False  # the spec names several places for it, or may have named another one before an edit


def shown_from(tracked: TrackedOrder) -> float:
    """A listing that shows a chosen name counts from here on: an earlier one shows what stood there before the order."""
    return tracked.since if tracked.recorded is None else tracked.recorded


def id_of(found: Present[Any]) -> str | None:
    """The cloud's id of what a listing shows, as a record holds it: no longer than the schema allows."""
    seen_id: str | None = getattr(found.record, "id", None)
    return seen_id and abridged(seen_id)


def _vpc_of(found: Present[Any]) -> str:
    """The VPC that a listing names for a VM or snapshot; empty if it names none."""
    return abridged(getattr(found.record, "namespace", None) or "")


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


def may_be_anywhere(tracked: TrackedOrder, history: CallHistory) -> bool:
    """Whether the record does not tell in which cluster a resource of this object is, if there is one.

    Another process wrote the record, or it was lost: it may be older than the last order, and the spec may have named another
    place then. It tells where a listing of this process has shown the resource there; not so if that was found by a search,
    since it was not where the record said.
    """
    if history.seen_new or tracked.own:
        return False
    return tracked.sightings.last is None or cloud_placement(tracked.order) is not None


def search_times(tracked: TrackedOrder, history: CallHistory, proofs: Proofs) -> tuple[float, ...]:
    """Return the mono times from which listings of every cluster count before an object that is being deleted is released.

    Another process may have ordered its resource a moment before this one began. If no record tells where, and whether that was
    accepted, it is searched for again when what was accepted must have shown.
    """
    began = history.first_seen + proofs.grace
    first = began if history.deletion_seen is None else max(began, history.deletion_seen)
    shown = status_lost_until(history.first_seen, proofs.grace)
    return (first, shown) if first < shown and proofs.movable and is_unrecorded(tracked.order) else (first,)


def observed(tracked: TrackedOrder, found: Observation[object], proofs: Proofs, now: Now, first_seen: float) -> TrackedOrder:
    """Return the order after an observation. Unknown changes nothing, nor do duplicate records."""
    if isinstance(found, Present) and not found.duplicate_records:
        if _was_never_made(tracked, found, proofs, first_seen):
            tracked = after_event(tracked, OrderEvent.MISSING, now.mono)
        return _recovered(_shown(tracked, found, proofs, now.mono, first_seen), found, proofs, now.mono)
    if isinstance(found, Absent):
        tracked = replace(tracked, sightings=tracked.sightings.without_doubt())
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

    From the answer of the destroying call; without one, a grace later. What no record names may be ordered still, by the call
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


def _shown(tracked: TrackedOrder, found: Present[object], proofs: Proofs, now: float, first_seen: float) -> TrackedOrder:
    seen_id, (match, tracked) = id_of(found), _judged(tracked, found, proofs, first_seen)
    if match is Match.REPLACED:
        tracked = after_event(tracked, _end_by_another(tracked), now)
    if match is not Match.SAME and (tracked.state not in {OrderState.LOST, OrderState.GONE} or not proofs.adoptable):
        return tracked
    settled = tracked.sightings.without_doubt()
    tracked, taken = (replace(tracked, sightings=replace(settled, last=last)) for last in (settled.last, found.as_of))
    if tracked.state is OrderState.SEEN:
        return _with_id(taken, seen_id)
    ordered = tracked.state in BEING_MADE - {OrderState.INTENDED}
    if ordered and not proofs.marked and found.as_of < shown_from(tracked):
        return tracked
    by_id = not proofs.markable and not has_most_others(tracked.order)
    if ordered and is_unproven(tracked.order, proves_owner=proofs.marked or by_id):
        return after_event(taken, OrderEvent.NAME_TAKEN, now)
    if ordered or proofs.marked or _is_back(tracked, seen_id, proofs):
        origin = Origin.CREATED
    elif proofs.adoptable and tracked.state is not OrderState.DESTROYING:
        origin = Origin.ADOPTED
    else:  # what is being destroyed is there still
        return taken if tracked.state is OrderState.DESTROYING else _taken_by_another(tracked, seen_id, proofs, now)
    seen = _with_id(_seen(taken, found, proofs, now, origin), seen_id)
    return seen if origin is Origin.CREATED else _adopted(seen, tracked, proofs)


def _taken_by_another(tracked: TrackedOrder, seen_id: str | None, proofs: Proofs, now: float) -> TrackedOrder:
    """Return the order when a listing shows the name, and no order can have made what has it: nor can one that follows."""
    if proofs.unique_id and seen_id is not None:
        tracked = replace(tracked, others=tracked.others | {seen_id})
    taken = after_event(tracked, OrderEvent.NAME_TAKEN, now)
    return taken if taken.order is None else replace(taken, order=with_others(taken.order, taken.others))


def _end_by_another(tracked: TrackedOrder) -> OrderEvent:
    """Return what it means that another has the name: an order made nothing if nothing shows that it was carried out."""
    order = tracked.order
    unnamed = order is not None and order.cloud_id is None and order.state is OrderState.UNCLEAR
    return OrderEvent.MISSING if unnamed else OrderEvent.REPLACED


def _adopted(seen: TrackedOrder, before: TrackedOrder, proofs: Proofs) -> TrackedOrder:
    """Return the order of what was adopted now, under a record of its own.

    So no status that tells of an earlier adoption under this name tells of this one, and this one is written at once.
    """
    order = seen.order
    if order is not None:
        order = order.model_copy(update={"id": record_id(proofs.nonce, proofs.uid, order.name)})
    return replace(seen, order=order, adopted_from=replace(before, adopted_from=None))


def found_elsewhere(tracked: TrackedOrder, proofs: Proofs, there: Identity, now: float) -> TrackedOrder:
    """Return the order of a resource that bears the object's mark in another place than ``proofs.here``: it is followed there.

    What was answered to a destroying call for the other place says nothing of this one.
    """
    here, order = proofs.here, tracked.order
    if order is None or not order.name:
        order = unordered(here, proofs.uid, proofs.nonce)
    cluster = None if same_cluster(there.cluster, order.cluster) else there.cluster
    placed = Placement(None, cluster, None if there.vpc == order.vpc else there.vpc)
    fields = placed.changes() | {"origin": Origin.CREATED, "missing_since": None, "destroying_call": None}
    moved = after_event(replace(tracked, order=order.model_copy(update=fields)), OrderEvent.SHOWN, now)
    return replace(moved, absence_counts_from=None, unresolved=False, announced=None, sightings=Sightings())


def recovered_from(tracked: TrackedOrder) -> float:
    """Return the mono time from which a listing that shows it proves that its destruction had no effect."""
    return tracked.since + DESTROYED_WITHIN_SECONDS


def _recovered(tracked: TrackedOrder, found: Present[object], proofs: Proofs, now: float) -> TrackedOrder:
    """Return the order as seen again if its destruction had no effect, and nothing asks for it any more.

    Its destroying calls say nothing of a later destruction.
    """
    order, taken = tracked.order, tracked.sightings.last == found.as_of
    if order is None or order.state is not OrderState.DESTROYING or not (taken and proofs.spared):
        return tracked
    if found.as_of < recovered_from(tracked):
        return tracked
    uncalled = order.model_copy(update={"destroying_call": None})
    tracked = replace(tracked, order=uncalled, absence_counts_from=None, announced=None)
    return after_event(tracked, OrderEvent.RECOVERED, now)


def may_be_back(order: Order | None, *, unique_id: bool) -> bool:
    """Whether a listing would show by its unique id that a lost resource is there all the same."""
    lost = order is not None and order.state is OrderState.LOST and order.origin is Origin.CREATED
    return lost and unique_id and order is not None and order.cloud_id is not None


def _is_back(tracked: TrackedOrder, seen_id: str | None, proofs: Proofs) -> bool:
    """Whether a lost resource is listed again under its unique id."""
    order = tracked.order
    return order is not None and may_be_back(order, unique_id=proofs.unique_id) and seen_id == order.cloud_id


def replaced_from(tracked: TrackedOrder, grace: float, first_seen: float) -> float:
    """Return the mono time from which a listing that shows another unique id proves that the ordered resource is gone.

    It lacks the resource as one without any of that name does, so it must last as long. What a status of another process says
    may be out of date, or edited: the difference must last for a grace after it was read.
    """
    doubted = tracked.sightings.since or 0.0
    known = tracked.since if tracked.own else tracked.since + grace
    if tracked.state is OrderState.DESTROYING:
        return max(known, doubted, destroyed_from(tracked, grace, first_seen))
    return max(known, doubted + grace, missing_from(tracked, grace, first_seen))


def is_anothers_id(tracked: TrackedOrder, seen_id: str | None) -> bool:
    """Whether a unique id is another's: the record has a different one; or it has none, and that one had the name before.

    What is recorded counts first: what was adopted had the name before, too, and so had ours while its record was lost.
    """
    recorded = None if tracked.order is None else tracked.order.cloud_id
    return seen_id is not None and (recorded != seen_id if recorded else seen_id in tracked.others)


def _renumbered(tracked: TrackedOrder, as_of: float, grace: float, first_seen: float) -> tuple[Match, TrackedOrder]:
    """What a listing that shows another unique id means: another's, if a later one agrees."""
    sightings = tracked.sightings
    if sightings.doubt is not Doubt.RENUMBERED or sightings.since is None:
        return Match.DOUBTED, replace(tracked, sightings=Sightings(sightings.last, Doubt.RENUMBERED, as_of))
    if as_of <= sightings.since or as_of < replaced_from(tracked, grace, first_seen):
        return Match.DOUBTED, tracked
    return Match.REPLACED, replace(tracked, sightings=sightings.without_doubt())


def _judged(tracked: TrackedOrder, found: Present[object], proofs: Proofs, first_seen: float) -> tuple[Match, TrackedOrder]:
    """Whether the listing shows the resource of the order, or another under its name."""
    order, seen_id = tracked.order, id_of(found)
    if order is None or not may_exist(order):
        return Match.SAME, tracked
    if proofs.unique_id and is_anothers_id(tracked, seen_id):
        return _renumbered(tracked, found.as_of, proofs.grace, first_seen)
    if proofs.marked or proofs.unique_id or order.state not in {OrderState.SEEN, OrderState.DESTROYING}:
        return Match.SAME, tracked
    destroying = order.state is OrderState.DESTROYING and not tracked.untouched
    away = order.missing_since is not None
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
    elif not may_exist(order):  # it is shown where it was ordered, or in another cluster that the spec names
        order = _shown_in(here.cluster, as_ordered(order) or order)
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


def _shown_in(cluster: str, order: Order) -> Order:
    """Return the record of what a listing of this cluster shows."""
    return order if same_cluster(order.cluster, cluster) else order.model_copy(update={"cluster": cluster})


def _with_id(tracked: TrackedOrder, seen_id: str | None) -> TrackedOrder:
    order = tracked.order
    if order is None or seen_id is None or order.cloud_id == seen_id:
        return tracked
    return replace(tracked, order=with_others(order.model_copy(update={"cloud_id": seen_id}), tracked.others))
