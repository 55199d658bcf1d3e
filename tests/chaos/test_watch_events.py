"""Class B of the catalogue: events that are lost, doubled, late, in disorder, or of an object that is long gone.

Within one stream an apiserver loses nothing, and a broken stream is resumed from the last event. Events are lost when the
apiserver cannot resume (410 Gone, after a restart or a long outage): then kopf lists anew, and whatever happened in between
was never told. So each loss here ends, a second later, with a 410.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from functools import partial
from itertools import combinations

from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.ledger import Books
from chaos.rig.oracles import Expected, violations
from chaos.rig.reference import reference
from chaos.rig.rules import Answer, every
from chaos.rig.strangers import plant
from chaos.rig.watchlines import Dropping, Event, Tamper, error_event
from chaos.rig.workloads import RUNNING, WORKLOADS
from support.manifests import gpuvm

OPENING = [Event("gpuvms", "train", number) for number in range(1, 6)]  # of the workload vm, in every run of it
_events: dict[str, list[Event]] = {}


def lived(rig, name, prepare, *, patience=0.0, **options):
    """A workload's run with a watch that is tampered with: ``prepare(trial)`` answers what must have happened in it."""
    workload = WORKLOADS[name]
    known = reference(rig, name).summary
    with rig.trial(**workload.options, **options) as trial:
        workload.prepare(trial)
        happened = prepare(trial)
        trial.start()
        trial.last_start += patience
        trial.blind_seconds = patience
        workload.live(trial)
        found = violations(trial, Expected(summary=known))
        if not found and not happened():
            raise NotReachedError
        return found


def events_of(rig, name):
    """The events that the watch brings in a run of this workload without faults."""
    if name not in _events:
        tamper = Tamper()

        def prepare(trial):
            trial.kube.on_line = tamper
            return tamper.events

        assert lived(rig, name, prepare) == []
        _events[name] = tamper.events()
    return _events[name]


def without(rig, name, lost):
    def prepare(trial):
        dropping = Dropping(frozenset(lost), lambda: trial.kube.inject(error_event(410)))
        trial.kube.on_line = Tamper(dropping)
        return lambda: dropping.struck == dropping.lost

    return lived(rig, name, prepare)


def test_each_event_lost_and_each_pair_of_one_object(rig, campaign):
    """B1. Two lost events of one object hide a state altogether: the second undoes, for the operator, the first."""
    names = ("vm", "vpc") if campaign.whole else ("vm",)
    runs = []
    for name in names:
        events = events_of(rig, name) if campaign.whole else OPENING
        pairs = [
            pair for pair in combinations(events, 2) if (pair[0].resource, pair[0].name) == (pair[1].resource, pair[1].name)
        ]
        losses = [(event,) for event in events] + pairs
        runs += [Run(f"{name} without {' and '.join(map(str, lost))}", partial(without, rig, name, lost)) for lost in losses]
    campaign.carry_out("B1", runs, sample=2)


def doubled(times):
    return lambda _, line: ((0.0, line),) * times


def overtaken(dice, longest):
    """Each event at a time of its own: late, and in an order that the apiserver never gives."""
    return lambda _, line: ((dice.uniform(0.0, longest), line),)


def echoed_late(seconds):
    """Everything that the operator itself has changed comes back late; what people do comes at once."""
    return lambda event, line: ((0.0 if event.nth == 1 else seconds, line),)


def tampered(rig, name, change, patience=0.0):
    def prepare(trial):
        tamper = Tamper(change)
        trial.kube.on_line = tamper
        return tamper.events

    return lived(rig, name, prepare, patience=patience)


def test_events_that_come_twice_or_ten_times(rig, campaign):
    """B2."""
    runs = [
        Run(f"{name}, each event {times} times", partial(tampered, rig, name, doubled(times)))
        for name in WORKLOADS
        for times in (2, 10)
    ]
    campaign.carry_out("B2", runs, sample=1)


def test_events_late_and_in_disorder(rig, campaign):
    """B2: each up to 30 s late in the whole; in the sample, where an event a step is waited for, up to 1.5 s."""
    runs = [
        Run(
            f"{name}, events up to {longest:g} s late, dice {seed}",
            partial(tampered, rig, name, overtaken(random.Random(seed), longest), patience=8 * longest),
        )
        for name, longest, seeds in (("vm", 1.5, 4), ("vpc", 3.0, 4), ("edits", 3.0, 2), ("vm", 30.0, 2))
        for seed in range(seeds)
        if campaign.whole or longest < 2
    ]
    campaign.carry_out("B2", runs, sample=1)


