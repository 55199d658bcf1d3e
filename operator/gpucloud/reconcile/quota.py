"""The other side of the brake: how many VMs, at what price, an account or a namespace may have. It stops runaway creation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpucloud.reconcile.price import NOTHING, shown, unknown

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Quota:
    """What one account, or one namespace, may have; zero: no limit."""

    scope: str  # as the settings spell it: account, namespace
    vms: int = 0
    price: Decimal = NOTHING

    @property
    def on(self) -> bool:
        """Whether anything can ever be refused."""
        return self.vms > 0 or self.price > 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What the others of an account or namespace have, or may have, already, beside the quota that counts them."""

    quota: Quota
    where: str  # for people: namespace 'team'
    vms: int = 0
    price: Decimal = NOTHING
    unpriced: int = 0


def needs_price(usage: tuple[Usage, ...]) -> str | None:
    """The setting that cannot be judged while a price is not known."""
    return next((_price_setting(item.quota) for item in usage if item.quota.price), None)


def exceeded(usage: tuple[Usage, ...], price: Decimal | None) -> str | None:
    """Words about the first limit that one more VM of this price would go beyond; None: it fits."""
    for item in usage:
        quota = item.quota
        if quota.vms and item.vms + 1 > quota.vms:
            return f"{_has(item)}, and --max-vms-per-{quota.scope} allows {quota.vms}."
        if quota.price and price is not None and item.price + price > quota.price:
            return (
                f"{_has(item)} of {shown(item.price)} dollars an hour{unknown(item.unpriced)}; this one costs {shown(price)} "
                f"more, and {_price_setting(quota)} allows {quota.price:f}."
            )
    return None


def _price_setting(quota: Quota) -> str:
    return f"--max-price-per-hour-per-{quota.scope}"


def _has(usage: Usage) -> str:
    return f"{usage.where} has {usage.vms} VM{'' if usage.vms == 1 else 's'} already"
