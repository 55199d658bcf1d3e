"""A defect in the table of an order's states: an event leads to another state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile.transitions import TRANSITIONS
from simulation.planting import replace

if TYPE_CHECKING:
    from gpucloud.kinds.common import OrderState
    from gpucloud.reconcile.transitions import OrderEvent


def lead(before: OrderState, event: OrderEvent, after: OrderState) -> None:
    """Let this event lead to another state than the product's table says."""
    changed = TRANSITIONS[before, event]._replace(to=after)
    if changed == TRANSITIONS[before, event]:
        raise ValueError(f"this cannot be planted any more: {event} leads from {before} to {after} anyway")
    replace(TRANSITIONS, TRANSITIONS | {(before, event): changed})
