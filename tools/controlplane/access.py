"""Who may talk to a control plane and what is recorded of it: static tokens, kubeconfigs, the audit policy.

It must not start or write anything; but for the random tokens it is pure.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass, field
from typing import Any

MASTERS = "system:masters"
ADMIN = "admin"
OPERATOR = "gpucloud-operator"
VIEWER = "viewer"
CONTROLLER_MANAGER = "kube-controller-manager"
_API_GROUP = "gpucloud.dev"


@dataclass(frozen=True)
class User:
    """A user of the static token file."""

    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=secrets.token_hex, repr=False)


def standard_users() -> tuple[User, ...]:
    """Make the users of every control plane of ours; each has its own name in the audit log."""
    masters = (MASTERS,)
    return (User(ADMIN, masters), User(OPERATOR), User(CONTROLLER_MANAGER, masters), User(VIEWER))


def token_file(users: tuple[User, ...]) -> str:
    """Write users in the form of ``--token-auth-file``: token, name, uid, quoted groups."""
    return "".join(f'{user.token},{user.name},{user.name},"{",".join(user.groups)}"\n' for user in users)


def kubeconfig(server: str, certificate: bytes, token: str) -> dict[str, Any]:
    """Return a kubeconfig that stands alone: the authority's certificate is inside."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "gpucloud",
                "cluster": {"server": server, "certificate-authority-data": base64.b64encode(certificate).decode()},
            }
        ],
        "users": [{"name": "user", "user": {"token": token}}],
        "contexts": [{"name": "gpucloud", "context": {"cluster": "gpucloud", "user": "user"}}],
        "current-context": "gpucloud",
    }


def impersonating(config: dict[str, Any], user: str, groups: tuple[str, ...]) -> dict[str, Any]:
    """Return a kubeconfig that acts as somebody else; kubectl obeys it, other clients may not."""
    disguise = {"as": user, "as-groups": list(groups)} if groups else {"as": user}
    return {**config, "users": [{**entry, "user": {**entry["user"], **disguise}} for entry in config["users"]]}


def audit_policy() -> dict[str, Any]:
    """Record who did what to our resources, events and secrets, and all that operators and pods do; never the content."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "rules": [
            {"level": "Metadata", "users": [OPERATOR]},
            {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
            {
                "level": "Metadata",
                "resources": [
                    {"group": _API_GROUP},
                    {"group": "", "resources": ["events", "secrets"]},
                    {"group": "events.k8s.io", "resources": ["events"]},
                ],
            },
            {"level": "None"},
        ],
    }
