"""Builds the whole status from a verdict: each write replaces all of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import CloudStatus, Order, OrderState
from gpucloud.reconcile import order as orders
from gpucloud.reconcile import progress_deadline
from gpucloud.reconcile.conditions import Verdict, build
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.retention import recorded_policy
from gpucloud.reconcile.waits import is_pending

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts

S = TypeVar("S", bound=CloudStatus)

NOTHING_OF_OURS = frozenset({OrderState.REFUSED, OrderState.LOST, OrderState.GONE})  # states without a resource of ours


def plan_status(
    f: CloudFacts[Any, S, Any],
    verdict: Verdict,
    *,
    refresh_after: float | None = None,
    requeue_at: float | None = None,
    paused: str | None = None,
    **changes: Any,
) -> Plan[S]:
    """Return a plan that only reports: the verdict, the last observed record, and ``changes`` of other status fields.

    A recorded order that was not sent is withdrawn, unless ``changes`` contain its record: it would block its Secret, its quota
    and its dependents as long as this verdict lasts. After spec.progressDeadlineSeconds a verdict in progress becomes Stalled;
    the object is still watched.
    ``paused`` adds the condition Paused with that message.
    """
    deadline = progress_deadline.of(f, verdict)
    verdict = progress_deadline.applied(f, verdict, deadline)
    fields: dict[str, Any] = {
        **_seen(f),
        "order": orders.withdrawn(f.tracked) or recorded(f),
        "last_handled_reconcile_at": f.asked.reconcile_request or f.status.last_handled_reconcile_at,
        **changes,
        "observed_generation": f.meta.generation,
        "progress_deadline_at": deadline,
        "conditions": build(
            verdict, f.status.conditions, f.meta.generation, f.now.wall, paused=paused, beside=f.beside(verdict)
        ),
    }
    order, has_resource = fields["order"], f.owner is None and orders.may_exist(fields["order"])
    fields["deletion_policy"] = recorded_policy(f.declared_policy, order) if has_resource else None
    status = f.status.model_copy(update=fields)
    return Plan(
        status=status,
        refresh_after=refresh_after,
        requeue_at=progress_deadline.wake_at(f, deadline, requeue_at),
        pending=is_pending(verdict, requeue_at),
    )


def recorded(f: CloudFacts[Any, S, Any]) -> Order | None:
    """Return the order record for status. NotOrdered is recorded, too: such an object can be deleted unobserved."""
    if f.state is OrderState.NOT_ORDERED and f.others_record is not None:
        return f.others_record  # it says to people, and to a new process, that a resource may be this object's
    if f.order is None and f.history.seen_new:
        return orders.with_others(Order(state=OrderState.NOT_ORDERED), f.tracked.others)
    return f.order


def keep_record(f: CloudFacts[Any, S, Any], plan: Plan[S]) -> Plan[S]:
    """Return the plan; one that leaves the status unchanged still records what became of the order in the status.

    While the cloud cannot be listed no verdict changes. The process may end then, and the next one must know what was seen.
    """
    if plan.status is not None or plan.release is not None or not f.meta.has_finalizer:
        return plan
    known, written = recorded(f), f.status.order
    if known is None or written is None or known.id != written.id or known == written:
        return plan
    return replace(plan, status=f.status.model_copy(update={"order": known}))


def _seen(f: CloudFacts[Any, S, Any]) -> dict[str, Any]:
    """Return the status fields copied from the cloud's record; without a resource, state, address and price are cleared."""
    if not f.is_present:
        shown = dict.fromkeys(f.subject.shown) if f.state in NOTHING_OF_OURS else {}
        return {**shown, "tenancy": f.tenancy}
    seen = f.observed()
    seen["tenancy"] = f.tenancy or seen.get("tenancy")
    where = {"account": f.account.name, "endpoint": f.status.endpoint or f.account.endpoint}
    return {**where, "adopted": f.adopted, **seen}
