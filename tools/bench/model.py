"""What a fleet of any size costs, computed from two measured sizes. Pure.

Each cost is taken for a straight line: something fixed, and something for each object. Two runs of the product on one machine
give both. It holds as far as the costs grow linearly, which the page's picture of the growth shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import counts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.results import Phase, Result

MINUTE, HOUR = 60.0, 3600.0
QPS = 10.0  # --cloud-qps, of each credential, by default


@dataclass(frozen=True)
class Line:
    """A cost: ``fixed`` of the process, ``each`` of one object."""

    fixed: float
    each: float

    def at(self, objects: float) -> float:
        """What so many objects cost."""
        return self.fixed + self.each * objects


@dataclass(frozen=True)
class Costs:
    """What the product was measured to cost: CPU in seconds of one processor, memory in MB."""

    create: Line
    delete: Line
    idle_minute: Line
    restart: Line
    memory: Line
    writes_a_life: float
    events_a_life: float
    lowest: int  # numbers of objects that were measured
    highest: int


@dataclass(frozen=True)
class Fleet:
    """VMs of so many accounts, each of which has its VMs in one cluster, of which a part is replaced every hour."""

    vms: int
    accounts: int
    turnover: float  # of the VMs, in an hour


FLEETS = (Fleet(1_000, 10, 0.1), Fleet(10_000, 10, 0.1), Fleet(100_000, 100, 0.1))


def costs(results: Sequence[Result]) -> Costs:
    """The costs, from the smallest and the largest number of objects.

    Raises:
        ValueError: fewer than two sizes were measured whole.
    """
    whole = sorted((one for one in results if not one.failure), key=lambda one: one.objects)
    if not whole or whole[0].objects == whole[-1].objects:
        raise ValueError("a line takes results of two numbers of objects")
    few, many = whole[0], whole[-1]

    def line(phase: str, cost: Callable[[Phase], float]) -> Line:
        return through(*(cost(_phase(one, phase)) for one in (few, many)))

    def through(low: float, high: float) -> Line:
        each = max(0.0, (high - low) / (many.objects - few.objects))
        return Line(max(0.0, low - each * few.objects), each)

    life = (_phase(many, "create").api_requests, _phase(many, "delete").api_requests)
    return Costs(
        create=line("create", _cpu),
        delete=line("delete", _cpu),
        idle_minute=line("idle", lambda phase: _cpu(phase) * MINUTE / phase.wall),
        restart=line("restart", _cpu),
        memory=through(peak_rss(few), peak_rss(many)),
        writes_a_life=sum(counts.writes(found, events=False) for found in life) / many.objects,
        events_a_life=sum(counts.writes(found, events=True) for found in life) / many.objects,
        lowest=few.objects,
        highest=many.objects,
    )


def peak_rss(result: Result) -> float:
    """The most memory of the operator in any phase, in MB. A restart begins a new count, so the last phase shows less."""
    return max(phase.peak_rss_mb for phase in result.phases)


def busy(costs: Costs, fleet: Fleet) -> float:
    """How much of one processor the operator uses; it cannot use more than one."""
    lives = fleet.vms * fleet.turnover / HOUR
    return costs.idle_minute.at(fleet.vms) / MINUTE + lives * (costs.create.each + costs.delete.each)


def lives_an_hour(costs: Costs, fleet: Fleet) -> float:
    """How many VMs may come and go in an hour before one processor is not enough."""
    left = max(0.0, 1.0 - costs.idle_minute.at(fleet.vms) / MINUTE)
    return HOUR * left / (costs.create.each + costs.delete.each)


def table(costs: Costs, fleets: Sequence[Fleet] = FLEETS) -> list[list[str]]:
    """The arithmetic: a row for each demand, a column for each fleet; the first row is the head."""

    def row(title: str, value: Callable[[Fleet], float]) -> list[str]:
        return [title, *(_number(value(fleet)) for fleet in fleets)]

    return [
        ["", *(f"{fleet.vms:,} VMs, {fleet.accounts} accounts" for fleet in fleets)],
        row("operator CPU while a tenth is replaced every hour, processors", lambda fleet: busy(costs, fleet)),
        row("of it while nothing happens", lambda fleet: costs.idle_minute.at(fleet.vms) / MINUTE),
        row("VMs that may come and go in an hour, at most", lambda fleet: lives_an_hour(costs, fleet)),
        row("peak memory, MB", lambda fleet: costs.memory.at(fleet.vms)),
        row("restart, CPU seconds until all are known", lambda fleet: costs.restart.at(fleet.vms)),
        row("all applied at once, CPU seconds until all are ordered and Ready", lambda fleet: costs.create.at(fleet.vms)),
        row("the same, seconds by the request budget of each account", lambda fleet: fleet.vms / fleet.accounts / QPS),
        row("writes to the apiserver a second, Events apart", lambda fleet: _a_second(fleet, costs.writes_a_life)),
        row("Events a second", lambda fleet: _a_second(fleet, costs.events_a_life)),
        row("listings a minute, all accounts, nothing pending", lambda fleet: fleet.accounts),
        row("records in one listing", lambda fleet: fleet.vms / fleet.accounts),
    ]


def _a_second(fleet: Fleet, a_life: float) -> float:
    return fleet.vms * fleet.turnover / HOUR * a_life


def _phase(result: Result, name: str) -> Phase:
    found = result.phase(name)
    if found is None:
        raise ValueError(f"{result.operator} at {result.objects} has no phase {name!r}")
    return found


def _cpu(phase: Phase) -> float:
    return phase.cpu["operator"]


def _number(value: float) -> str:
    return (
        f"{value:,.0f}"
        if value >= 10
        else f"{value:.1f}"
        if value >= 1
        else f"{value:.2f}"
        if value >= 0.01
        else f"{value:.4f}"
    )
