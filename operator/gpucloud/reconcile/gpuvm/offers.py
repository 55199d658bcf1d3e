"""The offers that a GpuVM accepts, an offer being a configuration in a resource pool of a cluster: which is ordered, refused.

The spec's own comes first, then its alternatives, as listed or by price. Another offer is ordered only where the order record
allows a new order (``transitions.py``): after a certain refusal, or when listings have proven that an order without a clear
answer made nothing.
A VM that is to be switched on accepts only what it was made of.
Within one cluster and VPC the name allows the cloud one VM of this object only. To another cluster the object goes on only once
its order has certainly made nothing (``clusters.py``).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import Outcome, PowerState
from gpucloud.kinds.placement import PlacementOrder, PricedOffer, RefusedOffer, RefusedReason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import Present, Verb
from gpucloud.reconcile.gpuvm.clusters import clusters, is_left_behind, spelled
from gpucloud.reconcile.gpuvm.vm_states import VmPhase, vm_phase
from gpucloud.reconcile.price import ABSURD_PRICE, dollars
from gpucloud.reconcile.text import MAX_TEXT, printable
from gpucloud.reconcile.waiting_line import Offer

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.reconcile.facts import Attempt
    from gpucloud.reconcile.gpuvm.offer_facts import VmOfferFacts

REASONS = {
    ErrorKind.UNAVAILABLE: RefusedReason.NO_CAPACITY,
    ErrorKind.INVALID: RefusedReason.REJECTED,
    ErrorKind.NOT_FOUND: RefusedReason.REJECTED,
    ErrorKind.FORBIDDEN: RefusedReason.REJECTED,
    ErrorKind.SERVER: RefusedReason.FAILED,  # field notes: business errors often arrive as 500
}
CORRECT_ALTERNATIVES = "Correct spec.placement.alternatives."
OPEN = frozenset({Outcome.ANNOUNCED, Outcome.UNCLEAR})  # of a power call whose answer no status records
SAME_CALL = timedelta(seconds=2)  # two times of one refusal differ by less: both clocks are read, and seconds are cut


def offers(spec: GpuVMSpec) -> tuple[Offer, ...]:
    """Return the spec's own offer, then its alternatives, each once."""
    own = Offer(spec.configuration, spec.resource_pool)
    if spec.placement is None:
        return (own,)
    found, known = [own], clusters(spec)
    for one in spec.placement.alternatives:
        there = spec.cluster if one.cluster is None else spelled(known, one.cluster)
        if there is not None:
            beside = None if there == spec.cluster else there
            found.append(Offer(one.configuration or own.configuration, one.resource_pool or own.resource_pool, beside))
    return tuple(dict.fromkeys(found))


def in_one_place(f: VmOfferFacts) -> tuple[Offer, ...]:
    """Return the offers among which the next order chooses: those of one cluster, if an order ties the object to it."""
    known = in_order(f)
    if len({one.cluster for one in known}) == 1 or is_left_behind(orders.withdrawn(f.tracked) or f.order):
        return known
    here = tuple(one for one in known if cluster_of(f.spec, one) == f.identity.cluster)
    recorded = ordered_offer(f.spec, f.order)
    return here or ((recorded,) if recorded is not None else known)


def cluster_of(spec: GpuVMSpec, offer: Offer) -> str:
    """Return the cluster in which an offer is."""
    return offer.cluster or spec.cluster


def priced(f: VmOfferFacts) -> tuple[PricedOffer, ...] | None:
    """Return the offers by price, the spec's own first; None where they are tried as they are listed.

    The order stands in status until each of them was refused, so that no change of a price makes one wait for two rounds. A
    price that the catalogue does not show now is the recorded one.
    """
    if f.spec.placement is None or f.spec.placement.order is not PlacementOrder.PRICE:
        return None
    if f.seen and not (f.recreates or f.awaits_replacement):
        return None
    own, *others = offers(f.spec)
    recorded = () if f.status.placement is None else f.status.placement.offers or ()
    if _stands(f, recorded):
        return recorded
    known = {item.configuration: item.price_per_hour for item in recorded if item.price_per_hour is not None} | dict(f.prices)
    found = (PricedOffer(**one._asdict(), price_per_hour=known.get(one.configuration)) for one in others)
    return (PricedOffer(**own._asdict(), price_per_hour=known.get(own.configuration)), *sorted(found, key=_price))


