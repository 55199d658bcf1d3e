"""Decides which GpuOffers of an account to write, and which to delete since two complete answers lacked them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpucloud.reconcile.gpuoffer.offered import MOST_OFFERS, offered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord
    from gpucloud.kinds.gpuoffer import GpuOffer

GONE_AFTER = 2  # complete answers in a row that lack an offer


@dataclass(frozen=True, slots=True)
class Owner:
    """The GpuCloudAccount whose offers these are."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class CloudAnswer:
    """What the cloud answered. Only the answer of a cluster in ``complete`` proves that what it lacks is not offered there."""

    clusters: frozenset[str] = frozenset()  # all that the credential lists
    configurations: Mapping[str, ConfigurationRecord] = field(default_factory=dict)  # by name
    availability: Mapping[str, tuple[AvailabilityRecord, ...]] = field(default_factory=dict)  # by cluster
    complete: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ListedOffer:
    """A GpuOffer of the account's namespace, as the apiserver shows it."""

    name: str
    uid: str
    version: str
    owners: frozenset[str]  # UIDs of its ownerReferences
    content: Mapping[str, Any]  # its fields, those of the model only


@dataclass(frozen=True, slots=True)
class OfferFacts:
    """All that is known of an account's offers."""

    owner: Owner
    answer: CloudAnswer
    listed: Mapping[str, ListedOffer]  # by name
    misses: Mapping[str, int]  # complete answers in a row that lacked the offer, by name


@dataclass(frozen=True, slots=True)
class OfferPlan:
    """What to write (create or update) and to delete, by name, and the misses to remember."""

    write: Mapping[str, GpuOffer]
    delete: tuple[str, ...]
    misses: Mapping[str, int]


def content(offer: GpuOffer) -> dict[str, Any]:
    """Return the fields of an offer as they stand in the object."""
    return offer.model_dump(mode="json", by_alias=True, exclude_none=True)


def decide(facts: OfferFacts) -> OfferPlan:
    """Compare what is offered with the objects. What is unknown is left as it is.

    An object that bears the name of an offer stands for it, whoever made it: the name holds a hash of what it stands for.
    """
    wanted = _wanted(facts)
    misses = _misses(facts, wanted)
    return OfferPlan(
        write={name: offer for name, offer in wanted.items() if offer is not None and _differs(facts, name, offer)},
        delete=tuple(name for name, count in misses.items() if count >= GONE_AFTER),
        misses=misses,
    )


def _wanted(facts: OfferFacts) -> dict[str, GpuOffer | None]:
    """Return the offers by name; None: it is offered, and the cloud did not describe its configuration this time."""
    answer = facts.answer
    found: dict[str, GpuOffer | None] = {}
    for cluster, items in sorted(answer.availability.items()):
        found |= offered(facts.owner.name, cluster, answer.configurations, items)
    return dict(sorted(found.items())[:MOST_OFFERS])


def _differs(facts: OfferFacts, name: str, offer: GpuOffer) -> bool:
    listed = facts.listed.get(name)
    return listed is None or listed.content != content(offer) or facts.owner.uid not in listed.owners


def _misses(facts: OfferFacts, wanted: Mapping[str, GpuOffer | None]) -> dict[str, int]:
    """Count the account's objects that this answer lacks. The answer of a cluster that is not complete counts nothing."""
    unknown = {cluster.casefold() for cluster in facts.answer.clusters - facts.answer.complete}
    return {
        name: facts.misses.get(name, 0) + (str(listed.content.get("cluster", "")).casefold() not in unknown)
        for name, listed in facts.listed.items()
        if name not in wanted and facts.owner.uid in listed.owners
    }
