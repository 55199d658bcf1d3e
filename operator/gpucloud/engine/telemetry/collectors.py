"""Collectors: gauges that are computed at each scrape from the current caches (objects, VMs and their price, ages).

A computed gauge cannot drift, and its series disappear with their objects.
"""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prometheus_client.core import GaugeMetricFamily

from gpucloud.reconcile.gpuvm.vm_states import documented
from gpucloud.reconcile.price import NOTHING, accrued, dollars, in_cloud, may_be_billed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from decimal import Decimal

    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.kinds.model import Condition

LISTED = ("account", "kind", "cluster")  # the account whose credential lists this kind of record in this cluster
OTHER_STATE = "(other)"  # states that the cloud's specification does not list share one series


@dataclass(frozen=True, slots=True)
class ListingStatus:
    """State of one listing, as the metrics show it."""

    age: float  # seconds since the last good listing began, or since the first request while there is none
    count: int | None  # records in the last good listing
    doubted: bool  # the listing is implausible, so the operator does not believe it


@dataclass(frozen=True, slots=True)
class FleetVM:
    """A GpuVM of the fleet."""

    namespace: str
    account: str  # namespace/name, or the operator's own
    uid: str
    status: GpuVMStatus


class Fleet:
    """VMs, their GPUs, their price and their cost so far, by namespace, account and cloud state."""

    def __init__(self, vms: Callable[[], Iterable[FleetVM]], wall: Callable[[], datetime]) -> None:
        self._vms, self._wall = vms, wall

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Count the VMs that the cloud showed last, without VMs never seen, lost, gone, or of another object's record."""
        vms: Counter[tuple[str, str]] = Counter()
        gpus: Counter[tuple[str, str]] = Counter()
        price: dict[tuple[str, str, str], Decimal] = {}
        cost: dict[tuple[str, str], Decimal] = {}
        now = self._wall()
        for vm in self._vms():
            status = vm.status
            if not in_cloud(status, vm.uid):
                continue
            state = documented(status.state) or OTHER_STATE
            vms[vm.namespace, state] += 1
            gpus[vm.namespace, state] += status.gpus or 0
            each = dollars(status.price_per_hour) or NOTHING
            _add(price, (vm.namespace, vm.account, state), each if may_be_billed(status, vm.uid) else NOTHING)
            _add(cost, (vm.namespace, vm.account), accrued(each, status.billed_since, status.billed_seconds or 0, now))
        yield _family("gpucloud_vms", "VMs by the cloud's word for their state.", ("namespace", "state"), vms)
        yield _family("gpucloud_gpus", "GPUs of these VMs.", ("namespace", "state"), gpus)
        words = "Price of these VMs when they were bought; 0 in states in which the cloud does not bill a VM's configuration."
        yield _family("gpucloud_price_dollars_per_hour", words, ("namespace", "account", "state"), price)
        words = "What these VMs have cost since they were bought, as far as the operator saw them billed."
        yield _family("gpucloud_accrued_cost_dollars", words, ("namespace", "account"), cost)


