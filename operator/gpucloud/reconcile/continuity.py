"""Whether a chosen name in a listing still is what this object ordered, or something that somebody made under it meanwhile.

A chosen name bears no fingerprint, so what has it is known only by never having been out of sight, or by its likeness to what
the status records. Two things decide: the ``Gap`` since this process last took it for the object's, and its ``Likeness``.
``MATCHES`` holds every pair of them; docs/reference/orders.md is printed from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpucloud.reconcile.facts import Presence


class Gap(StrEnum):
    """What happened since this process last took the resource for the object's. A later member outweighs the earlier ones."""

    WATCHED = "watched"
    UNWATCHED = "not watched"
    DESTROYING = "destruction announced"
    LACKED = "a listing lacked it"
    AWAY = "two listings lacked it"


class Likeness(StrEnum):
    """How a listed record compares with what the status records of the resource."""

    SAME = "same address or creation time"
    UNKNOWN = "not comparable"
    CHANGED = "other public address"
    OTHER = "other private address or creation time"


class Match(StrEnum):
    """What a listing shows under the chosen name."""

    SAME = "this object's"
    LOOK_AGAIN = "this object's, if a second listing agrees"
    UNDECIDED = "this object's, until a listing shows more"
    DOUBTED = "another's, if a second listing agrees"
    REPLACED = "another's"


_S, _L, _U, _D, _R = Match.SAME, Match.LOOK_AGAIN, Match.UNDECIDED, Match.DOUBTED, Match.REPLACED
MATCHES: dict[Gap, dict[Likeness, Match]] = {
    gap: dict(zip(Likeness, matches, strict=True))
    for gap, matches in {
        # of a likeness:   SAME UNKNOWN CHANGED OTHER
        Gap.WATCHED: (_S, _S, _S, _L),
        Gap.UNWATCHED: (_S, _S, _S, _D),
        Gap.DESTROYING: (_S, _S, _R, _R),
        Gap.LACKED: (_L, _U, _R, _R),
        Gap.AWAY: (_L, _R, _R, _R),
    }.items()
}


@dataclass(frozen=True, slots=True)
class Sightings:
    """In which listings this process saw the resource. Times (mono) are when a listing began."""

    last: float | None = None  # the last one in which it was taken for this object's; None: another process saw it last
    back: float | None = None  # the first that shows the same again after a gap, or another without one: it may be old
    other: float | None = None  # the first that shows another in its place: it may be an old one, too
    moved: bool = False  # two have shown it under another address without a gap, which the status does not record yet

    @property
    def in_doubt(self) -> bool:
        """Whether the last listing alone says what it is: a second one must agree before anything is done."""
        return self.back is not None or self.other is not None


def gap_since(sightings: Sightings, presence: Presence, known_from: float, *, destroying: bool, away: bool) -> Gap:
    """Return the gap since the last sighting; of a resource that another process saw, since ``known_from`` (mono).

    ``destroying``: its destruction was announced, and may have been carried out; ``away``: the order's record says that two
    listings lacked it.
    """
    last = known_from if sightings.last is None else sightings.last
    if away or _is_after(presence.away_until, last):
        return Gap.AWAY
    if _is_after(presence.lacked_until, last):
        return Gap.LACKED
    if destroying:
        return Gap.DESTROYING
    return Gap.UNWATCHED if sightings.last is None or _is_after(presence.shown_since, last) else Gap.WATCHED


def judged(sightings: Sightings, as_of: float, gap: Gap, likeness: Likeness) -> tuple[Match, Sightings]:
    """Return what the listing that began at ``as_of`` (mono) shows, and the sightings after it."""
    match, last = MATCHES[gap][likeness], sightings.last
    other = likeness is Likeness.OTHER
    agreed = _is_after(as_of, sightings.back) or (other and sightings.moved)
    if match is Match.LOOK_AGAIN and not agreed:
        return match, Sightings(last, back=as_of if sightings.back is None else sightings.back)
    if match is Match.DOUBTED:
        if not _is_after(as_of, sightings.other):
            return match, Sightings(last, other=as_of if sightings.other is None else sightings.other)
        match = Match.REPLACED
    if match in {Match.SAME, Match.LOOK_AGAIN}:
        return Match.SAME, Sightings(last=as_of, moved=other)
    return match, Sightings(last)


def _is_after(at: float | None, other: float | None) -> bool:
    return at is not None and other is not None and at > other
