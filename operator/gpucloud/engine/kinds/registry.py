"""All kinds. A new one is one more name in ``KINDS``; stores, reconcilers and the scan for orphans derive from it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gpucloud.engine.cache.store import Store
from gpucloud.engine.kinds import gpucloudaccount, gpuhost, gpusnapshot, gpuvm, gpuvpc
from gpucloud.engine.kinds.listers import Listers

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpucloud.engine.cache.entries import Entries
    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.reconciler import ObservedReconciler, OwnedReconciler

KINDS = (gpuvm.DECLARATION, gpuvpc.DECLARATION, gpusnapshot.DECLARATION, gpuhost.DECLARATION, gpucloudaccount.DECLARATION)
OWNED = tuple(one for one in KINDS if one.reconciler is not None)  # what the operator creates and destroys in the cloud
MARKED = {one.kind: one.marked for one in OWNED if one.marked is not None}  # whose names in the cloud bear a mark, by kind
PLURALS = {one.kind: one.plural for one in KINDS}


def new_listers(
    tag: str,
    entries: Entries | None = None,
    endpoint_of: Callable[[CachedObject[Any, Any]], str | None] = lambda _stored: None,
    *,
    shares_own: bool = False,
) -> Listers:
    """Return empty stores of all kinds. ``tag`` is the installation's; ``entries`` hold all runtime state, if it is shared."""
    stores = {one.kind: Store(one.spec, one.status, one.written_once, entries, partial(one.keys, tag)) for one in KINDS}
    return Listers(stores, tag, endpoint_of, shares_own)


def owned_reconcilers(deps: ReconcilerDeps) -> dict[str, OwnedReconciler[Any, Any, Any]]:
    """Return the reconcilers of owned kinds, by kind, each with its store among those of ``deps.objects``."""
    return {one.kind: one.reconciler(deps, deps.objects.stores[one.kind]) for one in KINDS if one.reconciler is not None}


def observers(deps: ReconcilerDeps) -> dict[str, ObservedReconciler[Any, Any, Any]]:
    """Return the reconcilers of kinds that are only observed, in the same way."""
    return {one.kind: one.observer(deps, deps.objects.stores[one.kind]) for one in KINDS if one.observer is not None}
