"""Chooses the account of an object whose status was lost: its resource may have been ordered with another one.

Without ``spec.accountRef`` an object uses its namespace's account ``default``, else the operator's own, and the first order
records which. Where our finalizer stands, and the status holds neither an order nor an account, the account ``default`` may be
younger than the order: the operator's own account is asked first, and nothing is ordered before it lacks the resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile import naming
from gpucloud.reconcile.accepted_absence import accepted_absence
from gpucloud.reconcile.facts import Absent, Unknown, UnknownReason

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.reconcile.core.facts import Subject
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.naming import Identity


class NamedKind(Protocol):
    """Where the resources of one kind are looked for."""

    @property
    def inventory_name(self) -> str:
        """The inventory that lists the kind's resources."""

    @property
    def subject(self) -> Subject:
        """The constants of the kind."""

    def identity(self, stored: CachedObject[Any, Any], spec: Any) -> Identity | None:
        """Return the identity of the object's resource; None while it is unknown."""


class AccountChoice:
    """The accounts of the objects of one kind. All methods are queries."""

    def __init__(self, kind: NamedKind, deps: ReconcilerDeps, tracker: OrderTracker) -> None:
        self._kind, self._deps, self._tracker = kind, deps, tracker

    def account(self, stored: CachedObject[Any, Any], spec: Any) -> ResolvedAccount:
        """Return the object's account; the operator's own as long as a lost resource of the object may be there."""
        own, here = self._own_beside(stored, spec), self.identity(stored, spec)
        if own is None or own.session is None or here is None or self._is_lacked(stored, own, own.session, here):
            return self._deps.accounts.resolve(stored.meta, spec, stored.status)
        return own

    def is_undecided(self, stored: CachedObject[Any, Any], spec: Any, account: ResolvedAccount) -> bool:
        """Whether this account is only asked first: the object uses another one if this one lacks its resource."""
        return account.facts.name == OWN_ACCOUNT and self._own_beside(stored, spec) is not None

    def session_beside(self, stored: CachedObject[Any, Any], spec: Any) -> AccountSession | None:
        """Return the session of the operator's own account if a lost resource of the object may be there."""
        own = self._own_beside(stored, spec)
        return None if own is None else own.session

    def identity(self, stored: CachedObject[Any, Any], spec: Any) -> Identity | None:
        """Return the identity of the object's resource, as this process knows it; None while it is unknown."""
        return self._kind.identity(self._tracker.with_placement(stored), spec)

    def _own_beside(self, stored: CachedObject[Any, Any], spec: Any) -> ResolvedAccount | None:
        """Return the operator's own account if the status is lost, and nothing tells that no order went there.

        Only what is found by its name is looked for: a VPC under a name is anybody's.
        """
        known, history = self._tracker.latest(stored.meta.uid), self._tracker.history(stored.meta.uid)
        never = known is not None and known.order is not None and known.state is OrderState.NOT_ORDERED
        if stored.order is not None or history.seen_new or never or not self._kind.subject.by_name:
            return None
        return self._deps.accounts.own_beside(stored.meta, spec, stored.status)

    def _is_lacked(self, stored: CachedObject[Any, Any], own: ResolvedAccount, session: AccountSession, here: Identity) -> bool:
        """Whether listings of this process lack it. An unknown cluster has nothing.

        One is enough for a name that proves the owner, as it is with a single account. Two must agree on a chosen name; and
        before the object goes, a grace later: an order of an earlier process may show until then.
        """
        accepted = accepted_absence(stored.meta.annotations, reading(self._deps.clock)).of_credential(own.since)
        found: Observation[Any] = session.inventories[self._kind.inventory_name].observe(here, accepted.until)
        if isinstance(found, Unknown):
            return found.cause is UnknownReason.REJECTED
        if not isinstance(found, Absent):
            return False
        meta, first_seen = stored.meta, self._tracker.history(stored.meta.uid).first_seen
        if naming.proves(here.name, meta.uid) and not meta.deleting:
            return found.as_of >= first_seen
        shown_from = first_seen + self._deps.limits.grace if meta.deleting else first_seen
        return found.confirmed is not None and found.confirmed >= shown_from
