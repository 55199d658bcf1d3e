"""Everything a decision about a GpuVM may look at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.facts import Asked, Limits, Memory, Now, ObjectFacts, Observation, SSHKeys, Verb

if TYPE_CHECKING:
    from gpucloud.cloud.models import VmRecord
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.facts import Attempt
    from gpucloud.reconcile.naming import Identity


FRESH_INTERVALS = 5  # of the fast poll


@dataclass(frozen=True, slots=True)
class VmFacts:
    """One GpuVM, the VM it stands for as last seen, and what this process remembers of it."""

    now: Now
    meta: ObjectFacts
    spec: GpuVMSpec
    status: GpuVMStatus
    identity: Identity
    vm: Observation[VmRecord]
    memory: Memory
    limits: Limits = field(default_factory=Limits)
    keys: SSHKeys = field(default_factory=SSHKeys)
    owner: str | None = None  # another GpuVM ("namespace/name") that stands for the same VM and was first
    lookalikes: tuple[str, ...] = ()  # VMs of our tag and base name that nobody claims
    namespace_terminating: bool = False
    synced: bool = True  # every object of the first list is known, so claims can be compared
    price_per_hour: str | None = None
    nonce: str = ""  # new for every gathering: the id of an intent, should one be recorded

    @property
    def intended(self) -> bool:
        """Whether the status records that this very identity is, or may be, bought for this object."""
        intent, here = self.status.intent, self.identity
        return intent is not None and (intent.cluster, intent.vpc, intent.name) == (here.cluster, here.vpc, here.name)

    @property
    def ours(self) -> bool:
        """The proof of ownership: the name bears our UID's fingerprint, or a recorded intent for a name that was free."""
        return self.owner is None and (self.spec.vm_name is None or (self.intended and not self.taken))

    @property
    def taken(self) -> bool:
        """Whether the cloud said that a chosen name is another's: taken, and no order of ours can have been what took it."""
        attempt = self.attempt(Verb.CREATE)
        refused = attempt is not None and attempt.refusal is not None and attempt.refusal.kind is ErrorKind.CONFLICT
        return self.spec.vm_name is not None and refused and not self.memory.unclear

    @property
    def by_stranger(self) -> bool:
        """Whether the standing intent was written by another process, which may have acted on it."""
        return self.intended and self.status.intent is not None and self.status.intent.id not in self.memory.intent_ids

    @property
    def seen(self) -> bool:
        """Whether the VM has ever been seen in a listing."""
        return self.intended and self.status.vm_id is not None

    @property
    def asked(self) -> Asked:
        """What a person last asked for."""
        return Asked(self.meta.generation, self.meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT))

    @property
    def fresh_from(self) -> float:
        """A listing that began before this is too old to act upon."""
        return self.now.mono - FRESH_INTERVALS * self.limits.pending_interval

    @property
    def spread(self) -> float:
        """A number from 0 to 1 that is the object's own, to keep objects from acting in step."""
        return hashlib.sha256(self.meta.uid.encode()).digest()[0] / 256

    def attempt(self, verb: Verb) -> Attempt | None:
        """The last call of this verb that this process made."""
        return self.memory.attempts.get(verb)

    def annotated(self, annotation: Annotation) -> bool:
        """Whether an on/off annotation is set to "true"."""
        return self.meta.annotations.get(annotation) == "true"
