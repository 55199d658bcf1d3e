"""What a controller needs of a kind: the protocol that the reconciler of each kind implements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from gpucloud.kinds.common import Status
from gpucloud.kinds.model import Model

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.kube.events import Event
    from gpucloud.engine.runtime.workqueue import Key
    from gpucloud.reconcile.facts import Now, Verb
    from gpucloud.reconcile.plan import Plan

P = TypeVar("P", bound=Model)
S = TypeVar("S", bound=Status)
F = TypeVar("F", bound="Facts")


class Facts(Protocol):
    """The part of the facts that all kinds share."""

    @property
    def now(self) -> Now:
        """When the facts were gathered."""


class Reconciler(Protocol[P, S, F]):
    """Decisions and calls of one kind, used by its controller."""

    @property
    def kind(self) -> str:
        """The kind, as in a manifest."""

    @property
    def plural(self) -> str:
        """As in URLs."""

    @property
    def store(self) -> Store[P, S]:
        """The cached objects."""

    def needs_finalizer(self, stored: CachedObject[P, S]) -> bool:
        """Whether the object lacks the finalizer that it is to have before anything else."""

    def awaits_first_listing(self, stored: CachedObject[P, S]) -> bool:
        """Whether a listing that a new object needs is about to come: before, nothing can be decided. A query."""

    def defer_to_listing(self, stored: CachedObject[P, S]) -> None:
        """Let that listing wake the object."""

    async def gather(self, stored: CachedObject[P, S]) -> F:
        """Take in what is new of the object, and return the facts of the decision."""

    def decide(self, facts: F) -> Plan[S]:
        """Return the plan; pure."""

    async def act(self, facts: F, plan: Plan[S]) -> Event | None:
        """Send the plan's call, keep its outcome, and return the Event to record; None if no call was sent."""

    def has_delayed_effect(self, stored: CachedObject[P, S], verb: Verb) -> bool:
        """Whether nothing is left to do, nor to record, until a listing shows the effect of this accepted call."""

    def before_recording(self, uid: str, status: S) -> None:
        """Note the record of a new order before the status that contains it is written."""

    def follow_up(self, uid: str, plan: Plan[S]) -> float | None:
        """Request the listings that the plan waits for; return when to reconcile again at the latest."""

    def on_update(self, stored: CachedObject[P, S]) -> None:
        """Handle a newer view of an object."""

    def on_delete(self, key: Key) -> None:
        """Handle the deletion of an object."""
