"""Names of pools and images that the cloud's answers have shown to a credential, by cluster. Only messages use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_NAMES = 100  # of one sort in one cluster: an answer with more is no help to a person
LONGEST_NAME = 100  # characters


def is_shown(name: str) -> bool:
    """Return whether a message could show the name."""
    return len(name) <= LONGEST_NAME and name.isprintable()


class SeenNames:
    """Names by cluster, in any spelling of the cluster."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def add(self, cluster: str, names: Iterable[str | None]) -> None:
        """Add names; those that no message could show are left out."""
        seen = self._names.setdefault(cluster.casefold(), set())
        for name in names:
            if name and is_shown(name) and len(seen) < MOST_NAMES:
                seen.add(name)

    def of(self, cluster: str) -> tuple[str, ...]:
        """Return the names seen in a cluster, sorted."""
        return tuple(sorted(self._names.get(cluster.casefold(), ())))
