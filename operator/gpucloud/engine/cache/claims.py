"""Claims: which custom resource owns which cloud resource. A cloud resource has one owner, over all namespaces and accounts.

The owner is the claimant of the lowest rank; ranks are recomputed at each question. Accounts of different tenants may each have
a resource of the same name; an account whose tenant is unknown counts as any tenant's. An object whose account has no session
claims its resource at every endpoint, but takes precedence only over claimants of a higher rank class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpucloud.reconcile.naming import Identity

if TYPE_CHECKING:
    from collections.abc import Callable


class Claim(NamedTuple):
    """A claim: the identity of a cloud resource at one endpoint."""

    endpoint: str  # empty: unknown
    identity: Identity

    @property
    def key(self) -> Identity:
        """The identity with a casefolded cluster, so that two spellings of one cluster are the same claim."""
        return Identity(self.identity.cluster.casefold(), self.identity.vpc, self.identity.name)

    def is_rival(self, other: Claim) -> bool:
        """Whether the other claim, of the same identity, may be for the same resource."""
        return other.endpoint in {self.endpoint, ""}


class Claims:
    """Claims by UID, and claimants by identity."""

    def __init__(self, rank: Callable[[str, Identity], tuple[int, str, str]], tenants: Callable[[str], frozenset[str]]) -> None:
        self._rank = rank
        self._tenants = tenants
        self._claims: dict[str, Claim] = {}
        self._claimants: dict[Identity, set[str]] = {}  # by their keys

    def __contains__(self, claim: Claim) -> bool:
        return bool(self.claimants(claim))

    def claimants(self, claim: Claim) -> frozenset[str]:
        """Return the UIDs of the objects that claim this."""
        return frozenset(uid for uid in self._claimants.get(claim.key, ()) if claim.is_rival(self._claims[uid]))

    def of(self, uid: str) -> Claim | None:
        """Return the claim of this object, or None."""
        return self._claims.get(uid)

    def put(self, uid: str, claim: Claim) -> set[str]:
        """Replace the claim of this object; return the other claimants of the former resource."""
        if self._claims.get(uid) == claim:
            return set()
        others = self.drop(uid)
        self._claims[uid] = claim
        self._claimants.setdefault(claim.key, set()).add(uid)
        return others

    def drop(self, uid: str) -> set[str]:
        """Remove the claim of a deleted object; return the other claimants, one of which may become the owner."""
        claim = self._claims.pop(uid, None)
        if claim is None:
            return set()
        others = self._claimants[claim.key]
        others.discard(uid)
        if not others:
            del self._claimants[claim.key]
        return others.copy()

    def first(self, uid: str) -> str | None:
        """Return the UID of the owner of this object's resource: the claimant of the lowest rank."""
        claim = self._claims.get(uid)
        if claim is None:
            return None
        claimants = self._claimants[claim.key]
        if len(claimants) < 2 or not claim.endpoint:
            return uid
        mine, rank = self._tenants(uid), self._ranked(uid)
        rivals = (other for other in claimants if claim.is_rival(self._claims[other]))
        rivals = (other for other in rivals if self._claims[other].endpoint or self._ranked(other)[0] < rank[0])
        rivals = (other for other in rivals if _may_be_same(mine, self._tenants(other)))
        return min({uid, *rivals}, key=self._ranked)

    def _ranked(self, uid: str) -> tuple[int, str, str]:
        return self._rank(uid, self._claims[uid].identity)


def _may_be_same(some: frozenset[str], others: frozenset[str]) -> bool:
    return not some or not others or bool(some & others)
