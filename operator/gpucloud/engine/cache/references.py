"""Which object depends on which, so that a change of one wakes the others at once. Within a namespace, by kind and name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpucloud.engine.runtime.workqueue import Key


class Target(NamedTuple):
    """Something that an object depends on; it may not exist yet."""

    kind: str
    namespace: str
    name: str


class References:
    """Targets by object, and the other way round."""

    def __init__(self) -> None:
        self._targets: dict[Key, frozenset[Target]] = {}
        self._dependents: dict[Target, set[Key]] = {}

    def put(self, key: Key, targets: Iterable[Target]) -> None:
        """This object depends on these, and on nothing else."""
        wanted = frozenset(targets)
        if self._targets.get(key, frozenset()) == wanted:
            return
        self.drop(key)
        self._targets[key] = wanted
        for target in wanted:
            self._dependents.setdefault(target, set()).add(key)

    def drop(self, key: Key) -> frozenset[Target]:
        """The object is gone; answers what it depended on."""
        targets = self._targets.pop(key, frozenset())
        for target in targets:
            self._dependents[target].discard(key)
            if not self._dependents[target]:
                del self._dependents[target]
        return targets

    def targets(self, key: Key) -> frozenset[Target]:
        """What this object depends on."""
        return self._targets.get(key, frozenset())

    def dependents(self, target: Target) -> set[Key]:
        """Who depends on this."""
        return self._dependents.get(target, set()).copy()
