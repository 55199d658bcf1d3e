"""spec.replacePolicy: Recreate: a new VM in place of one that was not made as the spec says now.

``status.replacement`` is the plan, written a grace before anything happens, so that a person sees it and may put the spec back.
Then come what a deletion needs, too: no GpuSnapshot is being taken of the VM, the deletion guard lets it pass, and its final
snapshot is ready where the spec requires one. For another configuration or pool the waiting line must have room first. The old
VM is destroyed and proven gone before the new one is ordered (``recreate.py``), under the same name and in the same place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.gpuvm import DeletionPolicy
from gpucloud.kinds.meta import Reason
from gpucloud.kinds.recreation import Replacement
from gpucloud.reconcile.conditions import stalled, working
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.gpuvm import final_snapshot, recreate, waiting
from gpucloud.reconcile.gpuvm.delete import held_by_guard
from gpucloud.reconcile.gpuvm.offers import counting, described
from gpucloud.reconcile.text import listed
from gpucloud.reconcile.unseen import RECHECK_SECONDS

if TYPE_CHECKING:
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan
    from gpucloud.reconcile.waiting_line import Waiter

OFFER_FIELDS = frozenset({"configuration", "resourcePool"})


def decide(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Return the next step of a replacement; None if none is asked for, or the VM is gone already."""
    if not isinstance(f.found, Present) or f.state not in {OrderState.SEEN, OrderState.DESTROYING} or not f.changes:
        return None
    for step in (_retained, _planned, _needed, _limited, held_by_guard, _without_room, _saved):
        plan = step(f)
        if plan is not None:
            return plan
    said = working(Reason.REPLACING, f"{_what(f)} The old one is being destroyed.")
    plan = final_snapshot.recorded(f, recreate.destroy(f, f.found, said))
    return replace(plan, waits=waiter(f))  # the new VM keeps the place in the line


def _what(f: VmFacts) -> str:
    fields = listed(tuple(f"spec.{name}" for name in f.changes))
    return f"The VM is replaced: it was not made with the present {fields}."


def _retained(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Say so if the spec keeps the VM from being destroyed."""
    if f.policy is not DeletionPolicy.RETAIN:
        return None
    fields = listed(tuple(f"spec.{name}" for name in f.changes))
    words = (
        f"The VM was not made with the present {fields}, and spec.deletion.policy: Retain keeps it from being destroyed. Set "
        "Delete, or put the old value back."
    )
    return plan_status(f, stalled(Reason.REPLACING, words))


def _planned(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Write the plan, and wait for a grace."""
    known, needs = f.status.replacement, f.needs_final_snapshot
    plan = Replacement(fields=f.changes, planned_at=f.now.wall, final_snapshot=needs)
    if known is not None and (known.fields, known.final_snapshot) == (plan.fields, plan.final_snapshot):
        plan = known.model_copy(update={"planned_at": min(known.planned_at, f.now.wall)})  # a clock may have been ahead
    left = f.limits.grace - (f.now.wall - plan.planned_at).total_seconds()
    if left <= 0:
        return None
    first = "after a final snapshot of it" if needs else "with its data"
    words = f"{_what(f)} It is destroyed {first} in a while. To keep it, put the old value back."
    return plan_status(f, working(Reason.REPLACING, words), replacement=plan, requeue_at=f.now.mono + left)


def _needed(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait for the snapshots that are being taken of the VM."""
    if not f.dependents:
        return None
    words = f"{_what(f)} It is destroyed as soon as {listed(f.dependents)} is taken."
    return plan_status(f, working(Reason.REPLACING, words), requeue_at=f.now.mono + RECHECK_SECONDS)


def _limited(f: VmFacts) -> Plan[GpuVMStatus] | None:
    return recreate.limited(f, "The VM was not made as the spec says now.")


def _saved(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Take the final snapshot, by a GpuSnapshot only: the object stays, so it can be made."""
    final = None if f.final is None else replace(f.final, terminating=False)
    return final_snapshot.before_destruction(replace(f, final=final))


def _without_room(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait for room for another offer; what the cloud does not list, and the room of the old VM itself, are not asked for."""
    announced = f.status.order is not None and f.status.order.state is OrderState.DESTROYING
    begun = announced or final_snapshot.record(f) is not None  # a final snapshot must not grow old while it waits
    here = None if begun else waiter(f)
    if here is None or f.line.turn in here.offers or not (f.line.looking or f.line.listed.issuperset(here.offers)):
        return None
    wanted = " or ".join(map(described, here.offers))
    words = f"{_what(f)} It is destroyed when the cloud has capacity for {wanted}. To keep it, put the old value back."
    return replace(plan_status(f, working(Reason.WAITING_FOR_CAPACITY, words)), waits=here)


def waiter(f: VmFacts) -> Waiter | None:
    """Return the place in the waiting line of a VM that is to be replaced by one of another offer; None for any other."""
    planned = f.status.replacement
    if planned is None or not OFFER_FIELDS.intersection(f.changes):
        return None
    return waiting.place(f, planned.planned_at, counting(f), ready=True)
