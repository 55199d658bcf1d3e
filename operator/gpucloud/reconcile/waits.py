"""Which waits a listing of the object's own resource ends: only for those are listings fast.

All others end by capacity, a person or another object, which wake the object themselves, or at a time of their own. They may
last for days, and cost nothing beyond the steady listings that everybody shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.conditions import Progress

if TYPE_CHECKING:
    from gpucloud.reconcile.conditions import Verdict

# Ended by capacity, a person, or another object. spec.progressDeadlineSeconds does not count them either.
ENDED_OUTSIDE = frozenset(
    {
        Reason.WAITING_FOR_CAPACITY,
        Reason.SSH_KEYS_NOT_FOUND,
        Reason.NAMESPACE_TERMINATING,
        Reason.DEPENDENCY_NOT_READY,
        Reason.ACCOUNT_NOT_READY,
        Reason.OBSERVE_ONLY,
        Reason.LIMIT_REACHED,
        Reason.RECREATION_LIMITED,
        Reason.DELETION_BLOCKED,
    }
)


def is_pending(verdict: Verdict, requeue_at: float | None) -> bool:
    """Whether a listing is to show the next change soon. ``requeue_at`` is when the wait ends by itself, if it does."""
    return verdict.progress is Progress.WORKING and verdict.reason not in ENDED_OUTSIDE and requeue_at is None
