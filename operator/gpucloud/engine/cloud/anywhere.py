"""Finds the records of a name in every cluster that a credential knows, whether or not an object uses that cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpucloud.cloud.errors import CloudError
from gpucloud.engine.cloud.cluster_records import CAUSES
from gpucloud.reconcile.facts import Unknown, UnknownReason

if TYPE_CHECKING:
    from gpucloud.cloud.reader import CloudReader
    from gpucloud.engine.cloud.cluster_records import Listed
    from gpucloud.engine.cloud.inventory import Inventory
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.naming import Identity


class Anywhere:
    """Listings of all clusters, one of each, which the objects that look for a name share."""

    def __init__(self, client: CloudReader, inventory: Inventory[Any], clock: Clock) -> None:
        self._client, self._inventory, self._clock = client, inventory, clock
        self._listed: dict[str, Listed[Any]] = {}  # by cluster

    async def places_of(self, name: str, not_before: float) -> tuple[Identity, ...] | Unknown:
        """Return all places with a record of this name, by listings that began at ``not_before`` (mono) or later.

        Unknown if any cluster, which ``detail`` names, or the list of them cannot be listed: the record may be there.
        """
        began = self._clock.mono()
        try:
            clusters = await self._client.get_all_clusters()
        except CloudError as error:
            return Unknown(began, CAUSES.get(error.kind, UnknownReason.UNREACHABLE))
        found: list[Identity] = []
        for cluster in sorted(clusters):
            listed = await self._listing(cluster, not_before)
            if isinstance(listed, Unknown):
                return Unknown(began, listed.cause, cluster)
            found += (here for here in listed.records if here.name == name)
        return tuple(found)

    async def _listing(self, cluster: str, not_before: float) -> Listed[Any] | Unknown:
        kept = self._listed.get(cluster)
        if kept is not None and kept.as_of >= not_before:
            return kept
        listed = await self._inventory.listing(cluster, not_before)
        if not isinstance(listed, Unknown):
            self._listed[cluster] = listed
        return listed
