"""A new VM in place of one that is lost, that the cloud reports as failed, or that is replaced (``replacement.py``).

A lost VM must be missing from two listings that began a grace after the loss was known. A failed one is destroyed and proven
gone first. The new order follows the same rules as the first one. ``status.recreations`` holds the times that the limit counts:
those of the orders' records, which come before each call, so that no restart shortens a wait. What is only destroyed has bought
nothing, and does not count. A VM that was adopted is never recreated: its spec was not compared with it. Nor is one whose
powerState is Stopped: the cloud starts, and bills, what it creates.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from gpucloud.kinds.common import DestroyingPurpose, OrderState
from gpucloud.kinds.meta import Reason, rfc3339
from gpucloud.kinds.recreation import ReplacePolicy
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.core import failed as failures
from gpucloud.reconcile.core.create import free_from, is_free
from gpucloud.reconcile.core.delete import meanwhile
from gpucloud.reconcile.core.destruction import again_from, send
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.evidence import recovered_from
from gpucloud.reconcile.facts import Absent, Present
from gpucloud.reconcile.gpuvm import power
from gpucloud.reconcile.gpuvm.delete import held_by_guard
from gpucloud.reconcile.gpuvm.vm_states import FAILURES, is_replaceable, reported_state
from gpucloud.reconcile.text import listed
from gpucloud.reconcile.unseen import RECHECK_SECONDS

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan

MOST_RECREATIONS = 3  # of one object within the window
WINDOW = timedelta(hours=1, seconds=1)  # an hour: times are whole seconds, rounded down, so it may have begun a second later


def failed(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Destroy a failed VM that is to be recreated: when a second listing shows the failure, and the limit allows it."""
    vm = f.found
    if not isinstance(vm, Present) or f.state not in {OrderState.SEEN, OrderState.DESTROYING}:
        return None
    if not f.replaces_failed or not is_replaceable(vm.record):
        return _may_go(f, vm) if f.state is OrderState.DESTROYING else None
    left = f.limits.grace - _failed_for(f)
    if left > 0:
        return replace(power.decide(f, vm), refresh_after=f.now.mono + left)  # reported first, and looked at once more
    what = f"The VM has failed ({reported_state(vm.record)}), and may still be billed."
    if f.dependents:
        words = f"{what} It is destroyed for a new one as soon as {listed(f.dependents)} is taken."
        said = stalled(FAILURES[reported_state(vm.record)], f"{words} To keep it, set spec.onLoss: Fail.")
        return plan_status(f, said, requeue_at=f.now.mono + RECHECK_SECONDS)
    sooner = "To destroy it now, delete this object; apply it again."
    return limited(f, what, "The next comes", sooner) or held_by_guard(f) or destroy(f, vm, _being_destroyed(f))


def _failed_for(f: VmFacts) -> float:
    """Return for how many seconds the VM has failed, as status records it; 0 if the clock went back."""
    since = f.status.failed_since
    return 0.0 if since is None else max(0.0, (f.now.wall - since).total_seconds())


def _may_go(f: VmFacts, vm: Present[VmRecord]) -> Plan[GpuVMStatus] | None:
    """Wait for the effect of a destroying call that may have been sent, though nothing asks for another VM any more.

    If it was announced for a deletion, a restore of etcd has undone that: then only look again.
    """
    until = recovered_from(f.tracked)
    if vm.as_of >= until:
        return None  # it had no effect: the VM is as the listing shows it
    if orders.recreates(f.tracked):
        return plan_status(f, _being_destroyed(f), refresh_after=until)
    plan = power.decide(f, vm)
    return plan if plan.refresh_after is not None else replace(plan, refresh_after=until)


def destroy(f: VmFacts, vm: Present[VmRecord], said: Verdict) -> Plan[GpuVMStatus]:
    """Send the destroying call for a VM that another one is to follow once; then wait for the listings."""
    attempt = f.attempt(f.subject.destroy)
    if attempt is not None and attempt.refusal is not None and attempt.asked == f.asked:
        said = failures.verdict(f, attempt)  # which stands until a call is accepted: Ready does not change to and fro
    if attempt is not None and failures.in_backoff(f, attempt):
        return plan_status(f, said, requeue_at=failures.again_at(f, attempt))
    if attempt is None and vm.as_of < f.fresh_from:
        return meanwhile(f, said, refresh_after=f.fresh_from)
    needed = f.fresh_from if attempt is None else max(f.fresh_from, again_from(f, attempt))
    if vm.as_of < needed:
        return plan_status(f, said, refresh_after=needed)
    return send(f, said, DestroyingPurpose.RECREATION, deletion_held_at=None)


