"""Builds the whole status of an account; a healthy account costs no write."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from gpucloud.kinds.gpucloudaccount import Access, OperationAccess
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import Progress, Verdict, build
from gpucloud.reconcile.core.record import moment
from gpucloud.reconcile.facts import UnknownReason
from gpucloud.reconcile.gpucloudaccount.secret import read_again_at, usable
from gpucloud.reconcile.plan import Plan
from gpucloud.reconcile.text import MAX_TEXT, listed, quoted

if TYPE_CHECKING:
    from datetime import datetime

    from gpucloud.kinds.gpucloudaccount import CredentialKind, GpuCloudAccountStatus, SecretVersion
    from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts

CONTACT_APART = timedelta(seconds=600)  # a later last contact alone is written only after this
EXPIRY_APART = timedelta(seconds=60)  # expiry of the same token, computed again, differs by less
MAX_WORDS = 1024  # kinds: OperationAccess.message
MAX_CLUSTERS, MAX_OPERATIONS, MAX_OPERATION = 256, 64, 64


def report(
    f: AccountStateFacts, verdict: Verdict, held: tuple[str, ...], *, paused: str | None = None
) -> Plan[GpuCloudAccountStatus]:
    """A plan that only reports: the verdict, what the credential has shown, and the Secrets that are ``held``.

    ``paused`` adds the condition Paused with that message.
    """
    status = f.status.model_copy(
        update={
            "endpoint": f.endpoint,
            "credential_kind": _credential_kind(f),
            "tenant": tenant(f),
            "clusters": _clusters(f),
            "token_expires_at": _expiry(f),
            "request_budget": f.budget,
            "operations": _operations(f),
            "users": len(f.users),
            "held_secrets": held,
            "proven_secret": _proven(f),
            "observed_generation": f.meta.generation,
            "conditions": build(verdict, f.status.conditions, f.meta.generation, f.now.wall, paused=paused, beside=_beside(f)),
        }
    )
    fresh = moment(f.contact.last)
    if fresh is not None and (status != f.status or _outdated(status.last_contact_at, fresh)):
        status = status.model_copy(update={"last_contact_at": fresh})
    return Plan(status=status, requeue_at=read_again_at(f), pending=verdict.progress is Progress.WORKING)


def shown_tenant(f: AccountStateFacts) -> str | None:
    """Return the tenant of the credential as status can hold it."""
    return f.tenant[:MAX_TEXT] if f.tenant else None


def is_other_tenant(f: AccountStateFacts) -> bool:
    """Whether the credential is of another tenant than the objects that use it."""
    return bool(f.users_of_tenant) and None not in (f.status.tenant, shown_tenant(f)) and f.status.tenant != shown_tenant(f)


def tenant(f: AccountStateFacts) -> str | None:
    """Return the tenant to record: the recorded one, until the credential is of another and no object needs the old one."""
    return f.status.tenant if is_other_tenant(f) else shown_tenant(f) or f.status.tenant


def _credential_kind(f: AccountStateFacts) -> CredentialKind | None:
    if usable(f.secret):
        return f.secret.kind
    return f.status.credential_kind if f.remembered else None


def _clusters(f: AccountStateFacts) -> tuple[str, ...]:
    if f.contact.last is None and not f.clusters:  # not asked yet
        return f.status.clusters
    return tuple(sorted({name[:MAX_TEXT] for name in f.clusters}))[:MAX_CLUSTERS]


def _operations(f: AccountStateFacts) -> tuple[OperationAccess, ...]:
    if f.contact.last is None and not f.allowed and not f.forbidden:  # no answer yet
        return f.status.operations
    found = {name[:MAX_OPERATION]: OperationAccess(name=name[:MAX_OPERATION], access=Access.ALLOWED) for name in f.allowed}
    for name, words in f.forbidden.items():
        key = name[:MAX_OPERATION]
        found[key] = OperationAccess(name=key, access=Access.FORBIDDEN, message=words.strip()[:MAX_WORDS] or None)
    return tuple(found[name] for name in sorted(found))[:MAX_OPERATIONS]


def _expiry(f: AccountStateFacts) -> datetime | None:
    fresh, recorded = moment(f.token_expires_at), f.status.token_expires_at
    same = fresh is not None and recorded is not None and abs(fresh - recorded) < EXPIRY_APART
    return recorded if same else fresh


def _proven(f: AccountStateFacts) -> SecretVersion | None:
    """Return the version of the Secret that has shown the recorded tenant, so that a restart need not learn it again."""
    trouble = f.contact.trouble
    answered = f.contact.last is not None and (trouble is None or trouble.cause is UnknownReason.FORBIDDEN)
    if not usable(f.secret) or not answered or shown_tenant(f) is None or is_other_tenant(f):
        return f.status.proven_secret
    return f.secret.version


def _beside(f: AccountStateFacts) -> tuple[tuple[ConditionType, Reason, str], ...]:
    if not f.forbidden:
        return ()
    each = tuple(f"{name} ({quoted(words, 'without a word')})" for name, words in sorted(f.forbidden.items()))
    words = (
        f"The cloud forbids this credential {listed(each)}; the rest works. If objects need what is forbidden, grant it in the "
        "cloud."
    )
    return ((ConditionType.RESTRICTED, Reason.PERMISSION_DENIED, words),)


def _outdated(recorded: datetime | None, fresh: datetime) -> bool:
    return recorded is None or fresh - recorded >= CONTACT_APART
