"""Records Events on GpuCloudAccounts, also for a session that several of them use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpucloud.engine.orphans.scan import PLURALS
from gpucloud.kinds import gpucloudaccount
from gpucloud.kinds.common import OWN_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cache.store import Store
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.engine.cloud.accounts import AccountSessions
    from gpucloud.engine.kube.event_recorder import EventRecorder
    from gpucloud.engine.kube.events import Event
    from gpucloud.kinds.gpucloudaccount import GpuCloudAccountSpec, GpuCloudAccountStatus
    from gpucloud.reconcile.facts import ObjectFacts


class AccountEvents:
    """Records Events on accounts."""

    def __init__(
        self,
        events: EventRecorder,
        sessions: AccountSessions,
        accounts: Store[GpuCloudAccountSpec, GpuCloudAccountStatus],
    ) -> None:
        self._events, self._sessions, self._accounts = events, sessions, accounts

    def record(self, meta: ObjectFacts, event: Event) -> None:
        """Record an Event on this account."""
        self._events.record(gpucloudaccount.KIND, meta, event)

    def record_for_session(self, session: AccountSession, kind: str, event: Event, lost: Callable[[], None] | None) -> None:
        """Record an Event on an account that uses the session and is not being deleted, else on the CRD of this kind.

        A namespace that is being deleted takes no Events. The operator's own account has no object.
        """
        for label in sorted(self._sessions.users(session) - {OWN_ACCOUNT}):
            stored = self._accounts.named(*label.split("/", 1))
            if stored is not None and not stored.meta.deleting:
                self._events.record(gpucloudaccount.KIND, stored.meta, event, lost)
                return
        self._events.record_for_kind(PLURALS[kind], event, lost)
