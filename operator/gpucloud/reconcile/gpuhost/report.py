"""Builds the whole status of a GpuHost from a verdict: each write replaces all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.gpuhost import HostOutcome
from gpucloud.reconcile import progress_deadline
from gpucloud.reconcile.conditions import Verdict, build
from gpucloud.reconcile.gpuhost.requests import ANSWERS
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.waits import is_pending

if TYPE_CHECKING:
    from gpucloud.kinds.gpuhost import GpuHostStatus, HostOperation
    from gpucloud.reconcile.gpuhost.facts import HostFacts


def report(
    f: HostFacts,
    verdict: Verdict,
    *,
    refresh_after: float | None = None,
    requeue_at: float | None = None,
    **changes: Any,
) -> Plan[GpuHostStatus]:
    """Return a plan that only reports: the verdict, the last observed record, and ``changes`` of other status fields.

    Once the outcome of an operation is known, its request is answered.
    """
    deadline = progress_deadline.of(f, verdict)
    verdict = progress_deadline.applied(f, verdict, deadline)
    asked = f.asked.reconcile_request
    if asked is not None and asked != f.status.last_handled_reconcile_at:
        refresh_after = f.now.mono
    fields: dict[str, Any] = {
        **f.observed(),
        "last_handled_reconcile_at": asked or f.status.last_handled_reconcile_at,
        **answer(changes.get("operation")),
        **changes,
        "observed_generation": f.meta.generation,
        "progress_deadline_at": deadline,
        "conditions": build(verdict, f.status.conditions, f.meta.generation, f.now.wall),
    }
    return Plan(
        status=f.status.model_copy(update=fields),
        refresh_after=refresh_after,
        requeue_at=progress_deadline.wake_at(f, deadline, requeue_at),
        pending=is_pending(verdict, requeue_at),
    )


def answer(operation: HostOperation | None) -> dict[str, Any]:
    """Return the status field that answers the request of an operation; nothing before it was sent or refused."""
    if operation is None or operation.outcome is HostOutcome.ANNOUNCED:
        return {}
    return {ANSWERS[operation.verb]: operation.id}
