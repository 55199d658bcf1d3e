"""Chooses the account of an object whose status was lost: its resource may have been ordered with another one.

Where our finalizer stands, and the status holds neither an order nor an account, the operator's own account may have ordered
the resource before the namespace had its account ``default``. ``default`` is used at once if it lists a name that proves the
object's UID. Otherwise it is used only when two listings of the operator's own account, both begun ten graces after this
process first saw the object, lack the resource.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cloud import observation
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import naming
from gpucloud.reconcile.evidence import status_lost_until
from gpucloud.reconcile.facts import Absent, Present, Unknown, UnknownReason

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.observing import ObservedKind
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.naming import Identity


class AccountChoice:
    """The accounts of the objects of one kind. All methods are queries; a session may request what explains a listing."""

    def __init__(self, kind: ObservedKind, deps: ReconcilerDeps, tracker: OrderTracker) -> None:
        self._kind, self._deps, self._tracker = kind, deps, tracker

    def account(self, stored: CachedObject[Any, Any], spec: Any) -> ResolvedAccount:
        """Return the object's account. As long as it may be one of two, it has no session, and ``unknown`` says why."""
        own, theirs = self._own_beside(stored, spec), self._deps.accounts.resolve(stored.meta, spec, stored.status)
        here = None if own is None else self.identity(stored, spec)
        if own is None or own.session is None or here is None:
            return theirs
        there = self._observe(stored, theirs, here)
        if isinstance(there, Present) and naming.proves(here.name, stored.meta.uid):
            return theirs
        found = self._observe(stored, own, here)
        if self._is_lacked(stored, own, found, here):
            return theirs
        if isinstance(found, Present) and not (isinstance(there, Unknown) and there.cause is UnknownReason.NOT_LISTED):
            return self._found(stored, own, here)
        return replace(own, session=None, unknown=self._undecided(stored, found))

    def is_undecided(self, stored: CachedObject[Any, Any], spec: Any, account: ResolvedAccount) -> bool:
        """Whether this account is only asked first: the object uses another one if this one lacks its resource."""
        return account.facts.name == OWN_ACCOUNT and self._own_beside(stored, spec) is not None

    def sessions(self, stored: CachedObject[Any, Any], spec: Any) -> list[AccountSession]:
        """Return the sessions of both accounts if the object's resource may be in either; else none."""
        own = self._own_beside(stored, spec)
        both = () if own is None else (own, self._deps.accounts.resolve(stored.meta, spec, stored.status))
        return [account.session for account in both if account.session is not None]

    def identity(self, stored: CachedObject[Any, Any], spec: Any) -> Identity | None:
        """Return the identity of the object's resource, as this process knows it; None while it is unknown."""
        return self._kind.identity(self._tracker.with_placement(stored), spec)

    def _own_beside(self, stored: CachedObject[Any, Any], spec: Any) -> ResolvedAccount | None:
        """Return the operator's own account if the status is lost, and nothing tells that no order went there.

        Only what is found by its name is looked for: a VPC under a name is anybody's.
        """
        if stored.order is not None or not self._kind.subject.by_name:
            return None
        known, history = self._tracker.latest(stored.meta.uid), self._tracker.history(stored.meta.uid)
        never = known is not None and known.order is not None and known.state is OrderState.NOT_ORDERED
        if history.seen_new or never:
            return None
        return self._deps.accounts.own_beside(stored.meta, spec, stored.status)

    def _observe(self, stored: CachedObject[Any, Any], account: ResolvedAccount, here: Identity) -> Observation[Any]:
        """Return what the listings of one of the two accounts show."""
        if account.session is None:
            return account.unknown or Unknown(account.since, UnknownReason.NO_ACCOUNT)
        kind = (self._kind.kind, self._kind.inventory_name)
        sought = observation.Sought(here, self._tracker.said(stored.meta, Annotation.ACCEPT_ABSENCE))
        return observation.observe(account.session, kind, stored, account, sought, self._deps.clock)

    def _is_lacked(self, stored: CachedObject[Any, Any], own: ResolvedAccount, found: Observation[Any], here: Identity) -> bool:
        """Whether the operator's own account lacks the resource: by two listings, or because it has no such cluster."""
        if isinstance(found, Unknown):
            known = own.facts.clusters
            lacked = known and not any(naming.same_cluster(name, here.cluster) for name in known)
            return found.cause is UnknownReason.REJECTED and bool(lacked)
        confirmed = found.confirmed if isinstance(found, Absent) else None
        return confirmed is not None and confirmed >= self._lost_until(stored)

    def _found(self, stored: CachedObject[Any, Any], own: ResolvedAccount, here: Identity) -> ResolvedAccount:
        """Return the operator's own account, which lists the resource; without a session if it does not serve the namespace."""
        namespace = stored.meta.namespace
        if self._deps.accounts.own_serves(namespace):
            return own
        words = (
            f"The operator's own account lists a {self._kind.subject.noun} {here.name!r}, and does not serve "
            f"namespace {namespace!r}. Ask the administrator to add the namespace (--own-account-namespace)."
        )
        return replace(own, session=None, unknown=Unknown(own.since, UnknownReason.NO_ACCOUNT, words))

    def _undecided(self, stored: CachedObject[Any, Any], found: Observation[Any]) -> Unknown:
        """Return why the account is unknown: by what the operator's own account shows."""
        if isinstance(found, Unknown):
            return found
        first_seen = self._tracker.history(stored.meta.uid).first_seen
        return Unknown(first_seen, UnknownReason.NOT_LISTED if isinstance(found, Present) else UnknownReason.STATUS_LOST)

    def _lost_until(self, stored: CachedObject[Any, Any]) -> float:
        return status_lost_until(self._tracker.history(stored.meta.uid).first_seen, self._deps.limits.grace)
