"""Protocols: what the manager needs of the reconciler of a kind that is observed, and of one that is owned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gpucloud.engine.controller.reconciler import Facts, Reconciler
from gpucloud.kinds.common import Status
from gpucloud.kinds.model import Model

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from collections.abc import Set as AbstractSet

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.cloud.account_session import AccountSession
    from gpucloud.kinds.common import Order
    from gpucloud.reconcile.naming import Identity

P = TypeVar("P", bound=Model)
S = TypeVar("S", bound=Status)
F = TypeVar("F", bound=Facts)


class ObservedReconciler(Reconciler[P, S, F], Protocol[P, S, F]):
    """The reconciler of a kind whose objects stand for something that listings show."""

    @property
    def inventory_name(self) -> str:
        """The inventory of a session that lists the kind's resources."""

    def cluster_of(self, uid: str) -> str:
        """Return the cluster of the object's resource, casefolded; empty while it is unknown. A query without I/O."""

    def expected(self, session: AccountSession, cluster: str, shown: Collection[Identity] = ()) -> AbstractSet[Identity]:
        """Return the identities that a listing of this cluster should contain: of ``shown`` also those of other credentials."""

    def watchers_of(self, session: AccountSession) -> list[str]:
        """Return the UIDs of the objects that watch an inventory of this session."""


class OwnedReconciler(ObservedReconciler[P, S, F], Protocol[P, S, F]):
    """The reconciler of a kind whose resources the operator creates and destroys."""

    def observe_last(self, body: Mapping[str, Any]) -> F | None:
        """Take in the last view of an object, from its DELETED event; return its facts, None if its spec is unreadable."""

    def admit_deletion(self, facts: F) -> bool:
        """Count the destruction of the object's resource if the deletion guard admits it; return whether it does."""

    def order_of(self, stored: CachedObject[P, S]) -> Order | None:
        """Return the object's order as this process knows it; None if nothing is ordered."""
