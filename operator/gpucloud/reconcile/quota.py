"""Quotas: how many VMs, at what price, an account or a namespace may have. They stop runaway creation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpucloud.reconcile.price import NOTHING, shown, unknown

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Quota:
    """Quota of one account or of one namespace; zero: unlimited."""

    scope: str  # as in the settings' names: account, namespace
    vms: int = 0
    price: Decimal = NOTHING

    @property
    def on(self) -> bool:
        """Whether a limit is set."""
        return self.vms > 0 or self.price > 0


@dataclass(frozen=True, slots=True)
class Usage:
    """VMs that the others of an account or namespace have, or may have, and their quota."""

    quota: Quota
    where: str  # for messages: namespace 'team'
    vms: int = 0
    price: Decimal = NOTHING
    unpriced: int = 0


def needs_price(usage: tuple[Usage, ...]) -> str | None:
    """The setting that cannot be checked while a price is unknown."""
    return next((_price_setting(item.quota) for item in usage if item.quota.price), None)


def prices_only(usage: tuple[Usage, ...]) -> tuple[Usage, ...]:
    """The limits on prices alone, for a VM that is counted among the VMs already."""
    return tuple(replace(item, quota=replace(item.quota, vms=0)) for item in usage if item.quota.price > 0)


def too_dear(usage: tuple[Usage, ...], price: Decimal | None, what: str) -> str | None:
    """Return a message about the first limit that a VM of this price exceeds by itself: no other's deletion makes room."""
    for item in usage:
        quota = item.quota
        if quota.price and price is not None and price > quota.price:
            return f"{what} costs {shown(price)} dollars an hour; {_price_setting(quota)} allows {quota.price:f}."
    return None


def exceeded(usage: tuple[Usage, ...], price: Decimal | None) -> str | None:
    """Return a message about the first limit that one more VM of this price would exceed; None if it fits."""
    for item in usage:
        quota = item.quota
        if quota.vms and item.vms + 1 > quota.vms:
            return f"{_has(item)}, and --max-vms-per-{quota.scope} allows {quota.vms}."
        if quota.price and price is not None and item.price + price > quota.price:
            return (
                f"{_has(item)} of {shown(item.price)} dollars an hour{unknown(item.unpriced)}; this one costs {shown(price)}, "
                f"and {_price_setting(quota)} allows {quota.price:f}."
            )
    return None


def _price_setting(quota: Quota) -> str:
    return f"--max-price-per-hour-per-{quota.scope}"


def _has(usage: Usage) -> str:
    return f"{usage.where} has {usage.vms} VM{'' if usage.vms == 1 else 's'}"
