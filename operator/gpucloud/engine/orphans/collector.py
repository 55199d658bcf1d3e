"""The operator's look for orphans: now and then, in every account; reported, and collected only where that is allowed.

What it knows (witnesses, sightings) is this process's own and lost with it; then everything is only reported.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from gpucloud.cloud.errors import CloudError, ErrorKind, one_line
from gpucloud.engine.cloud import precondition
from gpucloud.engine.kube.client import KubeError
from gpucloud.engine.kube.events import Event
from gpucloud.engine.orphans import scan
from gpucloud.engine.orphans.scan import Place, ScanResult, place_of
from gpucloud.kinds import gpuvm
from gpucloud.kinds.meta import Reason
from gpucloud.reconcile import orphans as rules
from gpucloud.reconcile.facts import AccountFacts, Verb
from gpucloud.reconcile.orphans import Case, Hold, Tally, Thing, Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import AccountSessions
    from gpucloud.engine.kinds.cloud_reconciler import CloudReconciler
    from gpucloud.engine.kinds.dependencies import Listers
    from gpucloud.engine.kube.client import KubeClient
    from gpucloud.engine.runtime.clock import Clock
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.orphans import Owners, Rules

log = structlog.get_logger("gpucloud.orphans")

SETTLE_SECONDS = 60.0  # after the start, so that what is being made or let go can settle
TELL_AGAIN_SECONDS = 86400.0
TOLD_PER_SCAN = 20  # of one account; the others' turn comes with the next scans
WITNESSES = 10_000  # remembered; the oldest is forgotten first


@dataclass(frozen=True, slots=True)
class CollectorDeps:
    """What the look works with. ``tell`` takes an account's label, the kind concerned, and what to tell."""

    sessions: AccountSessions
    objects: Listers
    kube: KubeClient
    clock: Clock
    synced: Callable[[], bool]
    tell: Callable[[str, str, Event], None]
    namespaces: tuple[str, ...]
    rules: Rules
    interval: float


@dataclass(slots=True)
class _Seen:
    """One place, as last looked at: when the last listings began that showed each orphan."""

    as_of: float
    orphans: dict[tuple[str, Identity], tuple[float, ...]] = field(default_factory=dict)


class _Round(NamedTuple):
    """One account in one scan."""

    label: str
    session: AccountSession
    look: ScanResult
    owners: Owners
    listed: float  # when the list of objects began


