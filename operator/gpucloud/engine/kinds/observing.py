"""Observes the resource of one object: the first step of a reconcile, and the only one that moves the order by what is listed.

Everything after it only reads what this step has recorded, until the plan is acted upon.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from gpucloud.engine.cloud import observation
from gpucloud.engine.kinds.order_tracking import Recorded
from gpucloud.engine.kinds.searches import Search
from gpucloud.engine.runtime.clock import reading
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import Annotation
from gpucloud.reconcile import evidence, placement
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import DESTROYS, Absent, Asked, Unknown, UnknownReason
from gpucloud.reconcile.tenancy import bound_tenant, ordered_elsewhere

if TYPE_CHECKING:
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import ResolvedAccount
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.engine.kinds.searches import Searches
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
    unsearched: Unknown | None = None  # of an object that is being deleted: why its resource may be in another cluster


class Observer:
    """Observes the resources of one kind."""

    def __init__(self, kind: ObservedKind, deps: ReconcilerDeps, tracker: OrderTracker, searches: Searches) -> None:
        self._kind, self._deps, self._tracker, self._searches = kind, deps, tracker, searches

    def observe(self, stored: CachedObject[Any, Any], spec: Any, account: ResolvedAccount) -> Observed:
        """Take in the order that status records and what listings show of it; return what is known now."""
        meta, status, now = stored.meta, stored.status, reading(self._deps.clock)
        self._tracker.begin(meta.uid, deleting=meta.deleting)
        asked = None if meta.deleting else meta.annotations.get(Annotation.RECONCILE_REQUESTED_AT) or None
        answered = Asked(status.observed_generation, status.last_handled_reconcile_at)
        recorded = Recorded(stored.order, answered, deleting=meta.deleting)
        tracked = self._tracker.take_over(meta.uid, recorded, self._kind.subject.destroy, now)
        tracked = orders.asked_again(tracked, asked, status.last_handled_reconcile_at, now.mono)
        self._tracker.update(meta.uid, tracked)
        here = self._kind.identity(self._tracker.with_placement(stored), spec)  # as the record that was taken over says
        nonce = self._deps.entropy.token_hex(8)
        found = self._find(stored, spec, account, here, tracked)
        seen = self._moved_on(stored, spec, account, Observed(now, here, found, tracked, nonce))
        return self._searched(stored, spec, account, seen) if meta.deleting else seen

    def _moved_on(self, stored: CachedObject[Any, Any], spec: Any, account: ResolvedAccount, seen: Observed) -> Observed:
        """Return what is known after the order was moved by what the listings show."""
        here, found, tracked = seen.identity, seen.found, seen.tracked
        while here is not None:
            proofs = replace(self._kind.proofs(stored, spec, here, found), nonce=seen.nonce)
            tracked = self._tracker.observe(stored.meta.uid, tracked, found, proofs, seen.now)
            if orders.may_exist(tracked.order):
                break
            before, here = here, self._kind.identity(self._tracker.with_placement(stored), spec)
            if here == before:
                break
            found = self._find(stored, spec, account, here, tracked)  # what is where the cloud had placed it is another's
        return replace(seen, identity=here, found=found, tracked=tracked)

    def _searched(self, stored: CachedObject[Any, Any], spec: Any, account: ResolvedAccount, seen: Observed) -> Observed:
        """Search every cluster for the mark of an object that is being deleted, if its record does not tell where it may be.

        What is found is followed there as this object's, once nothing may exist where it was looked for.
        """
        uid, here, now = stored.meta.uid, seen.identity, seen.now
        proofs = None if here is None else replace(self._kind.proofs(stored, spec, here, seen.found), nonce=seen.nonce)
        if proofs is None or account.session is None or not self._must_search(uid, proofs, seen):
            self._searches.end(uid)
            return seen
        there, unsearched = self._search(uid, account.session, proofs, seen)
        if there is None:
            return replace(seen, unsearched=unsearched)
        if isinstance(seen.found, Absent) and orders.may_exist(seen.tracked.order):
            return replace(seen, unsearched=Unknown(now.mono, UnknownReason.NOT_LISTED))  # first what it was looked for here
        tracked = evidence.found_elsewhere(seen.tracked, proofs, there, now.mono)
        self._tracker.update(uid, tracked)
        self._tracker.forget_calls(uid, DESTROYS)
        found = self._find(stored, spec, account, there, tracked)
        return self._moved_on(stored, spec, account, replace(seen, identity=there, found=found, tracked=tracked))

    def _must_search(self, uid: str, proofs: Proofs, seen: Observed) -> bool:
        """Whether the place where it was looked for lacks it or does not exist, and the record tells of no other."""
        rejected = isinstance(seen.found, Unknown) and seen.found.cause is UnknownReason.REJECTED
        if not (proofs.marked and (rejected or isinstance(seen.found, Absent))):
            return False
        return evidence.may_be_anywhere(seen.tracked, self._tracker.history(uid))

    def _search(
        self, uid: str, session: AccountSession, proofs: Proofs, seen: Observed
    ) -> tuple[Identity | None, Unknown | None]:
        """Carry on the search; return another place of the mark, or why it is not known that there is none."""
        for since in evidence.search_times(seen.tracked, self._tracker.history(uid), proofs):
            if seen.now.mono < since:  # no listing that began until now counts
                return None, Unknown(since, UnknownReason.NOT_LISTED)
            search = Search(session, proofs.here, since)
            self._searches.carry_on(uid, search)
            found, unsearched = self._searches.locations_of(search)
            if found or unsearched is not None:
                return (found[0], None) if found else (None, unsearched)
        return None, None

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
            return Unknown(now, UnknownReason.NOT_LISTED)  # the end of the first lists wakes all objects
        if here is None:
            return Unknown(now, UnknownReason.UNPLACED)
        wanted, order = self._kind.desired_identity(self._tracker.with_placement(stored), spec), tracked.order
        if wanted is not None and order is not None and placement.is_moved(order, wanted):
            return Unknown(now, UnknownReason.MOVED, placement.moved_message(order, self._kind.subject.noun))
        if account.session is None:
            return account.unknown or Unknown(now, UnknownReason.NO_ACCOUNT)
        tenant = bound_tenant(tracked, stored.status.tenancy) or self._tracker.tenancy(stored.meta.uid)
        other = self._tracker.ordered_with_another(stored.meta.uid, account.session.learned)
        lost = orders.is_unrecorded(tracked.order) and not self._tracker.history(stored.meta.uid).seen_new
        elsewhere = None
        if tenant is None:
            elsewhere = ordered_elsewhere(tracked, account.tenant, account.facts, other_credential=other, status_lost=lost)
        sought = observation.Sought(here, self._tracker.said(stored.meta, Annotation.ACCEPT_ABSENCE), tenant, elsewhere)
        kind = (self._kind.kind, self._kind.inventory_name)
        return observation.observe(account.session, kind, stored, account, sought, self._deps.clock)
