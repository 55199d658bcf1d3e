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
        Gap.DESTROYING: (_S, _S, _D, _D),
        Gap.LACKED: (_L, _U, _R, _R),
        Gap.AWAY: (_L, _R, _R, _R),
    }.items()
}


class Doubt(StrEnum):
    """Why the last listing alone does not say whose the resource is; a second one must raise the same doubt."""

    NONE = "it was taken for this object's, or is another's"
    RETURNED = "it shows the same again after a gap: it may be an old listing"
    READDRESSED = "it shows another address without a gap: it may be an old listing"
    SUPPLANTED = "it shows another in its place after a gap: it may be an old listing"
    RENUMBERED = "it shows another unique id: it may be an old listing"
    ANSWERED = "none: two have shown another address without a gap, which the status does not record yet"


@dataclass(frozen=True, slots=True)
class Sightings:
    """In which listings this process saw the resource. Times (mono) are when a listing began."""

    last: float | None = None  # the last one in which it was taken for this object's; None: another process saw it last
    doubt: Doubt = Doubt.NONE  # what the listings since have left open
    since: float | None = None  # the first one that raised this doubt

    @property
    def in_doubt(self) -> bool:
        """Whether a second listing must agree before anything is done."""
        return self.doubt not in {Doubt.NONE, Doubt.ANSWERED}

    def without_doubt(self) -> Sightings:
        """Return the sightings as before the listings that left it open."""
        return Sightings(self.last) if self.in_doubt else self


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
    match, other = MATCHES[gap][likeness], likeness is Likeness.OTHER
    doubt = _doubt_of(match, other=other)
    answered = doubt is Doubt.READDRESSED and sightings.doubt is Doubt.ANSWERED
    agreed = doubt is sightings.doubt and _is_after(as_of, sightings.since)
    if doubt is not Doubt.NONE and not (answered or agreed):
        since = sightings.since if doubt is sightings.doubt else as_of
        return match, Sightings(sightings.last, doubt, since)
    if match in {Match.SAME, Match.LOOK_AGAIN}:
        return Match.SAME, Sightings(as_of, Doubt.ANSWERED if other else Doubt.NONE)
    return Match.REPLACED if match is Match.DOUBTED else match, Sightings(sightings.last)


def _doubt_of(match: Match, *, other: bool) -> Doubt:
    """Return the doubt that a listing raises by itself. ``other``: its likeness is ``OTHER``."""
    if match is Match.DOUBTED:
        return Doubt.SUPPLANTED
    if match is Match.LOOK_AGAIN:
        return Doubt.READDRESSED if other else Doubt.RETURNED
    return Doubt.NONE


def _is_after(at: float | None, other: float | None) -> bool:
    return at is not None and other is not None and at > other
