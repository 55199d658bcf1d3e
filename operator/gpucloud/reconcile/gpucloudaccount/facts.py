"""Everything a decision about a GpuCloudAccount may look at."""

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
    held: bool = False  # our finalizer is on it
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Contact:
    """How the cloud took this credential: when it last answered as it should, and what has been wrong since, if anything."""

    last: datetime | None = None
    trouble: Unknown | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountStateFacts:
    """One GpuCloudAccount, its Secret, and what its credential has shown."""

    now: Now
    meta: ObjectFacts
    spec: GpuCloudAccountSpec
    status: GpuCloudAccountStatus
    memory: CallHistory
    endpoint: str | None  # the declared endpoint that it uses; None when the administrator declared none of that name
    endpoints: tuple[str, ...]  # all declared names
    secret: SecretFacts | None  # None: there is no such Secret
    secret_trouble: str = ""  # why it could not be read, when it is not simply missing
    remembered: bool = False  # a credential read before is still in use
    contact: Contact = field(default_factory=Contact)
    clusters: tuple[str, ...] = ()
    tenant: str | None = None  # that the credential has shown itself to be of
    forbidden: Mapping[str, str] = field(default_factory=dict)  # operation to the cloud's words
    allowed: frozenset[str] = frozenset()  # operations
    token_expires_at: datetime | None = None
    budget: RequestBudget | None = None
    users: tuple[str, ...] = ()  # objects that use it, for people: "GpuVM 'train'"
    holders: tuple[str, ...] = ()  # those of them that may have something in the cloud, and so need its Secret
    bound: tuple[str, ...] = ()  # those of the holders that belong, or may belong, to the tenant that status.tenant records
    shared: bool = False  # another account needs the same Secret, so it is not ours to free
    held_shared: bool = False  # the same, of the Secret that status.held_secret names, when that is an older one
    synced: bool = True  # every object of the first list is known, and so all that uses it
    hold_secrets: bool = True  # the administrator's switch
    limits: Limits = field(default_factory=Limits)

    @property
    def asked(self) -> Asked:
        """What a person last asked for."""
        return Asked(self.meta.generation, self.meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT))

    def attempt(self, verb: Verb) -> Attempt | None:
        """The last call of this verb that this process made."""
        return self.memory.attempts.get(verb)
