"""Ready condition of an account: the first problem that keeps its credential from being used, or Connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.gpucloudaccount import CredentialKind
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import credential
from gpucloud.reconcile.conditions import Verdict, settled, stalled, working
from gpucloud.reconcile.facts import UnknownReason
from gpucloud.reconcile.gpucloudaccount import secret_finalizer
from gpucloud.reconcile.gpucloudaccount.report import is_other_tenant, shown_tenant
from gpucloud.reconcile.gpucloudaccount.secret import named, usable
from gpucloud.reconcile.text import NAMED, either, listed, quoted
from gpucloud.spelling import suggestion

if TYPE_CHECKING:
    from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts, SecretFacts

NOUNS = {CredentialKind.API_KEY: "API key", CredentialKind.LOGIN: "login"}


def verdict(f: AccountStateFacts) -> Verdict:
    """Return the first problem, else Connected."""
    for step in (unknown_endpoint, endpoint_mismatch, secret_unusable, tenant_mismatch, no_answer):
        found = step(f)
        if found is not None:
            return found
    return connected(f)


def unknown_endpoint(f: AccountStateFacts) -> Verdict | None:
    """Check that the administrator declared the endpoint: only the administrator decides where a credential is sent."""
    if f.endpoint is not None:
        return None
    name = f.spec.endpoint or "(default)"
    declared = ", ".join(repr(name) for name in f.endpoints) or "none"
    return stalled(
        Reason.UNKNOWN_ENDPOINT,
        f"Unknown endpoint {name!r}.{suggestion(name, f.endpoints)} Declared: {declared}. Delete this account and create it "
        "again with one of these in spec.endpoint, or ask the administrator to declare this one (--endpoint).",
    )


def endpoint_mismatch(f: AccountStateFacts) -> Verdict | None:
    """Check the endpoint: what was ordered at another one cannot be seen from here, and would look gone.

    An account waits for its last user before it is deleted, so it cannot simply be created again.
    """
    if not f.users_elsewhere:
        return None
    there = either(sorted({repr(endpoint) for endpoint in f.users_elsewhere.values()}))
    way_out = f"Ask the administrator to make {there} the first --endpoint again."
    if f.spec.endpoint is not None:
        way_out = (
            f"Retain and delete what was ordered there, then this account, and create it again with spec.endpoint: {there}."
            f"{_retain_elsewhere(f)}"
        )
    return stalled(
        Reason.ENDPOINT_MISMATCH,
        f"Nothing is done: this account is at endpoint {f.endpoint!r}, and {listed(tuple(f.users_elsewhere))} was ordered at "
        f"{there}. {way_out}",
        ready="Unknown",
    )


def _retain_elsewhere(f: AccountStateFacts) -> str:
    """Return the command that retains what was ordered at another endpoint; empty for too many objects, or none to retain."""
    there = {name.replace(" ", "/").replace("'", "").lower() for name in f.users_elsewhere}  # as kubectl names them
    kept = [name for name in f.users_to_keep if name in there]
    return (
        f" To retain: kubectl gpucloud retain {' '.join(kept)} --namespace={f.meta.namespace}" if 0 < len(kept) <= NAMED else ""
    )


def secret_unusable(f: AccountStateFacts) -> Verdict | None:
    """Check that the Secret exists, is readable, and has a credential."""
    name, namespace = f.spec.secret_ref.name, f.meta.namespace
    if f.secret is None:
        if f.secret_trouble:
            return working(Reason.SECRET_NOT_FOUND, f.secret_trouble + _remembered(f) + _kept(f))
        words = f"Waiting for Secret {name!r} of spec.secretRef: there is none in namespace {namespace!r}.{_remembered(f)}"
        words += _kept(f)
        create = f"kubectl create secret generic {name} --namespace={namespace} --from-file=apikey=FILE"
        return working(Reason.SECRET_NOT_FOUND, f"{words} Create it: {create}")
    if not usable(f.secret):
        flaw = f.secret.flaw.rstrip(".") or "it holds no usable credential"
        words, correct = f"Secret {name!r} cannot be used: {flaw}.", "Correct the Secret; the operator reads it within seconds."
        ways = f"{_remembered(f)}{_kept(f)} {_instead(f)}" if _instead(f) else f" {correct}{_remembered(f)}{_kept(f)}"
        return stalled(Reason.INVALID_SECRET, f"{words}{ways}")
    return None


def tenant_mismatch(f: AccountStateFacts) -> Verdict | None:
    """Check the tenant: with another tenant's valid key all resources of ours would look gone."""
    if not is_other_tenant(f):
        return None
    many = len(f.users_of_tenant)
    name, tenant = f.spec.secret_ref.name, f.status.tenant
    objects = "1 object of this account is" if many == 1 else f"{many} objects of this account are"
    return stalled(
        Reason.TENANT_MISMATCH,
        f"Secret {name!r} is for tenant {shown_tenant(f)!r}; {objects} of tenant {tenant!r}. Nothing is "
        f"created or destroyed. Put a key of tenant {tenant!r} into Secret {name!r}.{_kept(f, 'until then')}",
    )


