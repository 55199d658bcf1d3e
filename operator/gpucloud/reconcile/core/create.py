"""Creating exactly one: look, record the intent, create, and look again before ever asking twice.

The rules (docs/adr/0002): nothing is sent without an intent that this process has just recorded in status, after a listing
showed the name free. After an answer that may hide a success, and after a crash, a listing must show the name free for the
length of the grace before the same name is asked for again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import CloudStatus, Intent
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import Verdict, find, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.act import propose
from gpucloud.reconcile.core.report import report
from gpucloud.reconcile.facts import Absent
from gpucloud.reconcile.plan import Plan

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts

S = TypeVar("S", bound=CloudStatus)

ACCEPTED_GRACES = 10  # what was accepted may take this many graces to show in a listing before it is asked for again


def creating(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """What is said while it is on its way."""
    return working(Reason.CREATING, f"The {f.subject.noun} is being created.")


def believable_from(f: CloudFacts[Any, Any, Any]) -> float:
    """A listing that lacks it is believed when it began at or after this mono time."""
    grace, times = f.limits.grace, [f.memory.first_seen]
    if f.by_stranger:  # whoever wrote that intent may have acted on it until just now
        times.append((f.now.mono if f.memory.stranger_seen is None else f.memory.stranger_seen) + grace)
    attempt = f.attempt(f.subject.create)
    if attempt is not None:
        accepted, unclear = attempt.refusal is None, attempt.refusal is not None and attempt.refusal.ambiguous
        times.append(attempt.at + (ACCEPTED_GRACES * grace if accepted else grace if unclear else 0.0))
    return max(times)


def absent(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether it is proven that nothing stands under this identity, and nothing is on its way.

    One listing will do for a name that only we can have given and never have. Where an order may have been carried out, or
    where the name may be anybody's, two in a row must agree, since one may be partial.
    """
    if not isinstance(f.found, Absent):
        return False
    needed = believable_from(f)
    if f.memory.unclear or f.by_stranger or f.chosen_name:
        return f.found.confirmed is not None and f.found.confirmed >= needed
    return f.found.as_of >= needed


def rejected(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """The cloud refused this very generation before we were started: one attempt is enough, and the status tells why."""
    ready = find(f.status.conditions, ConditionType.READY)
    unchanged = f.status.observed_generation == f.meta.generation
    asked_again = f.asked.reconcile_request not in (None, f.status.last_handled_reconcile_at)
    if f.attempt(f.subject.create) is None and f.memory.intent_recorded is None and unchanged and not asked_again:
        return Plan() if ready is not None and ready.reason == Reason.REJECTED else None
    return None


def unproven(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """The last listing is too old to show that the name is free, or stands alone where two must agree."""
    fresh = isinstance(f.found, Absent) and f.found.as_of >= f.fresh_from
    if fresh and absent(f):
        return None
    needed = max(believable_from(f), f.fresh_from)
    if isinstance(f.found, Absent) and f.found.as_of >= needed:
        needed = f.now.mono  # the second of two
    attempt = f.attempt(f.subject.create)
    if not f.intended:
        return Plan(look_after=needed, pending=True)
    if attempt is not None and attempt.refusal is not None:
        return report(f, failed.verdict(attempt), look_after=needed)
    return report(f, creating(f), look_after=needed)


def outstanding(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """What was asked for may be on its way: that is cleared up before anything is said of what a new order would need."""
    return unproven(f) if f.intended and not absent(f) else None


def taken(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """The cloud says that the chosen name is another's."""
    attempt = f.attempt(f.subject.create)
    if not f.taken or attempt is None or attempt.asked != f.asked:
        return None
    verdict = stalled(
        Reason.CONFLICT,
        f"The cloud says that the name {f.identity.name!r} is taken in {f.place}. Delete this object (that destroys nothing)"
        f"{f.subject.cure}.",
    )
    return report(f, verdict)


def terminating(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """Nothing is created in a namespace that is going away."""
    if not f.namespace_terminating:
        return None
    words = f"The namespace {f.meta.namespace!r} is being deleted: nothing is created in it."
    return report(f, working(Reason.NAMESPACE_TERMINATING, words))


def held(f: CloudFacts[Any, S, Any]) -> Plan[S] | None:
    """The last attempt failed, and it is too early for the next."""
    attempt = f.attempt(f.subject.create)
    if attempt is None or not failed.holds(f, attempt):
        return None
    return report(f, failed.verdict(attempt), wake_at=failed.again_at(f, attempt))


def order(f: CloudFacts[Any, S, Any], **recorded: Any) -> Plan[S]:
    """Record the intent, with ``recorded`` in the same write; with a recorded one that is ours, unused and young, send it."""
    attempt = f.attempt(f.subject.create)
    announcement = failed.verdict(attempt) if attempt is not None and attempt.refusal is not None else creating(f)
    if _may_send(f):
        return propose(f, f.subject.create, announcement)
    here, tenancy = f.identity, f.status.tenancy
    if tenancy is None and len(f.account.tenants) == 1:  # so that another tenant's key is never believed about this order
        tenancy = next(iter(f.account.tenants))
    intent = Intent(id=f.nonce, name=here.name, cluster=here.cluster, vpc=here.vpc, recorded_at=f.now.wall)
    plan = propose(f, f.subject.create, announcement, intent=intent, account=f.account.name, tenancy=tenancy, **recorded)
    return plan if plan.action is None else replace(plan, action=None, record_intent=True)


def _may_send(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether the standing intent was recorded by this process, is unused, and is younger than half the grace.

    Its youth matters where another process may have taken over: that one waits a whole grace before it sends.
    """
    recorded, attempt = f.memory.intent_recorded, f.attempt(f.subject.create)
    latest = f.status.intent is not None and f.status.intent.id == f.memory.intent_id
    if not f.intended or not latest or recorded is None or (attempt is not None and attempt.at >= recorded):
        return False
    return f.now.mono - recorded <= max(f.limits.grace / 2, 5.0)
