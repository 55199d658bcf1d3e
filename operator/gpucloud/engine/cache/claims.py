"""Which object stands for which cloud object. One owner each, over all namespaces and accounts.

The first by a rank that is recomputed. Two accounts of different tenants may each have a thing of the same name; as long as it
is not known whose an account is, it counts as the same tenant's. An object whose account has no session claims its thing behind
any endpoint, but only before those whose rank shows that they have ordered less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gpucloud.reconcile.naming import Identity

if TYPE_CHECKING:
    from collections.abc import Callable


class Claim(NamedTuple):
    """What an object stands for: something in the cloud behind one endpoint."""

    endpoint: str  # empty: unknown
    identity: Identity

    @property
    def key(self) -> Identity:
        """The same for every spelling of the cluster: two objects that spell it differently claim the same thing."""
        return Identity(self.identity.cluster.casefold(), self.identity.vpc, self.identity.name)

    def is_rival(self, other: Claim) -> bool:
        """Whether the other claim, of the same identity, may be of the same thing."""
        return other.endpoint in {self.endpoint, ""}


class Claims:
    """Claims by UID and the other way round."""

    def __init__(self, rank: Callable[[str, Identity], tuple[int, str, str]], tenants: Callable[[str], frozenset[str]]) -> None:
        self._rank = rank
        self._tenants = tenants
        self._claims: dict[str, Claim] = {}
        self._claimants: dict[Identity, set[str]] = {}  # by their keys

    def __contains__(self, claim: Claim) -> bool:
        return any(claim.is_rival(self._claims[uid]) for uid in self._claimants.get(claim.key, ()))

    def of(self, uid: str) -> Claim | None:
        """What this object stands for, if it is known."""
        return self._claims.get(uid)

    def put(self, uid: str, claim: Claim) -> set[str]:
        """This object stands for that, and for nothing it stood for before; answers who stood beside it there."""
        if self._claims.get(uid) == claim:
            return set()
        others = self.drop(uid)
        self._claims[uid] = claim
        self._claimants.setdefault(claim.key, set()).add(uid)
        return others

    def drop(self, uid: str) -> set[str]:
        """The object is gone; answers who else stands for the same, and may be first now."""
        claim = self._claims.pop(uid, None)
        if claim is None:
            return set()
        others = self._claimants[claim.key]
        others.discard(uid)
        if not others:
            del self._claimants[claim.key]
        return others.copy()

    def first(self, uid: str) -> str | None:
        """The UID of the owner of what this object stands for: the lowest rank of all that stand for it."""
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
