"""What the inventory keeps of one cluster, and what it tells about its listings."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from gpucloud.reconcile.facts import Unknown, UnknownReason

if TYPE_CHECKING:
    from collections.abc import Collection

    from gpucloud.reconcile.naming import Identity

R = TypeVar("R")


class ListingMeter(Protocol):
    """What the inventory tells about itself; the metrics implement it."""

    def listed(self, cluster: str, *, plausible: bool) -> None:
        """A listing came."""

    def failed(self, cluster: str, kind: str) -> None:
        """A listing failed."""


@dataclass(slots=True)
class View(Generic[R]):
    """One cluster, as last seen. Times are mono seconds at which a listing began."""

    opened: float  # since when somebody needs it
    records: dict[Identity, tuple[R, ...]] = field(default_factory=dict)
    as_of: float | None = None
    blind: Unknown | None = None
    missing_since: dict[Identity, float] = field(default_factory=dict)
    missed: dict[Identity, int] = field(default_factory=dict)  # by how many believed listings in a row; 0: only by others
    returned: dict[Identity, float] = field(default_factory=dict)  # since which listing, after others had lacked it
    doubtful: frozenset[Identity] = frozenset()  # of those that returned: no two believed listings in a row had lacked it
    shown_since: dict[Identity, float] = field(default_factory=dict)  # since which listing in a row those show it
    before: dict[Identity, tuple[R, ...]] = field(default_factory=dict)  # what the good listing before the last showed
    before_as_of: float | None = None
    believed_gone: frozenset[Identity] = frozenset()  # missing from a listing that was plausible
    doubted_since: float | None = None  # since when listings are not believed; None: they are
    vanished: frozenset[Identity] = frozenset()  # what the last listing lacked of what was expected
    unchanged_since: float = 0.0  # since when listings lack exactly that, and it is few enough to be believed
    waiting: dict[str, float] = field(default_factory=dict)  # uid to the time that a look must have begun at
    served: list[str] = field(default_factory=list)  # whom the last listing has served, until they are told
    kick: asyncio.Event = field(default_factory=asyncio.Event)
    failures: int = 0
    took: float = 0.0

    def doubts(self, began: float, vanished: Collection[Identity], *, crossed: bool, settled_after: float) -> bool:
        """Whether a new listing is not believed. ``crossed``: it lacks too much at once.

        Such a doubt lasts until all is back, or until every listing of ``settled_after`` seconds has lacked the same few: a
        listing that fills up again lacks few for a moment too, but not the same ones for so long.
        """
        now_vanished = frozenset(vanished)
        if crossed or now_vanished != self.vanished:
            self.unchanged_since = began
        self.vanished = now_vanished
        doubted = self.doubted_since is not None and bool(vanished) and began - self.unchanged_since < settled_after
        if not (crossed or doubted):
            self.doubted_since = None
        elif self.doubted_since is None:
            self.doubted_since = began
        return self.doubted_since is not None

    def note_missing(self, missing: Collection[Identity], watched: Collection[Identity], *, doubted: bool) -> None:
        """Who is missing from the last listing, since when, and who came back that listings had lacked."""
        began = self.as_of or 0.0
        back = {here: began for here in self.missed if here not in missing}
        self.returned = {here: at for here, at in (self.returned | back).items() if here in watched}
        unsure = {here for here in back if self.missed[here] < 2}
        self.doubtful = frozenset(here for here in (self.doubtful - back.keys()) | unsure if here in watched)
        shown = (here for here in watched if here not in missing)
        self.shown_since = {here: self.shown_since.get(here, began) for here in shown}
        self.missed = {here: self.missed.get(here, 0) + (not doubted) for here in missing}
        self.missing_since = {here: self.missing_since.get(here, began) for here in missing}
        if not doubted:
            self.believed_gone = frozenset(missing)

    @property
    def rejected(self) -> bool:
        """Whether the cloud knows no such cluster, and never did."""
        return self.as_of is None and self.blind is not None and self.blind.cause is UnknownReason.REJECTED
