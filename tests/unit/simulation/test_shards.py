"""Shards, tried out in the simulated world: several processes act, each for whole namespaces (docs/adr/0018)."""

from collections import Counter

import pytest

from simulation.books import FINALIZER
from simulation.logs import SimulatedLog
from simulation.people import People
from simulation.process import Process
from simulation.shards import REPLICAS, SHARDS, ShardedEngine, ShardedWorld, shard_of
from support.court import SPEC, Court

SEEDS = range(12)
NAMES = [f"team-{number}" for number in range(300)]


def lived(seed, deviations=None, **more):
    """A history, and which processes held a shard's Lease when a changing call or write of theirs left."""
    world = ShardedWorld(seed, deviations, **more)
    SimulatedLog.world, SimulatedLog.searched = world, False
    acted, led = set(), world.judge._promises.led

    def note(process, what):
        acted.update((process.name, shard) for shard in world.judge._promises.held_by(process))
        led(process, what)

    world.judge._promises.led = note
    return world, world.run(), acted


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_another_shard_takes_from_all_and_nothing_moves_between_the_others(shards):
    moved = [(shard_of(name, shards), shard_of(name, shards + 1)) for name in NAMES]
    assert {new for old, new in moved if new != old} == {shards}
    assert {old for old, new in moved if new != old} == set(range(shards))


def test_the_shards_are_about_as_large():
    assert min(Counter(shard_of(name, 3) for name in NAMES).values()) > len(NAMES) / 3 * 0.7


def test_in_calm_two_processes_act_each_for_one_shard_and_the_third_stands_by():
    world, judge, acted = lived(0, {})
    assert judge.violations == []
    assert len(world.replicas) == REPLICAS
    assert sorted(shard for _, shard in acted) == list(range(SHARDS))
    assert len({name for name, _ in acted}) == SHARDS


def test_with_all_faults_no_rule_is_broken():
    met, acted = Counter(), set()
    for seed in SEEDS:
        world, judge, did = lived(seed)
        assert judge.violations == [], seed
        met += world.weather.met
        acted |= {(seed, *one) for one in did}
    assert met["killed"] > 0
    assert len({(seed, name) for seed, name, _ in acted}) > len(SEEDS) * SHARDS, "some act for a shard after others have died"


def test_a_process_that_acts_for_all_shards_is_found(monkeypatch):
    monkeypatch.setattr(ShardedEngine, "acts_on", lambda _self, _namespace: True)
    _, judge, _ = lived(0, {})
    assert "lease" in {violation.oracle for violation in judge.violations}


class Rivals(Court):
    """A sharded world in which nothing runs."""

    def __init__(self):
        self.world = ShardedWorld(3, {})
        self.judge, self.operator = self.world.judge, Process("operator-0.1")
        self.world.actors.prepare()
        self.hands = People(self.world, "operator")

    def ready_in(self, namespace, vpc):
        item = self.world.actors.owner.create("GpuVM", namespace, "a", SPEC | {"vmName": "prod", "vpc": vpc})
        item["kind"] = "GpuVM"
        self.hands.patch(item, {"metadata": {"finalizers": [FINALIZER]}})
        place = {"name": "prod", "cluster": "Msc1", "vpc": vpc, "id": "x", "recordedAt": "2026-01-01T00:00:00Z"}
        self.writes(item, order={"state": "Seen", **place})
        self.says(item, "True", "Running")


@pytest.mark.parametrize(("vpc", "found"), [("acme", ["shared"]), ("acme-train", [])])
def test_two_objects_of_different_shards_that_are_ready_by_one_vm_are_found(vpc, found):
    court = Rivals()
    court.ready_in("team", "acme")
    court.ready_in("other", vpc)
    assert court.oracles == found
    court.world._bury()
