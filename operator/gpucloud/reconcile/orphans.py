"""Orphans: resources with our mark that no object owns, and which of them may be collected. docs/adr/0006 has the reasons.

An orphan is reported. It is destroyed only if the administrator allows collection and this process itself saw its object
vanish before the destruction: a resource that was retained on purpose looks just the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gpucloud.kinds import gpusnapshot, gpuvm
from gpucloud.kinds.common import DeletionPolicy
from gpucloud.reconcile import naming, pause
from gpucloud.reconcile.facts import AccountFacts, Present
from gpucloud.reconcile.tenancy import check_tenant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.cloud.models import SnapshotRecord, VmRecord
    from gpucloud.reconcile.core.facts import CloudFacts

FRESH_SECONDS = 60.0  # an older list of all objects does not count
RESEND_SECONDS = 300.0  # seconds between two destroying calls for one orphan
FEW, SHARE = 2, 0.1  # more orphans than both limits suggest a mistake of the operator


@dataclass(frozen=True, slots=True)
class MarkedRecord:
    """A VM or snapshot with a name of this installation, from a believed listing."""

    kind: str  # kind of the object that it was created for
    where: naming.Identity
    mark: naming.Mark
    record: VmRecord | SnapshotRecord
    duplicate_records: bool = False  # more than one record has this identity

    @property
    def made_for(self) -> str:
        """The name, perhaps shortened, of the object that it was created for."""
        return self.mark.base.removesuffix("-").rpartition("-")[0]

    @property
    def key(self) -> tuple[str, naming.Identity]:
        """Key of the resource that stays the same between listings."""
        return self.kind, self.where


@dataclass(frozen=True, slots=True)
class Owner:
    """An object from the apiserver's list, and what its spec names. Without that it owns every resource with its UID's mark."""

    kind: str
    uid: str
    namespace: str = ""
    name: str = ""
    place: naming.Identity | None = None
    refers: frozenset[tuple[str, str]] = frozenset()  # kind and name of the objects that it still needs for its creation
    uses: frozenset[str] = frozenset()  # names of resources in the cloud that its spec gives
    recorded: naming.Identity | None = None  # where its order was sent, if the spec names another place by now
    elsewhere: tuple[naming.Identity, ...] = ()  # where else it may be, as far as its record says
    anywhere: bool = False  # it is being deleted: what bears its mark is looked for in every cluster before it goes


class Owners:
    """All objects from the apiserver's list. ``unread``: some of them could not be read completely."""

    def __init__(self, owners: Iterable[Owner], tag: str) -> None:
        self.unread = False
        self._by_mark: dict[tuple[str, str], list[Owner]] = defaultdict(list)
        self._by_name: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        self._bases: set[tuple[str, str, str]] = set()
        self._uses: set[str] = set()
        for owner in owners:
            self._by_mark[owner.kind, naming.fingerprint(owner.uid)].append(owner)
            self._uses |= owner.uses
            self.unread = self.unread or not owner.name
            if owner.place is not None:
                self._by_name[owner.kind, owner.place.cluster.casefold(), owner.place.name].append(owner.place.vpc)
            for kind, name in {(owner.kind, owner.name), *owner.refers}:
                self._bases.add((kind, owner.namespace, naming.base_name(name, tag)))

    def own(self, marked: MarkedRecord) -> bool:
        """Whether an object owns this resource: it was created for the object, or the object's spec names it."""
        if marked.kind == gpusnapshot.KIND and (gpuvm.KIND, marked.mark.fingerprint) in self._by_mark:
            return True  # the final snapshot of a VM whose object is there still, taken without a GpuSnapshot
        for owner in self._by_mark.get((marked.kind, marked.mark.fingerprint), ()):
            places = (owner.place, owner.recorded, *owner.elsewhere)
            if owner.place is None or owner.anywhere or any(one and _is_there(one, marked.where) for one in places):
                return True
        named = self._by_name.get((marked.kind, marked.where.cluster.casefold(), marked.where.name), ())
        return any(_same(vpc, marked.where.vpc) for vpc in named)

    def want(self, marked: MarkedRecord, namespace: str) -> bool:
        """Whether an object may own this resource: by the same base name, by a reference, or by name."""
        return (marked.kind, namespace, marked.mark.base) in self._bases or marked.where.name in self._uses


@dataclass(frozen=True, slots=True)
class Abandonment:
    """The object vanished before the operator destroyed its resource and released its finalizer."""

    kind: str
    namespace: str
    name: str
    uid: str
    where: naming.Identity
    tenancy: str | None
    at: float  # mono seconds


