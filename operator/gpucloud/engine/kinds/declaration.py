"""The declaration of a kind: what the places that serve all kinds must know of each. ``registry.py`` lists the declarations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.cloud.calls import Call
    from gpucloud.engine.cache.store import CachedObject, Store
    from gpucloud.engine.kinds.deps import ReconcilerDeps
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.engine.kinds.reconciler import ObservedReconciler, OwnedReconciler
    from gpucloud.kinds.common import Status
    from gpucloud.kinds.model import Model
    from gpucloud.reconcile.facts import Verb
    from gpucloud.reconcile.naming import Identity
    from gpucloud.reconcile.orphans import Owner

WRITTEN_ONCE = ("account", "endpoint", "tenancy")  # fields of status: whose credential, in which cloud and tenant


def _no_keys(_tag: str, _stored: CachedObject[Any, Any]) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedResources:
    """What bears our mark in the cloud, so that it is found when no object stands for it: the scan for orphans."""

    noun: str  # in messages: VM
    inventory: str  # that lists them
    owner: Callable[[Listers, CachedObject[Any, Any]], Owner]  # what an object owns and uses
    destroy: Verb
    destroying_call: Callable[[Identity], Call[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDeclaration:
    """One kind.

    It has a ``reconciler`` if the operator creates and destroys its resources, an ``observer`` if it only observes them, and
    at most acts upon them as a person requests. The account has neither: the manager makes its reconciler, which opens the
    sessions.
    """

    kind: str
    plural: str
    spec: type[Model]
    status: type[Status]
    reconciler: Callable[[ReconcilerDeps, Store[Any, Any]], OwnedReconciler[Any, Any, Any]] | None = None
    observer: Callable[[ReconcilerDeps, Store[Any, Any]], ObservedReconciler[Any, Any, Any]] | None = None
    written_once: tuple[str, ...] = WRITTEN_ONCE  # fields of status that nobody changes once they are set
    keys: Callable[[str, CachedObject[Any, Any]], Iterator[Any]] = _no_keys  # of an object in the indexes, by tag and view
    marked: MarkedResources | None = None  # None: what it owns bears no mark
