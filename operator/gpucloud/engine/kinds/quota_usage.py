"""What has been ordered, or may have been, by account and by namespace: the count that limits are judged by.

Kept as running sums, so that one more costs the same however many there are. An entry is made in the same breath as the
decision to order, without an await in between, so a hundred objects applied at once stop exactly at the limit.
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
    """One VM that is, or may be, bought. Without a price of its own it costs what the catalogue says now."""

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
    """The limits of an account and of a namespace."""
    return (
        Quota("account", settings.max_vms_per_account, Decimal(str(settings.max_price_per_hour_per_account))),
        Quota("namespace", settings.max_vms_per_namespace, Decimal(str(settings.max_price_per_hour_per_namespace))),
    )


class QuotaUsage:
    """All of them, by UID. Costs nothing while there is no limit."""

    def __init__(self, quotas: tuple[Quota, Quota]) -> None:
        self._quotas = quotas
        self._items: dict[str, QuotaItem] = {}
        self._sums: dict[tuple[str, str], _Sum] = {}

    @property
    def on(self) -> bool:
        """Whether there is any limit."""
        return any(quota.on for quota in self._quotas)

    def put(self, uid: str, item: QuotaItem) -> None:
        """This object's VM is, or may be, bought."""
        if self.on and self._items.get(uid) != item:
            self.drop(uid)
            self._items[uid] = item
            for key in _keys(item):
                self._sums.setdefault(key, _Sum()).add(item, 1)

    def drop(self, uid: str) -> None:
        """It is not, or is proven gone."""
        item = self._items.pop(uid, None)
        if item is None:
            return
        for key in _keys(item):
            total = self._sums[key]
            total.add(item, -1)
            if not total.vms:
                del self._sums[key]

    def usage(self, uid: str, namespace: str, account: str, price_of: Callable[[str], str | None]) -> tuple[Usage, ...]:
        """What the others of this object's account and namespace have, where these have a limit."""
        names = {"account": account_label(namespace, account), "namespace": namespace}
        return tuple(
            self._usage(quota, names[quota.scope], self._items.get(uid), price_of) for quota in self._quotas if quota.on
        )

    def _usage(self, quota: Quota, name: str, own: QuotaItem | None, price_of: Callable[[str], str | None]) -> Usage:
        key, total = (quota.scope, name), _Sum()
        standing = self._sums.get(key)
        if standing is not None:
            total = _Sum(standing.vms, standing.price, standing.unpriced.copy())
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
    """One name for an account in the whole cluster."""
    return account if account == OWN_ACCOUNT else f"{namespace}/{account}"


def _keys(item: QuotaItem) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("account", account_label(item.namespace, item.account)), ("namespace", item.namespace)