class Budgets:
    """Request budget left, by account."""

    def __init__(self, left: Callable[[], Iterable[tuple[str, float]]]) -> None:
        self._left = left

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Export the budget. A budget that stays at 0 means that reconciles wait for it and not for the cloud."""
        words = "Requests to the cloud that an account could send at once."
        yield _family("gpucloud_cloud_budget_requests", words, ("account",), {(name,): left for name, left in self._left()})


class Conditions:
    """Current conditions, by kind and namespace, named as Karpenter's dashboards expect."""

    def __init__(self, conditions: Callable[[], Iterable[tuple[str, str, Condition]]], wall: Callable[[], datetime]) -> None:
        self._conditions, self._wall = conditions, wall

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Export two families per kind: the count, and the age of the oldest status. Series per object would be unbounded."""
        labels, now = ("type", "status", "reason"), self._wall()
        conditions = ((kind, (namespace, *_words(it)), it.last_transition_time) for kind, namespace, it in self._conditions())
        for kind, since in _by_kind(conditions):
            name, counts = f"operator_{kind.lower()}_status_condition", Counter(found for found, _ in since)
            yield _family(f"{name}_count", "Conditions of the objects of this kind.", ("namespace", *labels), counts)
            words = "Age of the oldest of these conditions, since it took its status."
            ages = _oldest(((found[1:], moment) for found, moment in since), now)
            yield _family(f"{name}_current_status_seconds", words, labels, ages)


class Deletions:
    """Deletions in progress, by kind, condition type and reason."""

    def __init__(
        self, going: Callable[[], Iterable[tuple[str, tuple[str, str], datetime]]], wall: Callable[[], datetime]
    ) -> None:
        self._going, self._wall = going, wall

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Export the age of the oldest deletion, one family per kind."""
        now = self._wall()
        for kind, since in _by_kind(self._going()):
            name = f"operator_{kind.lower()}_termination_current_time_seconds"
            yield _family(name, "Age of the oldest deletion in progress.", ("type", "reason"), _oldest(since, now))


