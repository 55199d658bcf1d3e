"""Words about a credential in messages: whose it is, and what to do when the cloud refuses it or forbids a listing."""

from __future__ import annotations

from gpucloud.kinds.common import OWN_ACCOUNT

# What to do about a name in a spec, while the namespaces that share the operator's own account are isolated; a clause.
OWN_ACCOUNT_WAY_OUT = (
    "use a GpuCloudAccount of this namespace (spec.accountRef), or ask the administrator for --own-account-sharing=Shared"
)


def described(account: str) -> str:
    """Return the credential of this account for a sentence, after "the" or "The"."""
    return "operator's own credential" if account == OWN_ACCOUNT else f"credential of account {account!r}"


def renew(account: str) -> str:
    """Return what to do when the cloud refuses the credential."""
    if account == OWN_ACCOUNT:
        return "Ask the administrator to replace the operator's own credential; the operator reads it again within a minute."
    return f"Update the Secret of account {account!r} in place (do not delete it); the operator reads it again within a minute."


def grant(account: str, noun: str) -> str:
    """Return what to do when the credential lacks the permission to list these resources."""
    if account == OWN_ACCOUNT:
        return f"Ask the administrator to grant the operator's own credential the permission to list {noun}s in the cloud."
    return f"Grant the credential of account {account!r} the permission to list {noun}s in the cloud."


def restore(account: str) -> str:
    """Return what to do when the credential is another tenant's, as a clause without a full stop."""
    return f"{'ask the administrator to ' if account == OWN_ACCOUNT else ''}put the right credential back"