def test_our_own_writes_come_back_late(rig, campaign):
    """B6: 10 s, beyond the 5 s that kopf itself waits for an echo; each write is decided upon once, and there is one order."""
    seconds = 10.0 if campaign.whole else 6.0
    runs = [
        Run(f"{name}, echoes {seconds:g} s late", partial(tampered, rig, name, echoed_late(seconds), patience=6 * seconds))
        for name in (("vm", "vpc") if campaign.whole else ("vm",))
    ]
    campaign.carry_out("B6", runs, sample=1)


# --- B3


def whole_list(trial):
    """What the apiserver answers to a list of GpuVMs."""
    return trial.here.answer("GET", f"/apis/gpucloud.dev/v1alpha1/namespaces/{trial.namespace}/gpuvms")[1]


def replay_events(trial, tamper, _lists):
    """Every event of the first object again, in order, in the open stream; the deletion's own last event is left out."""
    for _, line in tamper.lines:
        if b'"type":"DELETED"' not in line[:40]:
            assert trial.kube.inject(line, "gpuvms"), "no stream is open"


def replay_deletion(trial, tamper, _lists):
    going = [line for _, line in tamper.lines if b'"deletionTimestamp"' in line and b'"type":"MODIFIED"' in line[:40]]
    assert going
    for line in going * 3:
        trial.kube.inject(line, "gpuvms")


def replay_list(which):
    def replay(trial, _tamper, lists):
        async def stale(_):
            return Answer(200, json.dumps(lists[which]).encode())

        trial.kube.add(every("list gpuvms"), "received", stale)
        trial.kube.cut_streams()

    return replay


REPLAYS = {
    "all events of the old object": replay_events,
    "its deletion, three times": replay_deletion,
    "a list in which it is being created": replay_list("creating"),
    "a list in which it runs": replay_list("running"),
    "a list in which it is being deleted": replay_list("deleting"),
}


def stale_server(rig, replay, *, early):
    """One name, two lives: what is told of the first must not end or double the second."""
    with rig.trial() as trial:
        plant(trial)
        trial.kube.on_line = tamper = Tamper()
        trial.start()
        lists = {}
        trial.apply(gpuvm())
        trial.wait(lambda: trial.sim.calls("CreateServer"), "the order")
        lists["creating"] = whole_list(trial)
        trial.reach("gpuvm", "train", RUNNING)
        lists["running"] = whole_list(trial)
        trial.sim.turn(destroy_seconds=1.0)
        trial.here.delete("gpuvm", "train")
        trial.wait(lambda: trial.sim.calls("DestroyServer"), "the destruction")
        lists["deleting"] = whole_list(trial)
        trial.gone("gpuvm", "train")
        trial.wait(lambda: tamper.lines and b'"type":"DELETED"' in tamper.lines[-1][1][:40], "the last event of the first")
        trial.kube.on_line, old = None, Tamper(lines=list(tamper.lines))
        trial.apply(gpuvm())
        if not early:
            trial.reach("gpuvm", "train", RUNNING)
        replay(trial, old, lists)
        trial.reach("gpuvm", "train", RUNNING)
        time.sleep(3.0)  # longer than the grace: what the replay may bring about has happened by then
        wanted = Counter({("GpuVM/train", "created"): 2, ("GpuVM/train", "destroyed"): 1})
        found = violations(trial, Expected(summary=wanted, standing={"GpuVM/train": RUNNING}))
        trial.here.delete("gpuvm", "train")
        trial.gone("gpuvm", "train")
        wanted["GpuVM/train", "destroyed"] = 2
        found += [f"after the second deletion: {who}" for who in _difference(trial, wanted)]
        return found


def _difference(trial, wanted):
    mine = Books.of(trial).summary()
    return [f"{key} {mine[key]}, not {wanted[key]}" for key in mine.keys() | wanted.keys() if mine[key] != wanted[key]]


def test_a_stale_server_shows_the_object_that_bore_the_name_before(rig, campaign):
    """B3: 0 destroys of the new VM, and 0 further orders for the old one."""
    runs = [
        Run(f"{name}{', while the second is created' if early else ''}", partial(stale_server, rig, replay, early=early))
        for name, replay in REPLAYS.items()
        for early in (False, True)
    ]
    campaign.carry_out("B3", runs, sample=2)
