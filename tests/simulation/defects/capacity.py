"""Defects of the wait for capacity, and of alternatives."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from gpucloud.cloud.errors import ErrorKind
from gpucloud.engine.kinds import request
from gpucloud.reconcile import waiting_line
from gpucloud.reconcile.gpuvm import offers, power, waiting
from simulation.planting import Defect, named, replace

if TYPE_CHECKING:
    from gpucloud.reconcile.facts import Refusal

CAPACITY: dict[str, Defect] = {}


@named(CAPACITY, "a refusal moves on at once")
def refusal_is_certain() -> None:
    """A 503 counts as a certain refusal, so that the next alternative is ordered while the first may yet be made."""
    original = request.refusal_of

    def certain(error: BaseException) -> Refusal:
        found = original(error)
        return dataclasses.replace(found, ambiguous=False) if found.kind is ErrorKind.UNAVAILABLE else found

    replace(original, certain)


@named(CAPACITY, "whoever waits shortest goes first")
def last_comes_first() -> None:
    """What comes free goes to the newest of those that wait."""
    original = waiting_line.turns

    def turns(waiters, room, taken=()):  # type: ignore[no-untyped-def]
        latest = max((one.since for one in waiters), default=None)
        return original([dataclasses.replace(one, since=latest - (one.since - latest)) for one in waiters], room, taken)

    replace(original, turns)


@named(CAPACITY, "a restart forgets who waits since when")
def place_is_forgotten() -> None:
    """Each process counts a wait from its own first sight of it."""
    original = offers.without_capacity_since

    def without_capacity_since(f):  # type: ignore[no-untyped-def]
        since = original(f)
        return since if since is None else max(since, f.now.wall - (f.now.mono - f.history.first_seen) * offers.SAME_CALL / 2)

    replace(original, without_capacity_since)


@named(CAPACITY, "each query of what is free comes too soon after the last")
def asks_without_pause() -> None:
    """The cloud is asked at the fast poll."""
    replace(waiting_line.query_seconds, lambda fast_poll: fast_poll)


@named(CAPACITY, "a start without capacity is repeated until there is some")
def start_is_repeated() -> None:
    """A 503 is taken for a certain refusal of a start, and no turn is waited for."""
    replace(power._wait_to_start, lambda *_, **__: None)
    replace(power._shown_from, lambda _, attempt: attempt.at)
    replace(power._backing_off, lambda *_, **__: None)


@named(CAPACITY, "a newcomer does not queue")
def newcomer_does_not_queue() -> None:
    """Only who was refused itself waits; whoever comes later orders at once, and takes what has just come free."""
    original = waiting.newcomer
    replace(original, lambda f: None if waiting.waiting_since(f) is None else original(f))


@named(CAPACITY, "an alternative is ordered though its wait is not over")
def alternatives_count_at_once() -> None:
    """What placement.waitSeconds says is not heeded."""
    replace(offers.alternatives_from, lambda _: None)
