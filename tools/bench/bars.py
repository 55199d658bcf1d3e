"""The bars: what the product was to reach, set before it was measured. None is bent; one that is missed says why. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.measures import (
    a_figure,
    by_go,
    calls_that_repeat,
    cpu_an_idle_minute,
    failed,
    growth_of,
    idle_calls_a_minute,
    listings_of_a_kind,
    per_object,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.kept import Kept

IMAGE = "image"
CPU, APISERVER, PEAK = "create + delete: operator CPU, s", "create + delete: apiserver CPU, s", "peak RSS, MB"
READY, GONE = "create: all Ready, s", "delete: all gone, s"
CALLS, WRITES = "cloud calls a life", "apiserver writes a life, Events apart"
IDLE_WRITES, RESTART_CPU = "idle interval: apiserver writes", "restart: operator CPU, s"

NOT_KNOWN = "The cause is not known."
_STORM = (
    "Before an object has a status come its finalizer and a listing. The operator and the apiserver, on the same processors, "
    "do fewer of these a second than the user creates objects: the rest wait their turn. To add the finalizer only "
    "when the listing has come was tried: no more objects have a status while others are still being created."
)
_SPREAD = (
    "kopf's watch and workers take the largest part ([ADR 16](../adr/0016-kopfs-event-path.md)), and no function more "
    "than 6 % ([profile](#where-the-operators-cpu-goes)), so that no single change brings it down."
)
_WALL = (
    "An object costs operator and apiserver more CPU than one of Go's peer, and all share the processors. The bars of CPU "
    "say more than this one."
)
_EVENTS = (
    "A request costs the apiserver as much as one of Go's peer, but that writes no Events, and the operator writes those of "
    "`Created`, `Running`, `Destroyed` and `Gone`: two calls, a change of Ready, and the proof that nothing is billed any more."
)
_MEMORY = (
    "The libraries take most of what it holds before there is any object ([sizing](../explanation/sizing.md)). The rest is the "
    "objects, and as much again is free memory that a storm of creations leaves behind."
)
_IDLE = (
    "Into the minute fall a listing and, in some, a scan for orphans and a resync, each with all objects. They are "
    "nearly all that it does."
)
_SQUARE = (
    "Listings that objects ask for followed each other, with all objects in each: as a storm of more objects lasts longer, "
    "this part grows with the square of their number. Since this run they are spaced by their size."
)
_THREE = (
    "At a start each kind was listed three times, by kopf's watch, to wait for it, and to see that the kind is defined, and a "
    "fourth time where that took more than ten seconds. Since this run it is listed twice. Each object is reconciled twice: "
    "before and after the first listing of the cloud."
)
_RECORD = "Creating is shown, and an order is recorded in the status before it is sent ([ADR 13](../adr/0013-order-record.md))."
_LISTINGS = (
    "While anything is pending there is a listing every two seconds, or sooner where objects ask for one: the longer a storm "
    "lasts, the more of them. Since this run they are spaced by their size."
)


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        most: what the measured value may be at most; ``stretch``: better still.
        value: what was measured, None if it was not.
        why: the cause, as far as it is known, that is told if the bar is missed.
        environment: in which it counts, where that matters.
        before: the value before the engine was rebuilt, in a run of that time.
    """

    what: str
    objects: int
    most: float
    value: Callable[[Kept, int], float | None]
    stretch: float | None = None
    why: str = NOT_KNOWN
    environment: str = ""
    before: str = ""

    def measured(self, kept: Kept) -> float | None:
        """The value, if it was measured in the environment that counts."""
        run = kept.run(self.objects)
        if run is None or (self.environment and run.machine.get("environment") != self.environment):
            return None
        return self.value(kept, self.objects)

    def verdict(self, kept: Kept) -> str:
        """In words."""
        value = self.measured(kept)
        if value is None:
            return "not measured"
        if not within(value, self.most):
            return "missed"
        return "met" if self.stretch is None or not within(value, self.stretch) else "met, and the stretch"


def within(value: float, most: float) -> bool:
    """Whether a value is at most so much, but for what floating point adds."""
    return value <= most or math.isclose(value, most, rel_tol=1e-9)


def _at_once(objects: int) -> tuple[Bar, ...]:
    """So many at once, beside 1,000."""
    return (
        Bar("runs in which an object was not Ready, not gone, bought twice or left", objects, 0, failed),
        Bar("cloud calls of an object ÷ those at 1,000", objects, 1, per_object(CALLS, whole=False)),
        Bar("apiserver writes of an object, Events apart ÷ those at 1,000", objects, 1, per_object(WRITES, whole=False)),
        Bar("operator CPU of an object ÷ that at 1,000", objects, 1, per_object(CPU, whole=True), why=_SQUARE),
    )


