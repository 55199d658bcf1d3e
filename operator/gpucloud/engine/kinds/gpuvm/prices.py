"""The prices of what a GpuVM accepts, where the order of its alternatives depends on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.placement import PlacementOrder
from gpucloud.reconcile.gpuvm.offers import offers

if TYPE_CHECKING:
    from gpucloud.engine.cloud.catalogue import Catalogue
    from gpucloud.reconcile.gpuvm import VmFacts


def with_prices(f: VmFacts, catalogue: Catalogue) -> VmFacts:
    """Add the prices that the catalogue shows now."""
    if f.spec.placement is None or f.spec.placement.order is not PlacementOrder.PRICE:
        return f
    found = {one.configuration: catalogue.price_per_hour(one.configuration) for one in offers(f.spec)}
    return replace(f, prices={configuration: price for configuration, price in found.items() if price is not None})