class KeepReason(StrEnum):
    """Why an orphan is not collected."""

    OFF = "collection is off"
    UNWITNESSED = "this process did not see its object being abandoned, so it may have been retained on purpose"
    UNCLEAR = "not everything could be looked at"
    STALE = "the list of objects is too old"
    UNPLACED = "the cloud does not say in which VPC it is, or lists several of this name"
    TENANT = "it is not certain that it belongs to the tenant of its object"
    WANTED = "an object may be looking for it"
    YOUNG = "it was abandoned only lately"
    SEEN_ONCE = "it has not been seen often enough since"
    SENT = "its destruction was requested already"
    MANY = "too many look orphaned at once"


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of the administrator."""

    collect: bool = False
    age: float = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanFacts:
    """One orphan, and the facts for the decision to collect it. Times are mono seconds."""

    now: float
    marked: MarkedRecord
    abandonment: Abandonment | None
    rules: Rules
    seen: tuple[float, ...]  # start of the last listings in a row that showed it as an orphan
    listed: float  # start of the list of all objects that does not contain its owner
    account: AccountFacts
    began: float  # when the account began to use its credential
    orphans: int  # orphans of this account, with this one
    ours: int  # resources of ours in this account
    clear: bool = False  # all objects are known, apiserver and cloud answer, and every listing was believed
    wanted: bool = True
    sent: float | None = None  # when the last destroying call for it was sent


@dataclass(frozen=True, slots=True)
class OrphanCounts:
    """Number of orphans of an account, and of all resources of ours in it."""

    orphans: int
    ours: int = field(default=0)

    @property
    def many(self) -> bool:
        """Whether there are so many orphans that a mistake of the operator is more likely."""
        return self.orphans > max(FEW, SHARE * self.ours)


def orphans(records: Iterable[MarkedRecord], owners: Owners) -> tuple[MarkedRecord, ...]:
    """Return the resources without an owner."""
    return tuple(marked for marked in records if not owners.own(marked))


def abandonment_of(f: CloudFacts[Any, Any, Any], tag: str) -> Abandonment | None:
    """Return how an object was abandoned; None unless the object should have destroyed its resource and could not."""
    meta, here = f.meta, f.identity
    abandoned = meta.deleting and meta.has_finalizer and not f.history.finalizer_released
    to_be_destroyed = (
        f.policy is DeletionPolicy.DELETE
        and f.collectable
        and not pause.is_paused(f.meta.annotations)
        and not f.limits.observe_only
    )
    by_name = here.name == naming.external_name(meta.name, meta.uid, tag)  # a chosen name proves nothing
    if not (abandoned and to_be_destroyed and by_name and f.ours and (f.is_present or _ordered(f))):
        return None
    return Abandonment(f.subject.kind, meta.namespace, meta.name, meta.uid, here, f.tenancy, f.now.mono)


def keep_reason(facts: OrphanFacts) -> KeepReason | None:
    """Return why this orphan is not collected; None if it may be."""
    if not facts.rules.collect:
        return KeepReason.OFF
    if facts.abandonment is None or not _speaks_of(facts.abandonment, facts.marked):
        return KeepReason.UNWITNESSED
    reasons = (
        (KeepReason.UNCLEAR, not facts.clear),
        (KeepReason.STALE, facts.now - facts.listed > FRESH_SECONDS or not facts.seen or facts.listed < facts.seen[-1]),
        (KeepReason.UNPLACED, not facts.marked.where.vpc or facts.marked.duplicate_records),
        (KeepReason.TENANT, not _of_its_tenant(facts, facts.abandonment)),
        (KeepReason.WANTED, facts.wanted),
        (KeepReason.YOUNG, facts.now - facts.abandonment.at < facts.rules.age),
        (KeepReason.SEEN_ONCE, len(set(facts.seen)) < 2 or sorted(facts.seen)[-2] <= facts.abandonment.at),
        (KeepReason.SENT, facts.sent is not None and facts.now - facts.sent < RESEND_SECONDS),
        (KeepReason.MANY, OrphanCounts(facts.orphans, facts.ours).many),
    )
    return next((reason for reason, holds in reasons if holds), None)


def _ordered(f: CloudFacts[Any, Any, Any]) -> bool:
    """Whether this process has sent an order that may have been carried out."""
    attempt = f.attempt(f.subject.create)
    return attempt is not None and (attempt.refusal is None or attempt.refusal.ambiguous)


def _speaks_of(abandonment: Abandonment, marked: MarkedRecord) -> bool:
    there, here = abandonment.where, marked.where
    same = (abandonment.kind, there.name) == (marked.kind, here.name) and naming.same_cluster(there.cluster, here.cluster)
    return same and _same(there.vpc, here.vpc) and marked.mark.fingerprint == naming.fingerprint(abandonment.uid)


def _of_its_tenant(facts: OrphanFacts, abandonment: Abandonment) -> bool:
    """Check, as for every destroying call, that record and credential are of the recorded tenant."""
    seen: Present[Any] = Present(facts.marked.record, facts.seen[-1] if facts.seen else facts.began)
    return isinstance(check_tenant(seen, abandonment.tenancy, facts.account, facts.began), Present)


def _is_there(place: naming.Identity, where: naming.Identity) -> bool:
    here = place.name == where.name and naming.same_cluster(place.cluster, where.cluster)
    return here and _same(place.vpc, where.vpc)


def _same(one: str, other: str) -> bool:
    """Whether two VPCs may be the same. An unknown VPC may be any."""
    return one == other or "" in {one, other}
