"""Which object of a kind owns the cloud resource that several objects claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.claims import Claim, Claims
from gpucloud.engine.kinds.indexes import Marked
from gpucloud.kinds.common import DeletionPolicy, Origin
from gpucloud.reconcile import naming
from gpucloud.reconcile import order as orders
from gpucloud.reconcile.facts import ResourceOwner
from gpucloud.reconcile.retention import recorded_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.accounts import Accounts
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.naming import Identity

CREATED, ADOPTED, CLAIMED = range(3)  # ranks of a claim, the first of which owns


class Ownership:
    """Claims of the objects of one store. First is whose UID a name bears, then who ordered it, who adopted it, the oldest."""

    def __init__(
        self,
        kind: str,
        store: Store[Any, Any],
        accounts: Accounts,
        tag: str,
        tracker: OrderTracker,
        is_recorded: Callable[[CachedObject[Any, Any]], bool] = lambda _: False,
    ) -> None:
        """``is_recorded``: whether an object without an order records what it claims; that counts as an adoption."""
        self._kind, self._store, self._accounts, self._tag, self._tracker = kind, store, accounts, tag, tracker
        self._is_recorded = is_recorded
        self._claims = Claims(self._rank, self._tenants)

    def put(self, uid: str, claim: Claim) -> set[str]:
        """Replace the object's claim; return the objects that claim what it claimed before."""
        return self._claims.put(uid, claim)

    def drop(self, uid: str) -> set[str]:
        """Drop the object's claim; return the objects that claim the same."""
        return self._claims.drop(uid)

    def of(self, uid: str) -> Claim | None:
        """Return the object's claim."""
        return self._claims.of(uid)

    def cluster_of(self, uid: str) -> str:
        """Return the cluster of what the object claims, casefolded; empty if it claims nothing."""
        claim = self._claims.of(uid)
        return "" if claim is None else claim.key.cluster

    def claimants(self, claim: Claim) -> frozenset[str]:
        """Return the UIDs of the objects that claim this."""
        return self._claims.claimants(claim)

    def is_claimed(self, claim: Claim) -> bool:
        """Whether any object claims this."""
        return claim in self._claims

    def expected(
        self,
        watched: Iterable[tuple[str, Identity]],
        url: str,
        shown: Iterable[Identity],
        has_seen: Callable[[str], bool],
    ) -> set[Identity]:
        """Return the identities that a listing should contain: what an object watches, or claims of ``shown``, and has seen.

        ``watched``: UIDs and identities; ``url``: of the cloud that listed ``shown``; ``has_seen``: whether a listing has shown
        the resource of the object with this UID.
        """
        claimed = (here for here in shown if any(map(has_seen, self.claimants(Claim(url, here)))))
        return {here for uid, here in watched if has_seen(uid)}.union(claimed)

    def owner(self, uid: str) -> ResourceOwner | None:
        """Return the other object that owns the resource that this object claims; None if there is none."""
        first = self._claims.first(uid)
        stored = None if first is None or first == uid else self._store.get(first)
        stored = self._named_for(uid) or stored
        if stored is None or self._store.get(uid) is None:
            return None
        deletion = getattr(stored.spec, "deletion", None)  # a host has none: it is never destroyed
        known = self._tracker.latest(stored.meta.uid)  # ahead of the status
        order = stored.order if known is None or known.order is None else known.order
        policy = None if deletion is None else recorded_policy(deletion.policy, order)
        return ResourceOwner(self._kind, stored.meta.namespace, stored.meta.name, keeps=policy is DeletionPolicy.RETAIN)

    def _named_for(self, uid: str) -> CachedObject[Any, Any] | None:
        """Return the other object whose UID the claimed name bears: it is that one's, whatever either of them claims now."""
        claim = self._claims.of(uid)
        if claim is None or naming.proves(claim.identity.name, uid):
            return None
        mark = naming.read_mark(claim.identity.name, self._tag)
        others = () if mark is None else self._store.indexed(Marked(mark.fingerprint))
        return next((other for other in others if other.meta.uid != uid), None)

    def _tenants(self, uid: str) -> frozenset[str]:
        """Return the tenants in which an object may have a resource: the recorded one, else those of its account's credential.

        A Secret may hold another tenant's key for a while. The resource stays where it was ordered, and is not given up.
        """
        stored = self._store.get(uid)
        if stored is None or stored.spec is None:
            return frozenset()
        if stored.status.tenancy is not None:
            return frozenset({stored.status.tenancy})
        return self._accounts.resolve(stored.meta, stored.spec, stored.status).facts.tenants

    def _rank(self, uid: str, here: Identity) -> tuple[int, str, str]:
        stored = self._store.get(uid)
        known = self._tracker.latest(uid)  # ahead of the status: two objects must not adopt one resource in one moment
        records = (None if stored is None else stored.order, None if known is None else known.order)
        claim = min(_claim_class(order, here) for order in records)
        if stored is not None and self._is_recorded(stored):
            claim = min(claim, ADOPTED)
        return (claim, "9999" if stored is None else str(stored.raw_meta.get("creationTimestamp", "")), uid)


def _claim_class(order: Order | None, here: Identity) -> int:
    """Rank a claim by its order: whether it created what has this name, or adopted that."""
    if order is None or not orders.may_exist(order) or order.name != here.name:
        return CLAIMED
    return ADOPTED if order.origin is Origin.ADOPTED else CREATED
