"""The deletions that the deletion guard counts, by UID, and what it asks of all of them.

Each answer is kept up to date with each change, so that a question costs no pass over all: thousands may be counted.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpucloud.reconcile.deletion_guard import VmDeletion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, KeysView, Sequence
    from datetime import datetime


def _is_held(deletion: VmDeletion) -> bool:
    """Whether it is held, as its status says."""
    return deletion.held and not (deletion.released or deletion.admitted)


def _lacks_price(deletion: VmDeletion) -> bool:
    return deletion.price is None and not deletion.released


def _relies_on_release(deletion: VmDeletion) -> bool:
    return deletion.released and not deletion.admitted


class CountedDeletions(Mapping[str, VmDeletion]):
    """Deletions by UID. A changed one is put again."""

    def __init__(self) -> None:
        self._all: dict[str, VmDeletion] = {}
        self._unreleased: list[VmDeletion] = []  # in order of time
        self._by_namespace: dict[str, set[str]] = {}
        self._groups: dict[Callable[[VmDeletion], bool], set[str]] = {
            group: set() for group in (_is_held, _lacks_price, _relies_on_release)
        }

    def __getitem__(self, uid: str) -> VmDeletion:
        return self._all[uid]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @property
    def unreleased(self) -> Sequence[VmDeletion]:
        """What no annotation has released, in order of time."""
        return self._unreleased

    @property
    def namespaces(self) -> KeysView[str]:
        """The namespaces in which a deletion is counted."""
        return self._by_namespace.keys()

    @property
    def lack_price(self) -> bool:
        """Whether it is unknown of any unreleased one what its VM costs."""
        return bool(self._groups[_lacks_price])

    @property
    def rely_on_release(self) -> bool:
        """Whether any that was not admitted yet counts as released."""
        return bool(self._groups[_relies_on_release])

    def held(self) -> list[VmDeletion]:
        """Return what is held, as statuses say, in order of time."""
        return sorted((self._all[uid] for uid in self._groups[_is_held]), key=_time_of)

    def of_namespace(self, namespace: str) -> list[VmDeletion]:
        """Return the deletions of a namespace, in order of time."""
        return sorted((self._all[uid] for uid in self._by_namespace.get(namespace, ())), key=_time_of)

    def put(self, deletion: VmDeletion) -> None:
        """Count a deletion, or replace it by what is known of it now."""
        known = self._all.get(deletion.uid)
        if known == deletion:
            return
        if known is not None:
            self._take_out(known)
        self._all[deletion.uid] = deletion
        self._by_namespace.setdefault(deletion.namespace, set()).add(deletion.uid)
        for belongs, uids in self._groups.items():
            if belongs(deletion):
                uids.add(deletion.uid)
        if not deletion.released:
            insort(self._unreleased, deletion, key=_time_of)

    def remove(self, uid: str) -> None:
        """Count a deletion no more."""
        known = self._all.pop(uid)
        self._take_out(known)
        self._by_namespace[known.namespace].discard(uid)
        if not self._by_namespace[known.namespace]:
            del self._by_namespace[known.namespace]

    def _take_out(self, known: VmDeletion) -> None:
        for uids in self._groups.values():
            uids.discard(known.uid)
        if not known.released:
            del self._unreleased[bisect_left(self._unreleased, _time_of(known), key=_time_of)]


def _time_of(deletion: VmDeletion) -> tuple[datetime, str]:
    """Return by what deletions are in order of time; UIDs decide between those of one second."""
    return deletion.requested_at, deletion.uid
