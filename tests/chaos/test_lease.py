"""Two replicas and one Lease (F1, F2): a hundred takeovers at drawn moments of a life, and nothing is made or destroyed twice.

The leader is killed, told to end, or stopped past its time and woken beside its successor. The simulated cloud makes twins when
it is asked twice for one name, so a doubled order shows. Times are the operator's own, scaled down.
"""

from __future__ import annotations

import os
import random
import signal
import time
from functools import partial

import pytest

from chaos.rig.campaign import Run
from chaos.rig.ledger import Books
from chaos.rig.oracles import Expected, violations
from chaos.rig.strangers import plant
from chaos.rig.workloads import RUNNING
from support.leases import NAME, lease_rights, process_of
from support.manifests import gpuvm
from support.waiting import eventually

pytestmark = pytest.mark.timeout(900)

TAKEOVERS = 100
GRACE = 12  # seconds, as in test_two_operators.py
LASTS = {"lease_duration_seconds": 20, "lease_renew_deadline_seconds": 15, "lease_retry_period_seconds": 1}
WAYS = ("kill", "sigterm", "asleep")
AFTER = 10 * GRACE + 60.0  # seconds for the end to come; a kill in the create window costs ten graces
BLIND = 120.0  # seconds in which a status may be of the past
LEASE = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/" + NAME


def test_a_hundred_takeovers(rig, campaign):
    """One takeover a run, at a moment that is drawn, in a life that is drawn; each ends as its owner wants."""
    runs = [Run(f"takeover {number}", partial(takeover, rig, number)) for number in range(TAKEOVERS)]
    campaign.carry_out("F1", runs, sample=2, at_once=6 if campaign.whole else 2)


def takeover(rig, number):
    """The run's number is all that its steps come from."""
    dice = random.Random(number)
    way, deletes = WAYS[number % len(WAYS)], dice.random() < 0.5
    with rig.trial(create_grace_seconds=GRACE, leader_elect=True, **LASTS) as trial:
        trial.flags["lease_namespace"] = trial.namespace
        rig.kubectl.in_namespace(trial.namespace).apply(lease_rights(trial.namespace))
        plant(trial)
        trial.sim.turn(duplicate_vm="twin", provision_seconds=dice.choice((0.2, 1.5)))
        replicas = [trial.start(), trial.start()]
        leader = trial.wait(lambda: process_of(holder(trial), replicas), "one to lead")
        (other,) = [process for process in replicas if process is not leader]
        other.wait_for_line('"standing by"')
        trial.apply(gpuvm())
        if deletes:
            trial.reach("gpuvm", "train", RUNNING)
            trial.here.delete("gpuvm", "train")
        time.sleep(dice.uniform(0.0, 1.5))
        end(trial, way, leader, replicas)
        trial.prolong(AFTER - 60)
        found = ended(trial, deletes)
        return found + once_each(trial, created=1, destroyed=int(deletes)) + in_turn(leader, replicas)


def end(trial, way, leader, replicas):
    """End the leader so; answers when the other leads. One that was asleep is woken then, and must end by itself."""
    (other,) = [process for process in replicas if process is not leader]
    if way == "kill":
        leader.kill9()
        trial.kills += 1
    elif way == "sigterm":
        assert leader.stop(40) == 0
    else:
        os.kill(leader.pid, signal.SIGSTOP)
    try:
        eventually(lambda: process_of(holder(trial), [other]), 60, "the other to lead")
    finally:
        if way == "asleep":
            os.kill(leader.pid, signal.SIGCONT)
    if way == "asleep":
        assert leader.process.wait(120) == 1, "it is not the leader any more, and ends"
    trial.processes.sort(key=lambda process: process is other)  # the present operator is the last


def ended(trial, deletes):
    trial.blind_seconds = BLIND  # nobody looked while nobody led
    if deletes:
        trial.gone("gpuvm", "train")
        return violations(trial)
    trial.reach("gpuvm", "train", RUNNING)
    return violations(trial, Expected(standing={"GpuVM/train": RUNNING}))


def once_each(trial, *, created, destroyed):
    """What was done in the cloud for the object, told by the VM's name."""
    books = Books.of(trial)
    done = [entry["operation"] for entry in books.committed() if books.owner(entry) == "GpuVM/train"]
    counts = {"CreateServer": created, "DestroyServer": destroyed}
    return [
        f"I1: {operation} was done {done.count(operation)} times, not {count}"
        for operation, count in counts.items()
        if done.count(operation) != count
    ]


def in_turn(leader, replicas):
    """The first has announced its last call before the next began to lead."""
    (other,) = [process for process in replicas if process is not leader]
    last = max((at for at, event in said(leader) if event == "calling"), default="")
    first = min(at for at, event in said(other) if event == "leading")
    return [f"F2: the old leader called at {last}, the new one led from {first}"] if last > first else []


def said(process):
    return [(record["timestamp"], record["event"]) for record in process.logs() if "event" in record]


def holder(trial):
    status, found = trial.here.answer("GET", LEASE.format(trial.namespace))
    return found["spec"].get("holderIdentity") if status == 200 else None
