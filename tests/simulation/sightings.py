"""The good listings of a history, and whom each could tell something: those whose account had the credential in use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.sim.world.snapshots import Snapshot
from gpucloud.sim.world.vms import Vm
from gpucloud.sim.world.vpcs import Vpc
from simulation.cloud import place_of
from simulation.credentials import TENANTS, credential_in

if TYPE_CHECKING:
    from simulation.cloud import Row

SECRET_SECONDS = 35.0  # until a Secret in use is read again
_LISTINGS = {Vm: "GetServers", Vpc: "GetVpcs", Snapshot: "GetSnapshots"}


class GoodListing(NamedTuple):
    """A listing that was handed out whole: when, of what, in which cluster (empty: all), with whose credential, to whom."""

    at: float
    operation: str
    cluster: str
    tenant: str
    credential: str
    reader: str
    heard: bool  # its reader had time to record what it shows
    arrived: float = 0.0  # when its reader had it


class _Held(NamedTuple):
    """From when on a Secret held a credential; empty: none, or one that nobody has."""

    at: float
    credential: str


class Sightings:
    """Listings, and what the Secret of each namespace held."""

    def __init__(self) -> None:
        self.listings: list[GoodListing] = []
        self._held: dict[str, list[_Held]] = {}

    def secret(self, namespace: str, data: dict[str, Any], now: float) -> None:
        """A Secret was written; it is gone when it holds nothing."""
        held, credential = self._held.setdefault(namespace, []), credential_in(data)
        if not held or held[-1].credential != credential:
            held.append(_Held(now, credential))

    def held_another(self, namespace: str, tenant: str, since: float) -> float:
        """When, from a time on, the Secret of a namespace first held another tenant's key; infinite if it never did."""
        held = self._held.get(namespace, [])
        if not held:
            return math.inf  # the operator's own account
        until = (*(one.at for one in held[1:]), math.inf)
        others = (
            max(one.at, since)
            for one, end in zip(held, until, strict=True)
            if end > since and _tenant(one.credential) not in {"", tenant}
        )
        return min(others, default=math.inf)

    def held(self, namespace: str) -> str:
        """The credential that the Secret of a namespace holds now; empty for the operator's own account."""
        return self._held[namespace][-1].credential if namespace in self._held else ""

    def forgotten(self, reader: str, since: float) -> None:
        """A process has died: nobody knows what it was shown since then."""
        lost = (one.reader == reader and one.at > since for one in self.listings)
        self.listings = [one._replace(heard=one.heard and not gone) for one, gone in zip(self.listings, lost, strict=True)]

    def arrived(self, reader: str, operation: str, cluster: str, now: float) -> None:
        """A listing has come to its reader."""
        for number in range(len(self.listings) - 1, -1, -1):
            one = self.listings[number]
            if (one.reader, one.operation, one.cluster) == (reader, operation, cluster):
                self.listings[number] = one._replace(arrived=now)
                return

    def between(self, row: Row, namespace: str, since: float, until: float, reader: str = "") -> int:
        """How many good listings of a row's cluster and tenant, which could tell this namespace something, came then.

        To ``reader``, if one is named.
        """
        tenant, places = (row.order if isinstance(row, Vm) else row).tenant, {place_of(row)[0], ""}
        asked = (one for one in self.listings if (one.operation, one.tenant) == (_LISTINGS[type(row)], tenant))
        heard = (one for one in asked if since < one.at <= until and one.cluster in places and one.heard)
        heard = (one for one in heard if reader in {"", one.reader})
        return sum(self._tells(one, namespace) for one in heard)

    def _tells(self, listing: GoodListing, namespace: str) -> bool:
        """Whether it was made for this namespace. What one namespace's account shows is nothing to the objects of another.

        Accounts with the same credential share their listings, as soon as the operator has read the Secret.
        """
        if namespace not in self._held:
            return True  # the operator's own account
        if not self._holds(namespace, listing):
            return False
        held = [one for one in self._held[namespace] if one.at <= listing.at]
        if len(held) == 1 or listing.at - held[-1].at >= SECRET_SECONDS:
            return True
        return not any(self._holds(other, listing) for other in self._held if other != namespace)

    def _holds(self, namespace: str, listing: GoodListing) -> bool:
        held = [one.credential for one in self._held[namespace] if one.at <= listing.at]
        return held[-1:] == [listing.credential]


def _tenant(credential: str) -> str:
    """Whose a credential is; empty of one that the cloud does not know."""
    return TENANTS.get(credential.rpartition(" ")[2], "")
