"""kill -9 at every cloud call in its three phases and every write to the apiserver in its two (A1), and twice (A2).

After the restart each run must end, within a minute, with what was wanted in the cloud and nothing else, made and destroyed
as often as in a run without faults.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from functools import partial

import pytest

from chaos.rig.calls import CLOUD, KUBE, Phase
from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.points import Point, points
from chaos.rig.reference import reference
from chaos.rig.rules import LATE, nth
from chaos.rig.workloads import WORKLOADS

PAIRS_ELSEWHERE = 60  # in the whole; the pairs in the create window are all tried
FIRST_LOOK = 30.0  # seconds for the next operator to be given its first listing
ON_ITS_WAY = 1.0  # and so long after that: within the grace of two seconds, or as soon as it has asked again
LATE_SAMPLES = ("vm", "vpc")
SAMPLES = {("vm", CLOUD): 3, ("snapshot", CLOUD): 1, ("vpc", CLOUD): 1, ("rotation", KUBE): 1, ("edits", KUBE): 1}
RECOVERY = (
    Point(CLOUD, "GetServers", 1, Phase.ANSWERED),
    Point(CLOUD, "GetServers", 2, Phase.DELIVERED),
    Point(CLOUD, "GetConfigurations", 1, Phase.ANSWERED),
    *(Point(CLOUD, "CreateServer", 1, phase) for phase in Phase),
    *(Point(KUBE, word, 1, phase) for word in ("update gpuvms/status", "create events") for phase in list(Phase)[:2]),
    Point(KUBE, "update gpuvms/status", 2, Phase.ANSWERED),
)


@pytest.mark.parametrize("link", [CLOUD, KUBE])
@pytest.mark.parametrize("name", WORKLOADS)
def test_killed_once(rig, campaign, name, link):
    if not campaign.whole and (name, link) not in SAMPLES:
        return
    here = [point for point in points(reference(rig, name)) if point.link == link]
    runs = [Run(f"{name} {point}", partial(life, rig, name, (point,))) for point in here]
    campaign.carry_out("A1", runs, sample=SAMPLES.get((name, link), 0))


def test_killed_again_while_it_recovers_from_a_kill_in_the_create_window(rig, campaign):
    """A second point that a recovery does not come to (there is nothing left to order, say) is reached in a later part."""
    window = [point for point in points(reference(rig, "vm")) if in_create_window(point)]
    runs = [Run(f"vm {a}, then {b}", partial(life, rig, "vm", (a, b))) for a, b in itertools.product(window, RECOVERY)]
    campaign.carry_out("A2", runs, sample=2)


def test_killed_at_two_random_points(rig, campaign):
    """The second counts from the restart on, and is one that was still to come at the first."""
    if not campaign.whole:
        return
    pairs = {name: list(in_turn(reference(rig, name))) for name in WORKLOADS}
    runs = []
    for number in range(PAIRS_ELSEWHERE):
        name = campaign.dice.choice(list(WORKLOADS))
        first, later = campaign.dice.choice(pairs[name])
        pair = first, campaign.dice.choice(later)
        runs.append(Run(f"{number}: {name} {pair[0]}, then {pair[1]}", partial(life, rig, name, pair)))
    campaign.carry_out("A2", runs, unreached_share=0.2)  # a restart saves some: what was pending is found done


def in_turn(seen):
    """Each point of a life, with those that come after it."""
    for first in points(seen):
        later = points(seen.after(first))
        if later:
            yield first, later


@pytest.mark.parametrize("name", WORKLOADS)
def test_killed_with_a_call_on_its_way_that_arrives_after_the_next_has_looked(rig, campaign, name):
    """The cloud would make two VMs of one name. Each call that changes the cloud, carried out after the restart."""
    if not campaign.whole and name not in LATE_SAMPLES:
        return
    changing = [call for call in reference(rig, name).cloud if call.writes]
    runs = [Run(f"{name} {call} late", partial(late_life, rig, name, call)) for call in changing]
    campaign.carry_out("A1 late", runs, sample=1)


def late_life(rig, name, call):
    """What was sent by the one that died is carried out when the next has had a listing without it."""
    workload = WORKLOADS[name]
    summary = reference(rig, name).summary
    with rig.trial(**workload.options) as trial:
        workload.prepare(trial)
        trial.sim.turn(duplicate_vm="twin")

        async def do(_call):
            trial.keep()
            trial.kill()
            before = trial.looks()
            await asyncio.to_thread(trial.start)
            await until(lambda: trial.looks() > before, FIRST_LOOK)
            await until(lambda: trial.cloud.count(call.word) > call.nth, ON_ITS_WAY)
            return LATE

        trial.cloud.add(nth(call.word, call.nth), "received", do)
        trial.start()
        workload.live(trial)
        found = violations(trial, Expected(summary=summary))
        if not found and not trial.kills:
            raise NotReachedError
        return found


async def until(met, seconds):
    end = time.monotonic() + seconds
    while not met() and time.monotonic() < end:  # noqa: ASYNC110 - what it looks at is no event
        await asyncio.sleep(0.02)


def in_create_window(point):
    """From the first look to the VM's being Ready."""
    early = {"CreateServer", "GetConfigurations", "update gpuvms/status", "create events", "patch gpuvms"}
    return (point.word in early and point.number == 1) or (point.word == "GetServers" and point.number < 3)


def life(rig, name, where):
    """The life of a workload, whose operator dies at each of these points in turn."""
    workload = WORKLOADS[name]
    summary = reference(rig, name).summary
    with rig.trial(**workload.options) as trial:
        workload.prepare(trial)
        arm(trial, where)
        trial.start()
        workload.live(trial)
        found = violations(trial, Expected(summary=summary))
        if not found and trial.kills < len(where):
            raise NotReachedError
        return found


def arm(trial, where):
    """The next point counts from the restart on."""
    if where:
        where[0].arm(trial, trial.crash(then=lambda: arm(trial, where[1:])))
