"""Words about a credential in messages: whose it is, and what to do when the cloud refuses it or forbids a listing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import SERVER_SIDE_APPLY

if TYPE_CHECKING:
    from gpucloud.reconcile.facts import AccountFacts, NamedSecret

WITHIN_A_MINUTE = "the operator reads it within a minute"

# How to create an object again, while the namespaces that share the operator's own account are isolated.
OWN_ACCOUNT_WAY_OUT = "with spec.accountRef, or ask for --own-account-sharing=Shared"


def described(account: str) -> str:
    """Return the credential of this account for a sentence, after "the" or "The"."""
    return "operator's own credential" if account == OWN_ACCOUNT else f"credential of account {account!r}"


def renew(account: AccountFacts, namespace: str, *, brief: bool = False) -> str:
    """Return what to do when the cloud refuses the credential; of a Secret that is known it ends in a command.

    ``brief``: not how soon that takes effect.
    """
    soon = "" if brief else f"; {WITHIN_A_MINUTE}"
    if account.name == OWN_ACCOUNT:
        return f"Ask the administrator to replace the operator's own credential{soon}."
    if account.secret is None:
        return f"Update the Secret of account {account.name!r} in place (do not delete it){soon}."
    if account.secret.deleting:
        return another_secret(account.secret, namespace, account.name)
    command = update_command(account.secret, namespace)
    return f"Update Secret {account.secret.name!r} in place (do not delete it){soon}: {command}"


def update_command(secret: NamedSecret, namespace: str) -> str:
    """Return the command that writes another credential of the same kind into a Secret."""
    create = _create_command(secret.name, secret, namespace)
    return f"{create} --dry-run=client -o yaml | {SERVER_SIDE_APPLY} --force-conflicts -f -"


def another_secret(secret: NamedSecret, namespace: str, account: str) -> str:
    """Return what to do about a Secret in deletion, which ends in a command: an update would serve nothing new."""
    name = f"{secret.name}-2"
    patch = json.dumps({"spec": {"secretRef": {"name": name}}}, separators=(",", ":"))
    use = f"kubectl patch gpucloudaccount {account} --namespace={namespace} --type=merge --patch '{patch}'"
    words = f"Secret {secret.name!r} is being deleted: nothing new is created with it. Create another one and use it"
    return f"{words}: {_create_command(name, secret, namespace)} && {use}"


def _create_command(name: str, secret: NamedSecret, namespace: str) -> str:
    """Return the command that creates a Secret of this name, with a credential of the same kind."""
    content = "--from-literal=username=NAME --from-file=password=FILE" if secret.holds_login else "--from-file=apikey=FILE"
    return f"kubectl create secret generic {name} --namespace={namespace} {content}"


def grant(account: str) -> str:
    """Return what to do when the credential lacks the permission to list."""
    return "Ask the administrator to grant it." if account == OWN_ACCOUNT else "Grant it in the cloud."


def restore(account: str, tenant: str | None) -> str:
    """Return what to do when the credential is not this tenant's, as a sentence without a full stop."""
    key = f"a key of tenant {tenant!r}"
    return f"Ask the administrator to put {key} back" if account == OWN_ACCOUNT else f"Put {key} back"
