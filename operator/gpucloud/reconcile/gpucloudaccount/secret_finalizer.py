"""Our finalizer on the account's Secret: it keeps the credential as long as resources that were created with it.

``status.held_secret`` is the write-ahead record: it names the Secret before the finalizer is put on it, and until it is known
to be off. It has room for one name, so an older Secret is always freed before the one in use is held or freed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.reconcile.facts import UnknownReason, Verb
from gpucloud.reconcile.gpucloudaccount.report import shown_tenant
from gpucloud.reconcile.gpucloudaccount.secret import usable

if TYPE_CHECKING:
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountStatus
    from gpucloud.reconcile.facts import Attempt
    from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts, SecretFacts
    from gpucloud.reconcile.plan import Plan

RETRY_SECONDS = (5.0, 300.0)  # first and longest wait before the same call again, after a failure or without effect


@dataclass(frozen=True, slots=True)
class SecretCall:
    """A call, and the name of its Secret."""

    verb: Verb
    secret: str


@dataclass(frozen=True, slots=True)
class SecretStep:
    """Return the Secret to record as held in status, and the due call, if any."""

    recorded: str | None
    call: SecretCall | None = None


def step(f: AccountStateFacts) -> SecretStep:
    """Return the step for the finalizer while the account lives."""
    old, name = previous_secret(f), f.spec.secret_ref.name
    if old is not None:
        return SecretStep(old, SecretCall(Verb.FREE_SECRET, old) if is_replaced(f) or not f.hold_secrets else None)
    if f.secret is None:
        return SecretStep(recorded_secret(f))
    if f.secret.has_finalizer:
        return SecretStep(name, SecretCall(Verb.FREE_SECRET, name) if is_unneeded(f, f.secret) else None)
    if f.hold_secrets and usable(f.secret) and not f.secret.deleting:
        return SecretStep(name, SecretCall(Verb.HOLD_SECRET, name))
    return SecretStep(None)


def is_replaced(f: AccountStateFacts) -> bool:
    """Whether the Secret in use replaces an older one: what was created with that can be destroyed with this.

    Until the cloud has accepted the new credential, for the same tenant, the older one may be the only one that can.
    """
    if not usable(f.secret):
        return False
    trouble = f.contact.trouble
    accepted = f.contact.last is not None and (trouble is None or trouble.cause is UnknownReason.FORBIDDEN)
    return not f.users_with_resources or (accepted and f.status.tenant in {None, shown_tenant(f)})


def recorded_secret(f: AccountStateFacts) -> str | None:
    """Return the Secret that has our finalizer, as far as is known, without any call."""
    return previous_secret(f) or (f.spec.secret_ref.name if has_finalizer(f) else None)


def has_finalizer(f: AccountStateFacts) -> bool:
    """Whether our finalizer is on the Secret in use. An unreadable Secret has it, by status, until its removal."""
    if f.secret is not None:
        return f.secret.has_finalizer
    return bool(f.secret_trouble) and f.status.held_secret == f.spec.secret_ref.name and not _freed(f)


def previous_secret(f: AccountStateFacts) -> str | None:
    """Return an older Secret that still has our finalizer although spec names another one and no other account needs it."""
    name = f.status.held_secret
    if name == f.spec.secret_ref.name or f.held_shared or _freed(f):
        return None
    return name


def plan_action(f: AccountStateFacts, plan: Plan[GpuCloudAccountStatus], call: SecretCall) -> Plan[GpuCloudAccountStatus]:
    """The plan with this call, or, too soon after the last one, with the time for it.

    None is freed while somebody who needs it may not have been shown yet: the end of the first list wakes everybody.
    """
    if call.verb is Verb.FREE_SECRET and not f.synced:
        return plan
    again = again_at(f, call.verb)
    if again is None or f.now.mono >= again:
        return replace(plan, action=call.verb, targets=(call.secret,))
    return replace(plan, requeue_at=again if plan.requeue_at is None else min(again, plan.requeue_at))


def last_attempt(f: AccountStateFacts, verb: Verb) -> Attempt | None:
    """Return the last call of this verb, unless a person has requested something new since."""
    attempt = f.attempt(verb)
    return attempt if attempt is not None and attempt.asked == f.asked else None


def again_at(f: AccountStateFacts, verb: Verb) -> float | None:
    """Return the mono time before which this call must not be sent again."""
    attempt = last_attempt(f, verb)
    if attempt is None:
        return None
    first, longest = RETRY_SECONDS
    delay = min(first * 2.0 ** min(max(attempt.failures - 1, 0), 16), longest)
    asked_to_wait = attempt.refusal.retry_after if attempt.refusal is not None else None
    return attempt.at + max(delay, asked_to_wait or 0.0)


def is_unneeded(f: AccountStateFacts, secret: SecretFacts) -> bool:
    """Whether the finalizer must go: it is switched off, or the Secret is being deleted and no resource needs it."""
    return not f.hold_secrets or (secret.deleting and not f.users_with_resources and not f.shared)


def _freed(f: AccountStateFacts) -> bool:
    """Whether an unreadable Secret is known to lack our finalizer: its removal succeeded, and none was added since."""
    attempt, hold = last_attempt(f, Verb.FREE_SECRET), f.attempt(Verb.HOLD_SECRET)
    return attempt is not None and attempt.refusal is None and (hold is None or hold.at < attempt.at)
