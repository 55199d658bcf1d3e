"""Steps of a creation: observe, record the order, send it, and observe again before another one is sent.

The rules (docs/adr/0002): the creating call is sent only with an order record that this process has just written to status,
after a listing showed the name free. After an ambiguous answer or a crash, listings must show the name free for the grace
period before the call is sent again under the same name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, Adoption, CloudStatus, Order, OrderState
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile import evidence, placement, retry
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.commands import plugin_command
from gpucloud.reconcile.conditions import Verdict, find, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.facts import FREES_NAME
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.facts import Absent
from gpucloud.reconcile.ownership import record_id
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.transitions import MOST_REORDERS

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts

S = TypeVar("S", bound=CloudStatus)
SLOW_SECONDS = 20.0  # from the first sight of an object; listings take about a second


def creating(f: CloudFacts[Any, Any, Any], *, again: bool = False) -> Verdict:
    """Return the verdict while the resource is being created. ``again``: an overdue order is about to be sent once more."""
    noun, times = f.subject.noun, 1 + (0 if f.order is None else f.order.reorders) + again
    if times == 1:
        return working(Reason.CREATING, f"The {noun} is being created.")
    why = f"the cloud accepted each order and listed no {noun}" if times > 2 else f"the cloud accepted it and listed no {noun}"
    return working(Reason.CREATING, f"The {noun} is being created. The order is sent for the {_ordinal(times)} time: {why}.")


def _ordinal(number: int) -> str:
    """Return a small number of a repeated order as an ordinal."""
    return {2: "second", 3: "third", 4: "fourth"}.get(number, f"{number}th")


def free_from(f: CloudFacts[Any, Any, Any]) -> float:
    """Return the mono time from which a listing without the resource proves that the name is free.

    After a refusal that followed an order without a clear answer, only listings since then: it may be there, and be the reason.
    """
    attempt = f.attempt(f.subject.create) if f.tracked.earlier_unclear else None
    listed = evidence.missing_from(f.tracked, f.limits.grace, f.history.first_seen)
    if f.recreates and f.state is OrderState.LOST:  # what listings lacked for a grace may come back
        listed = max(listed, f.tracked.since + f.limits.grace)
    return listed if attempt is None else max(listed, attempt.at)


def lacked_from(f: CloudFacts[Any, Any, Any], found: Absent) -> float:
    """Return the mono time from which listings have lacked for long enough what was shown under the name.

    It was adopted, and the spec forbids that now; or it may have been of an order without a clear answer, or another's.
    """
    was_shown = orders.was_seen(f.order) or f.tracked.sightings.last is not None
    return found.since + f.limits.grace if was_shown else found.since


def is_free(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether listings prove that no resource has this identity, and that no order for it is outstanding.

    For a name with this object's fingerprint that was never ordered, one listing is enough. If an order may have been carried
    out, or if the name is a chosen one, two listings in a row must agree, since one may be partial.
    """
    if not isinstance(f.found, Absent) or not orders.may_be_recorded(f.state):
        return False
    if _needs_two(f):
        return f.found.confirmed is not None and f.found.confirmed >= free_from(f)
    return f.found.as_of >= free_from(f)


def _needs_two(f: CloudFacts[Any, Any, Any]) -> bool:
    return f.tracked.earlier_unclear or f.chosen_name or f.recreates


