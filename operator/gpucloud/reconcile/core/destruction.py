"""What all steps of a deletion share: the verdicts, the destroying call, and the release of the finalizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gpucloud.kinds.common import CloudStatus, DestroyingPurpose, OrderState
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.commands import retain_command
from gpucloud.reconcile.conditions import Progress, Verdict, stalled, working
from gpucloud.reconcile.core import failed
from gpucloud.reconcile.core.act import plan_action
from gpucloud.reconcile.core.plan_status import plan_status
from gpucloud.reconcile.plan import RELEASE, Plan, Release, observing
from gpucloud.reconcile.text import followed
from gpucloud.reconcile.transitions import ACCEPTED_GRACES, LONGEST_RESEND_SECONDS

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Attempt

S = TypeVar("S", bound=CloudStatus)


def deleting(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return the verdict while the resource is being destroyed."""
    return working(Reason.DELETING, f"The {f.subject.noun} is being destroyed.")


def looking(f: CloudFacts[Any, Any, Any]) -> Verdict:
    """Return the verdict while listings are awaited; before any destroying call it promises none."""
    if f.state is OrderState.DESTROYING or f.attempt(f.subject.destroy) is not None:
        return deleting(f)
    words = f"Looking for {f.subject.noun} {f.identity.name!r} in the cloud before this object is deleted."
    return working(Reason.DELETING, words)


def retain(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the way out that is always there, which ends in a command: give the resource up and keep it."""
    if f.never_ordered:
        return let_go(f)
    kept = f"{f.subject.noun} (still billed)" if f.subject.billed else f.subject.noun
    return f"To keep the {kept}, {set_retain(f)}"


def let_go(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the way out for an object whose resource nobody can keep: it was never ordered, or is being destroyed."""
    return f"To delete this object now, {set_retain(f)}"


def set_retain(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the field of this way out, and its command."""
    return retain_command(f.subject.kind, f.meta.namespace, f.meta.name)


def refused(f: CloudFacts[Any, Any, Any], said: Verdict, way_out: str | None = None) -> Verdict:
    """Return the verdict of a refused destroying call, with the advice for a deletion; by default to retain the resource."""
    words = followed(said.message, retain(f) if way_out is None else way_out)
    make = stalled if said.progress is Progress.STALLED else working
    return make(Reason.DELETION_BLOCKED, words)


def again_from(f: CloudFacts[Any, Any, Any], attempt: Attempt) -> float:
    """Return the mono time from which a listing that still shows the resource leads to the same call again.

    What the cloud accepts without effect is sent again ever more rarely. What another process announced counts as accepted.
    A person who asks again waits a grace only.
    """
    if attempt.refusal is not None:
        return attempt.at + (f.limits.grace if attempt.refusal.ambiguous else 0.0)
    if _is_asked_again(f, attempt):
        return attempt.at + f.limits.grace
    return attempt.at + resend_wait(attempt.unrefused, f.limits.grace)


def _is_asked_again(f: CloudFacts[Any, Any, Any], attempt: Attempt) -> bool:
    """Whether a person has asked since the call. To take the annotation of an earlier request away is no new one."""
    generation, request = f.asked.generation, f.asked.reconcile_request
    return generation != attempt.asked.generation or request not in {None, attempt.asked.reconcile_request}


def resend_wait(calls: int, grace: float) -> float:
    """Return for how many seconds a call that was sent so often in vain is not sent again: ten graces, then twice as long."""
    first = ACCEPTED_GRACES * grace
    return min(first * 2.0 ** min(max(calls - 1, 0), 16), max(first, LONGEST_RESEND_SECONDS))


def repeated(f: CloudFacts[Any, Any, Any], attempt: Attempt, what: str, way_out: str) -> Verdict | None:
    """Return the verdict of a destroying call that is sent again, or was; None while the first may still show its effect."""
    if attempt.refusal is not None:
        return refused(f, failed.verdict(f, attempt), way_out)
    if attempt.unrefused < 2 and f.now.mono < attempt.at + resend_wait(attempt.unrefused, f.limits.grace):
        return None
    sent = f"{attempt.verb} was sent, and the cloud" if attempt.recalled else f"The cloud accepted {attempt.verb} and"
    words = f"{sent} still lists {what}; the call is repeated. If this goes on, ask the cloud's support. {way_out}"
    return stalled(Reason.DELETION_BLOCKED, words)


def send(
    f: CloudFacts[Any, S, Any], said: Verdict, purpose: DestroyingPurpose = DestroyingPurpose.DELETION, **changes: Any
) -> Plan[S]:
    """Announce the destroying call, with the order in state Destroying and ``changes`` of the status, and send it.

    If no record tells what was ordered, this one tells it from now on, and with which account. Another object's record in the
    status gives way to it: what bears this object's mark is destroyed.
    """
    found = f.tracked
    if f.order is None:
        found = replace(f.tracked, order=orders.unordered(f.identity, f.meta.uid, f.nonce))
        changes |= {"account": f.account.name, "endpoint": f.status.endpoint or f.account.endpoint}
    announced = orders.with_next_call(orders.destroying(found, f.now.mono), f.now.wall, purpose)
    return plan_action(f, f.subject.destroy, said, order=announced, **changes)


def release_finalizer(f: CloudFacts[Any, S, Any], reason: Reason, note: str, warning: bool = False) -> Plan[S]:
    """Return a plan that removes our finalizer; not before the first sync (claims are incomplete), nor if only observing."""
    if not f.synced:
        return Plan(pending=True)
    if f.limits.observe_only:
        words = f"{observing('remove its finalizer from this object')} {note}"
        return replace(plan_status(f, working(Reason.OBSERVE_ONLY, words, ready="Unknown")), withheld=RELEASE)
    return Plan(release=Release(reason, note, warning))