BARS = (
    Bar("cloud calls a life, listings included", 1_000, 2.05, a_figure(CALLS), why=_LISTINGS, before="2.04"),
    Bar("listings of one kind in an idle interval, the scan for orphans apart", 1_000, 1, listings_of_a_kind, before="1"),
    Bar("listings of one kind in an idle interval, the scan for orphans apart", 10_000, 1, listings_of_a_kind),
    Bar("apiserver writes a life, Events apart", 1_000, 5, a_figure(WRITES), why=_RECORD),
    Bar("apiserver writes in an idle interval", 1_000, 0, a_figure(IDLE_WRITES)),
    Bar("passes of an object from apply to gone", 1_000, 8, a_figure("passes a life")),
    Bar("of them, those that change nothing", 1_000, 2, a_figure("passes a life that change nothing")),
    Bar("operator CPU, create + delete, ÷ Go", 1_000, 2.5, by_go(CPU), 1.8, _SPREAD, before="4.5"),
    Bar("apiserver CPU, create + delete, ÷ Go", 1_000, 1.3, by_go(APISERVER), why=_EVENTS),
    Bar("all Ready ÷ Go", 1_000, 1.0, by_go(READY), 0.9, _WALL, before="1.6"),
    Bar("all gone ÷ Go", 1_000, 1.0, by_go(GONE), 0.8, _WALL, before="1.5"),
    Bar("apply to first status, p50, s", 1_000, 0.3, a_figure("create: first status p50, s"), why=_STORM, before="0.2"),
    Bar("apply to first status, p99, s", 1_000, 2, a_figure("create: first status p99, s"), why=_STORM),
    Bar("peak RSS in the image, MB", 1_000, 110, a_figure(PEAK), 90, _MEMORY, IMAGE, "190, not in the image"),
    Bar("peak RSS in the image, MB", 10_000, 350, a_figure(PEAK), 250, _MEMORY, IMAGE),
    Bar("operator CPU an idle minute, s", 1_000, 0.15, cpu_an_idle_minute, why=_IDLE),
    Bar("operator CPU an idle minute, s", 10_000, 0.4, cpu_an_idle_minute, why=_IDLE),
    Bar("restart with all Ready: operator CPU, s", 1_000, 2, a_figure(RESTART_CPU), why=_THREE),
    Bar("restart with all Ready: operator CPU, s", 10_000, 15, a_figure(RESTART_CPU), why=_THREE),
    *(
        Bar(f"restart with all Ready: {what}", objects, most, value)
        for objects in (1_000, 10_000)
        for what, most, value in (
            ("apiserver writes", 0, a_figure("restart: apiserver writes")),
            ("creations", 0, a_figure("restart: CreateServer")),
            ("calls of one operation, in one cluster", 1, calls_that_repeat("restart")),
        )
    ),
    *_at_once(5_000),
    *_at_once(10_000),
    *(
        Bar(f"growth from 1,000 to 10,000: {title}", 10_000, 10, growth_of(title), why=why)
        for title, why in (
            (CPU, _SQUARE),
            (APISERVER, NOT_KNOWN),
            (READY, _SQUARE),
            (GONE, _SQUARE),
            (PEAK, _MEMORY),
            (RESTART_CPU, _THREE),
            ("power off all: operator CPU, s", _SQUARE),
            ("touch all: operator CPU, s", NOT_KNOWN),
        )
    ),
    Bar("one edit to its cloud call, p99, s, among idle VMs", 1_000, 0.25, a_figure("one edit to its cloud call p99, s")),
)
# Set before there was a line of the product, from what the peers and prototypes had cost on one machine.
FIRST_GOALS = (
    Bar(
        "cloud calls an idle minute, a cluster",
        1_000,
        2,
        idle_calls_a_minute,
        1,
        "What a scan for orphans lists is counted here.",
    ),
    Bar(
        "cloud calls an idle minute, a cluster",
        5_000,
        2,
        idle_calls_a_minute,
        1,
        "What a scan for orphans lists is counted here.",
    ),
    Bar("cloud calls a life", 1_000, 2.05, a_figure(CALLS), 2.01, _LISTINGS),
    Bar("apiserver writes a life, Events apart", 1_000, 4, a_figure(WRITES), 3, _RECORD),
    Bar("operator CPU, create + delete, s", 1_000, 12, a_figure(CPU), 6, _SPREAD),
    Bar("operator CPU an idle minute, s", 1_000, 0.1, cpu_an_idle_minute, 0.03, _IDLE),
    Bar("all Ready, s", 1_000, 20, a_figure(READY), 16, _STORM),
    Bar("all gone, s", 1_000, 10, a_figure(GONE), 8, _WALL),
    Bar("one object, apply to Ready, p50, s", 1_000, 10, a_figure("create: Ready p50, s"), 8, _STORM),
    Bar("restart: operator CPU, s", 1_000, 2.5, a_figure(RESTART_CPU), 1, _THREE),
    Bar("restart: apiserver writes", 1_000, 0, a_figure("restart: apiserver writes")),
    Bar("restart: cloud calls", 1_000, 2, a_figure("restart: cloud calls"), 1),
    Bar("peak RSS, MB", 1_000, 90, a_figure(PEAK), 60, _MEMORY),
    Bar("peak RSS, MB", 5_000, 130, a_figure(PEAK), 100, _MEMORY),
)
