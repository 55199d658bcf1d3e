"""Searches for the resources of one kind in every cluster that a credential lists: which clusters still need a listing.

A search lists clusters that no object may use otherwise, so it is ended as soon as its object does not need it any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.engine.cache.entries import Ending
from gpucloud.reconcile.naming import same_cluster

if TYPE_CHECKING:
    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.cluster_search import ClusterSearch
    from gpucloud.reconcile.facts import Unknown
    from gpucloud.reconcile.naming import Identity


@dataclass(frozen=True, slots=True)
class Search:
    """A search for records of the name of ``here``, elsewhere, in listings that began at ``not_before`` (mono) or later.

    ``named``: clusters that the spec names; with ``only_named`` no other one is looked into.
    """

    session: AccountSession
    here: Identity
    not_before: float
    named: frozenset[str] = frozenset()
    only_named: bool = False


@dataclass(slots=True)
class _Running(Ending):
    """The search of one object that is under way, by what it is made with; it ends with the object."""

    clusters: ClusterSearch | None = None

    def end(self, uid: str) -> None:
        if self.clusters is not None:
            self.clusters.end_search(uid)
        self.clusters = None


class Searches:
    """The searches for the resources of one kind."""

    def __init__(self, inventory_name: str, entries: Entries) -> None:
        self._inventory_name, self._entries = inventory_name, entries

    def carry_on(self, uid: str, search: Search) -> None:
        """Begin or go on with the object's search: have listed what it needs, and wake the object when more becomes known.

        Nothing is searched for an object that was deleted meanwhile: nobody would end it.
        """
        self.end_other(uid, search.session)
        if uid not in self._entries:
            return
        clusters = self._entries.part(uid, _Running).clusters = search.session.cluster_searches[self._inventory_name]
        clusters.search(uid, search.here.name, search.not_before, search.named, only_named=search.only_named)

    def locations_of(self, search: Search) -> tuple[tuple[Identity, ...], Unknown | None]:
        """Return where else than ``here`` records of its name are, and why other places are unknown. A query.

        Both as ``ClusterSearch.locations_of`` returns them, for a search that was carried on in this reconcile.
        """
        clusters, here = search.session.cluster_searches[self._inventory_name], search.here
        found, unknown = clusters.locations_of(here.name, search.not_before, search.named, only_named=search.only_named)
        others = (there for there in found if there.vpc != here.vpc or not same_cluster(there.cluster, here.cluster))
        return tuple(others), unknown

    def end_other(self, uid: str, session: AccountSession | None) -> None:
        """End this object's search if it is one with another credential than its account has now."""
        running = self._entries.find(uid, _Running)
        if running is not None and (session is None or running.clusters is not session.cluster_searches[self._inventory_name]):
            running.end(uid)

    def end(self, uid: str) -> None:
        """List no cluster any more for this object's search."""
        running = self._entries.find(uid, _Running)
        if running is not None:
            running.end(uid)
