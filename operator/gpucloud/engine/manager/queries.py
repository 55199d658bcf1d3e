"""Queries of the metrics over the caches. Only the leader counts objects: with each replica they would count twice."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from gpucloud.engine.kinds.quota_usage import account_label
from gpucloud.engine.telemetry import collectors
from gpucloud.kinds import gpuvm
from gpucloud.kinds.common import OWN_ACCOUNT
from gpucloud.kinds.meta import ConditionType, Reason
from gpucloud.reconcile.conditions import find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.accounts import Accounts, AccountSessions
    from gpucloud.engine.controller.controller import Controller
    from gpucloud.engine.controller.reconciler import Reconciler
    from gpucloud.engine.kinds.quota_usage import QuotaUsage
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.engine.telemetry.collectors import ListingStatus
    from gpucloud.engine.telemetry.metrics import Metrics
    from gpucloud.kinds.model import Condition


class Queries:
    """Counts objects, conditions and listings at each scrape."""

    def __init__(
        self,
        reconcilers: Mapping[str, Reconciler[Any, Any, Any]],
        controllers: Mapping[str, Controller[Any, Any, Any]],
        leading: Callable[[], bool],
        clock: Clock,
        quota_usage: QuotaUsage,
    ) -> None:
        self._reconcilers, self._controllers, self._leading, self._clock = reconcilers, controllers, leading, clock
        self._quota_usage = quota_usage

    def export(self, metrics: Metrics, sessions: AccountSessions, accounts: Accounts) -> None:
        """Register the collectors of all these counts."""
        metrics.export(
            collectors.Objects(self._ready_counts),
            collectors.withheld(self._withheld),
            collectors.price_limit_usage(partial(self._price_limit_usage, accounts)),
            collectors.vm_limit_usage(self._vm_limit_usage),
            collectors.ListingStatuses(lambda: _listing_statuses(sessions), metrics.cluster),
            collectors.Fleet(self._fleet, self._clock.wall),
            collectors.Conditions(self._conditions, self._clock.wall),
            collectors.Deletions(self._deletions, self._clock.wall),
            collectors.Budgets(lambda: [(label, session.client.budget_left) for label, session in sessions]),
        )

    def _objects(self) -> Iterator[tuple[str, CachedObject[Any, Any]]]:
        reconcilers = self._reconcilers.items() if self._leading() else ()
        return ((kind, stored) for kind, reconciler in reconcilers for stored in reconciler.store)

    def _ready_counts(self) -> Iterator[tuple[str, str, str, str]]:
        for kind, stored in self._objects():
            ready = find(stored.status.conditions, ConditionType.READY)
            status, reason = (ready.status, ready.reason) if ready is not None else ("Unknown", "Pending")
            yield stored.meta.namespace, kind, status, reason

    def _conditions(self) -> Iterator[tuple[str, str, Condition]]:
        objects = self._objects()
        return ((kind, stored.meta.namespace, found) for kind, stored in objects for found in stored.status.conditions)

    def _deletions(self) -> Iterator[tuple[str, tuple[str, str], datetime]]:
        for kind, stored in self._objects():
            if (
                stored.meta.deleted_at is not None and stored.meta.has_finalizer
            ):  # else it waits for another controller's finalizer
                yield kind, _summary(stored.status.conditions), stored.meta.deleted_at

    def _fleet(self) -> Iterator[collectors.FleetVM]:
        for kind, stored in self._objects():
            if kind == gpuvm.KIND:
                meta, status = stored.meta, stored.status
                account = account_label(meta.namespace, status.account or OWN_ACCOUNT)
                yield collectors.FleetVM(meta.namespace, account, meta.uid, status)

    def _price_limit_usage(self, accounts: Accounts) -> dict[tuple[str, str], float]:
        """What the decision counts, and not the spend: towards a limit a VM that is off counts in full."""

        def price_of(uid: str, configuration: str) -> str | None:
            stored = self._reconcilers[gpuvm.KIND].store.get(uid)
            if stored is None or stored.spec is None:
                return None
            session = accounts.resolve(stored.meta, stored.spec, stored.status).session
            return None if session is None else session.catalogue.price_per_hour(configuration)

        prices = self._quota_usage.prices(price_of) if self._leading() else {}
        return {labels: float(price) for labels, price in prices.items()}

    def _vm_limit_usage(self) -> dict[tuple[str, str], float]:
        counts = self._quota_usage.vms() if self._leading() else {}
        return {labels: float(count) for labels, count in counts.items()}

    def _withheld(self) -> dict[tuple[str, str], float]:
        controllers = self._controllers.items()
        counts = Counter((kind, action) for kind, one in controllers for action in one.withheld())
        return {labels: float(count) for labels, count in counts.items()}


def _summary(conditions: Iterable[Condition]) -> tuple[str, str]:
    """Return the type and the reason of the first of Reconciling, Stalled and Ready."""
    reasons = {condition.type: condition.reason for condition in conditions}
    for kind in (ConditionType.RECONCILING, ConditionType.STALLED, ConditionType.READY):
        if kind in reasons:
            return kind, reasons[kind]
    return ConditionType.READY, Reason.PENDING


def _listing_statuses(sessions: AccountSessions) -> dict[tuple[str, str, str], ListingStatus]:
    return {
        (label, kind, cluster): listing_status
        for label, session in sessions
        for kind, inventory in session.inventories.items()
        for cluster, listing_status in inventory.listing_statuses().items()
    }
