"""The chain of a GpuVM: the first step with a plan wins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.core import steps
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.gpuvm import adopted, create, delete, power, recreate, replacement, waiting
from gpucloud.reconcile.gpuvm.boot_log import with_boot_log
from gpucloud.reconcile.gpuvm.connection import with_connection
from gpucloud.reconcile.plan import first_plan

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan


def decide(f: VmFacts) -> Plan[GpuVMStatus]:
    """Return the plan for this GpuVM. Total: returns a plan for all facts, and never raises."""
    plan = with_placement(f, with_connection(f, _first(f), f.reassert_seconds))
    plan = replacement.with_record(f, with_boot_log(f, plan))
    if f.status.order is not None or plan.status is None or plan.status.order is None:
        return plan
    # The record is new, or it was lost and is put back: what was asked for before counts as answered. Nobody can know, and
    # a second restart loses work.
    asked = f.meta.annotations.get(Annotation.RESTART_REQUESTED_AT)
    handled = asked or plan.status.last_handled_restart_at
    return replace(plan, status=plan.status.model_copy(update={"last_handled_restart_at": handled}))


def with_placement(f: VmFacts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan with ``status.placement`` as it is now, and the place in the waiting line."""
    if plan.status is None:
        return plan
    here = plan.waits or waiting.waiter(f, ready=False)
    placed = waiting.recorded(f, here)
    if here is None and placed == plan.status.placement:
        return plan
    return replace(plan, waits=here, status=plan.status.model_copy(update={"placement": placed}))


def _first(f: VmFacts) -> Plan[GpuVMStatus]:
    """Return the plan of the first step that has one."""
    return first_plan(
        f,
        steps.without_finalizer,
        steps.paused,
        steps.unconfirmed,
        deleting,
        steps.claimed,
        steps.unplaced,
        power.unsent,
        steps.unobserved,
        steps.duplicate_records,
        steps.unproven_origin,
        steps.not_owned,
        replacement.decide,
        recreate.failed,
        replacement.unlike,
        alive,
        recreate.lost,
        steps.lost,
    ) or create.decide(f)


def deleting(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Return the deletion's next step. Pause, Retain and late answers count during deletion too."""
    return delete.decide(f) if f.meta.deleting else None


def alive(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Compare an existing VM with the spec: one that was adopted as a whole, then the power state."""
    return adopted.differs(f, f.found) or power.decide(f, f.found) if isinstance(f.found, Present) else None
