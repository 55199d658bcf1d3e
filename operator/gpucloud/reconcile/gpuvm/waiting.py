"""The wait of one GpuVM for capacity: since when, its place in the waiting line, and what the status says meanwhile."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import Reason, rfc3339
from gpucloud.kinds.placement import PlacementStatus
from gpucloud.reconcile import retry
from gpucloud.reconcile.conditions import Verdict, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.create import backing_off
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Unknown, Verb
from gpucloud.reconcile.gpuvm.elsewhere import found_in
from gpucloud.reconcile.gpuvm.offers import (
    accepted,
    alternatives_from,
    current_offer,
    dear,
    described,
    is_to_start,
    moves_on,
    offer_of,
    offers,
    priced,
    queues_from,
    refusals,
    rejected_alternative,
    wanted_offer,
    without_capacity_since,
)
from gpucloud.reconcile.text import bracketed, either
from gpucloud.reconcile.waiting_line import Waiter, query_seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.reconcile.facts import Attempt
    from gpucloud.reconcile.gpuvm.facts import VmFacts
    from gpucloud.reconcile.plan import Plan
    from gpucloud.reconcile.waiting_line import Offer


def waiting_since(f: VmFacts) -> datetime | None:
    """Return since when it waits: from its first refusal for want of capacity, or since it queued, until its VM is there."""
    destroyed = f.state is OrderState.DESTROYING and (f.asks_recreation or f.is_replaced)  # after a restart that is Gone, too
    waits = is_to_start(f) or not (f.meta.deleting or (f.seen and not (f.recreates or destroyed)))
    since = without_capacity_since(f) if waits else None
    return since if since is not None and accepted(f) else None


def waiter(f: VmFacts, *, ready: bool) -> Waiter | None:
    """Return its place in the line; None for a GpuVM that does not wait for capacity.

    One whose offers the cloud has all rejected waits for none of them: it is ordered again by its backoff.
    """
    if ready and f.line.behind:
        return newcomer(f)
    since = waiting_since(f)
    return None if since is None else place(f, since, accepted(f), ready=ready)


def newcomer(f: VmFacts) -> Waiter | None:
    """Return the place that it has in the line, or would have if it began to wait now."""
    wanted = accepted(f)
    return place(f, waiting_since(f) or queues_from(f), wanted, ready=True) if wanted else None


def place(f: VmFacts, since: datetime, wanted: tuple[Offer, ...], *, ready: bool) -> Waiter:
    """Return the place of a GpuVM that waits since then for one of these offers."""
    priority = 0 if f.spec.placement is None else f.spec.placement.priority or 0
    return Waiter(f.meta.uid, since, wanted, f.default_pool, priority, ready, f.spec.node_name)


def in_line(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait for this GpuVM's turn to be ordered."""
    if _may_be_sent(f):
        return None  # it had its turn when the order was recorded
    return queue(f, f.attempt(Verb.CREATE), lambda: waiting_to_retry(f))


def queue(
    f: VmFacts, attempt: Attempt | None, retrying: Callable[[], Plan[GpuVMStatus] | None], **changes: Any
) -> Plan[GpuVMStatus] | None:
    """Wait for this GpuVM's turn; for an offer whose room the cloud does not list, only for the end of the backoff.

    ``attempt`` is its last call; ``retrying`` returns the plan while that delays the next one. ``changes`` are of the status.
    """
    here = waiter(f, ready=True)
    if here is None:
        return retrying()
    plan = _held_off(f, attempt, retrying, **changes)
    if plan is not None:
        here = replace(here, ready=False)  # passed over meanwhile, so that what is free is not kept for it
    elif f.line.turn in here.offers:
        return None
    elif _is_in_line(f, here):
        plan = plan_status(f, _in_line(f, here), **changes)
    else:
        plan = retrying() or _while_taken(f, here, **changes)
    return None if plan is None else replace(plan, waits=here, requeue_at=_woken(f, plan.requeue_at))


def _may_be_sent(f: VmFacts) -> bool:
    """Whether the recorded order waits only for its call, and nobody else was refused its offer since."""
    recorded = f.state is OrderState.INTENDED and f.tracked.own and f.is_as_recorded
    return recorded and current_offer(f) not in f.line.taken


def _woken(f: VmFacts, otherwise: float | None) -> float | None:
    """Return when to look again: at the latest when alternatives begin to count."""
    until = alternatives_from(f)
    if until is None or until <= f.now.wall:
        return otherwise
    at = f.now.mono + (until - f.now.wall).total_seconds()
    return at if otherwise is None else min(at, otherwise)


def _is_in_line(f: VmFacts, here: Waiter) -> bool:
    """Whether only the line gives it what it may order: the room of each of its offers is listed, or nothing was asked yet."""
    return f.line.looking or f.line.listed.issuperset(here.offers)


