"""Whether an object may have a resource in the cloud: then the credential that can destroy it must stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.common import OrderState

if TYPE_CHECKING:
    from gpucloud.kinds.common import CloudStatus, Order

IDS = ("vm_id", "vpc_id", "snapshot_id")
NOTHING_THERE = frozenset({OrderState.NOT_ORDERED, OrderState.REFUSED, OrderState.GONE})


def needs_credential(order: Order | None, status: CloudStatus, *, deleting: bool = False) -> bool:
    """Whether a resource was, or is about to be, ordered for the object, and is not proven gone.

    An object that only waits has nothing. A recorded id counts where the order's record was lost. What is called lost may have
    been left out of listings: it counts. So does what is gone while the object is ``deleting``: only this process may know that
    yet, and the next one needs listings to release the object.
    """
    if deleting and order is not None and order.state is OrderState.GONE:
        return True
    if order is not None:
        return order.state not in NOTHING_THERE
    return any(getattr(status, name, None) is not None for name in IDS)
