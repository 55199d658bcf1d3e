"""What each kind of cloud resource adds to the reconciler of its objects: identity, watches, facts, decision and calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from gpucloud.kinds.common import AdoptingSpec, CloudStatus
from gpucloud.reconcile.core.facts import CloudFacts, Subject
from gpucloud.reconcile.placement import Placement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.dependents import Dependent
    from gpucloud.engine.kinds.indexes import Reference
    from gpucloud.engine.kinds.request import Request
    from gpucloud.kinds.meta import Reason
    from gpucloud.reconcile.continuity import Likeness
    from gpucloud.reconcile.facts import Verb
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.plan import Plan

P = TypeVar("P", bound=AdoptingSpec)
S = TypeVar("S", bound=CloudStatus)
F = TypeVar("F", bound=CloudFacts[Any, Any, Any])


class CloudKind(ABC, Generic[P, S, F]):
    """Facts, decision and calls of one kind. The methods are queries, if they do not say otherwise."""

    kind: ClassVar[str]
    plural: ClassVar[str]
    inventory_name: ClassVar[str]  # of the session's inventory that lists the kind's resources
    subject: ClassVar[Subject]
    success_events: ClassVar[Mapping[Verb, tuple[Reason, str]]]  # reason and note after a success; {name}: the resource
    failed: ClassVar[Mapping[Verb, Reason]]
    delayed_verbs: ClassVar[frozenset[Verb]] = frozenset()  # calls whose effect only a listing some seconds later can show

    @abstractmethod
    def identity(self, stored: CachedObject[P, S], spec: P) -> Identity | None:
        """Return the identity of the object's resource; None while it is unknown."""

    def references(self, spec: P) -> Iterator[Reference]:  # noqa: ARG002 - a kind may have some
        """Yield the objects that the spec refers to, beside its account; a change of one wakes the object."""
        return iter(())

    @abstractmethod
    def dependents(self, stored: CachedObject[P, S], spec: P) -> Iterator[Dependent]:
        """Yield the objects that still need the resource of an object that is being deleted."""

    def may_be_destroyed(self, stored: CachedObject[P, S]) -> bool:
        """Whether the object's resource may be destroyed soon, so that its dependents count."""
        return stored.meta.deleting

    def watches(self, stored: CachedObject[P, S], spec: P) -> Mapping[str, Identity]:  # noqa: ARG002 - a kind may need them
        """Return further identities that the object watches, by name of the inventory."""
        return {}

    @abstractmethod
    def facts(self, stored: CachedObject[P, S], spec: P, account: ResolvedAccount, common: dict[str, Any]) -> F:
        """Return the kind's facts, which include the common ones. A query without I/O."""

    def end_needless_search(self, facts: F, account: ResolvedAccount) -> None:
        """End a search that the facts do not need any more. No query."""

    async def complete(self, facts: F, stored: CachedObject[P, S], account: ResolvedAccount) -> F:  # noqa: ARG002 - as above
        """Add the facts that only a creation needs; may read from the apiserver, and carry on a search. No query."""
        return facts

    @abstractmethod
    def decide_kind(self, facts: F) -> Plan[S]:
        """Return the kind's decision. A query."""

    @abstractmethod
    def likeness(self, status: S, record: Any) -> Likeness:
        """Compare a record under a chosen name with the resource that status describes."""

    @abstractmethod
    def chooses_name(self, spec: P) -> bool:
        """Whether the spec sets the name of the resource in the cloud."""

    @abstractmethod
    def desired_identity(self, stored: CachedObject[P, S], spec: P) -> Identity | None:
        """Return the identity that the spec asks for; None while it is unknown."""

    @abstractmethod
    def requests(self, facts: F, verb: Verb, targets: tuple[str, ...]) -> Iterator[Request]:
        """Yield the calls of a plan's action, nearly always one.

        Raises:
            CloudError: a call breaks a rule of the cloud's API, so it cannot be sent.
        """

    def placement(self, facts: F, answer: Any) -> Placement:  # noqa: ARG002 - a kind may need them
        """Return what the answer to a creating call says of where the resource is."""
        return Placement()

    def admit_deletion(self, facts: F) -> bool:  # noqa: ARG002 - a kind may have a deletion guard
        """Count the destruction of the object's resource if the deletion guard admits it; return whether it does."""
        return True
