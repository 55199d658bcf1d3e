"""Quota usage: number and price of the VMs that are, or may be, ordered, by account and by namespace.

Running sums make each change O(1). A VM is counted together with the decision to order it, without an await in between, so
a hundred objects applied at once stop exactly at the limit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.reconcile.price import NOTHING, dollars
from gpucloud.reconcile.quota import Quota, Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.settings import Settings


@dataclass(frozen=True, slots=True)
class QuotaItem:
    """One VM that is, or may be, bought. Without a ``price`` (dollars per hour) the catalogue's current price counts."""

    namespace: str
    account: str
    configuration: str
    price: Decimal | None


@dataclass(slots=True)
class _Sum:
    vms: int = 0
    price: Decimal = NOTHING
    unpriced: Counter[str] = field(default_factory=Counter)

    def add(self, item: QuotaItem, sign: int) -> None:
        self.vms += sign
        if item.price is None:
            self.unpriced[item.configuration] += sign
        else:
            self.price += sign * item.price


def quotas_of(settings: Settings) -> tuple[Quota, Quota]:
    """Return the quotas per account and per namespace."""
    return (
        Quota("account", settings.max_vms_per_account, Decimal(str(settings.max_price_per_hour_per_account))),
        Quota("namespace", settings.max_vms_per_namespace, Decimal(str(settings.max_price_per_hour_per_namespace))),
    )


def price_limits(settings: Settings) -> dict[tuple[str], float]:
    """Return the limits on prices that are set, by scope, for metrics."""
    return {(quota.scope,): float(quota.price) for quota in quotas_of(settings) if quota.price > 0}


def vm_limits(settings: Settings) -> dict[tuple[str], float]:
    """Return the limits on the number of VMs that are set, by scope, for metrics."""
    return {(quota.scope,): float(quota.vms) for quota in quotas_of(settings) if quota.vms > 0}


class QuotaUsage:
    """Counted VMs by UID, and their sums. Counts nothing while no quota is set."""

    def __init__(self, quotas: tuple[Quota, Quota]) -> None:
        self._quotas = quotas
        self._items: dict[str, QuotaItem] = {}
        self._sums: dict[tuple[str, str], _Sum] = {}
        self._vms: Counter[tuple[str, str]] = Counter()  # by namespace and account: a scrape must not look at every VM

    @property
    def on(self) -> bool:
        """Whether any quota is set."""
        return any(quota.on for quota in self._quotas)

    def put(self, uid: str, item: QuotaItem) -> None:
        """Count this object's VM."""
        if self.on and self._items.get(uid) != item:
            self.drop(uid)
            self._items[uid] = item
            for key in _keys(item):
                self._sums.setdefault(key, _Sum()).add(item, 1)
            self._vms[_labels(item)] += 1

    def drop(self, uid: str) -> None:
        """Stop counting this object's VM: it was not bought, or is proven gone."""
        item = self._items.pop(uid, None)
        if item is None:
            return
        for key in _keys(item):
            total = self._sums[key]
            total.add(item, -1)
            if not total.vms:
                del self._sums[key]
        self._vms[_labels(item)] -= 1
        if not self._vms[_labels(item)]:
            del self._vms[_labels(item)]

    def usage(self, uid: str, namespace: str, account: str, price_of: Callable[[str], str | None]) -> tuple[Usage, ...]:
        """Return the usage of this object's account and namespace without the object itself, for each quota that is set."""
        names = {"account": account_label(namespace, account), "namespace": namespace}
        return tuple(
            self._usage(quota, names[quota.scope], self._items.get(uid), price_of) for quota in self._quotas if quota.on
        )

    def vms(self) -> dict[tuple[str, str], int]:
        """Return how many VMs the limits on their number count, by namespace and account, for metrics; nothing without one."""
        return dict(self._vms) if any(quota.vms for quota in self._quotas) else {}

    def prices(self, price_of: Callable[[str, str], str | None]) -> dict[tuple[str, str], Decimal]:
        """Return what the limits on prices count, by namespace and account, for metrics; nothing while none is set.

        ``price_of`` answers an object's UID and a configuration with the catalogue's price. An unknown price counts as 0.
        """
        sums: dict[tuple[str, str], Decimal] = {}
        for uid, item in self._items.items() if any(quota.price for quota in self._quotas) else ():
            price = dollars(price_of(uid, item.configuration)) if item.price is None else item.price
            key = _labels(item)
            sums[key] = sums.get(key, NOTHING) + (price or NOTHING)
        return sums

    def _usage(self, quota: Quota, name: str, own: QuotaItem | None, price_of: Callable[[str], str | None]) -> Usage:
        key, total = (quota.scope, name), _Sum()
        counted = self._sums.get(key)
        if counted is not None:
            total = _Sum(counted.vms, counted.price, counted.unpriced.copy())
        if own is not None and key in _keys(own):
            total.add(own, -1)
        price, unknown = total.price, 0
        for configuration, count in total.unpriced.items():
            each = dollars(price_of(configuration)) if quota.price and count else None
            price += count * (each or NOTHING)
            unknown += count if each is None else 0
        where = "The operator's own account" if name == OWN_ACCOUNT else f"The {quota.scope} {name!r}"
        return Usage(quota, where, total.vms, price, unknown)


def account_label(namespace: str, account: str) -> str:
    """Return an account's name that is unique in the Kubernetes cluster."""
    return account if account == OWN_ACCOUNT else f"{namespace}/{account}"


def _labels(item: QuotaItem) -> tuple[str, str]:
    """The labels of metrics: namespace and account."""
    return item.namespace, account_label(item.namespace, item.account)


def _keys(item: QuotaItem) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("account", account_label(item.namespace, item.account)), ("namespace", item.namespace)
