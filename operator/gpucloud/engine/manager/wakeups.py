"""Wakes objects: queues their keys when something changed outside them, or when a listing came that they wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.engine.runtime.workqueue import Key, Lane
from gpucloud.kinds import gpucloudaccount, gpuvm
from gpucloud.kinds.common import OWN_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.manager.kinds import Kinds
    from gpucloud.engine.runtime.workqueue import WorkQueue
    from gpucloud.reconcile.naming import Identity


class Wakeups:
    """Wakes objects while this process leads; implements ``SessionListener``."""

    def __init__(
        self, queue: WorkQueue, kinds: Kinds, leading: Callable[[], bool], users: Callable[[AccountSession], set[str]]
    ) -> None:
        """``users`` returns the accounts that use a session."""
        self._queue, self._kinds, self._leading, self._users = queue, kinds, leading, users

    def queue(self, key: Key) -> None:
        """Something that this object refers to has changed."""
        if self._leading():
            self._kinds.controllers[key.kind].pace.caused(key.uid)
            self._queue.add(key, Lane.PEOPLE)

    def wake(self, uid: str) -> None:
        """Something outside this object has changed for it."""
        self._requeue(uid, caused=True)

    def served(self, uid: str) -> None:
        """A listing came that this object waited for: queue it."""
        self._requeue(uid, caused=False)

    def wake_all(self) -> None:
        """Something has changed for every object with a resource in the cloud."""
        for reconciler in self._kinds.observed.values():
            for stored in reconciler.store:
                self.wake(stored.meta.uid)

    def expected(
        self, session: AccountSession, inventory: str, cluster: str, shown: Collection[Identity] = ()
    ) -> Collection[Identity]:
        """Return the identities that a listing should contain: of ``shown`` also those of objects of other credentials."""
        found = (one for one in self._kinds.observed.values() if one.inventory_name == inventory)
        return {here for reconciler in found for here in reconciler.expected(session, cluster, shown)}

    def learned(self, session: AccountSession) -> None:
        """The answers of the cloud say something new of this session's credential: wake the accounts that use it."""
        accounts = self._kinds.reconcilers.get(gpucloudaccount.KIND)
        if accounts is None:
            return
        for label in sorted(self._users(session) - {OWN_ACCOUNT}):
            stored = accounts.store.named(*label.split("/", 1))
            if stored is not None:
                self.wake(stored.meta.uid)

    def tenant_learned(self, session: AccountSession) -> None:
        """The tenant of the credential has become known, or stays unknown: wake the objects that may have waited for that."""
        for reconciler in self._kinds.observed.values():
            for uid in reconciler.watchers_of(session):
                self.wake(uid)

    def prices_learned(self, session: AccountSession) -> None:
        """Prices have become known: wake the GpuVMs whose status has none yet."""
        vms = self._kinds.observed[gpuvm.KIND]
        for stored in map(vms.store.get, vms.watchers_of(session)):
            if stored is not None and stored.status.price_per_hour is None:
                self.wake(stored.meta.uid)

    def _requeue(self, uid: str, *, caused: bool) -> None:
        if not self._leading():
            return
        for kind, reconciler in self._kinds.reconcilers.items():
            stored = reconciler.store.get(uid)
            if stored is not None:
                pace = self._kinds.controllers[kind].pace
                (pace.caused if caused else pace.served)(uid)
                lane = Lane.PEOPLE if stored.status.observed_generation < 0 else Lane.POLLS  # no status: a person waits for it
                self._queue.add(Key(kind, stored.meta.namespace, stored.meta.name, uid), lane)
                return
