"""Clean-ups of a GpuVM beside those of every kind: of the counts in which its VM takes part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.engine.kinds.cleanups import Cleanup

if TYPE_CHECKING:
    from gpucloud.engine.kinds.deletion_guard import DeletionGuard
    from gpucloud.engine.kinds.gpuvm.publishing import Publisher
    from gpucloud.engine.kinds.quota_usage import QuotaUsage


def cleanups_of_counts(quota_usage: QuotaUsage, deletion_guard: DeletionGuard, publisher: Publisher) -> tuple[Cleanup, ...]:
    """Return the steps that take a VM out of these counts."""
    return (
        Cleanup(
            "quota usage", "a VM that is gone would take room under the limits for ever", lambda key: quota_usage.drop(key.uid)
        ),
        Cleanup(
            "deletion guard",
            "a deletion that destroys no VM any more would count towards the limit, and hold others",
            lambda key: deletion_guard.drop(key.uid),
        ),
        Cleanup(
            "connection",
            "it would count among the VMs that publish something, whose number sets how often each is checked",
            lambda key: publisher.drop(key.uid),
        ),
    )
