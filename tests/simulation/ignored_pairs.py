"""Watches for an event that changes nothing in a state in which it is not expected (``transitions.IGNORED``)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gpucloud.reconcile import order
from gpucloud.reconcile.transitions import IGNORED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.kinds.common import OrderState
    from gpucloud.reconcile.transitions import OrderEvent, Transition


@contextlib.contextmanager
def watched(found: Callable[[str], None]) -> Iterator[None]:
    """Tell each pair of a state and an event that has neither a transition nor a reason to be ignored."""
    before = order.transition

    def follow(state: OrderState, event: OrderEvent) -> Transition | None:
        leads = before(state, event)
        if leads is None and (state, event) not in IGNORED:
            found(f"{event!r} changes nothing in {state}, and no reason for that is known")
        return leads

    order.transition = follow
    try:
        yield
    finally:
        order.transition = before
