"""Our finalizer on the account's Secret: it keeps the credential as long as resources that were created with it.

``status.held_secrets`` is the write-ahead record: it names a Secret before the finalizer is put on it, and until it is known to
be off. The Secret in use is held beside older ones: none of these is freed before the cloud has accepted the new credential.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.kinds.gpucloudaccount import MOST_HELD_SECRETS
from gpucloud.reconcile.facts import UnknownReason, Verb
from gpucloud.reconcile.gpucloudaccount.report import shown_tenant, tenant
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
    """The Secrets to record as held in status, and the due call, if any."""

    recorded: tuple[str, ...]
    call: SecretCall | None = None


def step(f: AccountStateFacts) -> SecretStep:
    """Return the step for the finalizers while the account lives: the Secret in use is held before an older one is freed."""
    old, held, name = freeable_secrets(f), recorded_secrets(f), f.spec.secret_ref.name
    if _is_to_be_held(f) and len(held) < MOST_HELD_SECRETS:
        return SecretStep((*held, name), SecretCall(Verb.HOLD_SECRET, name))
    if old and lets_go(f):
        return SecretStep(held, SecretCall(Verb.FREE_SECRET, old[0]))
    if f.secret is not None and f.secret.has_finalizer and is_unneeded(f, f.secret):
        return SecretStep(held, SecretCall(Verb.FREE_SECRET, name))
    return SecretStep(held)


def _is_to_be_held(f: AccountStateFacts) -> bool:
    """Whether the Secret in use lacks our finalizer and needs it."""
    return f.hold_secrets and usable(f.secret) and not (f.secret.deleting or f.secret.has_finalizer)


def is_replaced(f: AccountStateFacts) -> bool:
    """Whether the Secret in use replaces an older one: what was created with that can be destroyed with this.

    Until the cloud has accepted the new credential, for the same tenant, the older one may be the only one that can.
    """
    if not usable(f.secret):
        return False
    trouble = f.contact.trouble
    accepted = f.contact.last is not None and (trouble is None or trouble.cause is UnknownReason.FORBIDDEN)
    return not f.users_with_resources or (accepted and tenant(f) in {None, shown_tenant(f)})


def recorded_secrets(f: AccountStateFacts) -> tuple[str, ...]:
    """Return the Secrets that have our finalizer, as far as is known, without any call."""
    held = previous_secrets(f) + ((f.spec.secret_ref.name,) if has_finalizer(f) else ())
    return held[:MOST_HELD_SECRETS]  # the one in use comes last: it is seen on the Secret itself, recorded or not


def has_finalizer(f: AccountStateFacts) -> bool:
    """Whether our finalizer is on the Secret in use. An unreadable Secret has it, by status, until its removal."""
    if f.secret is not None:
        return f.secret.has_finalizer
    name = f.spec.secret_ref.name
    return bool(f.secret_trouble) and name in f.status.held_secrets and not _freed(f, name)


def previous_secrets(f: AccountStateFacts) -> tuple[str, ...]:
    """Return the Secrets that still have our finalizer though spec names another one, but for those that others see to.

    An account in deletion whose objects have nothing left in the cloud leaves to others what these need; a living one leaves
    it to the one that sees to it, when its own Secret replaces it.
    """
    others = tuple(name for name in f.status.held_secrets if name != f.spec.secret_ref.name and not _freed(f, name))
    ends = f.meta.deleting and not f.users_with_resources
    left = f.held_shared if ends else f.held_elsewhere if lets_go(f) else frozenset[str]()
    return tuple(name for name in others if name not in left)


def freeable_secrets(f: AccountStateFacts) -> tuple[str, ...]:
    """Return those of the previous Secrets that no other account needs."""
    return tuple(name for name in previous_secrets(f) if name not in f.held_shared or not f.hold_secrets)


def kept_secrets(f: AccountStateFacts) -> tuple[str, ...]:
    """Return those of the previous Secrets that are not about to be freed."""
    freed = freeable_secrets(f) if lets_go(f) else ()
    return tuple(name for name in previous_secrets(f) if name not in freed)


def lets_go(f: AccountStateFacts) -> bool:
    """Whether the account needs none of the previous Secrets any more."""
    return is_replaced(f) or not f.hold_secrets


def plan_action(f: AccountStateFacts, plan: Plan[GpuCloudAccountStatus], call: SecretCall) -> Plan[GpuCloudAccountStatus]:
    """The plan with this call, or, too soon after the last one, with the time for it.

    None is freed while somebody who needs it may not have been shown yet: the end of the first list wakes everybody.
    """
    if call.verb is Verb.FREE_SECRET and not f.synced:
        return plan
    again = again_at(f, call)
    if again is None or f.now.mono >= again:
        return replace(plan, action=call.verb, targets=(call.secret,))
    return replace(plan, requeue_at=again if plan.requeue_at is None else min(again, plan.requeue_at))


def last_attempt(f: AccountStateFacts, verb: Verb) -> Attempt | None:
    """Return the last call of this verb, unless a person has requested something new since."""
    attempt = f.attempt(verb)
    return attempt if attempt is not None and attempt.asked == f.asked else None


def again_at(f: AccountStateFacts, call: SecretCall) -> float | None:
    """Return the mono time before which this call must not be sent again."""
    attempt = last_attempt(f, call.verb)
    if attempt is None or call.secret not in attempt.targets:
        return None
    first, longest = RETRY_SECONDS
    delay = min(first * 2.0 ** min(max(attempt.failures - 1, 0), 16), longest)
    asked_to_wait = attempt.refusal.retry_after if attempt.refusal is not None else None
    return attempt.at + max(delay, asked_to_wait or 0.0)


def is_unneeded(f: AccountStateFacts, secret: SecretFacts) -> bool:
    """Whether the finalizer must go: it is switched off, or the Secret is being deleted and no resource needs it."""
    return not f.hold_secrets or (secret.deleting and not f.users_with_resources and not f.shared)


def _freed(f: AccountStateFacts, name: str) -> bool:
    """Whether a Secret is known to lack our finalizer: its removal succeeded, and none was added since."""
    attempt, hold = last_attempt(f, Verb.FREE_SECRET), f.attempt(Verb.HOLD_SECRET)
    if attempt is None or attempt.refusal is not None or name not in attempt.targets:
        return False
    return hold is None or name not in hold.targets or hold.at < attempt.at
