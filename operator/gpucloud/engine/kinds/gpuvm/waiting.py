"""The places of GpuVMs in the waiting lines for capacity, each in the line of its session and cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.cloud.port import Precondition
from gpucloud.engine.kinds.indexes import WaitsForCapacity
from gpucloud.reconcile import pause
from gpucloud.reconcile.gpuvm import replacement
from gpucloud.reconcile.gpuvm.offers import accepted, is_to_start, offers, wanted_offer
from gpucloud.reconcile.gpuvm.waiting import waiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.facts import Verb
    from gpucloud.reconcile.gpuvm import VmFacts
    from gpucloud.reconcile.waiting_line import Waiter

    GpuVM = CachedObject[GpuVMSpec, GpuVMStatus]


class _Place(NamedTuple):
    session: AccountSession
    cluster: str


class WaitingGpuVMs:
    """Puts GpuVMs into the lines and takes them out. ``session_of`` returns the session that a GpuVM uses now."""

    def __init__(
        self,
        store: Store[GpuVMSpec, GpuVMStatus],
        tracker: OrderTracker,
        session_of: Callable[[GpuVM, GpuVMSpec], AccountSession | None],
    ) -> None:
        self._store, self._tracker, self._session_of = store, tracker, session_of
        self._places: dict[str, _Place] = {}  # by UID

    def with_line(self, f: VmFacts, session: AccountSession) -> VmFacts:
        """Add what the line says of a GpuVM that waits, and of a VM that is to be switched on."""
        place = replacement.waiter(f) or waiter(f, ready=True)
        if place is None:
            return self.with_those_before(f, session) if is_to_start(f) else f
        return replace(f, line=session.capacity.line(f.spec.cluster, place))

    def with_those_before(self, f: VmFacts, session: AccountSession | None) -> VmFacts:
        """Add what the line says of a GpuVM that is about to be ordered, or started, and does not wait yet, if it is to queue.

        It queues behind others that wait for the same configuration, and where others were refused the offer a short time ago.
        Others are found by their status: after a restart it stands there before they are in the line again.
        """
        place = _newcomer(f)
        if session is None or place is None or waiter(f, ready=True) is not None:
            return f
        line = session.capacity.line(f.spec.cluster, place)
        if wanted_offer(f) not in line.taken and not self._is_behind(f, session):
            return f
        return replace(f, line=replace(line, behind=True))

    def not_refused_to_others(self, f: VmFacts) -> Precondition:
        """Return the precondition of an order or a start: nobody else was refused its offer since the facts were gathered."""
        offer, place = wanted_offer(f), _newcomer(f)

        def holds() -> bool:
            session = self._session(f.meta.uid)
            return session is None or place is None or offer not in session.capacity.line(f.spec.cluster, place).taken

        return Precondition("nobody else was refused the same a moment ago", holds)

    def answered(self, f: VmFacts, verb: Verb) -> None:
        """Remember whether the cloud has just had capacity for what was ordered or started, as the answer to this call says."""
        session, sent = self._session(f.meta.uid), self._tracker.history(f.meta.uid).attempts.get(verb)
        if session is None or sent is None:
            return
        offer = wanted_offer(f).in_pool(f.default_pool)
        if sent.refusal is None:
            session.capacity.accepted(f.spec.cluster, offer)
        elif sent.refusal.kind is ErrorKind.UNAVAILABLE and f.spec.node_name is None:  # else one node is full, not the pool
            session.capacity.refused(f.spec.cluster, offer, f.meta.uid)

    def put(self, uid: str, waits: Waiter | None) -> None:
        """Let a GpuVM wait in the line of its session and cluster, or in none."""
        stored = None if waits is None else self._store.get(uid)
        session = None if waits is None else self._session(uid)
        here = None if session is None or stored is None or stored.spec is None else _Place(session, stored.spec.cluster)
        before = self._places.pop(uid, None)
        if before is not None and before != here:
            before.session.capacity.leave(before.cluster, uid)
        if here is not None and waits is not None:
            here.session.capacity.join(here.cluster, waits)
            self._places[uid] = here

    def _session(self, uid: str) -> AccountSession | None:
        stored = self._store.get(uid)
        return None if stored is None or stored.spec is None else self._session_of(stored, stored.spec)

    def _is_behind(self, f: VmFacts, session: AccountSession) -> bool:
        wanted = {one.configuration for one in (accepted(f) if is_to_start(f) else offers(f.spec))}
        for other in self._store.indexed(WaitsForCapacity(f.spec.cluster.casefold())):
            if other.spec is None or other.meta.uid == f.meta.uid or pause.is_paused(other.meta.annotations):
                continue
            shares = any(one.configuration in wanted for one in offers(other.spec))
            if shares and not other.meta.deleting and self._session_of(other, other.spec) is session:
                return True
        return False


def _newcomer(f: VmFacts) -> Waiter | None:
    """Return the place that a GpuVM has, or would have if it began to wait now."""
    return waiter(replace(f, line=replace(f.line, behind=True)), ready=True)
