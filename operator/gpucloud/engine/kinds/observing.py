"""Observes the resource of one object: the first step of a reconcile, and the only one that moves the order by what is listed.

Everything after it only reads what this step has recorded, until the plan is acted upon.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from gpucloud.engine.cloud import observation
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import order as orders
from gpucloud.reconcile import placement
from gpucloud.reconcile.facts import Unknown, UnknownReason
from gpucloud.reconcile.tenancy import bound_tenant

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.reconcile.core.facts import Subject
    from gpucloud.reconcile.evidence import Proofs
    from gpucloud.reconcile.facts import Now, Observation
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.order import TrackedOrder


class ObservedKind(Protocol):
    """What tells the resource of an object from others, for one kind."""

    @property
    def kind(self) -> str:
        """The kind, as in a manifest."""

    @property
    def inventory_name(self) -> str:
        """The inventory that lists the kind's resources."""

    @property
    def subject(self) -> Subject:
        """The constants of the kind."""

    def identity(self, stored: CachedObject[Any, Any], spec: Any) -> Identity | None:
        """Return the identity of the object's resource; None while it is unknown."""

    def desired_identity(self, stored: CachedObject[Any, Any], spec: Any) -> Identity | None:
        """Return the identity that the spec asks for; None while it is unknown."""

    def proofs(self, stored: CachedObject[Any, Any], spec: Any, here: Identity, found: Observation[Any]) -> Proofs:
        """Return the proofs that a record is this object's resource."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What one observation has shown, and the order after it."""

    now: Now
    identity: Identity | None  # None while it is unknown
    found: Observation[Any]
    tracked: TrackedOrder
    nonce: str  # random: the beginning of a new record's id


class Observer:
    """Observes the resources of one kind."""

    def __init__(self, kind: ObservedKind, deps: ReconcilerDeps, tracker: OrderTracker) -> None:
        self._kind, self._deps, self._tracker = kind, deps, tracker

    def observe(self, stored: CachedObject[Any, Any], spec: Any, account: ResolvedAccount) -> Observed:
        """Take in the order that status records and what listings show of it; return what is known now."""
        meta, status, now = stored.meta, stored.status, reading(self._deps.clock)
        self._tracker.begin(meta.uid, deleting=meta.deleting)
        here = self._kind.identity(self._tracker.with_placement(stored), spec)
        asked = None if meta.deleting else meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT) or None
        tracked = self._tracker.take_over(meta.uid, stored.order)
        tracked = orders.asked_again(tracked, asked, status.last_handled_reconcile_at, now.mono)
        self._tracker.update(meta.uid, tracked)
        nonce = self._deps.entropy.token_hex(8)
        found = self._find(stored, spec, account, here, tracked)
        while here is not None:
            proofs = replace(self._kind.proofs(stored, spec, here, found), nonce=nonce)
            tracked = self._tracker.observe(meta.uid, tracked, found, proofs, now)
            wanted = self._kind.identity(self._tracker.with_placement(stored), spec)
            if wanted == here or orders.may_exist(tracked.order):
                break
            here = wanted  # what is where the cloud had placed it is another's
            found = self._find(stored, spec, account, here, tracked)
        return Observed(now, here, found, tracked, nonce)

    def _find(
        self,
        stored: CachedObject[Any, Any],
        spec: Any,
        account: ResolvedAccount,
        here: Identity | None,
        tracked: TrackedOrder,
    ) -> Observation[Any]:
        """Return what the listings show at this identity; let the session ask what explains one that tells nothing."""
        now = self._deps.clock.mono()
        if not self._deps.synced() and account.facts.name == OWN_ACCOUNT and stored.status.account is None:
            return Unknown(now, UnknownReason.NOT_LISTED)  # the watch may not have shown the namespace's account yet
        if here is None:
            return Unknown(now, UnknownReason.UNPLACED)
        wanted, order = self._kind.desired_identity(self._tracker.with_placement(stored), spec), tracked.order
        if wanted is not None and order is not None and placement.is_moved(order, wanted):
            return Unknown(now, UnknownReason.MOVED, placement.moved_message(order, wanted))
        if account.session is None:
            return account.unknown or Unknown(now, UnknownReason.NO_ACCOUNT)
        sought = (here, bound_tenant(tracked, stored.status.tenancy) or self._tracker.tenancy(stored.meta.uid))
        kind = (self._kind.kind, self._kind.inventory_name)
        return observation.observe(account.session, kind, stored, account, sought, self._deps.clock)
