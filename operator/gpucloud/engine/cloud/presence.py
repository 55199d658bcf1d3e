"""How the presence of one identity changes with each listing of its cluster."""

from __future__ import annotations

from dataclasses import replace

from gpucloud.reconcile.facts import Presence


def after_listing(known: Presence, *, shown: bool, began: float, before: float | None, doubted: bool) -> Presence:
    """Return the presence after a complete listing, which ``shown`` says to show the identity.

    ``began`` and ``before`` are when (mono) this listing and the one before it began, None if that was implausible itself;
    ``doubted``: this one is not believed.
    """
    if shown:
        return _shown(known, began)
    if known.lacked_since is None:
        known = replace(known, lacked_since=began, shown_since=None)
    if doubted:
        return known
    twice = known.times_lacked and before is not None
    return replace(known, times_lacked=known.times_lacked + 1, confirmed=before if twice else known.confirmed)


def after_failure(known: Presence) -> Presence:
    """Return the presence after a listing that failed: what the next one shows may have been away meanwhile."""
    return known if known.shown_since is None else replace(known, shown_since=None)


def _shown(known: Presence, began: float) -> Presence:
    if known.shown_since is not None:
        return known
    if known.lacked_since is None:  # the first listing, or the first one after a failure
        return replace(known, shown_since=began)
    away_until = began if known.times_lacked > 1 else known.away_until
    return Presence(shown_since=began, lacked_until=began, away_until=away_until, confirmed=known.confirmed)
