"""Searches for the resources of one kind in every cluster that a credential lists: which clusters still need a listing.

A search lists clusters that no object may use otherwise, so it is ended as soon as its object does not need it any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.reconcile.naming import same_cluster

if TYPE_CHECKING:
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.anywhere import Anywhere
    from gpucloud.reconcile.facts import Unknown
    from gpucloud.reconcile.naming import Identity


class Searches:
    """The searches that are under way, by UID of the object."""

    def __init__(self, inventory_name: str) -> None:
        self._inventory_name = inventory_name
        self._running: dict[str, Anywhere] = {}

    def places_of(
        self,
        uid: str,
        session: AccountSession,
        here: Identity,
        not_before: float,
        named: frozenset[str] = frozenset(),
        *,
        only_named: bool = False,
    ) -> tuple[tuple[Identity, ...], Unknown | None]:
        """Return where else than ``here`` listings that began at ``not_before`` (mono) or later show records of its name.

        Also why other places are unknown, as ``Anywhere.places_of`` does. The object is woken when more becomes known.
        ``named``: clusters that the spec names; with ``only_named`` no other one is looked into.
        """
        self.end_other(uid, session)
        search = self._running[uid] = session.anywhere[self._inventory_name]
        look = search.places_in if only_named else search.places_of
        found, unknown = look(uid, here.name, not_before, named)
        others = (there for there in found if there.vpc != here.vpc or not same_cluster(there.cluster, here.cluster))
        return tuple(others), unknown

    def end_other(self, uid: str, session: AccountSession | None) -> None:
        """End this object's search if it is one with another credential than its account has now."""
        if session is None or self._running.get(uid) is not session.anywhere[self._inventory_name]:
            self.end(uid)

    def end(self, uid: str) -> None:
        """List no cluster any more for this object's search."""
        search = self._running.pop(uid, None)
        if search is not None:
            search.end_search(uid)