class Objects:
    """Objects by namespace, kind, Ready status and reason."""

    def __init__(self, counts: Callable[[], Iterable[tuple[str, str, str, str]]]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Export the number of objects."""
        words = "Objects by namespace, kind, Ready status and reason."
        yield _family("gpucloud_objects", words, ("namespace", "kind", "ready", "reason"), Counter(self._counts()))


class Counts:
    """A gauge whose values come from a callback."""

    def __init__(self, name: str, words: str, labels: tuple[str, ...], counts: Callable[[], Mapping[Any, float]]) -> None:
        self._name, self._words, self._labels, self._counts = name, words, labels, counts

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Export the current values."""
        yield _family(self._name, self._words, self._labels, self._counts())


def build(version: str) -> Counts:
    """Which version runs."""
    labels = ("version", "python_version")
    running = {(version, platform.python_version()): 1.0}
    return Counts("gpucloud_build_info", "1; the labels name the versions.", labels, lambda: running)


def held(counts: Callable[[], Mapping[tuple[str], float]]) -> Counts:
    """Deletions that the deletion guard holds, by namespace."""
    return Counts("gpucloud_deletions_held", "GpuVMs that the deletion guard holds.", ("namespace",), counts)


def price_limits(limits: Mapping[tuple[str], float]) -> Counts:
    """Limits on prices that are set, by scope: account or namespace."""
    words = "Dollars an hour that one account or one namespace may spend on VMs, where a limit is set."
    return Counts("gpucloud_price_limit_dollars_per_hour", words, ("scope",), lambda: limits)


def price_limit_usage(usage: Callable[[], Mapping[tuple[str, str], float]]) -> Counts:
    """What the limits on prices count, by namespace and account."""
    name, words = "gpucloud_price_limit_usage_dollars_per_hour", "Dollars an hour that count towards a limit on prices."
    return Counts(name, words, ("namespace", "account"), usage)


def vm_limits(limits: Mapping[tuple[str], float]) -> Counts:
    """Limits on the number of VMs that are set, by scope: account or namespace."""
    words = "GpuVMs that one account or one namespace may have ordered, where a limit is set."
    return Counts("gpucloud_vm_limit", words, ("scope",), lambda: limits)


def vm_limit_usage(usage: Callable[[], Mapping[tuple[str, str], float]]) -> Counts:
    """What the limits on the number of VMs count, by namespace and account."""
    words = "GpuVMs that count towards a limit on their number."
    return Counts("gpucloud_vm_limit_usage", words, ("namespace", "account"), usage)


def withheld(actions: Callable[[], Mapping[tuple[str, str], float]]) -> Counts:
    """Actions that --observe-only withholds, by kind and action."""
    words = "Actions that --observe-only withholds now."
    return Counts("gpucloud_withheld_actions", words, ("kind", "action"), actions)


def watch_ages(ages: Callable[[], Mapping[tuple[str], float]]) -> Counts:
    """Seconds since each kind's watch last matched a list."""
    words = "Time since a list of this kind last agreed with the watch."
    return Counts("gpucloud_watch_age_seconds", words, ("kind",), ages)


def leadership(name: str, is_leader: Callable[[], bool]) -> Counts:
    """Whether this process holds the named Lease, under client-go's metric name."""
    words = "1 while this process holds the Lease, 0 while it stands by."
    return Counts("leader_election_master_status", words, ("name",), lambda: {(name,): float(is_leader())})


class ListingStatuses:
    """Listings by account, kind and cluster: age, number of records, and whether they are implausible."""

    def __init__(
        self, listing_statuses: Callable[[], Mapping[tuple[str, str, str], ListingStatus]], label: Callable[[str], str]
    ) -> None:
        self._listing_statuses = listing_statuses
        self._label = label

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Export the listings. Clusters that share a label show the oldest age, the sum, and any doubt."""
        ages: dict[tuple[str, str, str], float] = {}
        counts: Counter[tuple[str, str, str]] = Counter()
        doubts: dict[tuple[str, str, str], bool] = {}
        for (account, kind, cluster), listing_status in self._listing_statuses().items():
            labels = (account, kind, self._label(cluster))
            ages[labels] = max(listing_status.age, ages.get(labels, 0.0))
            if listing_status.count is not None:
                counts[labels] += listing_status.count
                doubts[labels] = listing_status.doubted or doubts.get(labels, False)
        yield _family("gpucloud_cloud_listing_age_seconds", "Age of the last good listing.", LISTED, ages)
        yield _family("gpucloud_cloud_objects", "Records in the last good listing.", LISTED, counts)
        yield _family("gpucloud_cloud_listing_implausible", "1 while a listing is not believed.", LISTED, doubts)


class Orphans:
    """Results of the last orphan scans."""

    def __init__(
        self,
        counts: Callable[[], Iterable[tuple[tuple[str, str, str], int, float]]],
        refusals: Callable[[], Iterable[tuple[str, bool]]],
    ) -> None:
        self._counts, self._refusals = counts, refusals

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Export the number of orphans, the age of the scan, and the accounts that refuse collection."""
        scans = list(self._counts())
        found, ages = ({scan[0]: scan[part] for scan in scans} for part in (1, 2))
        refused = {(account,): refuses for account, refuses in self._refusals()}
        yield _family("gpucloud_orphans", "VMs and snapshots of this installation without a custom resource.", LISTED, found)
        yield _family("gpucloud_orphans_scan_age_seconds", "Age of the last successful scan for orphans.", LISTED, ages)
        words = "1 while so much looks orphaned that nothing is collected."
        yield _family("gpucloud_orphans_collection_refused", words, ("account",), refused)


def _add(sums: dict[Any, Decimal], labels: Any, amount: Decimal) -> None:
    sums[labels] = sums.get(labels, NOTHING) + amount


def _words(condition: Condition) -> tuple[str, str, str]:
    return condition.type, condition.status, condition.reason


def _by_kind(found: Iterable[tuple[str, Any, datetime]]) -> list[tuple[str, list[tuple[Any, datetime]]]]:
    """Labels and start times, grouped by kind."""
    kinds: dict[str, list[tuple[Any, datetime]]] = {}
    for kind, labels, since in found:
        kinds.setdefault(kind, []).append((labels, since))
    return sorted(kinds.items())


def _oldest(since: Iterable[tuple[Any, datetime]], now: datetime) -> dict[Any, float]:
    """The greatest age per label set. A start time in the future (clock skew) counts as age 0."""
    ages: dict[Any, float] = {}
    for labels, moment in since:
        ages[labels] = max((now - moment).total_seconds(), ages.get(labels, 0.0))
    return ages


def _family(name: str, words: str, labels: tuple[str, ...], values: Mapping[Any, Any]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=labels)
    for found, value in sorted(values.items()):
        family.add_metric(found, float(value))
    return family
