"""What destroys a GpuVM's VM, for the deletion guard: a deletion of the object, a failure, or a replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.engine.cloud.port import Precondition
from gpucloud.kinds.common import Origin
from gpucloud.kinds.gpuvm import DeletionPolicy
from gpucloud.reconcile.deletion_guard import is_destroyed
from gpucloud.reconcile.facts import Present
from gpucloud.reconcile.gpuvm.offers import ordered_configuration
from gpucloud.reconcile.gpuvm.on_loss import replaces_failed
from gpucloud.reconcile.gpuvm.vm_states import is_replaceable
from gpucloud.reconcile.placement import cloud_placement
from gpucloud.reconcile.price import dollars
from gpucloud.reconcile.retention import recorded_policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from gpucloud.cloud.models import VmRecord
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.kinds.deletion_guard import DeletionGuard
    from gpucloud.engine.kinds.order_tracking import OrderTracker
    from gpucloud.engine.kinds.ownership import Ownership
    from gpucloud.kinds.common import Order
    from gpucloud.kinds.gpuvm import GpuVMSpec, GpuVMStatus
    from gpucloud.reconcile.facts import Observation
    from gpucloud.reconcile.gpuvm.facts import VmFacts

    GpuVM = CachedObject[GpuVMSpec, GpuVMStatus]


class Destructions:
    """Counts the destructions of GpuVMs with the deletion guard."""

    def __init__(
        self,
        guard: DeletionGuard,
        tracker: OrderTracker,
        ownership: Ownership,
        session_of: Callable[[GpuVM, GpuVMSpec], AccountSession | None],
        order_of: Callable[[GpuVM], Order | None],
    ) -> None:
        self._guard, self._tracker, self._ownership = guard, tracker, ownership
        self._session_of, self._order_of = session_of, order_of

    def count(self, stored: GpuVM, present: bool = False, in_use: str | None = None) -> None:
        """Count this object's destruction if it destroys a VM. ``in_use``: the configuration that the catalogue names."""
        meta, spec, status = stored.meta, stored.spec, stored.status
        if not self._guard.on:
            return
        if spec is None or not meta.has_finalizer or self._ownership.owner(meta.uid) is not None:
            self._guard.drop(meta.uid)
            return
        destroys = self._deletion_destroys(stored, spec, present) if meta.deleting else self._is_replaced(stored, spec)
        if not destroys:
            self._guard.drop(meta.uid)
            return
        price, session = dollars(status.price_per_hour), self._session_of(stored, spec)
        if price is None and self._guard.rule.price and session is not None:
            session.catalogue.refresh()
            price = dollars(session.catalogue.price_per_hour(in_use or ordered_configuration(spec, self._order_of(stored))))
        self._guard.put(meta, price, held=status.deletion_held_at is not None, replaced_since=replaced_since(status))

    def _deletion_destroys(self, stored: GpuVM, spec: GpuVMSpec, present: bool) -> bool:
        order, seen_new = self._order_of(stored), self._tracker.history(stored.meta.uid).seen_new
        ordered = present or is_destroyed(order, marked=spec.vm_name is None, seen_new=seen_new)
        return ordered and recorded_policy(spec.deletion.policy, order) is not DeletionPolicy.RETAIN

    def _is_replaced(self, stored: GpuVM, spec: GpuVMSpec) -> bool:
        order = self._order_of(stored)
        if order is None or order.origin is not Origin.CREATED:
            return False
        if cloud_placement(order) is not None:
            return False
        policy = recorded_policy(spec.deletion.policy, order)
        failed = stored.status.failed_since is not None and replaces_failed(spec, policy)
        return failed or (stored.status.replacement is not None and policy is not DeletionPolicy.RETAIN)


def replaced_since(status: GpuVMStatus) -> datetime | None:
    """Return since when a VM is to be replaced: since its failure, or since that was planned."""
    return status.failed_since or (None if status.replacement is None else status.replacement.planned_at)


def still_failed(facts: VmFacts, newest: Callable[[], Observation[VmRecord]]) -> Precondition:
    """Return the precondition that a VM to be destroyed for another one is still listed as failed, or not as the spec says."""

    def holds() -> bool:
        if facts.meta.deleting or facts.asks_replacement:
            return True
        found = newest()
        return isinstance(found, Present) and is_replaceable(found.record)

    return Precondition("the VM has failed, or is not as the spec says", holds)
