"""The inventory's cached records of one cluster, what is found among them, and the interface of its metrics."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.listing_spacing import ListingSpacing
from gpucloud.engine.cloud.presence import after_failure, after_listing
from gpucloud.engine.telemetry.collectors import ListingStatus
from gpucloud.reconcile.facts import Absent, Presence, Present, Unknown, UnknownReason
from gpucloud.reconcile.naming import FINGERPRINT_LENGTH, Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from gpucloud.reconcile.facts import Observation

R = TypeVar("R")

EVERYTHING = ""  # as the name of an Identity: all records in its VPC
ANYWHERE = ""  # as the VPC of an Identity: any VPC of the cluster
UNWATCHED = Presence()
IMPLAUSIBLE_COUNT = 3  # design: a listing is implausible if at least 3 and over 30 % of the known records vanish at once
IMPLAUSIBLE_SHARE = 0.3
CAUSES = {
    ErrorKind.UNAUTHORIZED: UnknownReason.REFUSED,
    ErrorKind.LOGIN: UnknownReason.REFUSED,
    ErrorKind.FORBIDDEN: UnknownReason.FORBIDDEN,
    ErrorKind.INVALID: UnknownReason.REJECTED,
}


class ListingMeter(Protocol):
    """Metrics of an inventory's listings; ``telemetry.metrics`` implements it."""

    def listed(self, cluster: str, *, plausible: bool) -> None:
        """Count a successful listing."""

    def failed(self, cluster: str, kind: str) -> None:
        """Count a failed listing, by kind of error."""


@dataclass(frozen=True, slots=True)
class Listed(Generic[R]):
    """All records of a cluster, from a complete and plausible listing that began at ``as_of`` (mono seconds)."""

    records: Mapping[Identity, tuple[R, ...]]
    as_of: float


@dataclass(frozen=True, slots=True)
class Contents(Generic[R]):
    """All records in a VPC, from a listing that began at ``as_of`` (mono seconds).

    ``confirmed``: if there are none, begin of the listing before that one, if it showed none either, as in ``Absent``.
    ``before`` are the records of that listing, and ``before_as_of`` is when it began; None if it was not believed.
    """

    records: tuple[R, ...]
    as_of: float
    confirmed: float | None = None
    before: tuple[R, ...] = ()
    before_as_of: float | None = None


