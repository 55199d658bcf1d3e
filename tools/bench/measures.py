"""What bars speak of, found in the runs that are kept; None where a part of it was not measured. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.figures import FIGURES
from bench.results import GO

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.kept import Kept
    from bench.results import Phase, Result

LIFE = ("create", "delete")
BASE = 1_000  # objects; what larger numbers are compared with
MINUTE = 60.0
# By the scan for orphans alone: nobody has a snapshot. It lists VMs as often, and what it lists may serve the objects, too.
SCAN_CLUSTERS, SCAN_SNAPSHOTS, VMS = "GetAll", "GetSnapshots", "GetServers"


def figure(title: str, result: Result | None) -> float | None:
    """A figure by its title."""
    return None if result is None else next(one for one in FIGURES if one.title == title).value(result)


def a_figure(title: str) -> Callable[[Kept, int], float | None]:
    """The product's figure."""
    return lambda kept, objects: figure(title, kept.ours(objects))


def by_go(title: str) -> Callable[[Kept, int], float | None]:
    """The figure divided by that of the peer in Go."""
    return lambda kept, objects: _divided(figure(title, kept.ours(objects)), figure(title, kept.peer(GO, objects)))


def growth_of(title: str) -> Callable[[Kept, int], float | None]:
    """The figure divided by that with 1,000 objects."""
    return lambda kept, objects: _divided(figure(title, kept.ours(objects)), figure(title, kept.ours(BASE)))


def per_object(title: str, *, whole: bool) -> Callable[[Kept, int], float | None]:
    """The same for one object; ``whole``: the figure is of all objects together."""

    def measure(kept: Kept, objects: int) -> float | None:
        grown = growth_of(title)(kept, objects)
        return grown if grown is None or not whole else grown * BASE / objects

    return measure


def failed(kept: Kept, objects: int) -> float | None:
    """1 if something of the product's went wrong, or an aim was not reached."""
    found = kept.any_of_ours(objects)
    if found is None:
        return None
    return float(bool(found.failure) or not all(map(found.phase, LIFE)))


def cpu_an_idle_minute(kept: Kept, objects: int) -> float | None:
    """Of the operator, in seconds."""
    idle = _idle(kept, objects)
    return None if idle is None else idle.cpu["operator"] * MINUTE / idle.wall


def idle_calls_a_minute(kept: Kept, objects: int) -> float | None:
    """All of them."""
    idle = _idle(kept, objects)
    return None if idle is None else sum(idle.cloud_calls.values()) * MINUTE / idle.wall


def listings_of_a_kind(kept: Kept, objects: int) -> float | None:
    """The most calls of one operation while nothing happens for one interval, those of scans for orphans apart."""
    idle = _idle(kept, objects)
    if idle is None:
        return None
    calls = {name: count for name, count in idle.cloud_calls.items() if name not in {SCAN_CLUSTERS, SCAN_SNAPSHOTS}}
    calls[VMS] = max(0, calls.get(VMS, 0) - idle.cloud_calls.get(SCAN_SNAPSHOTS, 0))
    return max(calls.values())


def calls_that_repeat(name: str) -> Callable[[Kept, int], float | None]:
    """The most calls of one operation in a phase."""

    def measure(kept: Kept, objects: int) -> float | None:
        found = kept.ours(objects)
        phase = found.phase(name) if found else None
        return None if phase is None else max(phase.cloud_calls.values(), default=0)

    return measure


def _idle(kept: Kept, objects: int) -> Phase | None:
    found = kept.ours(objects)
    return found.phase("idle") if found else None


def _divided(value: float | None, by: float | None) -> float | None:
    return None if value is None or not by else value / by
