"""The places of GpuVMs in the waiting lines for capacity: one in the line of each cluster that a GpuVM accepts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cache.entries import Ending
from gpucloud.engine.cloud.port import Precondition
from gpucloud.engine.kinds.indexes import WaitsForCapacity
from gpucloud.reconcile import pause
from gpucloud.reconcile.gpuvm import replacement
from gpucloud.reconcile.gpuvm.offers import accepted, cluster_of, is_to_start, offers, wanted_offer
from gpucloud.reconcile.gpuvm.waiting import newcomer, waiter
from gpucloud.reconcile.waiting_line import Line, Offer, Waiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.facts import Verb
    from gpucloud.reconcile.gpuvm import VmFacts

    GpuVM = CachedObject[GpuVMSpec, GpuVMStatus]


class _LineOf(NamedTuple):
    """One line: of a cluster, at a session."""

    session: AccountSession
    cluster: str


@dataclass(slots=True)
class _Lines(Ending):
    """The places of one GpuVM; it leaves them with its object."""

    taken: list[_LineOf] = field(default_factory=list)

    def end(self, uid: str) -> None:
        for one in self.taken:
            one.session.capacity.leave(one.cluster, uid)
        self.taken = []


class WaitingGpuVMs:
    """Puts GpuVMs into the lines and takes them out. ``session_of`` returns the session that a GpuVM uses now."""

    def __init__(
        self,
        store: Store[GpuVMSpec, GpuVMStatus],
        tracker: OrderTracker,
        session_of: Callable[[GpuVM, GpuVMSpec], AccountSession | None],
    ) -> None:
        self._store, self._tracker, self._session_of = store, tracker, session_of

    def with_line(self, f: VmFacts, session: AccountSession) -> VmFacts:
        """Add what the line says of a GpuVM that waits, and of a VM that is to be switched on."""
        place = replacement.waiter(f) or waiter(f, ready=True)
        if place is None:
            return self.with_those_before(f, session) if is_to_start(f) else f
        return replace(f, line=_line(f.spec, session, place))

    def with_those_before(self, f: VmFacts, session: AccountSession | None) -> VmFacts:
        """Add what the line says of a GpuVM that is about to be ordered, or started, and does not wait yet, if it is to queue.

        It queues behind others that wait for the same configuration, and where others were refused the offer a short time ago.
        Others are found by their status: after a restart it stands there before they are in the line again. While a replacement
        is planned, its own place in the line, if it needs one, is with other offers (``replacement.waiter``).
        """
        to_go = f.replacement_is_planned and not f.recreates
        place = None if to_go else newcomer(f)
        if session is None or place is None or waiter(f, ready=True) is not None:
            return f
        line = _line(f.spec, session, place)
        if wanted_offer(f) not in line.taken and not self._is_behind(f, session):
            return f
        return replace(f, line=replace(line, behind=True))

    def not_refused_to_others(self, f: VmFacts) -> Precondition:
        """Return the precondition of an order or a start: nobody else was refused its offer since the facts were gathered."""
        offer, place = wanted_offer(f), newcomer(f)

        def holds() -> bool:
            session = self._session(f.meta.uid)
            return session is None or place is None or offer not in _line(f.spec, session, place).taken

        return Precondition("nobody else was refused the same a moment ago", holds)

    def answered(self, f: VmFacts, verb: Verb) -> None:
        """Remember whether the cloud has just had capacity for what was ordered or started, as the answer to this call says."""
        session, sent = self._session(f.meta.uid), self._tracker.history(f.meta.uid).attempts.get(verb)
        if session is None or sent is None:
            return
        wanted = wanted_offer(f)
        cluster, offer = cluster_of(f.spec, wanted), _in_line(wanted).in_pool(f.default_pool)
        if sent.refusal is None:
            session.capacity.accepted(cluster, offer)
        elif sent.refusal.kind is ErrorKind.UNAVAILABLE and f.spec.node_name is None:  # else one node is full, not the pool
            session.capacity.refused(cluster, offer, f.meta.uid)

    def put(self, uid: str, waits: Waiter | None) -> None:
        """Let a GpuVM wait in the line of its session and of each cluster that it accepts, or in none."""
        stored = None if waits is None else self._store.get(uid)
        session = None if waits is None else self._session(uid)
        found = dict[_LineOf, Waiter]()
        if session is not None and stored is not None and stored.spec is not None and waits is not None:
            found = {_LineOf(session, cluster): part for cluster, part in _parts(stored.spec, waits)}
        places = self._store.entries.part(uid, _Lines)
        for before in places.taken:
            if before not in found:
                before.session.capacity.leave(before.cluster, uid)
        for here, part in found.items():
            here.session.capacity.join(here.cluster, part)
        places.taken = list(found)

    def _session(self, uid: str) -> AccountSession | None:
        stored = self._store.get(uid)
        return None if stored is None or stored.spec is None else self._session_of(stored, stored.spec)

    def _is_behind(self, f: VmFacts, session: AccountSession) -> bool:
        wanted = _wanted(f.spec, accepted(f) if is_to_start(f) else offers(f.spec))
        for other in self._store.indexed(*(WaitsForCapacity(cluster) for cluster in sorted({one for one, _ in wanted}))):
            if other.spec is None or other.meta.uid == f.meta.uid or pause.is_paused(other.meta.annotations):
                continue
            shares = not wanted.isdisjoint(_wanted(other.spec, offers(other.spec)))
            if shares and not other.meta.deleting and self._session_of(other, other.spec) is session:
                return True
        return False


def _wanted(spec: GpuVMSpec, found: tuple[Offer, ...]) -> set[tuple[str, str]]:
    """Return the clusters, casefolded, and the configurations of these offers."""
    return {(cluster_of(spec, one).casefold(), one.configuration) for one in found}


def _in_line(offer: Offer) -> Offer:
    """Return an offer as the line of its cluster has it."""
    return Offer(offer.configuration, offer.resource_pool)


def _parts(spec: GpuVMSpec, place: Waiter) -> Iterator[tuple[str, Waiter]]:
    """Yield the clusters of what a GpuVM accepts, each with its place in the line there."""
    for cluster in dict.fromkeys(cluster_of(spec, one) for one in place.offers):
        here = tuple(_in_line(one) for one in place.offers if cluster_of(spec, one) == cluster)
        yield cluster, replace(place, offers=here)


def _line(spec: GpuVMSpec, session: AccountSession, place: Waiter) -> Line:
    """Return what the lines of all its clusters say of a GpuVM, the turn being for the first of its offers that has one."""
    looking, listed, turns, taken = False, set[Offer](), set[Offer](), dict[Offer, datetime]()
    for cluster, part in _parts(spec, place):
        line = session.capacity.line(cluster, part)
        there = {_in_line(one): one for one in place.offers if cluster_of(spec, one) == cluster}
        looking = looking or line.looking
        listed |= {there[one] for one in line.listed}
        turns |= {there[line.turn]} if line.turn in there else set()
        taken |= {there[one]: until for one, until in line.taken.items()}
    turn = next((one for one in place.offers if one in turns), None)
    return Line(looking=looking, listed=frozenset(listed), turn=turn, taken=taken)
