"""Orphan collector: scans every account periodically, reports orphans, and destroys them where collection is allowed.

Abandonments and sightings live in this process only. After a restart the collector only reports what it finds.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from gpucloud.cloud.errors import CloudError, ErrorKind, one_line
from gpucloud.engine.cloud.port import Change, Precondition, Purpose
from gpucloud.engine.kinds import registry
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.engine.orphans import scan
from gpucloud.engine.orphans.scan import ScanResult, Scope, scope_of
from gpucloud.engine.runtime.workqueue import Key
from gpucloud.kinds import gpuvm
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import orphans as rules
from gpucloud.reconcile.facts import AccountFacts
from gpucloud.reconcile.orphans import Abandonment, KeepReason, MarkedRecord, OrphanCounts, OrphanFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import AccountSessions
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.engine.kinds.reconciler import OwnedReconciler
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.orphans import Owners, Rules

log = structlog.get_logger("gpucloud.orphans")

SETTLE_SECONDS = 60.0  # after the start, so that what is being created or released can settle
REPORT_AGAIN_SECONDS = 86400.0
REPORTED_PER_SCAN = 20  # of one account; the others' turn comes with the next scans
MOST_ABANDONMENTS = 10_000  # remembered; the oldest is forgotten first


@dataclass(frozen=True, slots=True)
class CollectorDeps:
    """Dependencies. ``record`` takes a session, the kind concerned, the Event, and what to do if the Event is lost."""

    sessions: AccountSessions
    objects: Listers
    kube: KubeClient
    clock: Clock
    synced: Callable[[], bool]
    record: Callable[[AccountSession, str, Event, Callable[[], None] | None], None]
    namespaces: tuple[str, ...]
    rules: Rules
    interval: float


@dataclass(slots=True)
class _Seen:
    """Last scan of one scope: start times of the last listings that showed each orphan."""

    as_of: float
    orphans: dict[tuple[str, Identity], tuple[float, ...]] = field(default_factory=dict)


class _AccountScan(NamedTuple):
    """One account in one scan."""

    label: str
    session: AccountSession
    scanned: ScanResult
    owners: Owners
    listed: float  # when the list of objects began


class OrphanCollector:
    """Scans for orphans until cancelled."""

    def __init__(self, deps: CollectorDeps) -> None:
        self._deps = deps
        self._seen: dict[AccountSession, dict[Scope, _Seen]] = {}
        self._reported: dict[tuple[str, ...], float] = {}
        self._unposted: set[tuple[str, ...]] = set()  # reported orphans whose Event was lost
        self._sent: dict[tuple[str, ...], float] = {}
        self._abandonments: OrderedDict[str, Abandonment] = OrderedDict()  # by the name of the thing
        self._refusing: set[AccountSession] = set()
        self._logged_failures: dict[tuple[str, Scope], str] = {}

    def on_tombstone(self, reconciler: OwnedReconciler[Any, Any, Any], body: Mapping[str, Any]) -> None:
        """Record an abandonment if an object was deleted before we released its finalizer. Does no I/O."""
        if not self._deps.rules.collect or reconciler.kind not in registry.MARKED:
            return
        facts = reconciler.observe_last(body)
        if facts is None:
            return
        self._abandonments.pop(facts.identity.name, None)  # of an object that came back from a backup the last end counts alone
        seen = rules.abandonment_of(facts, self._deps.objects.tag)
        if seen is None or not reconciler.admit_deletion(facts):
            return  # the deletion guard holds it: nobody has confirmed that the deletion was intended
        self._abandonments[seen.where.name] = seen
        while len(self._abandonments) > MOST_ABANDONMENTS:
            self._abandonments.popitem(last=False)
        what = {"kind": seen.kind, "namespace": seen.namespace, "name": seen.name, "uid": seen.uid}
        log.warning(
            "object deleted before its finalizer was released; its resource is abandoned", thing=seen.where.name, **what
        )

    async def run(self, sync: asyncio.Task[None]) -> None:
        """Scan periodically until cancelled; the first scan comes a moment after the first list of objects."""
        await asyncio.wait([sync])
        await asyncio.sleep(min(SETTLE_SECONDS, self._deps.interval))
        while True:
            await self.scan()
            await asyncio.sleep(self._deps.interval)

    async def scan(self) -> None:
        """Scan once: list the cloud, then the objects, then again the records that no object stands for."""
        deps = self._deps
        sessions = sorted(deps.sessions, key=lambda item: item[0])
        scans = [(label, session, await self._scan_session(session)) for label, session in sessions]
        listed = deps.clock.mono()
        try:
            uids = {kind: await deps.kube.uids(plural, deps.namespaces) for kind, plural in scan.PLURALS.items()}
        except KubeError as error:
            log.warning("orphan scan skipped: the objects cannot be listed", error=str(error))
            return
        owners = scan.owners(deps.objects, uids)
        claimed: set[tuple[str, ...]] = set()  # one that two accounts show is reported under the first
        for label, session, found in scans:
            try:
                await self._process(_AccountScan(label, session, found, owners, listed), claimed)
            except Exception:  # a failed scan of one account must not stop those of the others
                log.exception("orphan scan failed", account=label)
        self._prune({session for _, session in sessions})

    async def _scan_session(self, session: AccountSession) -> ScanResult:
        try:
            return await scan.scan_session(session, self._deps.objects.tag)
        except Exception as error:  # as an inventory does: what it cannot read, it has not seen
            log.exception("orphan scan failed unexpectedly")
            return ScanResult(unlisted={scan.CLUSTERS: type(error).__name__})

    def counts(self) -> Iterator[tuple[tuple[str, str, str], int, float]]:
        """Yield account, kind of record and cluster; the number of orphans there; the seconds since the last scan."""
        now = self._deps.clock.mono()
        for label, session in self._deps.sessions:
            for scope, seen in self._seen.get(session, {}).items():
                yield (label, scope.inventory, scope.cluster), len(seen.orphans), now - seen.as_of

    def refusals(self) -> Iterator[tuple[str, bool]]:
        """Yield each scanned account, and whether its collection is refused because too many resources look orphaned."""
        return ((label, session in self._refusing) for label, session in self._deps.sessions if session in self._seen)

    async def _process(self, at: _AccountScan, claimed: set[tuple[str, ...]]) -> None:
        suspects = rules.orphans(at.scanned.records, at.owners)
        second = ScanResult()
        if suspects:
            await at.session.catalogue.learn()
            scopes = sorted({scope_of(marked) for marked in suspects})
            second = await scan.scan_scopes(at.session, self._deps.objects.tag, scopes, at.listed)
        suspected = {marked.key for marked in suspects}
        here = [marked for marked in second.records if marked.key in suspected]
        found = [marked for marked in here if _key(at.session, marked) not in claimed]
        claimed |= {_key(at.session, marked) for marked in here}
        unlisted = {**at.scanned.unlisted, **second.unlisted}
        self._log_failures(at.label, unlisted, at.scanned)
        self._remember(at, found, unlisted)
        self._report(at, found)
        if self._deps.rules.collect:
            await self._collect(at, found, OrphanCounts(len(here), len(at.scanned.records)), clear=not unlisted)

    def _remember(self, at: _AccountScan, found: list[MarkedRecord], unlisted: Mapping[Scope, str]) -> None:
        """Store the orphans of each listing. A scope that could not be listed keeps those of its last listing."""
        scopes = self._seen.setdefault(at.session, {})
        for scope, as_of in at.scanned.as_of.items():
            if scope in unlisted:
                continue
            before = scopes[scope].orphans if scope in scopes else {}
            now = {marked.key: (*before.get(marked.key, ()), as_of) for marked in found if scope_of(marked) == scope}
            scopes[scope] = _Seen(as_of, {key: tuple(dict.fromkeys(times))[-2:] for key, times in now.items()})
        if scan.CLUSTERS not in unlisted:
            for scope in scopes.keys() - at.scanned.as_of.keys() - at.scanned.unlisted.keys():
                del scopes[scope]  # the cluster is not this account's any more

    def _report(self, at: _AccountScan, found: list[MarkedRecord]) -> None:
        now, reported = self._deps.clock.mono(), 0
        self._reported = {key: when for key, when in self._reported.items() if now - when < REPORT_AGAIN_SECONDS}
        self._unposted.intersection_update(self._reported)  # in place: callbacks of Events under way add to this very set
        for marked in found:
            key = _key(at.session, marked)
            known = key in self._reported
            if (known and key not in self._unposted) or reported >= REPORTED_PER_SCAN:
                continue
            reported += 1
            note = describe(marked, price_of(at.session, marked))
            if not known:
                self._reported[key] = now
                log.warning("orphan", account=at.label, kind=marked.kind, cluster=marked.where.cluster, note=note)
            self._unposted.discard(key)
            event = Event(Reason.ORPHAN, note, "LookForOrphans", warning=True, always=True)
            self._deps.record(at.session, marked.kind, event, partial(self._unposted.add, key))

    async def _collect(self, at: _AccountScan, found: list[MarkedRecord], counts: OrphanCounts, *, clear: bool) -> None:
        """Destroy at most one orphan. There is no await between the decision and the call."""
        candidates = [self._facts_of(at, marked, counts, clear=clear) for marked in found]
        held = [(facts, rules.keep_reason(facts)) for facts in candidates]
        abandoned = [facts for facts, why in held if why is not KeepReason.UNWITNESSED]
        self._report_refusal(at, counts, refused=bool(abandoned) and counts.many)
        for facts, why in held:
            if why is None and facts.abandonment is not None:
                await self._destroy(at, facts.marked, facts.abandonment)
                return
            log.debug("orphan left alone", account=at.label, thing=facts.marked.where.name, why=why)

    def _facts_of(self, at: _AccountScan, marked: MarkedRecord, counts: OrphanCounts, *, clear: bool) -> OrphanFacts:
        deps, session = self._deps, at.session
        seen = self._seen.get(session, {}).get(scope_of(marked))
        abandonment = self._abandonments.get(marked.where.name)
        wanted = (
            abandonment is None
            or at.owners.want(marked, abandonment.namespace)
            or scan.may_be_wanted_now(deps.objects, abandonment)
        )
        return OrphanFacts(
            now=deps.clock.mono(),
            marked=marked,
            abandonment=abandonment,
            rules=deps.rules,
            seen=() if seen is None else seen.orphans.get(marked.key, ()),
            listed=at.listed,
            account=AccountFacts(at.label, session.learned.tenants),
            began=session.began,
            orphans=counts.orphans,
            ours=counts.ours,
            clear=clear and deps.synced() and not at.owners.unread and session.learned.trouble is None,
            wanted=wanted,
            sent=self._sent.get(_key(session, marked)),
        )

    async def _destroy(self, at: _AccountScan, marked: MarkedRecord, abandonment: Abandonment) -> None:
        """Send the destroying call, unless an object that may want the record appears while the call waits."""
        kind = registry.MARKED[marked.kind]
        verb = kind.destroy
        self._sent[_key(at.session, marked)] = self._deps.clock.mono()
        here, failure = marked.where, ""
        try:
            call = kind.destroying_call(here)
            await at.session.writes.send(Change(call, _purpose(abandonment), here.name, (self._unwanted(abandonment),)))
        except CloudError as error:
            if error.kind is ErrorKind.WITHDRAWN:  # refused by the port, so nothing has failed; the next scan decides anew
                del self._sent[_key(at.session, marked)]
                return
            failure = "" if error.kind is ErrorKind.NOT_FOUND else error.message
        owner = f"{abandonment.kind} {abandonment.name!r} of namespace {abandonment.namespace!r}"
        name = _described(marked)
        note = f"Requested destruction. {name} is an orphan: its {owner} was deleted, its finalizer removed by force."
        if failure:
            note = f"{name} is an orphan, and {verb} failed: {failure}"
        reason = Reason.ORPHAN_COLLECTION_FAILED if failure else Reason.ORPHAN_COLLECTED
        self._deps.record(at.session, marked.kind, Event(reason, note, verb, warning=bool(failure), always=True), None)
        log.warning("orphan destroyed" if not failure else "orphan not destroyed", note=note, account=at.label)

    def _unwanted(self, abandonment: Abandonment) -> Precondition:
        return Precondition("no object wants the orphan", lambda: not scan.may_be_wanted_now(self._deps.objects, abandonment))

    def _report_refusal(self, at: _AccountScan, counts: OrphanCounts, *, refused: bool) -> None:
        if not refused:
            self._refusing.discard(at.session)
            return
        if at.session in self._refusing:
            return
        self._refusing.add(at.session)
        note = (
            f"{counts.orphans} of {counts.ours} resources seem to have no object, too many to believe: the cluster may have "
            "been restored, or another operator uses this tag. None is destroyed. See 'gpucloud orphans', and destroy by hand "
            "what nobody needs."
        )
        log.error("collection refused", account=at.label, note=note)
        event = Event(Reason.ORPHAN_COLLECTION_REFUSED, note, "LookForOrphans", warning=True, always=True)
        self._deps.record(at.session, gpuvm.KIND, event, partial(self._refusing.discard, at.session))

    def _log_failures(self, label: str, unlisted: Mapping[Scope, str], found: ScanResult) -> None:
        """Log each scope that cannot be listed once, and again after it could be listed in between."""
        for scope in found.as_of.keys() - unlisted.keys() | ({scan.CLUSTERS} - unlisted.keys()):
            self._logged_failures.pop((label, scope), None)
        for scope, why in unlisted.items():
            if (label, scope) not in self._logged_failures:
                log.warning(
                    "orphan scan failed for this listing", account=label, kind=scope.inventory, cluster=scope.cluster, why=why
                )
            self._logged_failures[label, scope] = why

    def _prune(self, sessions: set[AccountSession]) -> None:
        for session in self._seen.keys() - sessions:
            del self._seen[session]
        self._refusing &= sessions
        now = self._deps.clock.mono()
        self._sent = {key: at for key, at in self._sent.items() if now - at < rules.RESEND_SECONDS}


def describe(marked: MarkedRecord, price: str | None) -> str:
    """Return the message: what the orphan is, and what to do about it."""
    state = getattr(marked.record, "status", None)
    costs = f", ${price} an hour" if price is not None else ""
    return (
        f"{_described(marked)}{f' ({one_line(state)}{costs})' if state else ''} was made by this installation for a "
        f"{marked.kind} named {marked.made_for!r}, and no object stands for it. It may be billed: if nobody needs "
        "it, destroy it in the cloud; 'gpucloud orphans' lists all of them."
    )


def _purpose(abandonment: Abandonment) -> Purpose:
    owner = Key(abandonment.kind, abandonment.namespace, abandonment.name, abandonment.uid)
    return Purpose(owner, Reason.ORPHAN_COLLECTED, Reason.ORPHAN_COLLECTION_FAILED, Reason.ORPHAN)


def price_of(session: AccountSession, marked: MarkedRecord) -> str | None:
    """Return dollars per hour; None if unknown. The cloud publishes no price of a snapshot."""
    configuration = getattr(marked.record, "configuration", None)
    return None if configuration is None else session.catalogue.price_per_hour(configuration)


def _described(marked: MarkedRecord) -> str:
    noun = registry.MARKED[marked.kind].noun
    return f"The {noun} {marked.where.name!r} in VPC {marked.where.vpc!r} of cluster {marked.where.cluster!r}"


def _key(session: AccountSession, marked: MarkedRecord) -> tuple[str, ...]:
    where = marked.where
    return session.url, marked.kind, where.cluster, where.vpc, where.name