def is_proven_free(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether the listings prove that the name is free, and are young enough to act upon."""
    if not isinstance(f.found, Absent) or f.found.as_of < f.fresh_from or not is_free(f):
        return False
    return not _needs_two(f) or (f.found.confirmed is not None and f.found.confirmed >= f.confirmed_from)


def rejected(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Rejected without a call if an earlier process got the cloud's final refusal of this generation.

    The message is the one in status, with the cloud's words, unless another verdict has replaced it since.
    """
    refused = f.order is not None and f.order.refused_generation == f.meta.generation and f.state is OrderState.REFUSED
    unchanged = f.status.observed_generation == f.meta.generation
    if not (refused and unchanged) or f.attempt(f.subject.create) is not None:
        return None
    ready = find(f.status.conditions, ConditionType.READY)
    words = f"The cloud has refused this order; an earlier Event has its words. {failed.correct_or_try_again(f)}"
    if ready is not None and ready.reason == Reason.REJECTED:
        words = ready.message
    return plan_status(f, stalled(Reason.REJECTED, words))


def unproven(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait for the listings that prove the name free. How old they are counts only once nothing else holds up the order."""
    return None if is_free(f) else _await_proof(f)


def _await_proof(f: CloudFacts[Any, S, Any]) -> Plan[S]:
    """Ask for newer listings: the last ones prove nothing, are too old to act upon, or a second one must confirm them."""
    needed = max(free_from(f), f.fresh_from)
    if isinstance(f.found, Absent):
        needed = max(needed, lacked_from(f, f.found))
    if isinstance(f.found, Absent) and f.found.as_of >= needed:
        needed = f.now.mono  # the second of two
    attempt = f.attempt(f.subject.create)
    if not orders.being_made(f.order):
        return _await_young_listing(f, needed)
    if attempt is not None and attempt.refusal is not None:
        return plan_status(f, failed.verdict(f, attempt), refresh_after=needed, order=f.order)
    return plan_status(f, creating(f), refresh_after=needed, order=f.order)


def _await_young_listing(f: CloudFacts[Any, S, Any], needed: float) -> Plan[S]:
    """Wait for listings that prove the name free; say so where nothing was said yet, and they are long in coming."""
    patient_until = f.history.first_seen + SLOW_SECONDS
    if f.status.observed_generation >= 0:
        return Plan(refresh_after=needed, pending=True)
    if f.now.mono < patient_until:
        return Plan(refresh_after=needed, requeue_at=patient_until, pending=True)
    words = (
        f"The cloud is slow to list cluster {f.identity.cluster!r}: nothing is ordered before fresh listings show that the "
        f"name {f.identity.name!r} is free. The operator keeps trying."
    )
    return replace(plan_status(f, working(Reason.API_UNAVAILABLE, words, ready="Unknown"), refresh_after=needed), pending=True)


def outstanding(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Resolve an outstanding order before the needs of a new one are checked."""
    return unproven(f) if f.state in orders.OUTSTANDING else None


def overdue(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Stalled if the cloud accepted the order repeatedly and never listed the resource."""
    if f.state is not OrderState.OVERDUE or f.order is None:
        return None
    if f.order.reorders < MOST_REORDERS and placement.cloud_placement(f.order) is None:
        return None
    return plan_status(f, stalled(Reason.ORDER_OVERDUE, _overdue(f, f.order)))


def _overdue(f: CloudFacts[Any, Any, Any], order: Order) -> str:
    placed = placement.cloud_placement(order)
    often = "once" if order.reorders == 0 else f"{order.reorders + 1} times"
    where = f" and lists none in {f.place}"
    if placed is not None:
        where = f", as {placed[0] or order.name!r} in {f.place}, and lists none there"
    ask = f"The {f.subject.noun} may be billed: ask the cloud's support" if f.subject.billed else "Ask the cloud's support"
    again = plugin_command("retry", f.subject.kind, f.meta.namespace, f.meta.name)
    return (
        f"The cloud accepted the order for {f.subject.noun} {order.name!r} {often}{where}. {ask}. Nothing more is ordered; to "
        f"order again: {again}"
    )


def name_conflict(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Conflict if the cloud refuses the chosen name as taken. Later it is tried again: whoever had it may be gone."""
    attempt = f.attempt(f.subject.create)
    if f.state is not OrderState.REFUSED or attempt is None or attempt.asked != f.asked:
        return None
    if attempt.refusal is None or attempt.refusal.kind is not ErrorKind.CONFLICT:
        return None
    again = attempt.at + retry.LONGEST_DELAY * (1 + f.spread / 4)
    if f.now.mono >= again:
        return None
    return plan_status(f, _name_taken(f), requeue_at=again)


def _name_taken(f: CloudFacts[Any, Any, Any]) -> Verdict:
    free = "" if f.adoption is Adoption.REQUIRED else FREES_NAME
    words = f"The cloud says the {f.subject.noun} name {f.identity.name!r} is taken in {f.place}."
    return stalled(Reason.CONFLICT, f"{words} {f.conflict_advice(free)}{failed.maybe_made(f)}")


def terminating(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Create nothing in a terminating namespace."""
    if not f.namespace_terminating:
        return None
    words = f"The namespace {f.meta.namespace!r} is being deleted: nothing is created in it."
    return plan_status(f, working(Reason.NAMESPACE_TERMINATING, words))


def backing_off(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Wait if the last attempt failed and its backoff is not over."""
    attempt = f.attempt(f.subject.create)
    if attempt is None or not failed.in_backoff(f, attempt):
        return None
    return plan_status(f, failed.verdict(f, attempt), requeue_at=failed.again_at(f, attempt))


def unproven_tenant(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Report Stalled if the credential has shown no record of the object's tenant. An accepted absence is no such proof."""
    if f.tenancy is None or f.tenancy in f.account.tenants:
        return None
    shown = f"the cloud has shown nothing of tenant {f.tenancy!r} to account {f.account.name!r}"
    put = "Put a key of that tenant into its Secret"
    if f.account.name == OWN_ACCOUNT:
        shown = f"the operator's own credential has shown nothing of tenant {f.tenancy!r}"
        put = "Ask the administrator for a key of that tenant"
    verdict = stalled(
        Reason.TENANT_MISMATCH,
        f"Nothing is ordered: {shown}. {put}, or delete this object{f.deletion_does} and apply it again to use the present "
        "key.",
    )
    return plan_status(f, verdict)


def order(f: CloudFacts[Any, S, Any], said: Verdict | None = None, **recorded: Any) -> Plan[S]:
    """Record the order, with ``recorded`` in the same write; send it if its record is this process's own, unused and recent.

    Only here do the listings have to be young: whatever holds up the order for long costs none of its own.

    ``said`` is the verdict until the answer comes, if the kind has a better one. The call follows the current spec, so changed
    ``recorded`` fields are written again before it. What the status says of an
    earlier resource is cleared: its address or creation time would make the new one pass for another's.
    """
    if not is_proven_free(f):
        return _await_proof(f)
    held_back = unproven_tenant(f)
    if held_back is not None:
        return held_back
    announcement = said or _announcement(f)
    if _may_send(f):
        return plan_action(f, f.subject.create, announcement, **recorded)
    tenancy = f.tenancy
    if tenancy is None and len(f.account.tenants) == 1:  # so that another tenant's listing never decides about this order
        tenancy = next(iter(f.account.tenants))
    where = {"account": f.account.name, "endpoint": f.status.endpoint or f.account.endpoint, "tenancy": tenancy}
    earlier = dict.fromkeys(f.subject.shown + f.subject.kept_when_gone)
    changes: dict[str, Any] = {**earlier, "order": _new_order(f), **where, **recorded}
    plan = plan_action(f, f.subject.create, announcement, **changes)
    return plan if plan.action is None else replace(plan, action=None, records_order=True)


def _announcement(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return what the status says while the order is sent: why the last one failed stands until this one is accepted."""
    attempt = f.attempt(f.subject.create)
    if attempt is None or attempt.refusal is None:
        return creating(f, again=f.state is OrderState.OVERDUE)
    taken = attempt.refusal.kind is ErrorKind.CONFLICT and f.chosen_name
    return _name_taken(f) if taken else failed.verdict(f, attempt)


def _new_order(f: CloudFacts[Any, Any, Any]) -> Order:
    here, reorders = f.identity, 0 if f.order is None else f.order.reorders
    order = Order(
        id=record_id(f.nonce, f.meta.uid, here.name),
        state=OrderState.INTENDED,
        name=here.name,
        cluster=here.cluster,
        vpc=here.vpc,
        **f.ordered,
        recorded_at=f.now.wall,
        reorders=reorders + (f.state is OrderState.OVERDUE),
    )
    return orders.with_others(order, orders.others_before(f.tracked))


def _may_send(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether the order record was written by this process, is unused, is recent, and says what would be ordered now.

    Another process that has taken over waits at least a whole grace period before it sends, so an old record must not be used.
    """
    recorded = f.tracked.recorded
    return (
        orders.may_be_sent(f.tracked, f.status.order)
        and f.is_as_recorded
        and recorded is not None
        and f.now.mono - recorded <= young(f.limits.grace)
    )


def young(grace: float) -> float:
    """Return for how many seconds an order record may be sent."""
    return max(grace / 2, 5.0)
