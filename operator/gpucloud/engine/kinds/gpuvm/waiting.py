"""The places of GpuVMs in the waiting lines for capacity, each in the line of its session and cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpucloud.engine.kinds.indexes import WaitsForCapacity
from gpucloud.reconcile import pause
from gpucloud.reconcile.gpuvm.offers import offers
from gpucloud.reconcile.gpuvm.waiting import waiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.gpuvm import VmFacts
    from gpucloud.reconcile.waiting_line import Waiter

    GpuVM = CachedObject[GpuVMSpec, GpuVMStatus]


class _Place(NamedTuple):
    session: AccountSession
    cluster: str


class WaitingGpuVMs:
    """Puts GpuVMs into the lines and takes them out. ``session_of`` returns the session that a GpuVM uses now."""

    def __init__(
        self, store: Store[GpuVMSpec, GpuVMStatus], session_of: Callable[[GpuVM, GpuVMSpec], AccountSession | None]
    ) -> None:
        self._store, self._session_of = store, session_of
        self._places: dict[str, _Place] = {}  # by UID

    def with_line(self, f: VmFacts, session: AccountSession) -> VmFacts:
        """Add what the line says of a GpuVM that waits."""
        place = waiter(f, ready=True)
        return f if place is None else replace(f, line=session.capacity.line(f.spec.cluster, place))

    def with_those_before(self, f: VmFacts, session: AccountSession | None) -> VmFacts:
        """Add whether others wait for the same configuration, for a GpuVM that is about to be ordered and does not wait yet.

        By their status: after a restart it stands there before they are in the line again.
        """
        if session is None or waiter(f, ready=True) is not None or not self._is_behind(f, session):
            return f
        behind = replace(f, line=replace(f.line, behind=True))
        place = waiter(behind, ready=True)
        return behind if place is None else replace(f, line=replace(session.capacity.line(f.spec.cluster, place), behind=True))

    def put(self, uid: str, waits: Waiter | None) -> None:
        """Let a GpuVM wait in the line of its session and cluster, or in none."""
        stored = None if waits is None else self._store.get(uid)
        here = None
        if stored is not None and stored.spec is not None:
            session = self._session_of(stored, stored.spec)
            here = None if session is None else _Place(session, stored.spec.cluster)
        before = self._places.pop(uid, None)
        if before is not None and before != here:
            before.session.capacity.leave(before.cluster, uid)
        if here is not None and waits is not None:
            here.session.capacity.join(here.cluster, waits)
            self._places[uid] = here

    def _is_behind(self, f: VmFacts, session: AccountSession) -> bool:
        wanted = {one.configuration for one in offers(f.spec)}
        for other in self._store.indexed(WaitsForCapacity(f.spec.cluster.casefold())):
            if other.spec is None or other.meta.uid == f.meta.uid or pause.is_paused(other.meta.annotations):
                continue
            shares = any(one.configuration in wanted for one in offers(other.spec))
            if shares and not other.meta.deleting and self._session_of(other, other.spec) is session:
                return True
        return False
