"""What the VM of a GpuVM is already: the offers of its spec that would make no other one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.gpuvm.offers import cluster_of, offers

if TYPE_CHECKING:
    from gpucloud.reconcile.gpuvm.offer_facts import VmOfferFacts
    from gpucloud.reconcile.waiting_line import Offer


def shown_offer(f: VmOfferFacts) -> Offer | None:
    """Return the first offer of the spec that has the configuration which the cloud shows of the VM; None if none has.

    One of the cluster that the VM is in comes before those of others, whose pools say nothing of it.
    """
    found = [one for one in offers(f.spec) if one.configuration == f.configuration_in_use]
    here = (one for one in found if cluster_of(f.spec, one) == f.identity.cluster)
    return next(here, found[0] if found else None)


def is_in_hand(f: VmOfferFacts, offer: Offer) -> bool:
    """Whether the VM that is there is what this offer gives: by its order, or as the cloud shows it."""
    there = cluster_of(f.spec, offer) == f.identity.cluster
    return there and offer.configuration == _made_of(f) and _is_pool_in_hand(f, offer.resource_pool)


def is_made_of(f: VmOfferFacts, offer: Offer, *, edited: bool) -> bool:
    """Whether the VM that is there is of this configuration. ``edited``: whether the spec named another one for it.

    Where neither the order nor the cloud tells, it is of that of the spec.
    """
    made = _made_of(f)
    return offer.configuration == made if made is not None else not edited and offer.configuration == f.spec.configuration


def has_already(f: VmOfferFacts, field: str) -> bool:
    """Whether the VM has what the spec says in this field of its own offer, though the spec said otherwise when it was made.

    It was made of an alternative, or the account's pool is named by now. The pool counts only for a configuration of the spec.
    """
    made = _made_of(f)
    if field == "configuration":
        return made == f.spec.configuration
    accepted_now = any(one.configuration == made for one in offers(f.spec))
    return field == "resourcePool" and accepted_now and _is_pool_in_hand(f, f.spec.resource_pool)


def _made_of(f: VmOfferFacts) -> str | None:
    """Return the configuration of the VM, as the cloud shows it, else as its order names it; None if neither does."""
    return f.configuration_in_use or (None if f.order is None else f.order.configuration)


def _is_pool_in_hand(f: VmOfferFacts, pool: str | None) -> bool:
    """Whether the VM is in the pool in which an order naming this one would be made."""
    named = pool or f.default_pool
    shown = f.found.record.rpool if isinstance(f.found, Present) else None
    ordered = None if f.order is None else f.order.resource_pool
    return ordered is None if named is None else named in {ordered, shown}