def no_answer(f: AccountStateFacts) -> Verdict | None:
    """Check that the cloud accepts the credential and answers."""
    trouble, name = f.contact.trouble, f.spec.secret_ref.name
    if trouble is None or trouble.cause is UnknownReason.NOT_LISTED:
        if f.contact.last is not None:
            return None
        words = f"Waiting for the cloud's first answer to the credential in Secret {name!r}.{_kept(f)}"
        return working(Reason.PENDING, words, ready="Unknown")
    if trouble.cause is UnknownReason.FORBIDDEN:  # the credential works but lacks permissions: see condition Restricted
        return None
    detail = quoted(trouble.detail, trouble.cause)
    if trouble.cause is UnknownReason.REFUSED:
        words = f"The cloud refuses the credential in Secret {name!r}: {detail}.{_kept(f)}"
        way_out = f"Update the Secret in place (do not delete it); {credential.WITHIN_A_MINUTE}: {_update(f)}"
        return stalled(Reason.CREDENTIALS_REFUSED, f"{words} {_instead(f) or way_out}")
    words = f"The cloud gives no usable answer at endpoint {f.endpoint!r}: {detail}. The operator keeps trying.{_kept(f)}"
    return working(Reason.API_UNAVAILABLE, f"{words} {_instead(f)}".strip(), ready="Unknown")


def connected(f: AccountStateFacts) -> Verdict:
    """Report an accepted credential; a Secret that is being deleted comes first, since no person can take that back."""
    if f.secret is not None and f.secret.deleting:
        return settled(Reason.SECRET_DELETING, _secret_deleting(f, f.secret))
    kind = f.secret.kind if f.secret is not None else None
    noun = NOUNS[kind] if kind is not None else "credential"
    tenant = shown_tenant(f)
    whose = f"it belongs to tenant {tenant!r}" if tenant is not None else "its tenant is not known yet"
    words = f"The {noun} in Secret {f.spec.secret_ref.name!r} is accepted at endpoint {f.endpoint!r}; {whose}."
    return settled(Reason.CONNECTED, words + _kept(f, "until the tenant of the new credential is known"))


def _update(f: AccountStateFacts) -> str:
    """Return the command that writes another credential of the same kind into the account's Secret."""
    return credential.update_command(named(f.spec.secret_ref.name, f.secret), f.meta.namespace)


def _instead(f: AccountStateFacts) -> str:
    """Return what to do about a Secret in deletion, which no update of it ends; empty if it is not being deleted."""
    if f.secret is None or not f.secret.deleting:
        return ""
    return credential.another_secret(named(f.spec.secret_ref.name, f.secret), f.meta.namespace, f.meta.name)


def _secret_deleting(f: AccountStateFacts, secret: SecretFacts) -> str:
    """Return what the Secret's deletion means for the objects that use it, and the way out.

    It ends as soon as spec.secretRef names another Secret whose credential the cloud accepts for the same tenant: then our
    finalizer moves to that one.
    """
    words = f"Secret {f.spec.secret_ref.name!r} is being deleted, which cannot be undone, and nothing new is created with it."
    users = listed(f.users_with_resources) or ("another account" if f.shared else "")
    stays = f" It stays for {users}." if users and secret.has_finalizer else ""
    return f"{words}{stays} Create another Secret, and name it in spec.secretRef.{_kept(f)}"


def _kept(f: AccountStateFacts, until: str = "") -> str:
    """Return which Secrets that spec named before still have our finalizer, and until when: their deletion hangs on it."""
    names = secret_finalizer.kept_secrets(f)
    if not names:
        return ""
    accepted = until or f"until {f.spec.secret_ref.name!r} is accepted"
    ends = "as long as another account needs it" if secret_finalizer.lets_go(f) else accepted
    return f" The old Secret {either(map(repr, names))} keeps its finalizer {ends}."


def _remembered(f: AccountStateFacts) -> str:
    """Return what the credential that was read last is still used for; empty for one that the cloud never accepted."""
    if not f.remembered or f.contact.last is None:
        return ""
    words = " Until the operator restarts, the old credential stays in use"
    gone = f.secret is None and not f.secret_trouble
    return f"{words} for what exists, and nothing new is created." if gone else f"{words}."
