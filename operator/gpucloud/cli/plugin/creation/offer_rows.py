"""``offers``, ``create``: what the cloud offers, as rows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gpucloud.engine.cloud.queries import Offers

PUBLISHED = ("configuration", "cluster", "resourcePool", "gpus", "pricePerHour", "available")


def offered(found: Offers, *, cluster: str = "", available: bool = False) -> list[dict[str, Any]]:
    """A row for each configuration and place, the cheapest first; where nothing is known of a place, one row without it."""
    places: dict[str | None, list[Any]] = {}
    for item in found.availability:
        if not cluster or item.cluster == cluster:
            places.setdefault(item.configuration, []).append(item)
    rows = [_offer(item, place) for item in found.configurations for place in places.get(item.name) or [None]]
    if available:
        rows = [row for row in rows if row["available"]]
    return sorted(rows, key=_by_price)


def published(offers: Iterable[Mapping[str, Any]], account: str) -> list[dict[str, Any]]:
    """The same, the cheapest first, of the GpuOffers of one account: without counts, and as old as the operator's last look."""
    rows = [
        {
            **{name: item.get(name) for name in PUBLISHED},
            "gpu": item.get("gpuModel"),
            "count": None,
        }
        for item in offers
        if item.get("account") == account
    ]
    return sorted(rows, key=_by_price)


def _by_price(row: Mapping[str, Any]) -> tuple[bool, float, str]:
    return row["pricePerHour"] is None, float(row["pricePerHour"] or 0), str(row["configuration"])


def free(row: Mapping[str, Any]) -> str:
    """Of a row: how many can be had now; where the cloud counts none, whether any can."""
    if row["available"] is None:
        return ""
    if not row["available"]:
        return "none"
    return "yes" if row["count"] is None else str(row["count"])


def _offer(item: Any, place: Any) -> dict[str, Any]:
    price = item.price if place is None or place.price is None else place.price
    return {
        "configuration": item.name,
        "gpus": item.gpus,
        "gpu": item.brand or item.type,
        "vcpus": item.vcpus,
        "memoryGB": item.memory,
        "storageGB": item.storage,
        "pricePerHour": None if price is None else f"{price:.2f}",
        "cluster": None if place is None else place.cluster,
        "resourcePool": None if place is None else place.rpool,
        "available": None if place is None else place.available,
        "count": None if place is None else place.count,
        "maxCount": None if place is None else place.max_count,
        "availableNodes": [] if place is None else list(place.available_node_names),
        "configurationId": item.id,
        "title": item.user_friendly_name,
        "description": item.description,
        "brandFamily": item.brand_family,
        "textName": item.text_name,
        "computeNetwork": item.compute_network,
        "isGPUPlatform": item.is_gpu_platform,
    }
