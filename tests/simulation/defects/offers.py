"""Defects of the choice among ``placement.alternatives``, and of a status that is lost."""

from __future__ import annotations

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.placement import RefusedReason
from gpucloud.reconcile import evidence
from gpucloud.reconcile.gpuvm import clusters, create, offers
from simulation.planting import Defect, named, replace

OFFERS: dict[str, Defect] = {}


@named(OFFERS, "a rejected offer keeps the others from being tried")
def first_decides() -> None:
    """What failed is waited for, though another offer was not tried yet, and what one was told is told of all."""
    accepted = offers.accepted
    replace(offers.moves_on, lambda _: False)
    replace(accepted, lambda f: () if any(one.reason is RefusedReason.REJECTED for one in offers.refusals(f)) else accepted(f))


@named(OFFERS, "only the spec's own offer is ordered")
def first_only() -> None:
    """Alternatives are read, and never ordered."""
    replace(offers.next_offer, lambda f: offers.offers(f.spec)[0])


@named(OFFERS, "what is sent is not the offer that is recorded")
def other_offer_sent() -> None:
    """The creating call follows the spec, whichever offer was chosen."""
    replace(offers.with_offer, lambda spec, _: spec)


@named(OFFERS, "a lost status is looked for only where the spec says")
def no_strays() -> None:
    """Whether its VM is in another cluster is not asked."""
    replace(create.stray, lambda _: None)


@named(OFFERS, "a deletion looks only where the spec says")
def no_search() -> None:
    """Whatever the record is worth, no other cluster is asked before an object is released."""
    replace(evidence.may_be_anywhere, lambda *_: False)


@named(OFFERS, "an unclear order is left for another cluster")
def unclear_left() -> None:
    """What may have been made in one cluster keeps no order from another one."""
    held = clusters.is_left_behind
    replace(held, lambda order: held(order) or order.state is OrderState.UNCLEAR)


@named(OFFERS, "a VM elsewhere is looked for where the spec begins")
def looked_for_here() -> None:
    """The cluster that the record names is not believed."""
    replace(clusters.cluster_in_hand, lambda spec, _order, _placement: spec.cluster)
