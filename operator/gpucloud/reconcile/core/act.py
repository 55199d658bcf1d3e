"""Plans a changing call: status announces it first; --observe-only withholds it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import CloudStatus
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.conditions import working
from gpucloud.reconcile.core.plan_status import plan_status, recorded
from gpucloud.reconcile.plan import Plan, observing

if TYPE_CHECKING:
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Verb

S = TypeVar("S", bound=CloudStatus)


def plan_action(
    f: CloudFacts[Any, S, Any], verb: Verb, announcement: Verdict, *, targets: tuple[str, ...] = (), **changes: Any
) -> Plan[S]:
    """Return a plan that announces and then sends ``verb``; under ``--observe-only`` one that only reports it."""
    if not f.synced:
        return Plan(pending=True)  # claims are incomplete before the first list is; its end wakes all objects
    if f.limits.observe_only:
        words = observing(f"call {verb}")
        return replace(plan_status(f, working(Reason.OBSERVE_ONLY, words, ready="Unknown")), withheld=verb)
    return replace(plan_status(f, announcement, **{"order": recorded(f)} | changes), action=verb, targets=targets)
