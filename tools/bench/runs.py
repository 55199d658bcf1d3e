"""A run: every operator at every number of objects, one after the other, each on a stage of its own."""

from __future__ import annotations

import asyncio
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import aiohttp

from bench.driver import Driver
from bench.environment import CHECKOUT, Environment
from bench.errors import BenchError
from bench.experiment import Experiment
from bench.goprogram import obtain_peer, say
from bench.meter import Meter
from bench.operators import controller_runtime, naive_kopf, ours
from bench.results import OURS, Phase, Result, Run
from bench.stage import REPOSITORY, Stage
from controlplane import ControlPlaneError
from controlplane.versions import KUBERNETES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from bench.operators import Operator

MOST_OF_PEERS = 1_000
STEADY_SECONDS, QUICK_STEADY_SECONDS, QUICK_OBJECTS = 60.0, 20.0, 200


@dataclass(frozen=True)
class Wishes:
    """What to measure. ``budget``: ours with its default request budget in force. ``environment``: what ours runs in."""

    objects: Sequence[int]
    peers: bool
    budget: bool
    logs: Path
    environment: Environment = CHECKOUT


def run(wishes: Wishes) -> Iterator[Run]:
    """Measure all of it, and yield the results so far after each; a peer that cannot be had is left out with a word."""
    name, machine = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ"), _machine(wishes.environment)
    peers = _peers() if wishes.peers else ()
    commit, budget, results = _commit(), "default" if wishes.budget else "none", list[Result]()
    for count in wishes.objects:
        product = ours(budget=wishes.budget, environment=wishes.environment)
        for operator in (*(peers if count <= MOST_OF_PEERS else ()), product):
            results.append(_measure(operator, count, wishes.logs / f"{operator.name}-{count}"))
            yield Run(name, commit, machine, budget, tuple(results))


def steady_seconds(objects: int) -> float:
    """How often what is Ready is looked at, by each operator, and so how long idleness is measured: one such interval."""
    return QUICK_STEADY_SECONDS if objects <= QUICK_OBJECTS else STEADY_SECONDS


def _peers() -> tuple[Operator, ...]:
    try:
        return naive_kopf(), controller_runtime(obtain_peer(os.environ))
    except ControlPlaneError as error:
        say(f"the peer in Go is left out: {error}")
        return (naive_kopf(),)


def _measure(operator: Operator, count: int, logs: Path) -> Result:
    say(f"{operator.name}, {count} objects")
    phases: list[Phase] = []
    try:
        with Stage(operator, steady_seconds(count)) as stage:
            try:
                failure = asyncio.run(_experiment(stage, operator, count, phases))
            except BaseException:
                stage.save_logs(logs)
                raise
    except (BenchError, ControlPlaneError, aiohttp.ClientError, OSError) as error:
        failure = str(error) or repr(error)
    if failure:
        say(f"{operator.name}: {failure}")
    return Result(operator.name, count, tuple(phases), failure)


async def _experiment(stage: Stage, operator: Operator, count: int, phases: list[Phase]) -> str:
    def told(phase: Phase) -> None:
        phases.append(phase)
        spent = ", ".join(f"{name} {seconds:.1f}" for name, seconds in phase.cpu.items())
        say(f"  {phase.name}: {phase.wall:.1f} s (CPU s: {spent}; stolen {phase.steal:.1f})")

    async with Driver(stage.plane.kubeconfig) as driver:
        experiment = Experiment(stage, driver, Meter(stage), operator, count)
        await experiment.run(told)
        wrong = experiment.judge()
    if wrong and operator.name != OURS:
        say(f"{operator.name}: {wrong}")  # known of a naive operator under load; a peer is not ours to mend
        return ""
    return wrong


def _machine(environment: Environment) -> dict[str, str]:
    return {
        "processors": str(os.cpu_count()),
        "architecture": platform.machine(),
        "environment": environment.name,
        "python": environment.python_version(),
        "kubernetes": KUBERNETES,
        "load before": f"{os.getloadavg()[0]:.1f}",
    }


def _commit() -> str:
    """The commit that is checked out; a ``+`` says that files differ from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"],  # noqa: S607 - whichever git there is
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def check_platform() -> None:
    """The figures come from /proc.

    Raises:
        BenchError: this is not Linux.
    """
    if sys.platform != "linux":
        raise BenchError("The benchmark reads /proc, which only Linux has.")