@dataclass(slots=True)
class ClusterRecords(Generic[R]):
    """Cached records of one cluster. All times are mono seconds at which a listing began."""

    opened: float  # when the first object began to watch this cluster
    records: dict[Identity, tuple[R, ...]] = field(default_factory=dict)
    as_of: float | None = None
    unknown: Unknown | None = None
    presences: dict[Identity, Presence] = field(default_factory=dict)  # of the watched identities
    before: dict[Identity, tuple[R, ...]] = field(default_factory=dict)  # records of the successful listing before the last
    before_as_of: float | None = None
    implausible: bool = False  # the last listing lacks too much itself; one that is only doubted may agree with the next
    before_implausible: bool = False  # the same of the one before
    believed: Mapping[Identity, tuple[R, ...]] = field(default_factory=dict)  # records of the last plausible listing
    believed_gone: frozenset[Identity] = frozenset()  # watched identities that it lacked
    doubted_since: float | None = None  # since when no absence is believed; None: the last listing was plausible
    vanished: frozenset[Identity] = frozenset()  # expected records that the last listing lacked
    unchanged_since: float = 0.0  # since when all listings lack exactly ``vanished``, and few enough to be plausible
    seekers: set[str] = field(default_factory=set)  # UIDs of objects that look for their resource here beside their own place
    waiting: dict[str, float] = field(default_factory=dict)  # by UID: the object waits for a listing that began at or after
    wanted_from: float | None = None  # a listing that began then or later is wanted, though nobody is woken for it
    served: list[str] = field(default_factory=list)  # UIDs whose wait the last listing ended, until they are woken
    trigger: asyncio.Event = field(default_factory=asyncio.Event)
    failures: int = 0
    spacing: ListingSpacing = field(default_factory=ListingSpacing)
    duration: float = 0.0  # of the last listing, in seconds
    duration_before: float = 0.0  # of the one before
    by_base: dict[tuple[str, str], list[str]] | None = None  # names in ``records`` by VPC and base; None: not asked for yet
    by_name: dict[str, tuple[Identity, ...]] | None = None  # locations in ``records`` by name, likewise

    def observe(self, identity: Identity, accepted_until: float) -> Observation[R] | None:
        """Return what the last listing shows of an identity; None before the first one, which may have failed.

        A person accepted all absences up to ``accepted_until``.
        """
        if self.unknown is not None or self.as_of is None:
            return self.unknown
        found = find(self.records, identity)
        if found:
            presence = self.presences.get(identity) or Presence(shown_since=self.as_of)
            return Present(found[0], self.as_of, len(found) > 1, presence)
        known_since = self.presence(identity).lacked_since
        lacked_since = self.as_of if known_since is None else known_since
        if self.doubted_since is not None and max(self.doubted_since, lacked_since) > accepted_until:
            return Unknown(self.doubted_since, UnknownReason.IMPLAUSIBLE)
        unproven = self.before_implausible and lacked_since > accepted_until
        confirmed = None if unproven or find(self.before, identity) else self.before_as_of
        return Absent(self.as_of, lacked_since, confirmed)

    def has_listed_since(self, not_before: float) -> bool:
        """Whether the last listing succeeded, and began then or later."""
        return self.as_of is not None and self.as_of >= not_before and self.unknown is None

    def put(self, records: dict[Identity, tuple[R, ...]], began: float, *, implausible: bool) -> None:
        """Cache the records of a new listing, and keep those of the one before."""
        self.before, self.before_as_of, self.before_implausible = self.records, self.as_of, self.implausible
        self.records, self.as_of, self.unknown, self.failures = records, began, None, 0
        self.by_base, self.by_name, self.implausible = None, None, implausible

    def serve(self, began: float) -> None:
        """End the waits for a listing that began then or earlier."""
        if self.wanted_from is not None and self.wanted_from <= began:
            self.wanted_from = None
        self.served = [uid for uid, not_before in self.waiting.items() if not_before <= began]
        for uid in self.served:
            del self.waiting[uid]

    def names(self, vpc: str, base: str) -> list[str]:
        """Return the names of the records in a VPC that are this base and a fingerprint.

        What the listing before showed counts, too, as the last one may be partial.
        """
        if self.by_base is None:  # one of many orders that rest on this listing asks for few of them
            self.by_base = {}
            for key in self.records | self.before:
                self.by_base.setdefault((key.vpc, key.name[:-FINGERPRINT_LENGTH]), []).append(key.name)
        return self.by_base.get((vpc, base), [])

    def locations(self, name: str) -> tuple[Identity, ...]:
        """Return all locations with a record of this name."""
        if self.by_name is None:
            self.by_name = {}
            for key in self.records:
                self.by_name[key.name] = (*self.by_name.get(key.name, ()), key)
        return self.by_name.get(name, ())

    def lacked_before(self, name: str, not_before: float) -> bool:
        """Whether the listing before the last was believed, began then or later, and showed no record of this name."""
        listed = self.before_as_of is not None and self.before_as_of >= not_before and not self.before_implausible
        return listed and not any(key.name == name for key in self.before)

    def doubts(self, began: float, vanished: Collection[Identity], *, implausible: bool, settled_after: float) -> bool:
        """Return whether a new listing is doubted. ``implausible``: it lacks too many records at once.

        The doubt ends when all records are back, or when all listings of ``settled_after`` seconds lacked the same few
        records. A listing that fills up again also lacks few records for a moment, but not the same ones for that long.
        """
        now_vanished = frozenset(vanished)
        if implausible or now_vanished != self.vanished:
            self.unchanged_since = began
        self.vanished = now_vanished
        doubted = self.doubted_since is not None and bool(vanished) and began - self.unchanged_since < settled_after
        if not (implausible or doubted):
            self.doubted_since = None
        elif self.doubted_since is None:
            self.doubted_since = began if self.unknown is None else self.unknown.since  # nothing was known since then
        return self.doubted_since is not None

    def note_lacked(self, lacked: AbstractSet[Identity], watched: Collection[Identity], *, doubted: bool) -> None:
        """Update the presences of the watched identities after a listing. ``lacked`` are those that it lacks."""
        before = None if self.before_implausible else self.before_as_of
        listing = partial(after_listing, began=self.as_of or 0.0, before=before, doubted=doubted)
        self.presences = {here: listing(self.presence(here), shown=here not in lacked) for here in watched}
        if not doubted:
            self.believed, self.believed_gone = self.records, frozenset(lacked)

    def note_failure(self) -> None:
        """After a listing that failed nobody knows what it would have shown."""
        self.presences = {here: after_failure(presence) for here, presence in self.presences.items()}

    def presence(self, identity: Identity) -> Presence:
        """Return the presence of an identity; of one that was not watched no time is known."""
        return self.presences.get(identity) or UNWATCHED

    def known_until(self, now: float) -> float:
        """Return the begin of the last listing by which all was known, when one that began ``now`` fails."""
        if self.unknown is not None:
            return self.unknown.since
        known = self.as_of if self.doubted_since is None else self.doubted_since
        return now if known is None else known

    def latest(self) -> Listed[R] | Unknown | None:
        """Return the last listing, or why it is unknown; None before the first one."""
        if self.unknown is not None:
            return self.unknown
        if self.doubted_since is not None:
            return Unknown(self.doubted_since, UnknownReason.IMPLAUSIBLE)
        return None if self.as_of is None else Listed(self.records, self.as_of)

    def is_unproven(self, name: str, not_before: float) -> bool:
        """Whether the last listing has nothing of this name, and the one before it does not confirm that."""
        return not (isinstance(self.latest(), Unknown) or self.locations(name) or self.lacked_before(name, not_before))

    def listing_status(self, now: float) -> ListingStatus:
        """Return the status of the listing at this mono time, for metrics."""
        doubted = self.doubted_since is not None
        if self.as_of is None:
            return ListingStatus(now - self.opened, None, doubted)
        return ListingStatus(now - self.as_of, len(self.records), doubted)

    def contents(self, vpc: str) -> Contents[R] | Unknown | None:
        """Return all records in a VPC, or why they are unknown; None before the first listing. One without a VPC is in each."""
        latest = self.latest()
        if latest is None or isinstance(latest, Unknown):
            return latest
        anything = Identity("", vpc, EVERYTHING)
        found, before = find(self.records, anything), find(self.before, anything)
        believed = None if self.before_implausible else self.before_as_of
        return Contents(found, latest.as_of, None if found or before else believed, before, believed)

    @property
    def taken(self) -> bool:
        """Whether the cloud has listed this cluster, and does not refuse it now: it is known in this spelling."""
        refused = self.unknown is not None and self.unknown.cause is UnknownReason.REJECTED
        return self.as_of is not None and not refused

    @property
    def rejected(self) -> bool:
        """Whether the cloud rejects this cluster as unknown and never listed it."""
        return self.as_of is None and self.unknown is not None and self.unknown.cause is UnknownReason.REJECTED


