"""Which object stands for which cloud object. One owner each, over all namespaces: the first, by a rank that is recomputed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.reconcile.naming import Identity


class Claims:
    """Identities by UID and the other way round."""

    def __init__(self, rank: Callable[[str, Identity], tuple[bool, str, str]]) -> None:
        self._rank = rank
        self._identities: dict[str, Identity] = {}
        self._claimants: dict[Identity, set[str]] = {}

    def __contains__(self, identity: Identity) -> bool:
        return identity in self._claimants

    def identity(self, uid: str) -> Identity | None:
        """What this object stands for, if it is known."""
        return self._identities.get(uid)

    def put(self, uid: str, identity: Identity) -> None:
        """This object stands for that, and for nothing it stood for before."""
        if self._identities.get(uid) == identity:
            return
        self.drop(uid)
        self._identities[uid] = identity
        self._claimants.setdefault(identity, set()).add(uid)

    def drop(self, uid: str) -> set[str]:
        """The object is gone; answers who else stands for the same, and may be first now."""
        identity = self._identities.pop(uid, None)
        if identity is None:
            return set()
        others = self._claimants[identity]
        others.discard(uid)
        if not others:
            del self._claimants[identity]
        return others

    def first(self, identity: Identity) -> str | None:
        """The UID of the owner: the lowest rank of all that stand for it."""
        claimants = self._claimants.get(identity, set())
        if len(claimants) < 2:
            return next(iter(claimants), None)
        return min(claimants, key=lambda uid: self._rank(uid, identity))