def _stands(f: VmOfferFacts, recorded: tuple[PricedOffer, ...]) -> bool:
    """Whether the recorded order by price is of these offers, some of them were tried, and no missing price is known by now."""
    known, tried = offers(f.spec), {offer_of(item) for item in refusals(f)}
    same = set(map(offer_of, recorded)) == set(known) and offer_of(recorded[0]) == known[0]
    learned = any(item.price_per_hour is None and item.configuration in f.prices for item in recorded)
    return same and not learned and 0 < len(tried) < len(known)


def _price(item: PricedOffer) -> Decimal:
    """Return what an offer is sorted by: one without a known price comes last."""
    price = dollars(item.price_per_hour)
    return ABSURD_PRICE if price is None else price


def in_order(f: VmOfferFacts) -> tuple[Offer, ...]:
    """Return the offers of the spec in the order in which they are tried."""
    by_price = priced(f)
    return offers(f.spec) if by_price is None else tuple(map(offer_of, by_price))


def with_offer(spec: GpuVMSpec, offer: Offer) -> GpuVMSpec:
    """Return the spec as if this offer were its own."""
    return spec.model_copy(update=offer._asdict() | {"cluster": cluster_of(spec, offer)})


def ordered_offer(spec: GpuVMSpec, order: Order | None) -> Offer | None:
    """Return the offer that a record names; the spec's own if it names none, as an earlier version wrote it."""
    if order is None or order.state is OrderState.NOT_ORDERED:
        return None
    there = spelled(clusters(spec)[1:], order.cluster)
    if order.configuration is None:
        return offers(spec)[0]._replace(cluster=there)
    return Offer(order.configuration, order.resource_pool, there)


def ordered_configuration(spec: GpuVMSpec, order: Order | None) -> str:
    """Return the configuration that was ordered, or that the spec asks for first."""
    offer = ordered_offer(spec, order)
    return spec.configuration if offer is None else offer.configuration


def current_offer(f: VmOfferFacts) -> Offer:
    """Return what the VM, or its order, was made of; while there is none, what is ordered next.

    A recorded order that was not sent counts only while the spec still has its offer, and others were not refused it since.
    """
    recorded = ordered_offer(f.spec, f.order)
    kept = f.state is not OrderState.INTENDED or (recorded in offers(f.spec) and recorded not in f.line.taken)
    return recorded if recorded is not None and kept and orders.may_exist(f.order) else next_offer(f)


def is_to_start(f: VmOfferFacts) -> bool:
    """Whether the VM is to be switched on, as far as is known: it is off, or not to be seen now."""
    if f.meta.deleting or not f.seen or f.state is not OrderState.SEEN or f.spec.power_state is PowerState.STOPPED:
        return False
    return not isinstance(f.found, Present) or vm_phase(f.found.record) is VmPhase.OFF


def wanted_offer(f: VmOfferFacts) -> Offer:
    """Return the offer that the next call needs capacity for: what is ordered, or what the VM to be switched on is made of."""
    offer = current_offer(f)
    if not is_to_start(f):
        return offer
    return offer.in_pool(f.found.record.rpool if isinstance(f.found, Present) else f.status.resource_pool)


def next_offer(f: VmOfferFacts) -> Offer:
    """Return the offer whose turn it is; else the first that was not refused; else the one whose refusal is the oldest.

    What the cloud rejected by its words is left out while another one remains; so is what the waiting line gives out, and what
    others were refused a short time ago.
    """
    known = counting(f)
    if len(known) == 1:
        return known[0]
    if f.line.turn in known:
        return f.line.turn
    for left_out in (f.line.listed, f.line.taken):
        known = tuple(one for one in known if one not in left_out) or known
    refused = {offer_of(item): item for item in refusals(f) if offer_of(item) in known}
    untried = [one for one in known if one not in refused]
    again = [item for item in refused.values() if item.reason is not RefusedReason.REJECTED]
    if untried:
        return untried[0]
    return offer_of(min(again, key=lambda item: item.at)) if again else ordered_offer(f.spec, f.order) or known[0]


