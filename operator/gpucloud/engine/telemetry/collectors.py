"""What is counted when somebody scrapes, from what is known then: objects, the fleet and its price, ages.

A gauge of this kind can neither drift nor outlive what it speaks of.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from prometheus_client.core import GaugeMetricFamily

from gpucloud.reconcile.gpuvm.words import known
from gpucloud.reconcile.price import dollars, in_cloud, may_be_billed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from gpucloud.kinds.gpuvm import GpuVMStatus
    from gpucloud.kinds.meta import Condition

LISTED = ("account", "kind", "cluster")  # whose credential lists which kind of record where
OTHER_STATE = "(other)"  # a word of the cloud's that its specification does not list: each would be a series of its own


@dataclass(frozen=True, slots=True)
class ListingStatus:
    """One cluster in use, as metrics tell of it."""

    age: float  # seconds since the last good listing began; while there was none, since somebody needs one
    count: int | None  # of records in it
    doubted: bool  # whether it is not believed


class Fleet:
    """VMs, their GPUs and their price, by namespace and the cloud's own word for their state."""

    def __init__(self, statuses: Callable[[], Iterable[tuple[str, GpuVMStatus]]]) -> None:
        self._statuses = statuses

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """What the cloud showed last. A VM that was never seen, or is lost or gone, is not in it."""
        vms: Counter[tuple[str, str]] = Counter()
        gpus: Counter[tuple[str, str]] = Counter()
        price: dict[tuple[str, str], Decimal] = {}
        for namespace, status in self._statuses():
            if not in_cloud(status):
                continue
            labels = namespace, status.state if status.state is not None and known(status.state) else OTHER_STATE
            vms[labels] += 1
            gpus[labels] += status.gpus or 0
            costs = dollars(status.price_per_hour) if may_be_billed(status) else None
            price[labels] = price.get(labels, Decimal(0)) + (costs or 0)
        yield _family("gpucloud_vms", "VMs by the cloud's word for their state.", ("namespace", "state"), vms)
        yield _family("gpucloud_gpus", "GPUs of these VMs.", ("namespace", "state"), gpus)
        words = "Price of these VMs when they were bought; 0 in states in which the cloud does not bill a VM's configuration."
        yield _family("gpucloud_price_dollars_per_hour", words, ("namespace", "state"), price)


class Budgets:
    """Requests that each account could send at once now."""

    def __init__(self, left: Callable[[], Iterable[tuple[str, float]]]) -> None:
        self._left = left

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """None left for long means that the budget, not the cloud, is what everybody waits for."""
        words = "Requests to the cloud that an account could send at once."
        yield _family("gpucloud_cloud_budget_requests", words, ("account",), {(name,): left for name, left in self._left()})


class Conditions:
    """Conditions that stand, by kind, in the form of Karpenter's and others' dashboards."""

    def __init__(self, standing: Callable[[], Iterable[tuple[str, Condition]]], wall: Callable[[], datetime]) -> None:
        self._standing, self._wall = standing, wall

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """How many, and how long the oldest has had its status: two families a kind. A series an object would have no bound."""
        labels, now = ("type", "status", "reason"), self._wall()
        standing = ((kind, (it.type, it.status, it.reason), it.last_transition_time) for kind, it in self._standing())
        for kind, since in _by_kind(standing):
            name = f"operator_{kind.lower()}_status_condition"
            yield _family(f"{name}_count", f"Conditions of {kind} objects.", labels, Counter(found for found, _ in since))
            words = "How long the oldest of these conditions has had its status."
            yield _family(f"{name}_current_status_seconds", words, labels, _oldest(since, now))


class Deletions:
    """Deletions under way, by kind and by what is said of them."""

    def __init__(
        self, going: Callable[[], Iterable[tuple[str, tuple[str, str], datetime]]], wall: Callable[[], datetime]
    ) -> None:
        self._going, self._wall = going, wall

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """How long the oldest has taken, one family a kind."""
        now = self._wall()
        for kind, since in _by_kind(self._going()):
            name = f"operator_{kind.lower()}_termination_current_time_seconds"
            yield _family(name, "How long the oldest deletion under way has taken.", ("type", "reason"), _oldest(since, now))


