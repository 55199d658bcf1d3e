"""Words about a credential in messages: whose it is, and what to do when the cloud refuses it or forbids a listing."""

from __future__ import annotations

from gpucloud.kinds.common import OWN_ACCOUNT

# What to do about a name in a spec, while the namespaces that share the operator's own account are isolated; a clause.
OWN_ACCOUNT_WAY_OUT = "use spec.accountRef, or ask for --own-account-sharing=Shared"


def described(account: str) -> str:
    """Return the credential of this account for a sentence, after "the" or "The"."""
    return "operator's own credential" if account == OWN_ACCOUNT else f"credential of account {account!r}"


def renew(account: str) -> str:
    """Return what to do when the cloud refuses the credential."""
    if account == OWN_ACCOUNT:
        return "Ask the administrator to replace the operator's own credential."
    return f"Update the Secret of account {account!r} in place (do not delete it)."


def grant(account: str) -> str:
    """Return what to do when the credential lacks the permission to list."""
    return "Ask the administrator to grant it." if account == OWN_ACCOUNT else "Grant it in the cloud."


def restore(account: str, tenant: str | None) -> str:
    """Return what to do when the credential is not this tenant's, as a sentence without a full stop."""
    key = f"a key of tenant {tenant!r}"
    return f"Ask the administrator to put {key} back" if account == OWN_ACCOUNT else f"Put {key} back"