def accepted(f: VmOfferFacts) -> tuple[Offer, ...]:
    """Return the offers that are waited for: of those that count now each that the cloud has not rejected, or the VM's own."""
    if is_to_start(f):
        return (wanted_offer(f),)
    wrong = {offer_of(item) for item in refusals(f) if item.reason is RefusedReason.REJECTED}
    return tuple(one for one in counting(f) if one not in wrong)


def counting(f: VmOfferFacts) -> tuple[Offer, ...]:
    """Return the offers that count now: the spec's own alone, while spec.placement.waitSeconds are not over.

    What is too dear is left out, so that it keeps nothing else from being ordered, while something is left that the cloud has
    not rejected.
    """
    known = in_one_place(f)
    if len(known) == 1:
        return known
    until = alternatives_from(f)
    known = known if until is None or f.now.wall >= until else known[:1]
    left = tuple(one for one in known if one not in dear(f))
    wrong = {offer_of(item) for item in refusals(f) if item.reason is RefusedReason.REJECTED}
    return left if set(left) - wrong else known


def dear(f: VmOfferFacts) -> tuple[Offer, ...]:
    """Return the alternatives that cost more than the limits on prices leave. The spec's own offer is none of them."""
    own, *others = offers(f.spec)
    return tuple(one for one in others if one.configuration in f.too_dear and one.configuration != own.configuration)


def alternatives_from(f: VmOfferFacts) -> datetime | None:
    """Return when alternatives begin to count; None if they do at once, as when the spec's own was refused for another reason.

    Before the first refusal for want of capacity nobody has waited yet.
    """
    wait = None if f.spec.placement is None else f.spec.placement.wait_seconds
    if wait is None or is_to_start(f):
        return None
    own = next((item for item in refusals(f) if offer_of(item) == offers(f.spec)[0]), None)
    if own is not None and own.reason is not RefusedReason.NO_CAPACITY:
        return None
    return (without_capacity_since(f) or f.now.wall) + timedelta(seconds=wait)


def without_capacity_since(f: VmOfferFacts) -> datetime | None:
    """Return since when it waits, as the status says, else since its first refusal for want of capacity.

    A time in the future was noted by another clock: it counts as now, or its GpuVM would be last until that time.
    """
    since = None if f.status.placement is None or _is_of_creation(f) else f.status.placement.waiting_since
    if since is None:
        since = min((item.at for item in refusals(f) if item.reason is RefusedReason.NO_CAPACITY), default=None)
    return None if since is None else min(since, f.now.wall)


def _is_of_creation(f: VmOfferFacts) -> bool:
    """Whether the status, which is written as a whole, is of the time before the VM was there, so that its wait is over."""
    return f.seen and (f.status.order is None or not orders.was_seen(f.status.order))


def queues_from(f: VmOfferFacts) -> datetime:
    """Return since when it waits if it queues now: since its last call, if the process that sent it died with the answer.

    That may have been the refusal from which on it would wait.
    """
    if is_to_start(f):
        operation = f.status.operation
        sent = None if operation is None or operation.outcome not in OPEN else operation.at
    else:
        unknown = f.order is not None and f.state is OrderState.REFUSED and not f.tracked.own
        sent = f.order.recorded_at if f.order is not None and unknown and f.order.refused_generation is None else None
    return min(sent or f.now.wall, f.now.wall)


def moves_on(f: VmOfferFacts) -> bool:
    """Whether the next order is for one of several offers that was not tried yet, so that no failed call delays it."""
    following = current_offer(f)
    if len(offers(f.spec)) == 1 or any(offer_of(item) == following for item in refusals(f)):
        return False
    attempt, recorded = f.attempt(Verb.CREATE), f.tracked.recorded
    tried = attempt is not None and recorded is not None and attempt.at > recorded
    return not tried or ordered_offer(f.spec, f.order) != following