def lost(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait until a VM that is to be recreated is proven gone, and the limit allows a new one; None when it may be ordered."""
    if not isinstance(f.found, Absent) or not f.seen:
        return None
    if f.state is OrderState.DESTROYING and (f.asks_recreation or f.is_replaced):
        answered = f.tracked.absence_counts_from
        needed = f.tracked.since + f.limits.grace if answered is None else answered
        return plan_status(f, _being_destroyed(f), refresh_after=max(needed, f.now.mono))
    if not f.recreates:
        return None
    held_back = limited(f, "The VM was destroyed." if f.state is OrderState.GONE else f"The VM was deleted {f.how_lost}.")
    if held_back is not None or is_free(f):
        return held_back
    said = _being_destroyed(f) if f.state is OrderState.GONE else _of_lost(f)
    needed = max(free_from(f), f.fresh_from)
    return plan_status(f, said, refresh_after=f.now.mono if f.found.as_of >= needed else needed)


def counted(f: VmFacts, plan: Plan[GpuVMStatus]) -> Plan[GpuVMStatus]:
    """Return the plan; one that records the order of a recreation counts it, sent or not: a new process cannot know.

    Recorded again, because it was never made, it counts once, and from then on.
    """
    order = None if plan.status is None or not plan.records_order else plan.status.order
    if plan.status is None or order is None or order.recreation is None:
        return plan
    times = (*_earlier(f)[1 - MOST_RECREATIONS :], f.now.wall)
    return replace(plan, status=plan.status.model_copy(update={"recreations": times}))


def _earlier(f: VmFacts) -> list[datetime]:
    """The times that count, in order, but that of the next order, where status tells of its record already.

    Clocks of two processes differ, so a time that is still to come counts, too.
    """
    times, known = f.status.recreations or (), f.status.order
    following = (f.order.recreation or 0) + orders.was_seen(f.order) if f.order is not None else 0
    if known is not None and not orders.was_seen(known) and known.recreation == following:
        times = times[:-1]
    return sorted(at for at in times if abs(f.now.wall - at) < WINDOW)


def limited(
    f: VmFacts,
    what: str,
    then: str = "The next one is created",
    way_out: str = "For one now, delete this object and apply it again.",
) -> Plan[GpuVMStatus] | None:
    """Wait while the limit is reached. A destruction that is announced was let pass, and may have been sent."""
    recent = _earlier(f)
    if f.state is OrderState.DESTROYING or len(recent) < MOST_RECREATIONS:
        return None
    until = recent[-MOST_RECREATIONS] + WINDOW
    words = f"{what} It was recreated {MOST_RECREATIONS} times within an hour. {then} after {rfc3339(until)}. {way_out}"
    wait = (until - f.now.wall).total_seconds()
    return plan_status(f, stalled(Reason.RECREATION_LIMITED, words), requeue_at=f.now.mono + max(wait, 1.0))


def with_new_deadline(f: VmFacts) -> VmFacts:
    """Return the facts of a recreation without the deadline of the last VM: the new one has as long from its order on."""
    return replace(f, status=f.status.model_copy(update={"progress_deadline_at": None})) if f.recreates else f


def announcement(f: VmFacts) -> Verdict | None:
    """Return the verdict while a recreation is ordered; None for a first VM."""
    if not (f.recreates or (f.order is not None and f.order.recreation is not None)):
        return None
    return working(Reason.RECREATING, f"A new VM is being created in place of the last one{_asked_by(f)}{_which(f)}.")


def _of_lost(f: VmFacts) -> Verdict:
    words = f"The VM was deleted {f.how_lost}. A new one is being created{_which(f)}."
    unsaved = " No final snapshot of the lost one could be taken." if f.needs_final_snapshot else ""
    return working(Reason.RECREATING, f"{words}{unsaved}")


def _being_destroyed(f: VmFacts) -> Verdict:
    if f.is_replaced:
        return working(Reason.REPLACING, f"The VM is being destroyed for a new one, as spec.replacePolicy asks{_which(f)}.")
    return working(
        Reason.RECREATING, f"The VM has failed. It is being destroyed for a new one, as spec.onLoss asks{_which(f)}."
    )


def _asked_by(f: VmFacts) -> str:
    """Return which field asks for the new VM; empty where the spec sets both or none of them.

    Once its order is recorded, nothing tells for which of the two it was made.
    """
    replaces = f.spec.replace_policy is ReplacePolicy.RECREATE
    if f.asks_recreation == replaces:
        return ""
    return ", as spec.replacePolicy asks" if replaces else ", as spec.onLoss asks"


def _which(f: VmFacts) -> str:
    number = min(len(_earlier(f)) + 1, MOST_RECREATIONS)  # with another clock, more may count than when it was announced
    return f" ({number} of at most {MOST_RECREATIONS} within an hour)"
