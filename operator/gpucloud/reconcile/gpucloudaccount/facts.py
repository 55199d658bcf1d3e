"""Facts for decisions about a GpuCloudAccount."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.facts import Asked, CallHistory, Limits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gpucloud.kinds.gpucloudaccount import (
        CredentialKind,
        GpuCloudAccountSpec,
        GpuCloudAccountStatus,
        RequestBudget,
        SecretVersion,
    )
    from gpucloud.reconcile.facts import Attempt, Now, ObjectFacts, Unknown, Verb


@dataclass(frozen=True, slots=True)
class SecretFacts:
    """The Secret that ``spec.secretRef`` names, without anything secret.

    ``flaw`` says what is wrong with what it holds, for people; ``kind`` is None then.
    """

    version: SecretVersion
    kind: CredentialKind | None = None
    flaw: str = ""
    has_finalizer: bool = False  # ours
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Contact:
    """The cloud's answers to this credential: when one last succeeded, and what has failed since."""

    last: datetime | None = None
    trouble: Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountStateFacts:
    """Facts of one GpuCloudAccount: the object, its Secret, and what the cloud's answers say of its credential."""

    now: Now
    meta: ObjectFacts
    spec: GpuCloudAccountSpec
    status: GpuCloudAccountStatus
    history: CallHistory
    endpoint: str | None  # name of the endpoint in use; None if spec.endpoint names an undeclared one
    endpoints: tuple[str, ...]  # all declared names
    secret: SecretFacts | None  # None: the Secret does not exist
    secret_trouble: str = ""  # why the Secret could not be read, if it is not missing
    remembered: bool = False  # whether the last usable credential is still in use
    contact: Contact = field(default_factory=Contact)
    clusters: tuple[str, ...] = ()
    tenant: str | None = None  # tenant that the credential's records name
    forbidden: Mapping[str, str] = field(default_factory=dict)  # operation to the cloud's message
    allowed: frozenset[str] = frozenset()  # operations
    token_expires_at: datetime | None = None
    budget: RequestBudget | None = None
    users: tuple[str, ...] = ()  # names for messages of the objects that use it: "GpuVM 'train'"
    users_to_delete: tuple[str, ...] = ()  # users that nobody has deleted yet, as kubectl names them: "gpuvm/train"
    users_to_keep: tuple[str, ...] = ()  # users whose deletion destroys something, by the same names
    users_with_resources: tuple[str, ...] = ()  # users that may have a resource in the cloud, and so need the Secret
    users_elsewhere: Mapping[str, str] = field(default_factory=dict)  # those whose resource is at another endpoint, and which
    users_of_tenant: tuple[str, ...] = ()  # holders whose resource is, or may be, of the tenant in status.tenant
    shared: bool = False  # whether another account needs the same Secret
    held_shared: frozenset[str] = frozenset()  # names in status.heldSecrets that another account needs, too
    held_elsewhere: frozenset[str] = frozenset()  # those whose finalizer another account sees to, if this one removes its own
    synced: bool = True  # whether the first list is complete, so that all users are known
    hold_secrets: bool = True  # setting: put our finalizer on Secrets
    limits: Limits = field(default_factory=Limits)

    @property
    def asked(self) -> Asked:
        """What a person last requested."""
        return Asked(self.meta.generation, self.meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT) or None)

    def attempt(self, verb: Verb) -> Attempt | None:
        """Return the last call of this verb by this process."""
        return self.history.attempts.get(verb)