def rejected_alternative(f: VmOfferFacts) -> RefusedOffer | None:
    """Return the last refusal that says that an alternative, which may be edited, cannot be ordered as it is."""
    own = offers(f.spec)[0]
    found = (one for one in refusals(f) if one.reason is RefusedReason.REJECTED and offer_of(one) != own)
    return max(found, key=lambda one: one.at, default=None)


def refusals(f: VmOfferFacts) -> tuple[RefusedOffer, ...]:
    """Return the last refusal of each offer, the last call's included; none for a VM that is there and is not to be started.

    Of a creation an edit or a request begins anew; a start keeps its place.
    """
    recorded = () if f.status.placement is None else f.status.placement.refused
    known: tuple[Offer, ...]
    if is_to_start(f):
        known, newest, before = (wanted_offer(f),), _refused_start(f), () if _is_of_creation(f) else recorded
    elif f.seen:
        return ()
    else:
        asked = f.asked.reconcile_request not in {None, f.status.last_handled_reconcile_at}
        before = () if asked else tuple(item for item in recorded if item.generation == f.meta.generation)
        known, newest = offers(f.spec), _refused_order(f)
    found = {offer_of(item): item for item in before}
    if newest is not None:
        last = found.get(offer_of(newest))
        if last is None or newest.at > last.at + SAME_CALL:
            found[offer_of(newest)] = newest
    return tuple(found[one] for one in known if one in found)


def _refused_order(f: VmOfferFacts) -> RefusedOffer | None:
    """Return the refusal of the last creating call, if it was for the recorded order; None for one that blames no offer."""
    attempt, ordered = f.attempt(Verb.CREATE), ordered_offer(f.spec, f.order)
    if attempt is None or ordered is None or not _is_answer(f, attempt):
        return None
    return _refused(f, attempt, ordered)


def _refused_start(f: VmOfferFacts) -> RefusedOffer | None:
    """Return the refusal of the last call that was to switch the VM on, if there was no capacity."""
    attempt = f.attempt(Verb.START)
    found = None if attempt is None else _refused(f, attempt, wanted_offer(f))
    return found if found is not None and found.reason is RefusedReason.NO_CAPACITY else None


def _refused(f: VmOfferFacts, attempt: Attempt, offer: Offer) -> RefusedOffer | None:
    """Return the record of a refusal; None for an answer that blames no offer."""
    reason = None if attempt.refusal is None else REASONS.get(attempt.refusal.kind)
    if attempt.refusal is None or reason is None:
        return None
    if reason is RefusedReason.REJECTED and attempt.refusal.ambiguous:
        reason = RefusedReason.FAILED  # whatever its words: it may be a passing fault
    return RefusedOffer(
        configuration=offer.configuration,
        resource_pool=offer.resource_pool,
        cluster=offer.cluster,
        reason=reason,
        message=printable(attempt.refusal.message, MAX_TEXT),
        at=(f.now.wall - timedelta(seconds=f.now.mono - attempt.at)).replace(microsecond=0),
        generation=f.meta.generation,
    )


def _is_answer(f: VmOfferFacts, attempt: Attempt) -> bool:
    """Whether this creating call was for the recorded order, which this process wrote, and made nothing as far as is known."""
    sent = f.tracked.recorded is not None and attempt.at > f.tracked.recorded and attempt.asked == f.asked
    return sent and f.state in {OrderState.UNCLEAR, OrderState.REFUSED}


def offer_of(item: RefusedOffer | PricedOffer) -> Offer:
    """Return the offer that was refused, or is tried."""
    return Offer(item.configuration, item.resource_pool, item.cluster)


def described(offer: Offer) -> str:
    """Return an offer as messages name it."""
    pool = "" if offer.resource_pool is None else f" in pool {offer.resource_pool!r}"
    cluster = "" if offer.cluster is None else f" of cluster {offer.cluster!r}"
    return f"{offer.configuration!r}{pool}{cluster}"
