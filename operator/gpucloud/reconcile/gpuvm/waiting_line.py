"""The waiting line of the GpuVMs that wait for capacity: who may order which offer, by one answer of GetAvailability. Pure.

Who waits longest goes first, then the higher priority. Each takes the first of its offers that has room left; an offer whose
room nobody counted has room for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.kinds.gpuvm import ON_DEMAND
from gpucloud.reconcile.gpuvm.offers import Offer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from gpucloud.cloud.models import AvailabilityRecord


@dataclass(frozen=True, slots=True)
class Waiter:
    """A GpuVM that waits, and the offers that it accepts, the preferred first."""

    uid: str
    since: datetime
    offers: tuple[Offer, ...]
    priority: int = 0


def turns(waiters: Iterable[Waiter], room: Mapping[Offer, int]) -> dict[str, Offer]:
    """Return the offer that each GpuVM may order now, by UID; whoever is not in it waits on."""
    left, found = dict(room), dict[str, Offer]()
    for waiter in sorted(waiters, key=lambda one: (one.since, -one.priority, one.uid)):
        for offer in waiter.offers:
            listed = _listed(offer, room)
            if listed is not None and left[listed] > 0:
                left[listed] -= 1
                found[waiter.uid] = offer
                break
    return found


def room_of(records: Iterable[AvailabilityRecord]) -> dict[Offer, int]:
    """Return how many VMs each listed offer has room for, in the order of the listing."""
    found = dict[Offer, int]()
    for item in records:
        if item.configuration is not None:
            found[Offer(item.configuration, item.rpool)] = max(item.count or 0, 1) if item.available else 0
    return found


def _listed(offer: Offer, room: Mapping[Offer, int]) -> Offer | None:
    """Return the listed offer that an order for this one gets; without a pool the first one assigned, else on-demand."""
    if offer.resource_pool is not None:
        return offer if offer in room else None
    pools = [one for one in room if one.configuration == offer.configuration]
    return next((one for one in pools if one.resource_pool != ON_DEMAND), pools[0] if pools else None)