class OrphanCollector:
    """Looks for orphans until cancelled."""

    def __init__(self, tools: CollectorDeps) -> None:
        self._tools = tools
        self._seen: dict[AccountSession, dict[Place, _Seen]] = {}
        self._told: dict[tuple[str, ...], float] = {}
        self._sent: dict[tuple[str, ...], float] = {}
        self._witnesses: OrderedDict[str, Witness] = OrderedDict()  # by the name of the thing
        self._refusing: set[AccountSession] = set()
        self._troubled: dict[tuple[str, Place], str] = {}

    def on_tombstone(self, reconciler: CloudReconciler[Any, Any, Any], body: Mapping[str, Any]) -> None:
        """The watch calls an object gone: bear witness if that was not our doing. Cheap: no I/O."""
        if not self._tools.rules.collect or reconciler.kind not in scan.HOLDERS:
            return
        facts = reconciler.last_facts(body)
        if facts is None:
            return
        self._witnesses.pop(facts.identity.name, None)  # of an object that came back from a backup the last end counts alone
        seen = rules.witness(facts, self._tools.objects.tag)
        if seen is None or not reconciler.admits_deletion(facts):
            return  # nobody has said yet that what the brake holds was meant
        self._witnesses[seen.where.name] = seen
        while len(self._witnesses) > WITNESSES:
            self._witnesses.popitem(last=False)
        what = {"kind": seen.kind, "namespace": seen.namespace, "name": seen.name, "uid": seen.uid}
        log.warning("the object went before it was let go; what it stood for is abandoned", thing=seen.where.name, **what)

    async def run(self, sync: asyncio.Task[None]) -> None:
        """Look again and again, from a moment after the first list of objects was read."""
        await asyncio.wait([sync])
        await asyncio.sleep(min(SETTLE_SECONDS, self._tools.interval))
        while True:
            await self.scan()
            await asyncio.sleep(self._tools.interval)

    async def scan(self) -> None:
        """One look: first at the cloud, then at the objects, then once more at what seems to belong to nobody."""
        tools = self._tools
        sessions = sorted(tools.sessions, key=lambda item: item[0])
        looks = [(label, session, await self._looked(session)) for label, session in sessions]
        listed = tools.clock.mono()
        try:
            uids = {kind: await tools.kube.uids(plural, tools.namespaces) for kind, plural in scan.PLURALS.items()}
        except KubeError as error:
            log.warning("no look for orphans: the objects cannot be listed", error=str(error))
            return
        owners = scan.owners(tools.objects, uids)
        claimed: set[tuple[str, ...]] = set()  # one that two accounts show is told of the first
        for label, session, found in looks:
            try:
                await self._judge(_Round(label, session, found, owners, listed), claimed)
            except Exception:  # one account must not keep the others from being looked at
                log.exception("the look for orphans failed", account=label)
        self._forget({session for _, session in sessions})

    async def _looked(self, session: AccountSession) -> ScanResult:
        try:
            return await scan.look(session, self._tools.objects.tag)
        except Exception as error:  # as an inventory does: what it cannot read, it has not seen
            log.exception("a look failed unexpectedly")
            return ScanResult(blind={scan.CLUSTERS: type(error).__name__})

    def counts(self) -> Iterator[tuple[tuple[str, str, str], int, float]]:
        """Account, kind of record and cluster; the orphans there; the seconds since they were last looked for."""
        now = self._tools.clock.mono()
        for label, session in self._tools.sessions:
            for place, seen in self._seen.get(session, {}).items():
                yield (label, place.holds, place.cluster), len(seen.orphans), now - seen.as_of

    def refusals(self) -> Iterator[tuple[str, bool]]:
        """Of each account that was looked at, whether collection is refused since too many look orphaned."""
        return ((label, session in self._refusing) for label, session in self._tools.sessions if session in self._seen)

    async def _judge(self, at: _Round, claimed: set[tuple[str, ...]]) -> None:
        suspects = rules.orphans(at.look.things, at.owners)
        second = ScanResult()
        if suspects:
            await at.session.catalogue.learned()
            places = sorted({place_of(thing) for thing in suspects})
            second = await scan.look_at(at.session, self._tools.objects.tag, places, at.listed)
        suspected = {thing.key for thing in suspects}
        here = [thing for thing in second.things if thing.key in suspected]
        found = [thing for thing in here if _key(at.session, thing) not in claimed]
        claimed |= {_key(at.session, thing) for thing in here}
        blind = {**at.look.blind, **second.blind}
        self._complain(at.label, blind, at.look)
        self._note(at, found, blind)
        self._report(at, found)
        if self._tools.rules.collect:
            await self._collect(at, found, Tally(len(here), len(at.look.things)), clear=not blind)

    def _note(self, at: _Round, found: list[Thing], blind: Mapping[Place, str]) -> None:
        """What was seen where. A place that could not be looked at keeps what it showed last."""
        places = self._seen.setdefault(at.session, {})
        for place, as_of in at.look.as_of.items():
            if place in blind:
                continue
            before = places[place].orphans if place in places else {}
            now = {thing.key: (*before.get(thing.key, ()), as_of) for thing in found if place_of(thing) == place}
            places[place] = _Seen(as_of, {key: tuple(dict.fromkeys(times))[-2:] for key, times in now.items()})
        if scan.CLUSTERS not in blind:
            for place in places.keys() - at.look.as_of.keys() - at.look.blind.keys():
                del places[place]  # the cluster is not this account's any more

    def _report(self, at: _Round, found: list[Thing]) -> None:
        now, told = self._tools.clock.mono(), 0
        self._told = {key: when for key, when in self._told.items() if now - when < TELL_AGAIN_SECONDS}
        for thing in found:
            key = _key(at.session, thing)
            if key in self._told or told >= TOLD_PER_SCAN:
                continue
            self._told[key], told = now, told + 1
            note = describe(thing, price_of(at.session, thing))
            log.warning("orphan", account=at.label, kind=thing.kind, cluster=thing.where.cluster, note=note)
            self._tools.tell(at.label, thing.kind, Event(Reason.ORPHAN, note, "LookForOrphans", warning=True, always=True))

    async def _collect(self, at: _Round, found: list[Thing], tally: Tally, *, clear: bool) -> None:
        """Destroy at most one. Between the decision and the call nothing is waited for."""
        cases = [self._case(at, thing, tally, clear=clear) for thing in found]
        held = [(case, rules.hold(case)) for case in cases]
        witnessed = [case for case, why in held if why is not Hold.UNWITNESSED]
        self._refuse(at, tally, refused=bool(witnessed) and tally.many)
        for case, why in held:
            if why is None and case.witness is not None:
                await self._destroy(at, case.thing, case.witness)
                return
            log.debug("orphan left alone", account=at.label, thing=case.thing.where.name, why=why)

    def _case(self, at: _Round, thing: Thing, tally: Tally, *, clear: bool) -> Case:
        tools, session = self._tools, at.session
        seen = self._seen.get(session, {}).get(place_of(thing))
        witness = self._witnesses.get(thing.where.name)
        wanted = witness is None or at.owners.want(thing, witness.namespace) or scan.wanted_by_now(tools.objects, witness)
        return Case(
            now=tools.clock.mono(),
            thing=thing,
            witness=witness,
            rules=tools.rules,
            seen=() if seen is None else seen.orphans.get(thing.key, ()),
            listed=at.listed,
            account=AccountFacts(at.label, session.learned.tenants),
            began=session.began,
            orphans=tally.orphans,
            ours=tally.ours,
            clear=clear and tools.synced() and not at.owners.unread and session.learned.trouble is None,
            wanted=wanted,
            sent=self._sent.get(_key(session, thing)),
        )

    async def _destroy(self, at: _Round, thing: Thing, witness: Witness) -> None:
        """The one call that this room sends, unless an object comes that may be looking for the thing while the call waits."""
        verb = Verb.DESTROY if thing.kind == gpuvm.KIND else Verb.DELETE_SNAPSHOT
        self._sent[_key(at.session, thing)] = self._tools.clock.mono()
        here, client, failure = thing.where, at.session.client, ""
        try:
            with precondition.require(lambda: not scan.wanted_by_now(self._tools.objects, witness)):
                if verb is Verb.DESTROY:
                    await client.destroy_server(id=here.name, namespace=here.vpc, cluster=here.cluster)
                else:
                    await client.delete_snapshot(id=here.name, namespace=here.vpc, cluster=here.cluster)
        except CloudError as error:
            failure = "" if error.kind is ErrorKind.NOT_FOUND else error.message
        whose = f"{witness.kind} {witness.name!r} of namespace {witness.namespace!r}"
        note = f"Requested destruction. {_called(thing)} is an orphan: its {whose} was deleted, its finalizer removed by force."
        if failure:
            note = f"{verb} failed for {_called(thing)}: {failure}"
        reason = Reason.ORPHAN_COLLECTION_FAILED if failure else Reason.ORPHAN_COLLECTED
        self._tools.tell(at.label, thing.kind, Event(reason, note, verb, warning=bool(failure), always=True))
        what = {"namespace": witness.namespace, "name": witness.name, "uid": witness.uid}
        log.warning("call", verb=verb, outcome=reason, note=note, account=at.label, kind=witness.kind, **what)

    def _refuse(self, at: _Round, tally: Tally, *, refused: bool) -> None:
        if not refused:
            self._refusing.discard(at.session)
            return
        if at.session in self._refusing:
            return
        self._refusing.add(at.session)
        note = (
            f"{tally.orphans} of {tally.ours} things of this installation look orphaned: none is collected, since so many more "
            "likely mean a mistake (a lost or restored cluster, another operator with this tag). Look at `gpucloud orphans`, "
            "and destroy by hand what nobody needs."
        )
        log.error("collection refused", account=at.label, note=note)
        event = Event(Reason.ORPHAN_COLLECTION_REFUSED, note, "LookForOrphans", warning=True, always=True)
        self._tools.tell(at.label, gpuvm.KIND, event)

    def _complain(self, label: str, blind: Mapping[Place, str], found: ScanResult) -> None:
        """Say once where nothing could be seen, and again when it could be and cannot any more."""
        for place in found.as_of.keys() - blind.keys() | ({scan.CLUSTERS} - blind.keys()):
            self._troubled.pop((label, place), None)
        for place, why in blind.items():
            if (label, place) not in self._troubled:
                log.warning("no look for orphans here", account=label, kind=place.holds, cluster=place.cluster, why=why)
            self._troubled[label, place] = why

    def _forget(self, sessions: set[AccountSession]) -> None:
        for session in self._seen.keys() - sessions:
            del self._seen[session]
        self._refusing &= sessions
        now = self._tools.clock.mono()
        self._sent = {key: at for key, at in self._sent.items() if now - at < rules.RESEND_SECONDS}


def describe(thing: Thing, price: str | None) -> str:
    """What an orphan is, and what to do about it, in one sentence or three."""
    state = getattr(thing.record, "status", None)
    costs = f", ${price} an hour" if price is not None else ""
    return (
        f"{_called(thing)}{f' ({one_line(state)}{costs})' if state else ''} was made by this installation for a {thing.kind} "
        f"named {thing.made_for!r}, and no object stands for it. It is left alone, and may be billed. If nobody needs it, "
        "destroy it in the cloud; `gpucloud orphans` lists all of them."
    )


def price_of(session: AccountSession, thing: Thing) -> str | None:
    """Dollars an hour, when they are known. Nobody says what a snapshot costs."""
    configuration = getattr(thing.record, "configuration", None)
    return None if configuration is None else session.catalogue.price_per_hour(configuration)


def _called(thing: Thing) -> str:
    noun = "VM" if thing.kind == gpuvm.KIND else "snapshot"
    return f"The {noun} {thing.where.name!r} in VPC {thing.where.vpc!r} of cluster {thing.where.cluster!r}"


def _key(session: AccountSession, thing: Thing) -> tuple[str, ...]:
    where = thing.where
    return session.url, thing.kind, where.cluster, where.vpc, where.name
