"""What to write of an account's GpuOffers: those that are new, that changed, and that two complete answers lacked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpucloud.reconcile.gpuoffer.offered import MOST_OFFERS, offered

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from gpucloud.cloud.models import AvailabilityRecord, ConfigurationRecord
    from gpucloud.kinds.gpuoffer import GpuOffer

GONE_AFTER = 2  # complete answers in a row that lack an offer
MASS_GONE_AFTER = 12  # if many offers vanish at once: as many answers again make it credible; an hour, by default
MASS_COUNT, MASS_SHARE = 3, 0.3  # at least so many offers, and more than this share of the account's


@dataclass(frozen=True, slots=True)
class Owner:
    """The GpuCloudAccount whose offers these are."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class CloudAnswer:
    """What the cloud answered. A cluster whose availability could not be read, or not wholly, is not in ``complete``."""

    clusters: frozenset[str] = frozenset()  # all that the credential lists
    configurations: Mapping[str, ConfigurationRecord] = field(default_factory=dict)  # by name
    availability: Mapping[str, tuple[AvailabilityRecord, ...]] = field(default_factory=dict)  # by cluster
    complete: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ListedOffer:
    """A GpuOffer of the account as the apiserver shows it."""

    name: str
    uid: str
    version: str
    content: Mapping[str, Any]  # its fields, those of the model only


@dataclass(frozen=True, slots=True)
class OfferFacts:
    """All that is known of an account's offers."""

    owner: Owner
    answer: CloudAnswer
    listed: Mapping[str, ListedOffer]  # by name; only those that the account owns
    misses: Mapping[str, int]  # complete answers in a row that lacked the offer, by name
    settling: AbstractSet[str]  # names of those written less than a minute ago


@dataclass(frozen=True, slots=True)
class OfferPlan:
    """What to write. ``held``: how many offers are kept although they are lacking, since too many vanished at once."""

    create: Mapping[str, GpuOffer]
    update: Mapping[str, GpuOffer]
    delete: tuple[str, ...]
    misses: Mapping[str, int]
    held: int = 0


def content(offer: GpuOffer) -> dict[str, Any]:
    """Return the fields of an offer as they stand in the object."""
    return offer.model_dump(mode="json", by_alias=True, exclude_none=True)


def decide(facts: OfferFacts) -> OfferPlan:
    """Compare what is offered with what stands. What is unknown is left as it stands."""
    wanted = _wanted(facts)
    known = {name: offer for name, offer in wanted.items() if offer is not None and name not in facts.settling}
    misses = {name: facts.misses.get(name, 0) + 1 for name in _lacking(facts, wanted)}
    many = len(misses) >= MASS_COUNT and len(misses) > MASS_SHARE * len(facts.listed)
    gone = tuple(sorted(name for name, count in misses.items() if count >= (MASS_GONE_AFTER if many else GONE_AFTER)))
    return OfferPlan(
        create=_within_limit({name: offer for name, offer in known.items() if name not in facts.listed}, len(facts.listed)),
        update={
            name: offer
            for name, offer in known.items()
            if name in facts.listed and facts.listed[name].content != content(offer)
        },
        delete=gone,
        misses=_still_counted(facts, wanted, misses),
        held=len(misses) - len(gone) if many else 0,
    )


def _wanted(facts: OfferFacts) -> dict[str, GpuOffer | None]:
    answer = facts.answer
    found: dict[str, GpuOffer | None] = {}
    for cluster, items in sorted(answer.availability.items()):
        found |= offered(facts.owner.name, cluster, answer.configurations, items)
    return found


def _lacking(facts: OfferFacts, wanted: Mapping[str, GpuOffer | None]) -> list[str]:
    """Return the names of the objects that a complete answer lacks: of their cluster, or of the clusters."""
    unknown = {cluster.casefold() for cluster in facts.answer.clusters - facts.answer.complete}
    return [
        name
        for name, listed in facts.listed.items()
        if name not in wanted and str(listed.content.get("cluster", "")).casefold() not in unknown
    ]


def _still_counted(facts: OfferFacts, wanted: Mapping[str, GpuOffer | None], misses: Mapping[str, int]) -> dict[str, int]:
    """Return the new counts, and the old ones of offers of which this answer says nothing."""
    kept = {name: count for name, count in facts.misses.items() if name in facts.listed and name not in wanted}
    return {**kept, **misses}


def _within_limit(new: dict[str, GpuOffer], standing: int) -> dict[str, GpuOffer]:
    return dict(sorted(new.items())[: max(0, MOST_OFFERS - standing)])
