"""The preconditions that every call for an object has, whatever its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cloud.port import Precondition
from gpucloud.reconcile import order as orders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.accounts import Accounts
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.engine.kinds.dependents import Dependent
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.engine.kinds.ownership import Ownership
    from gpucloud.reconcile.core.facts import CloudFacts
    from gpucloud.reconcile.facts import Verb


@dataclass(frozen=True, slots=True)
class Preconditions:
    """Where the newest views of objects, accounts and orders are."""

    store: Store[Any, Any]
    ownership: Ownership
    accounts: Accounts
    tracker: OrderTracker
    dependents: Callable[[CachedObject[Any, Any], Any], Iterator[Dependent]]

    def of(
        self, stored: CachedObject[Any, Any], facts: CloudFacts[Any, Any, Any], verb: Verb, inventory: Inventory[Any]
    ) -> Iterator[Precondition]:
        """Yield what must be true of the object, its account and its order in the instant of sending.

        A creating call may have waited for the request budget, or be repeated after a login: a listing that came meanwhile
        may show that somebody else has taken the name. ``inventory`` has the kind's listings.
        """
        uid = stored.meta.uid
        yield Precondition("the object still says what was decided upon", lambda: self.store.is_current(stored))
        yield Precondition("no other object owns the resource", lambda: self.ownership.owner(uid) is None)
        if verb is facts.subject.destroy:
            yield Precondition("no other object needs the resource", lambda: not any(self.dependents(stored, facts.spec)))
        if verb is facts.subject.create:
            yield Precondition("its account may create", lambda: self._may_create(facts))
            yield Precondition("its order is recorded in status", lambda: self._may_order(uid))
            yield Precondition("no listing shows its name", lambda: not inventory.shows(facts.identity))

    def _may_create(self, facts: CloudFacts[Any, Any, Any]) -> bool:
        """Whether the account may still create: neither the account nor its Secret is being deleted."""
        account = self.accounts.resolve(facts.meta, facts.spec, facts.status)
        return not any(account.blockers(ends_a_vm=facts.ends_a_vm))

    def _may_order(self, uid: str) -> bool:
        latest = self.store.get(uid)
        return latest is not None and orders.may_be_sent(self.tracker.latest(uid), latest.order)