def by_identity(
    items: Iterable[R], cluster: str, identify: Callable[[R, str], Identity | None]
) -> dict[Identity, tuple[R, ...]]:
    """Return the records of a listing by identity; records of one identity are kept together."""
    records: dict[Identity, tuple[R, ...]] = {}
    for item in items:
        identity = identify(item, cluster)
        if identity is not None:
            records[identity] = (*records.get(identity, ()), item)
    return records


def is_implausible(vanished: set[Identity], expected: set[Identity]) -> bool:
    """Whether so many expected records vanished at once that the listing is not believed."""
    return len(vanished) >= IMPLAUSIBLE_COUNT and len(vanished) > IMPLAUSIBLE_SHARE * len(expected)


def find(records: Mapping[Identity, tuple[R, ...]], identity: Identity) -> tuple[R, ...]:
    """Return the records of an identity, with records that name no VPC: every field of an answer may be null.

    ``EVERYTHING`` as the name matches all records in the VPC; ``ANYWHERE`` as the VPC matches the name in any VPC.
    """
    if identity.name == EVERYTHING:
        return tuple(item for key, found in records.items() if key.vpc in {identity.vpc, ""} for item in found)
    if identity.vpc == ANYWHERE:
        return tuple(item for key, found in records.items() if key.name == identity.name for item in found)
    return records.get(identity, ()) + records.get(Identity(identity.cluster, "", identity.name), ())


def lacks(records: Mapping[Identity, tuple[R, ...]], identity: Identity) -> bool:
    """Whether ``find`` finds nothing."""
    return identity not in records and not find(records, identity)


def differing(before: Mapping[Identity, tuple[R, ...]], after: Mapping[Identity, tuple[R, ...]]) -> Callable[[Identity], bool]:
    """Return a predicate: whether what ``find`` finds may differ, as for few identities. Equal records are ``shared``."""
    changed = {here for here in before.keys() | after.keys() if before.get(here) is not after.get(here)}
    unplaced = {here.name for here in changed if not here.vpc}

    def may_differ(identity: Identity) -> bool:
        several = EVERYTHING in {identity.name, identity.vpc}  # it stands for records of several identities
        return identity in changed or identity.name in unplaced or (several and bool(changed))

    return may_differ


def shared(records: dict[Identity, tuple[R, ...]], before: Mapping[Identity, tuple[R, ...]]) -> dict[Identity, tuple[R, ...]]:
    """Return these records, but the records of before where they are equal: two listings are kept, and most records stay."""
    return {here: known if (known := before.get(here)) == found else found for here, found in records.items()}
