"""Verdicts and backoff of failed calls, for creations, power calls and deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OrderState
from gpucloud.kinds.model import MAX_MESSAGE
from gpucloud.reconcile import evidence, retry
from gpucloud.reconcile.commands import delete_command, plugin_command
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.facts import CREATES, DESTROYS, UnknownReason
from gpucloud.reconcile.text import followed, printable, quoted

if TYPE_CHECKING:
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Attempt, Unknown

# Refusals of what an order says. The service reports such errors as 500, too (field notes).
_MAY_BE_MISNAMED = frozenset({ErrorKind.INVALID, ErrorKind.NOT_FOUND, ErrorKind.SERVER})


def verdict(f: CloudFacts[Any, Any, Any], attempt: Attempt) -> Verdict:
    """Return the verdict of a failed call: the cloud's words, what in the spec may be misnamed, and the advice."""
    if attempt.refusal is None:
        raise ValueError("the attempt did not fail")
    policy = retry.policy(attempt)
    words = attempt.refusal.message
    misnamed = f.corrections(words) if attempt.verb in CREATES and attempt.refusal.kind in _MAY_BE_MISNAMED else ""
    advice = retry.advice(attempt, f.account, f.meta.namespace, brief=attempt.verb in DESTROYS, does=f.deletion_does)
    if retry.is_final(attempt.verb, attempt.refusal):
        advice = correct_or_try_again(f)
    message = f"{attempt.verb} failed{policy.often}: {quoted(words, attempt.refusal.kind)}.{misnamed} {advice}"
    return stalled(policy.reason, message) if policy.stalled else working(policy.reason, message)


def correct_or_try_again(f: CloudFacts[Any, Any, Any]) -> str:
    """Return what to do about a refusal that is final for this generation of the spec."""
    this = (f.subject.kind, f.meta.namespace, f.meta.name)
    correction = f.correction or f"{retry.CORRECT.format(does=f.deletion_does)}: {delete_command(*this)}"
    again = plugin_command("retry", *this)
    return followed(correction, f"The same order fails again unless the cloud has changed; to try it again: {again}")


def message(f: CloudFacts[Any, Any, Any], attempt: Attempt) -> str:
    """Return the verdict's message as in a condition."""
    return printable(verdict(f, attempt).message, MAX_MESSAGE)


def in_backoff(f: CloudFacts[Any, Any, Any], attempt: Attempt | None) -> bool:
    """Whether the backoff of this failure is not over. A new request of a person ends it."""
    if attempt is None or attempt.refusal is None or attempt.asked != f.asked:
        return False
    again = again_at(f, attempt)
    return again is None or f.now.mono < again


def again_at(f: CloudFacts[Any, Any, Any], attempt: Attempt) -> float | None:
    """Return when the call may be sent again (mono); None: only after a new request of a person."""
    return retry.again_at(attempt, f.spread)


def unproven(f: CloudFacts[Any, Any, Any]) -> str:
    """Return why nobody can tell whose the resource under the chosen name is."""
    noun, name = f.subject.noun, f.identity.name
    return f"An order had no clear answer, so {noun} {name!r} in {f.place} may not be yours."


def maybe_made(f: CloudFacts[Any, Any, Any]) -> str:
    """Return the warning for a resource of a chosen name that is not touched, but may be this object's; else empty."""
    why, noun = why_maybe_made(f), f.subject.noun
    if not why:
        return ""
    if not f.subject.billed:
        return f" {why}: this may be your {noun}. If so, destroy it in the cloud."
    return f" {why}: this may be your {noun}, and billed. If so, destroy it in the cloud."


def why_maybe_made(f: CloudFacts[Any, Any, Any]) -> str:
    """Return why a resource of a chosen name may be this object's although it counts as another's; empty if it is not."""
    if not f.chosen_name:
        return ""
    if f.others_record is not None and not f.seen:
        return "status.order is of another object, as after a restore"
    if f.seen and not f.subject.unique_id and f.state in {OrderState.LOST, OrderState.GONE}:
        return f"The {f.subject.noun} of this object was lost"
    if f.tracked.earlier_unclear and not f.seen:
        return "An order had no clear answer"
    if f.unrecorded:
        return "No order is recorded"
    return ""


def status_lost(f: CloudFacts[Any, Any, Any]) -> str:
    """Return why the operator's own account is asked for an object of another one: its status was lost. Else empty."""
    if not f.account_undecided:
        return ""
    return " The status was lost: the operator's own account may have made it."


def list_again_from(f: CloudFacts[Any, Any, Any], unseen: Unknown) -> float:
    """Return the mono time from which a listing may end this unknown observation: the first one, or one that comes late."""
    if unseen.cause is not UnknownReason.STATUS_LOST:
        return f.history.first_seen
    return max(evidence.status_lost_until(f.history.first_seen, f.limits.grace), f.now.mono)
