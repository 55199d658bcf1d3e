"""Whether an object may have something in the cloud, by its status: then its credential must not go before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.kinds.common import CloudStatus

IDS = ("vm_id", "vpc_id", "snapshot_id")


def may_exist(status: CloudStatus) -> bool:
    """Whether something was, or is about to be, ordered for the object, or has been seen. One that only waits has nothing."""
    return status.intent is not None or any(getattr(status, name, None) is not None for name in IDS)