class Objects:
    """Objects by kind, Ready status and reason."""

    def __init__(self, counts: Callable[[], Iterable[tuple[str, str, str]]]) -> None:
        self._census = counts

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """All of them, ready or not."""
        words = "Objects by kind, Ready status and reason."
        yield _family("gpucloud_objects", words, ("kind", "ready", "reason"), Counter(self._census()))


class Counts:
    """Any gauge whose values somebody counts."""

    def __init__(self, name: str, words: str, labels: tuple[str, ...], counts: Callable[[], Mapping[Any, float]]) -> None:
        self._name, self._words, self._labels, self._counts = name, words, labels, counts

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """The counts of now."""
        yield _family(self._name, self._words, self._labels, self._counts())


class ListingStatuses:
    """What is seen of the cloud now: how old that is, how much, and whether it is believed."""

    def __init__(
        self, listing_statuses: Callable[[], Mapping[tuple[str, str, str], ListingStatus]], label: Callable[[str], str]
    ) -> None:
        self._sights = listing_statuses
        self._label = label

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Of clusters that share a label the oldest, the sum, and any doubt. What was never seen holds nothing known."""
        ages: dict[tuple[str, str, str], float] = {}
        counts: Counter[tuple[str, str, str]] = Counter()
        doubts: dict[tuple[str, str, str], bool] = {}
        for (account, kind, cluster), listing_status in self._sights().items():
            labels = (account, kind, self._label(cluster))
            ages[labels] = max(listing_status.age, ages.get(labels, 0.0))
            if listing_status.count is not None:
                counts[labels] += listing_status.count
                doubts[labels] = listing_status.doubted or doubts.get(labels, False)
        yield _family("gpucloud_cloud_listing_age_seconds", "Age of the last good listing.", LISTED, ages)
        yield _family("gpucloud_cloud_objects", "Records in the last good listing.", LISTED, counts)
        yield _family("gpucloud_cloud_listing_implausible", "1 while a listing is not believed.", LISTED, doubts)


class Orphans:
    """What the last looks for orphans found."""

    def __init__(
        self,
        counts: Callable[[], Iterable[tuple[tuple[str, str, str], int, float]]],
        refusals: Callable[[], Iterable[tuple[str, bool]]],
    ) -> None:
        self._counts, self._refusals = counts, refusals

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """How many, seen when, and who refuses to collect them."""
        looks = list(self._counts())
        found, ages = ({look[0]: look[part] for look in looks} for part in (1, 2))
        refused = {(account,): refuses for account, refuses in self._refusals()}
        yield _family("gpucloud_orphans", "Things of ours that no object stands for.", LISTED, found)
        yield _family("gpucloud_orphans_look_age_seconds", "Age of the last good look for orphans.", LISTED, ages)
        words = "1 while too many look orphaned to collect any."
        yield _family("gpucloud_orphans_collection_refused", words, ("account",), refused)


def _by_kind(found: Iterable[tuple[str, Any, datetime]]) -> list[tuple[str, list[tuple[Any, datetime]]]]:
    """Labels and since when, for each kind."""
    kinds: dict[str, list[tuple[Any, datetime]]] = {}
    for kind, labels, since in found:
        kinds.setdefault(kind, []).append((labels, since))
    return sorted(kinds.items())


def _oldest(since: Iterable[tuple[Any, datetime]], now: datetime) -> dict[Any, float]:
    """The longest time of those that share labels. What began later than now, by another's clock, has just begun."""
    ages: dict[Any, float] = {}
    for labels, moment in since:
        ages[labels] = max((now - moment).total_seconds(), ages.get(labels, 0.0))
    return ages


def _family(name: str, words: str, labels: tuple[str, ...], values: Mapping[Any, Any]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, words, labels=labels)
    for found, value in sorted(values.items()):
        family.add_metric(found, float(value))
    return family
