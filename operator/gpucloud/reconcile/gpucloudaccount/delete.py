"""Deletion of an account: its users go first, then the finalizer on its Secret, then the account itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Reason
from gpucloud.reconcile.conditions import Verdict, stalled, working
from gpucloud.reconcile.facts import Verb
from gpucloud.reconcile.gpucloudaccount import secret_finalizer
from gpucloud.reconcile.gpucloudaccount.report import report
from gpucloud.reconcile.gpucloudaccount.verdict import secret_unusable
from gpucloud.reconcile.plan import RELEASE, Plan, Release, observing
from gpucloud.reconcile.retry import FAILURES_BEFORE_STALLED
from gpucloud.reconcile.text import NAMED, either, followed, listed, quoted

if TYPE_CHECKING:
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountStatus
    from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts

BEGUN = "A deletion cannot be taken back."
KEEP = "kubectl gpucloud retain"
ACCOUNTS = "-o custom-columns=KIND:.kind,NAME:.metadata.name,ACCOUNT:.status.account"


def decide(f: AccountStateFacts) -> Plan[GpuCloudAccountStatus]:
    """Return the next step of a requested deletion."""
    if not f.synced and not f.users:
        return Plan(pending=True)  # the users are unknown until the first list; its end wakes all objects
    blocked, name = observing_only(f) or in_use(f), _to_free(f)
    if blocked is not None and name is not None and _only_waited_for(f):
        call = secret_finalizer.SecretCall(Verb.FREE_SECRET, name)
        return secret_finalizer.plan_action(f, report(f, blocked, secret_finalizer.recorded_secrets(f)), call)
    if blocked is not None:
        would = None if f.users or not f.limits.observe_only else RELEASE if name is None else Verb.FREE_SECRET
        return replace(report(f, blocked, secret_finalizer.recorded_secrets(f)), withheld=would)
    if name is None:
        return Plan(release=Release(Reason.GONE, "Nothing uses this account any more."))
    said = report(f, removing_finalizer(f, name), secret_finalizer.recorded_secrets(f))
    return secret_finalizer.plan_action(f, said, secret_finalizer.SecretCall(Verb.FREE_SECRET, name))


def observing_only(f: AccountStateFacts) -> Verdict | None:
    """With ``--observe-only``, report the finalizer that would be removed."""
    if not f.limits.observe_only:
        return None
    words = observing("free the account's Secret and delete this object")
    return stalled(Reason.DELETION_BLOCKED, words)


def in_use(f: AccountStateFacts) -> Verdict | None:
    """Wait for the users: they need the credential until their deletion. An unreadable Secret may be what they wait for."""
    if not f.users:
        return None
    needed = secret_unusable(f)
    stays = f.secret is not None and f.secret.deleting and f.users_with_resources
    also = f", and so is Secret {f.spec.secret_ref.name!r}" if stays else ""
    words = f"Still used by {listed(f.users)}. It is deleted after its last user{also}."
    end = _way_out(f)
    if needed is None:
        return working(Reason.DELETION_BLOCKED, f"{words} {end}")
    return working(Reason.DELETION_BLOCKED, followed(f"{words} {end}", needed.message))


def _way_out(f: AccountStateFacts) -> str:
    """Return how to end the wait, and how to keep what exists all the same.

    What waits for the account does not end by itself, as nothing is created with it any more.
    """
    if f.users_elsewhere and not f.users_to_delete:
        return _from_elsewhere(f)
    namespace = f"--namespace={f.meta.namespace}"
    if len(f.users_to_delete) > NAMED:  # a command for the first of them would be taken for one that ends the wait
        words = f"Retain what is to stay ({KEEP} KIND/NAME), then delete them all. To list them"
        return f"{words}: kubectl get gpucloud {namespace} {ACCOUNTS}"
    words = BEGUN if not f.users_to_delete else ""
    if 0 < len(f.users_to_keep) <= NAMED:
        command = f"{KEEP} {' '.join(f.users_to_keep)} {namespace}"
        words = followed(words, f"To keep what exists, first: {command}")
        words = followed(words, "With a new account, kubectl gpucloud adopt takes each over.")
    if f.users_to_delete:
        them = "it" if len(f.users) == 1 else "them"
        words = f"{words} Delete {them}: kubectl delete {' '.join(f.users_to_delete)} {namespace}"
    return words.strip()


def _from_elsewhere(f: AccountStateFacts) -> str:
    """Return how the deletion goes on of what was ordered at another endpoint, where this account destroys nothing."""
    there = either(sorted({repr(endpoint) for endpoint in f.users_elsewhere.values()}))
    which = listed(tuple(f.users_elsewhere))
    return f"{which} was ordered at endpoint {there}: leave it there with spec.deletion.policy: Retain."


def removing_finalizer(f: AccountStateFacts, name: str) -> Verdict:
    """Report the Secret that still has our finalizer."""
    attempt = secret_finalizer.last_attempt(f, Verb.FREE_SECRET)
    if attempt is None or attempt.refusal is None:
        return working(Reason.DELETING, f"The account is deleted once the operator's finalizer is off Secret {name!r}.")
    why = quoted(attempt.refusal.message, attempt.refusal.kind)
    words = (
        f"The operator cannot remove its finalizer from Secret {name!r}, and tries again: {why}. If this goes on, grant it "
        f"get and patch on Secrets in namespace {f.meta.namespace!r}."
    )
    make = stalled if attempt.failures >= FAILURES_BEFORE_STALLED else working
    return make(Reason.DELETION_BLOCKED, words)


def _only_waited_for(f: AccountStateFacts) -> bool:
    """Whether the Secret is being deleted and no user has a resource in the cloud: only the account waits for the users."""
    return f.secret is not None and f.secret.deleting and not f.users_with_resources and not f.limits.observe_only


def _to_free(f: AccountStateFacts) -> str | None:
    """Return the Secret that still has our finalizer for this account alone, an older one first."""
    mine = secret_finalizer.has_finalizer(f) and not f.shared
    return next(iter(secret_finalizer.freeable_secrets(f)), f.spec.secret_ref.name if mine else None)
