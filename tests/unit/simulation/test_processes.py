"""What becomes of a killed operator in the world: nothing of it runs any more, not even when memory is tidied up."""

import gc

import pytest

from simulation import replica
from simulation.process import Process
from simulation.world import World

ON_THE_WAY_SECONDS = 0.05  # what was sent before the death may arrive after it


def test_a_killed_operator_is_kept_as_it_was():
    world = World(3, {("weather crash-at-call", 0): 0.3, ("death kube PUT gpuvms/status", 0): "committed"})
    judge = world.run()
    dead = [process for process in world.processes if not process.alive]
    assert [process.name.endswith(".1") for process in dead] == [True]
    assert len(world.processes) > len(dead)
    assert len(dead[0].graveyard) > 5
    assert judge.violations == []


def test_after_its_death_nothing_of_a_process_is_sent():
    world = World(3, {("weather crash-at-call", 0): 0.3, ("death kube PUT gpuvms/status", 0): "committed"}, keep=True)
    world.run()
    killed = next(line for line in world.trace.lines if line.what == "is killed")
    last = [line for line in world.trace.lines if line.who == killed.who][-1]
    assert last.at <= killed.at + ON_THE_WAY_SECONDS, last


def test_tidying_up_runs_nothing_of_the_dead(capsys):
    ended = []

    async def unfinished(loop):
        try:
            await loop.create_future()
        finally:
            ended.append("ran")

    world, process = World(3, {}), Process("one")
    world.loop.call_in(process, lambda: world.loop.create_task(unfinished(world.loop)))
    world.processes.append(process)
    world.loop.drain()
    world._deaths = 0
    world.kill(process, "by the test")
    gc.collect()
    assert ended == []
    world._bury()
    capsys.readouterr()


@pytest.mark.parametrize(("until", "ends"), [(29.0, []), (31.0, [30.0])])
def test_a_process_that_fails_its_probe_three_times_in_a_row_is_ended_and_another_starts(monkeypatch, until, ends):
    """After an etcd was restored a watch may be silent for good: only the probe ends that (seed 82901)."""
    world = World(1, {}, keep=True)
    monkeypatch.setattr(replica, "ailment", lambda _engine: "stuck" if world.loop.time() < until else "")
    assert world.run().violations == []
    assert [line.at for line in world.trace.lines if line.what == "is ended by its probe"] == ends
    assert len(world.processes) == 1 + len(ends)
