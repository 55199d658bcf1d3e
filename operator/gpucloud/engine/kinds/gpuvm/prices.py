"""The prices of what a GpuVM accepts, where the order of its alternatives, or a limit, depends on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gpucloud.kinds.placement import PlacementOrder
from gpucloud.reconcile import quota
from gpucloud.reconcile.gpuvm.offers import offers
from gpucloud.reconcile.price import dollars

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cloud.catalogue import Catalogue
    from gpucloud.kinds.gpuvm import GpuVMSpec
    from gpucloud.reconcile.gpuvm import VmFacts
    from gpucloud.reconcile.quota import Usage


def with_prices(f: VmFacts, catalogue: Catalogue, usage: Callable[[], tuple[Usage, ...]]) -> VmFacts:
    """Add what the catalogue shows now of the prices of alternatives, where their order or a limit depends on them.

    ``usage`` tells what the others of the account and the namespace cost.
    """
    if f.spec.placement is None:
        return f
    return replace(f, prices=_prices(f.spec, catalogue), too_dear=_too_dear(f.spec, catalogue, usage))


def _prices(spec: GpuVMSpec, catalogue: Catalogue) -> dict[str, str]:
    if spec.placement is None or spec.placement.order is not PlacementOrder.PRICE:
        return {}
    found = {one.configuration: catalogue.price_per_hour(one.configuration) for one in offers(spec)}
    return {configuration: price for configuration, price in found.items() if price is not None}


def _too_dear(spec: GpuVMSpec, catalogue: Catalogue, usage: Callable[[], tuple[Usage, ...]]) -> frozenset[str]:
    """Return which alternatives cost more than the limits on prices leave now. One without a known price is not among them."""
    others = {one.configuration for one in offers(spec)[1:]}
    limits = quota.prices_only(usage()) if others else ()
    return frozenset(one for one in others if quota.exceeded(limits, dollars(catalogue.price_per_hour(one))) is not None)