def waiting_to_retry(f: VmFacts) -> Plan[GpuVMStatus] | None:
    """Wait after a failed call, unless the next order is for an offer that was not tried yet."""
    if moves_on(f):
        return None
    attempt = f.attempt(Verb.CREATE)
    if attempt is None or attempt.asked != f.asked or not retry.is_final(Verb.CREATE, attempt.refusal) or not accepted(f):
        return backing_off(f)
    again = attempt.at + retry.LONGEST_DELAY  # the cloud rejected one offer for good, and has no room for the others
    here = waiter(f, ready=True)
    if here is None or f.now.mono >= again:
        return None
    said = _verdict(f, here, "What is free is not listed: the next try is in a few minutes.")
    return plan_status(f, said, requeue_at=again)


def _while_taken(f: VmFacts, here: Waiter, **changes: Any) -> Plan[GpuVMStatus] | None:
    """Wait while the next offer counts as taken, though no query shows its room: others would be refused it, too."""
    until = f.line.taken.get(wanted_offer(f))
    if until is None:
        return None
    said = _verdict(f, here, f"Other GpuVMs were refused; next try after {rfc3339(until)}.")
    again = f.now.mono + max(0.0, (until - f.now.wall).total_seconds())
    # not all at once: the first one may be refused again
    return plan_status(f, said, requeue_at=again + f.spread * query_seconds(f.limits.pending_interval), **changes)


def _held_off(
    f: VmFacts, attempt: Attempt | None, retrying: Callable[[], Plan[GpuVMStatus] | None], **changes: Any
) -> Plan[GpuVMStatus] | None:
    """Wait whoever's turn it is: the last call failed for another reason, or its answer says how long."""
    if attempt is None or attempt.refusal is None or retry.is_final(attempt.verb, attempt.refusal):
        return None
    if attempt.refusal.kind is not ErrorKind.UNAVAILABLE:
        return backing_off(f) if attempt.verb is Verb.CREATE else retrying()
    if f.spec.node_name is not None:  # others do not know that it was refused: a turn at once would keep the room from them
        return retrying()
    again = attempt.at + (attempt.refusal.retry_after or 0.0)
    return plan_status(f, failed.verdict(f, attempt), requeue_at=again, **changes) if f.now.mono < again else None


def ordering(f: VmFacts) -> Verdict | None:
    """Return what the status says while a GpuVM that waits is ordered or switched on; None for one that does not wait."""
    here, call = waiter(f, ready=False), "The start" if is_to_start(f) else "The order"
    return None if here is None else _verdict(f, here, f"{call} for {described(wanted_offer(f))} is being sent.")


def _in_line(f: VmFacts, here: Waiter) -> Verdict:
    """Return what the status says while it waits for its turn."""
    seconds = query_seconds(f.limits.pending_interval)
    return _verdict(f, here, f"The operator asks the cloud every {seconds:g} s what is free.")


def _verdict(f: VmFacts, here: Waiter, next_step: str) -> Verdict:
    wanted = either(map(described, here.offers))
    left_out = " and ".join(described(one) for one in dear(f) if one not in here.offers)
    until, rejected, rule = alternatives_from(f), rejected_alternative(f), "the longest wait is served first"
    if until is not None and until > f.now.wall and len(offers(f.spec)) > 1:
        rule = f"alternatives are ordered from {rfc3339(until)} on"
    elif left_out:
        rule = f"the price limits exclude {left_out}"
    elif rejected is not None:
        rule = "correct spec.placement.alternatives"
    words = f"Waiting for capacity for {wanted} since {rfc3339(here.since)}; {rule}. {next_step}"
    last = rejected or max(refusals(f), key=lambda item: item.at, default=None)
    if last is not None:
        words = f"{words} Last refused: {described(offer_of(last))}{bracketed(last.message)}."
    return working(Reason.WAITING_FOR_CAPACITY, words)


def _in_hand(f: VmFacts, offer: Offer) -> str | None:
    """Return the cluster in hand, where it is another than the spec's: of the VM that shows, else of the offer.

    One that cannot be listed stays in hand: nothing is ordered meanwhile, and its next listing must wake the object.
    """
    there = f.identity.cluster if isinstance(f.found, Unknown) else found_in(f)
    return offer.cluster if there is None else None if there == f.spec.cluster else there


def recorded(f: VmFacts, here: Waiter | None) -> PlacementStatus | None:
    """Return ``status.placement``; None for a VM without alternatives that does not wait for capacity."""
    if len(offers(f.spec)) == 1 and here is None:
        return None
    offer = current_offer(f)
    asked = here is not None and _is_in_line(f, here)
    return PlacementStatus(
        configuration=offer.configuration,
        resource_pool=offer.resource_pool,
        cluster=_in_hand(f, offer),
        waiting_since=None if here is None else here.since,
        look_seconds=ceil(query_seconds(f.limits.pending_interval)) if asked else None,
        refused=refusals(f),
        offers=priced(f),
    )
