"""The figures that are compared, computed from phases. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.results import Phase, Result

_LIFE = ("create", "delete")


@dataclass(frozen=True)
class Figure:
    """One figure. ``compare``: less is better, and a ratio of two operators means something."""

    title: str
    value: Callable[[Result], float | None]
    compare: bool = True


def _of(name: str, value: Callable[[Phase], float | None]) -> Callable[[Result], float | None]:
    """A figure of one phase."""

    def figure(result: Result) -> float | None:
        phase = result.phase(name)
        return None if phase is None else value(phase)

    return figure


def _life(value: Callable[[Phase], float], *, per_object: bool) -> Callable[[Result], float | None]:
    """A sum over creation and deletion."""

    def figure(result: Result) -> float | None:
        phases = [phase for name in _LIFE if (phase := result.phase(name)) is not None]
        if len(phases) < len(_LIFE):
            return None
        return sum(map(value, phases)) / (result.objects if per_object else 1)

    return figure


def _seconds(phase: str, name: str) -> Callable[[Result], float | None]:
    return _of(phase, lambda found: found.seconds.get(name))


def _cpu(process: str) -> Callable[[Phase], float]:
    return lambda phase: phase.cpu[process]


def _calls(phase: Phase) -> float:
    return sum(phase.cloud_calls.values())


def _writes(phase: Phase) -> float:
    return counts.writes(phase.api_requests, events=False)


def _events(phase: Phase) -> float:
    return counts.writes(phase.api_requests, events=True)


def _reads(phase: Phase) -> float:
    return counts.reads(phase.api_requests)


def _passes(result: Result) -> float | None:
    told = all(phase is not None and phase.passes for phase in map(result.phase, _LIFE))
    return _life(lambda phase: sum(phase.passes.values()), per_object=True)(result) if told else None


def _unchanged(result: Result) -> float | None:
    told = any("unchanged" in phase.passes for phase in result.phases)
    return _life(lambda phase: phase.passes.get("unchanged", 0), per_object=True)(result) if told else None


def _touch_passes(phase: Phase) -> float | None:
    return sum(phase.passes.values()) if phase.passes else None


def _peak(result: Result) -> float | None:
    return max((phase.peak_rss_mb for phase in result.phases), default=None)


def _steal(result: Result) -> float | None:
    return sum(phase.steal for phase in result.phases)


FIGURES = (
    Figure("create: all Ready, s", _of("create", lambda phase: phase.wall)),
    Figure("create: first status p50, s", _seconds("create", "first_status_p50")),
    Figure("create: first status p99, s", _seconds("create", "first_status_p99")),
    Figure("create: Ready p50, s", _seconds("create", "ready_p50")),
    Figure("create: Ready p99, s", _seconds("create", "ready_p99")),
    Figure("delete: all gone, s", _of("delete", lambda phase: phase.wall)),
    Figure("create + delete: operator CPU, s", _life(_cpu("operator"), per_object=False)),
    Figure("create + delete: apiserver CPU, s", _life(_cpu("apiserver"), per_object=False)),
    Figure("create + delete: etcd CPU, s", _life(_cpu("etcd"), per_object=False)),
    Figure("peak RSS, MB", _peak),
    Figure("cloud calls a life", _life(_calls, per_object=True)),
    Figure("apiserver writes a life, Events apart", _life(_writes, per_object=True)),
    Figure("Events written a life", _life(_events, per_object=True)),
    Figure("apiserver reads a life", _life(_reads, per_object=True)),
    Figure("passes a life", _passes),
    Figure("passes a life that change nothing", _unchanged),
    Figure("create: event loop lag p99, s", _of("create", lambda phase: phase.loop_lag_p99)),
    Figure("idle interval: cloud calls", _of("idle", _calls)),
    Figure("idle interval: apiserver writes", _of("idle", _writes)),
    Figure("idle interval: operator CPU, s", _of("idle", _cpu("operator"))),
    Figure("touch all: operator CPU, s", _of("touch", _cpu("operator"))),
    Figure("touch all: passes", _of("touch", _touch_passes)),
    Figure("touch all: cloud calls", _of("touch", _calls)),
    Figure("one edit to its cloud call p50, s", _seconds("edit", "call_p50")),
    Figure("one edit to its cloud call p99, s", _seconds("edit", "call_p99")),
    Figure("power off all: all Ready, s", _of("power off", lambda phase: phase.wall)),
    Figure("power off all: operator CPU, s", _of("power off", _cpu("operator"))),
    Figure("power off all: edit to cloud call p99, s", _seconds("power off", "call_p99")),
    Figure("restart: caught up, s", _of("restart", lambda phase: phase.wall)),
    Figure("restart: operator CPU, s", _of("restart", _cpu("operator"))),
    Figure("restart: cloud calls", _of("restart", _calls)),
    Figure("restart: CreateServer", _of("restart", lambda phase: phase.cloud_calls.get("CreateServer", 0))),
    Figure("restart: apiserver writes", _of("restart", _writes)),
    Figure("steal during all phases, s", _steal, compare=False),
)
