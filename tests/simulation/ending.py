"""The end of a history: faults are over, keys are good, nobody holds anything. Then the wanted state comes, and it is quiet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from simulation.books import TABLES
from simulation.cloud import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simulation.books import Life
    from simulation.judge import Judge
    from simulation.world import World

GRACES = 20
QUIET_POLLS = 3
WAITING = frozenset({"DependencyNotReady", "AccountNotReady", "NamespaceTerminating", "WaitingForCapacity"})


async def judge(world: World, of: Judge) -> None:
    """Wait for the wanted state, and for quiet; then delete everything, and see what is left."""
    if not await _wanted(world, of, "liveness"):
        return
    before = of.mutations
    settings = world.scenario.settings
    await asyncio.sleep(QUIET_POLLS * settings.poll_steady_seconds + 5.0)
    if of.mutations != before:
        of.found("quiet", f"{of.mutations - before} writes or calls after the wanted state was reached")
    for life in of.books.standing():
        of.weigh(life)
    if world.choices.draw("delete everything") < 0.5:
        for item in world.actors.owner.all("GpuSnapshot", "GpuVM", "GpuVpc"):
            if "deletionTimestamp" not in item["metadata"]:
                world.actors.owner.delete(item)
        await _wanted(world, of, "deletion")
    _leaks(world, of)


async def _wanted(world: World, of: Judge, oracle: str) -> bool:
    world.actors.heal()
    settings = world.scenario.settings
    # After an outage the retries of both sides have backed off to a minute; a restarted process lists first.
    patience = GRACES * world.grace + 120.0 + 2 * settings.poll_steady_seconds
    end = world.loop.time() + patience
    unmet: list[str] = []
    while world.loop.time() < end:
        await asyncio.sleep(max(1.0, world.grace / 2))
        while world.namespaces.step():
            pass
        unmet = list(_unmet(of))
        if not unmet:
            return True
    of.found(oracle, f"{patience:.0f} s after all faults: {'; '.join(unmet)}")
    return False


def _unmet(of: Judge) -> Iterator[str]:
    """What is not as its owner wants it, and no reason stands for which a person must act."""
    for life in of.books.standing():
        stalled = life.condition("Stalled").get("status") == "True"
        if life.deleting:
            if not stalled and not _blocked(of, life):
                yield f"{life.name} is being deleted still: {life.ready}"
        elif not life.ready.startswith("True/") and not stalled and life.ready.partition("/")[2] not in WAITING:
            yield f"{life.name} is {life.ready}"
        elif life.status.get("observedGeneration") != life.last["metadata"]["generation"]:
            yield f"{life.name} has observed an older generation"


def _blocked(of: Judge, life: Life) -> bool:
    """A VPC waits for what is in it, whosever that is."""
    return life.kind == "GpuVpc" and life.ready.partition("/")[2] in {"DeletionBlocked", "Deleting"}


def _leaks(world: World, of: Judge) -> None:
    """Everything that we made has an object, was to stay, or is reported.

    Excused: a chosen name, or one that the cloud gave, of an object whose finalizer somebody else took away: the name tells
    nobody whose it is. VPCs cannot bear a mark. What was just told to go is going.
    """
    for table, row, maker in world.cloud.live():
        life = of.books.lives.get(maker)
        if life is None or life.now is not None or life.retained or getattr(row, "leaving", False):
            continue
        if life.accepted_absence or TABLES[life.kind] != table:
            continue
        unmarked = life.chosen or name_of(row) in world.cloud_names
        if unmarked and (life.forced or life.tampered):
            continue
        if not any(name_of(row) in note for note in of.books.reported):
            of.found("leak", f"{name_of(row)!r} was made for {life.name}, which is gone, and nobody tells of it")
