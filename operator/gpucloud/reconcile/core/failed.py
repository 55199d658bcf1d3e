"""What to say of a call that failed, and when it may be sent again. Shared by create, power and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.kinds.common import OrderState
from gpucloud.kinds.meta import MAX_MESSAGE
from gpucloud.reconcile import retry
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.text import printable

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Attempt


def verdict(attempt: Attempt) -> Verdict:
    """The cloud's own words, and what to do next."""
    if attempt.refusal is None:
        raise ValueError("the attempt did not fail")
    policy = retry.policy(attempt)
    words = attempt.refusal.message.strip().rstrip(".") or attempt.refusal.kind
    message = f"{attempt.verb} failed: {words}. {policy.advice}"
    return stalled(policy.reason, message) if policy.stalled else working(policy.reason, message)


def words(attempt: Attempt) -> str:
    """The verdict's message as a condition shows it."""
    return printable(verdict(attempt).message, MAX_MESSAGE)


def holds(f: CloudFacts[Any, Any, Any], attempt: Attempt | None) -> bool:
    """Whether this failure still forbids sending the call again. Whatever a person asks for anew lifts it."""
    if attempt is None or attempt.refusal is None or attempt.asked != f.asked:
        return False
    again = again_at(f, attempt)
    return again is None or f.now.mono < again


def again_at(f: CloudFacts[Any, Any, Any], attempt: Attempt) -> float | None:
    """When to decide again about this failure; None: only when a person asks for something new."""
    return retry.again_at(attempt, f.spread)


def maybe_made(f: CloudFacts[Any, Any, Any]) -> str:
    """What to add where a thing of a chosen name is not touched, although it may be this object's all the same."""
    why, noun = _doubt(f), f.subject.noun
    if not why:
        return ""
    return f" {why}, so this may be your {noun}: if it is, it is billed until you destroy it in the cloud."


def _doubt(f: CloudFacts[Any, Any, Any]) -> str:
    """Why a thing of a chosen name, which counts as another's, may be this object's all the same; empty: it is another's."""
    if not f.chosen_name:
        return ""
    if f.others_record is not None and not f.seen:
        return "status.order was recorded for another object, as a restored backup brings it"
    if f.seen and not f.subject.unique_id and f.state in {OrderState.LOST, OrderState.GONE}:
        return f"A {f.subject.noun} that listings lacked for a while may come back"
    if f.standing.doubtful and not f.seen:
        return "An order of this object had no clear answer"
    if f.unrecorded:
        return "Nothing records what this object ordered"
    return ""
