"""Everything that a decision about an object with a counterpart in the cloud may look at, whatever its kind."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from gpucloud.cloud.errors import ErrorKind
from gpucloud.kinds.common import OWN_ACCOUNT, Adoption, CloudSpec, CloudStatus, DeletionPolicy
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile.facts import AccountFacts, Asked, Limits, Memory, Now, ObjectFacts, Observation, Present

if TYPE_CHECKING:
    from gpucloud.kinds.meta import ConditionType, Reason
    from gpucloud.reconcile.conditions import Verdict
    from gpucloud.reconcile.facts import Attempt, Dependency, Verb
    from gpucloud.reconcile.naming import Identity


P = TypeVar("P", bound=CloudSpec)
S = TypeVar("S", bound=CloudStatus)
R = TypeVar("R")

FRESH_INTERVALS = 5  # of the fast poll


@dataclass(frozen=True, slots=True)
class Subject:
    """The words of one kind: what people call the thing, and the operations that make and end it."""

    kind: str  # GpuVM
    noun: str  # VM
    create: Verb
    destroy: Verb
    lost: Reason
    by_name: bool  # the destroying call names it as its identity does, so it may be sent for one that a listing lacks
    cure: str  # when its name is another's: what to do, after "Delete this object (that destroys nothing)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudFacts(Generic[P, S, R]):
    """One object, what it stands for as last seen, and what this process remembers of it."""

    subject: ClassVar[Subject]

    now: Now
    meta: ObjectFacts
    spec: P
    status: S
    identity: Identity
    found: Observation[R]
    memory: Memory
    limits: Limits = field(default_factory=Limits)
    account: AccountFacts = field(default_factory=lambda: AccountFacts(OWN_ACCOUNT))
    owner: str | None = None  # another object of this kind ("namespace/name") that stands for the same, and was first
    needs: tuple[Dependency, ...] = ()  # what must be ready before anything is created
    dependents: tuple[str, ...] = ()  # objects that would suffer if this one went now, for people: "GpuVM 'train'"
    namespace_terminating: bool = False
    synced: bool = True  # every object of the first list is known, so claims can be compared
    listing_takes: float = 0.0  # seconds that the slowest of the last listings took
    nonce: str = ""  # new for every gathering: the id of an intent, should one be recorded

    @property
    def chosen_name(self) -> bool:
        """Whether the name is the owner's choice, and so bears no fingerprint that proves whose it is."""
        raise NotImplementedError

    @property
    def recorded_id(self) -> str | None:
        """The cloud's id of it, once it has been seen."""
        raise NotImplementedError

    @property
    def policy(self) -> DeletionPolicy:
        """What the owner wants to become of it when this object is deleted."""
        raise NotImplementedError

    @property
    def adoption(self) -> Adoption:
        """Whether the owner lets one that exists already be taken over."""
        return Adoption.NEVER

    def observed(self) -> dict[str, Any]:
        """The part of status that is copied from the cloud's record; empty when it is not seen."""
        raise NotImplementedError

    def beside(self, verdict: Verdict) -> tuple[tuple[ConditionType, Reason, str], ...]:  # noqa: ARG002 - a kind may need it
        """Conditions of this kind that are True beside the verdict."""
        return ()

    @property
    def place(self) -> str:
        """Where its name is unique, for people."""
        return f"VPC {self.identity.vpc!r} of cluster {self.identity.cluster!r}"

    @property
    def intended(self) -> bool:
        """Whether the status records that this very identity is, or may be, created for this object."""
        intent, here = self.status.intent, self.identity
        return intent is not None and (intent.cluster, intent.vpc, intent.name) == (here.cluster, here.vpc, here.name)

    @property
    def created(self) -> bool:
        """The proof that it was created for this object: the fingerprint of our UID, or an intent for a name that was free."""
        return not self.chosen_name or (self.intended and not self.taken)

    @property
    def void(self) -> bool:
        """Whether the standing intent of a chosen name must go, so that no later process takes it for a proof.

        It is ours, and made nothing: its order was refused for certain, or the name was taken before it was sent.
        """
        if not self.chosen_name or not self.intended or self.may_be_carried_out:
            return False
        attempt, recorded = self.attempt(self.subject.create), self.memory.intent_recorded
        return self.taken or (attempt is not None and recorded is not None and attempt.at >= recorded)

    @property
    def adopted(self) -> bool:
        """Whether it is taken over, as the spec says now: it was there before any intent of ours."""
        return self.adoption is not Adoption.NEVER and not self.created

    @property
    def ours(self) -> bool:
        """Whether anything may be done to it."""
        return self.owner is None and (self.created or self.adopted)

    @property
    def taken(self) -> bool:
        """Whether a chosen name is another's: the cloud says so or shows it, and no order of ours can have been what took it.

        An intent alone is no proof. What was refused for certain, or not sent yet, made nothing.
        """
        attempt = self.attempt(self.subject.create)
        refused = attempt is not None and attempt.refusal is not None and attempt.refusal.kind is ErrorKind.CONFLICT
        return self.chosen_name and not self.may_be_carried_out and (refused or isinstance(self.found, Present))

    @property
    def may_be_carried_out(self) -> bool:
        """Whether an order may have been, ours or that of whoever wrote the standing intent."""
        return self.memory.unclear or self.by_stranger

    @property
    def by_stranger(self) -> bool:
        """Whether the standing intent was written by another process, which may have acted on it."""
        return self.intended and self.status.intent is not None and self.status.intent.id not in self.memory.intent_ids

    @property
    def never_ordered(self) -> bool:
        """Whether every intent that this process has seen is its own, and none was acted on: then nothing can be there."""
        return not self.by_stranger and not self.memory.unclear and self.attempt(self.subject.create) is None

    @property
    def never_begun(self) -> bool:
        """Whether nothing was ever asked of the cloud for this object: it was seen new, now or by whoever wrote the status."""
        s, memory = self.status, self.memory
        if s.intent is not None or s.account is not None or self.recorded_id is not None:
            return False
        if memory.intent_ids or memory.stranger_id is not None or memory.attempts:
            return False  # the status was stripped since
        return memory.seen_new or s.ordered is False

    @property
    def seen(self) -> bool:
        """Whether it has ever been seen in a listing, as ours."""
        return (self.intended or self.adopted) and self.recorded_id is not None

    @property
    def asked(self) -> Asked:
        """What a person last asked for."""
        return Asked(self.meta.generation, self.meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT))

    @property
    def fresh_from(self) -> float:
        """A listing that began before this is too old to act upon; one of a slow cloud is as old as it took when it comes."""
        return self.now.mono - FRESH_INTERVALS * self.limits.pending_interval - self.listing_takes

    @property
    def spread(self) -> float:
        """A number from 0 to 1 that is the object's own, to keep objects from acting in step."""
        return hashlib.sha256(self.meta.uid.encode()).digest()[0] / 256

    @property
    def is_present(self) -> bool:
        """Whether one record, not to be mistaken for another, shows it and it is ours."""
        return isinstance(self.found, Present) and not self.found.twins and self.ours

    def attempt(self, verb: Verb) -> Attempt | None:
        """The last call of this verb that this process made."""
        return self.memory.attempts.get(verb)

    def annotated(self, annotation: Annotation) -> bool:
        """Whether an on/off annotation is set to "true"."""
        return self.meta.annotations.get(annotation) == "true"
