"""The oracle of GpuOffers: none that was never offered is written, none without a change; in the end each is there and true.

Excused in the end: an account that is not Ready, is paused, or is being deleted. Its offers are left as they are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from gpucloud.kinds.gpuoffer import GpuOffer
from gpucloud.kinds.meta import Annotation
from gpucloud.sim.world.catalogue import Place
from simulation.books import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpucloud.sim.world.catalogue import Configuration
    from simulation.world import World

FIELDS = tuple(field.alias or name for name, field in GpuOffer.model_fields.items())


class Offer(NamedTuple):
    """What one GpuOffer says."""

    place: Place
    available: bool


class Offering:
    """Looks at each write of a GpuOffer, and in the end at all that stand."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.withdrawn: dict[str, Configuration] = {}  # what the cloud offers no longer, by name

    def committed(self, commit: Any) -> None:
        """A GpuOffer has changed."""
        if commit.user != OPERATOR:
            return
        self._world.judge.sometimes[f"{commit.verb} of a GpuOffer"] += 1
        if commit.after is None:
            return
        known = {**self._world.cloud.world.catalogue.configurations, **self.withdrawn}
        if _offer(commit.after).place not in set(_places(known, _pools(self._world))):
            self._found(f"{commit.after['metadata']['name']} was written, and the cloud has offered no such thing")

    def sends(self, method: str, path: str, body: str | None) -> None:
        """An operator is about to write. A GpuOffer that nobody has written since must change by it."""
        if method != "PATCH" or body is None or "/gpuoffers/" not in path:
            return
        there = {_path(item): item for item in self._world.api.objects("gpuoffers")}.get(path)
        wanted = json.loads(body)
        if there is None or there["metadata"]["resourceVersion"] != wanted["metadata"]["resourceVersion"]:
            return
        if _said(there) == _said(wanted):
            self._found(f"{path} is written, and says what it said before")

    def unmet(self) -> Iterator[str]:
        """Each account that publishes has an offer for each thing that the cloud offers it, as it is now, and no other."""
        if not self._world.scenario.settings.offer_seconds:
            return
        offers = self._world.api.objects("gpuoffers")
        accounts = {item["metadata"]["uid"]: item for item in self._world.api.objects("gpucloudaccounts")}
        for item in offers:
            if not _owners(item) & accounts.keys():
                yield f"GpuOffer {item['metadata']['name']} has outlived its account"
        for uid, account in accounts.items():
            if _publishes(account):
                shown = {_offer(item) for item in offers if uid in _owners(item)}
                yield from self._compared(account, shown)

    def _compared(self, account: Mapping[str, Any], shown: set[Offer]) -> Iterator[str]:
        catalogue, tenant = self._world.cloud.world.catalogue, account["status"].get("tenant", "")
        places = _places(catalogue.configurations, catalogue.pools_of(tenant))
        true = {Offer(place, catalogue.free(place) > 0) for place in places}
        for offer in sorted(true ^ shown):
            there = "is missing" if offer in true else "should not be there"
            yield f"a GpuOffer of {account['metadata']['namespace']} {there}: {offer}"

    def _found(self, text: str) -> None:
        self._world.judge.found("offers", text)


def _places(configurations: Mapping[str, Configuration], pools: tuple[str, ...]) -> Iterator[Place]:
    for name, configuration in configurations.items():
        for cluster in configuration.clusters:
            for pool in pools:
                yield Place(name, cluster, pool)


def _path(item: Mapping[str, Any]) -> str:
    return f"/apis/gpucloud.dev/v1alpha1/namespaces/{item['metadata']['namespace']}/gpuoffers/{item['metadata']['name']}"


def _pools(world: World) -> tuple[str, ...]:
    """The pools of all tenants."""
    catalogue = world.cloud.world.catalogue
    return tuple({pool for tenant in ("", *catalogue.pools) for pool in catalogue.pools_of(tenant)})


def _publishes(account: Mapping[str, Any]) -> bool:
    meta, conditions = account["metadata"], (account.get("status") or {}).get("conditions") or ()
    held = "deletionTimestamp" in meta or Annotation.PAUSED in (meta.get("annotations") or {})
    return not held and any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)


def _owners(item: Mapping[str, Any]) -> set[str]:
    return {one["uid"] for one in item["metadata"].get("ownerReferences") or ()}


def _said(item: Mapping[str, Any]) -> Any:
    return [item.get(name) for name in FIELDS], _owners(item)


def _offer(item: Mapping[str, Any]) -> Offer:
    return Offer(Place(item["configuration"], item["cluster"], item.get("resourcePool", "")), item.get("available") is True)
