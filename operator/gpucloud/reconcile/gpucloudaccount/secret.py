"""The Secret as it was read: whether its credential can be used, and when to look at it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeGuard

    from gpucloud.reconcile.gpucloudaccount.facts import AccountStateFacts, SecretFacts

READ_SECONDS = 30.0  # between looks at a Secret in use: a rotated key is in use at most a minute later
WANTED_SECONDS = (1.0, 5.0)  # first and longest wait between looks at a Secret that is missing or of no use


def usable(secret: SecretFacts | None) -> TypeGuard[SecretFacts]:
    """Whether it was read, and holds one credential and only one."""
    return secret is not None and secret.kind is not None and not secret.flaw


def read_again_at(f: AccountStateFacts) -> float:
    """When to look at the Secret again."""
    if usable(f.secret):
        return f.now.mono + READ_SECONDS
    shortest, longest = WANTED_SECONDS
    waited = max(0.0, f.now.mono - f.memory.first_seen)
    return f.now.mono + min(max(shortest, waited / 4), longest)
