"""Clean-ups: what a reconciler does once an object was deleted, as one list of named steps.

The runtime state of an object goes with its entry (``cache/entries.py``). A step is for what outlives the entry: state that
others look up by the object, and objects that wait for its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gpucloud.engine.cache.references import References
    from gpucloud.engine.cloud.watches import Watches
    from gpucloud.engine.kinds.ownership import Ownership
    from gpucloud.engine.runtime.workqueue import Key


@dataclass(frozen=True, slots=True)
class Cleanup:
    """One step. It may be done twice, and does no I/O."""

    name: str
    why: str  # what would be wrong without it
    run: Callable[[Key], object]


def clean_up(steps: Iterable[Cleanup], key: Key) -> None:
    """Do all steps for a deleted object, in order."""
    for step in steps:
        step.run(key)


def claim(ownership: Ownership, wake: Callable[[str], None]) -> Cleanup:
    """Return the step that drops the claim to a resource in the cloud."""

    def run(key: Key) -> None:
        for other in sorted(ownership.drop(key.uid)):
            wake(other)

    return Cleanup("claim", "another object that claims the same resource would stay in Conflict", run)


def watches(watched: Watches) -> Cleanup:
    """Return the step that ends the object's watches of inventories."""
    why = "its cluster would be listed for it for ever, and the listing would wake nobody"
    return Cleanup("watches", why, lambda key: watched.drop(key.uid))


def references(index: References) -> Cleanup:
    """Return the step that drops the object's references to others."""
    why = "it would count as a dependent of those, and be queued whenever one of them changes"
    return Cleanup("references", why, index.drop)
