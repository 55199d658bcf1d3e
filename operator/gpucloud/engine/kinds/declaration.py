"""The declaration of a kind: what the places that serve all kinds must know of each. ``registry.py`` lists the declarations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpucloud.engine.cache.store import CachedObject
    from gpucloud.engine.kinds.cloud_reconciler import CloudReconciler
    from gpucloud.engine.kinds.listers import Listers
    from gpucloud.kinds.common import Status
    from gpucloud.kinds.meta import Model
    from gpucloud.reconcile.orphans import Owner

WRITTEN_ONCE = ("account", "tenancy")  # fields of status: whose credential, in which tenant


def _no_keys(_tag: str, _stored: CachedObject[Any, Any]) -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDeclaration:
    """One kind. A kind that the operator only observes has no ``reconciler`` here, and none of its records is an orphan."""

    kind: str
    plural: str
    spec: type[Model]
    status: type[Status]
    reconciler: type[CloudReconciler[Any, Any, Any]] | None = None  # of what the operator creates and destroys
    written_once: tuple[str, ...] = WRITTEN_ONCE  # fields of status that nobody changes once they are set
    keys: Callable[[str, CachedObject[Any, Any]], Iterator[Any]] = _no_keys  # of an object in the indexes, by tag and view
    owner: Callable[[Listers, CachedObject[Any, Any]], Owner] | None = None  # None: its records bear no mark

    @property
    def inventory(self) -> str | None:
        """The inventory that lists its resources; None if none does."""
        return None if self.reconciler is None else self.reconciler.inventory_name
