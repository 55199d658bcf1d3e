"""The Secret as it was read: whether its credential is usable, and when to read it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.kinds.gpucloudaccount import CredentialKind
from gpucloud.reconcile.facts import Dependency, NamedSecret, Readiness

if TYPE_CHECKING:
    from typing import TypeGuard

    from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts, SecretFacts

READ_SECONDS = 30.0  # between reads of a Secret in use: a rotated key is in use within a minute
WANTED_SECONDS = (1.0, 5.0)  # first and longest wait between reads of a Secret that is missing, unusable or being deleted


def usable(secret: SecretFacts | None) -> TypeGuard[SecretFacts]:
    """Whether the Secret was read and has exactly one credential."""
    return secret is not None and secret.kind is not None and not secret.flaw


def named(name: str, secret: SecretFacts | None) -> NamedSecret:
    """Return what the messages of the account's objects say of its Secret."""
    if secret is None:
        return NamedSecret(name)
    return NamedSecret(name, secret.kind is CredentialKind.LOGIN, secret.deleting)


def may_not_read(name: str, namespace: str) -> str:
    """Return why a Secret cannot be read which the apiserver forbids the operator to read."""
    grant = f"grant its ServiceAccount the verb get on secrets in namespace {namespace!r}"
    return f"The operator may not read Secret {name!r}: {grant}."


def blocker(name: str, secret: SecretFacts | None, trouble: str) -> Dependency | None:
    """Return why nothing may be created with this Secret: it is being deleted, or gone. Existing resources stay managed."""
    called = f"Secret {name!r}"
    if secret is not None and secret.deleting:
        words = (
            "Create another Secret, and name it in spec.secretRef of the account. What exists is still managed with this one."
        )
        return Dependency(called, Readiness.DELETING, words, account=True)
    if secret is None and not trouble:
        return Dependency(
            called,
            Readiness.MISSING,
            "Create it with a valid API key or login, or correct spec.secretRef of the account.",
            account=True,
        )
    return None


def read_again_at(f: AccountStateFacts) -> float:
    """Return when to read the Secret again."""
    if usable(f.secret) and not f.secret.deleting:
        return f.now.mono + READ_SECONDS
    shortest, longest = WANTED_SECONDS
    waited = max(0.0, f.now.mono - f.history.first_seen)
    return f.now.mono + min(max(shortest, waited / 4), longest)
