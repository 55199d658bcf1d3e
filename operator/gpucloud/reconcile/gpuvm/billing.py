"""Since when a VM is billed, and how long it was billed before: as the operator saw it, in status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.reconcile.core.record import MAX_NUMBER, moment
from gpucloud.reconcile.price import is_billed_state

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.kinds.gpuvm import GpuVMStatus


def billed(status: GpuVMStatus, state: str | None, now: datetime) -> dict[str, Any]:
    """Return the billing fields of a VM that is in this state now.

    A period begins when the VM is first seen in a billed state, and ends when it is first seen in another one. So each end may
    be late by the age of a listing, or by the time for which no operator looked. While nothing changes the fields stay as they
    are, so that passing time is written nowhere.
    """
    since, before = status.billed_since, status.billed_seconds
    if is_billed_state(state):
        return {"billed_since": since or moment(now), "billed_seconds": before}
    if since is not None:
        before = min((before or 0) + max(0, int((now - since).total_seconds())), MAX_NUMBER)
    return {"billed_since": None, "billed_seconds": before}
