"""Index of references by kind, namespace and name, so that a change of an object wakes its dependents at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.engine.runtime.workqueue import Key


class Target(NamedTuple):
    """An object that another one refers to; it may not exist yet."""

    kind: str
    namespace: str
    name: str


class References:
    """Targets by object, and dependents by target."""

    def __init__(self) -> None:
        self._targets: dict[Key, frozenset[Target]] = {}
        self._dependents: dict[Target, set[Key]] = {}

    def put(self, key: Key, targets: Iterable[Target]) -> None:
        """Replace the targets of this object."""
        wanted = frozenset(targets)
        if self._targets.get(key, frozenset()) == wanted:
            return
        self.drop(key)
        self._targets[key] = wanted
        for target in wanted:
            self._dependents.setdefault(target, set()).add(key)

    def drop(self, key: Key) -> frozenset[Target]:
        """Remove a deleted object; return its targets."""
        targets = self._targets.pop(key, frozenset())
        for target in targets:
            self._dependents[target].discard(key)
            if not self._dependents[target]:
                del self._dependents[target]
        return targets

    def targets(self, key: Key) -> frozenset[Target]:
        """Return the targets of this object."""
        return self._targets.get(key, frozenset())

    def dependents(self, target: Target) -> set[Key]:
        """Return the objects that refer to this target."""
        return self._dependents.get(target, set()).copy()
