"""Classes C1 and C2 of the catalogue: an apiserver that cannot be reached, dies, or is slow; an etcd that dies; throttling.

While the apiserver cannot be reached nothing is created or destroyed that no status had announced before; once it is back, the
desired state is reached.
"""

from __future__ import annotations

import itertools
import time
from functools import partial

import pytest

from chaos.rig.calls import CLOUD, KUBE, Phase
from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.etcd import Etcd
from chaos.rig.oracles import Expected, violations
from chaos.rig.outage import HANGING, REFUSED, Outage
from chaos.rig.points import Point
from chaos.rig.reference import reference
from chaos.rig.rules import Hold, answer, delay, every
from chaos.rig.strangers import plant
from chaos.rig.workloads import RUNNING, WORKLOADS
from support.manifests import gpuvm

RECEIVED, ANSWERED = Phase.RECEIVED, Phase.ANSWERED
PHASES = {
    "before the finalizer is on": Point(KUBE, "patch gpuvms", 1, RECEIVED),
    "the finalizer is on, unheard": Point(KUBE, "patch gpuvms", 1, ANSWERED),
    "before the order is recorded": Point(KUBE, "update gpuvms/status", 1, RECEIVED),
    "the order is recorded, unheard": Point(KUBE, "update gpuvms/status", 1, ANSWERED),
    "the order is under way": Point(CLOUD, "CreateServer", 1, RECEIVED),
    "the order is carried out": Point(CLOUD, "CreateServer", 1, ANSWERED),
    "before Ready is written": Point(KUBE, "update gpuvms/status", 2, RECEIVED),
    "before the deletion is announced": Point(KUBE, "update gpuvms/status", 3, RECEIVED),
    "the deletion is announced, unheard": Point(KUBE, "update gpuvms/status", 3, ANSWERED),
    "the destruction is under way": Point(CLOUD, "DestroyServer", 1, RECEIVED),
    "the destruction is carried out": Point(CLOUD, "DestroyServer", 1, ANSWERED),
    "before the object is let go": Point(KUBE, "patch gpuvms", 2, RECEIVED),
    "the object is released, unheard": Point(KUBE, "patch gpuvms", 2, ANSWERED),
}


def unreachable(rig, point, how, seconds):
    known = reference(rig, "vm").summary
    with rig.trial() as trial:
        WORKLOADS["vm"].prepare(trial)
        outage = Outage(trial, how, seconds)
        point.arm(trial, outage)
        trial.start()
        trial.last_start += seconds
        trial.blind_seconds = 2 * seconds
        WORKLOADS["vm"].live(trial)
        if outage.began is None:
            raise NotReachedError
        outage.ended.wait()
        return outage.unannounced() + violations(trial, Expected(summary=known))


def test_unreachable_at_each_phase_of_a_creation_and_a_deletion(rig, campaign):
    """C1. The catalogue's third length, ten minutes, differs from one minute by nothing that the operator does in it."""
    runs = [
        Run(f"{how} for {seconds:g} s: {phase}", partial(unreachable, rig, point, how, seconds))
        for seconds in ((5.0, 60.0) if campaign.whole else (3.0,))
        for how in (REFUSED, HANGING)
        for phase, point in PHASES.items()
    ]
    campaign.carry_out("C1", runs, sample=3, at_once=6 if campaign.whole else None)


# --- with processes that are really killed: a control plane of our own


def killed(rig, word, etcd, seconds):
    """kill -9, while this call to the cloud is under way; the call is let go in the middle of the outage."""
    known = reference(rig, "vm").summary
    with rig.trial() as trial:
        plant(trial)
        hold = Hold()
        trial.cloud.add(every(word), RECEIVED, hold)
        trial.start()
        trial.apply(gpuvm())
        if word == "DestroyServer":
            trial.reach("gpuvm", "train", RUNNING)
            trial.here.delete("gpuvm", "train")
        hold.wait()
        storage = Etcd(rig.plane)
        (storage.kill if etcd else rig.plane.kill_apiserver)()
        time.sleep(seconds / 2)
        hold.release()
        time.sleep(seconds / 2)
        if etcd:
            storage.start()
        storage.serve_again()
        trial.last_start = time.monotonic()
        trial.blind_seconds = seconds + 30
        if word == "CreateServer":
            trial.reach("gpuvm", "train", RUNNING)
            trial.here.delete("gpuvm", "train")
        trial.gone("gpuvm", "train")
        return violations(trial, Expected(summary=known))


@pytest.mark.parametrize(("ident", "etcd"), [("C1", False), ("C2", True)])
def test_kill_9_of_the_apiserver_and_of_etcd(request, campaign, ident, etcd):
    """C1 and C2, for the whole alone: C3 kills both, too. One run after the other, since they share the victim."""
    if not campaign.whole:
        return
    own_rig, seconds = request.getfixturevalue("own_rig"), 20.0  # the sample starts no control plane for it
    who = "etcd and apiserver" if etcd else "apiserver"
    runs = [
        Run(f"{who} killed for {seconds:g} s in {word}", partial(killed, own_rig, word, etcd, seconds))
        for word in ("CreateServer", "DestroyServer")
    ]
    campaign.carry_out(ident, runs, at_once=1)


# --- slow, and throttled


def slow(rig, name, seconds):
    """Each write takes so long, as when etcd's disk is slow."""
    workload = WORKLOADS[name]
    known = reference(rig, name).summary
    with rig.trial(**workload.options) as trial:
        workload.prepare(trial)
        trial.kube.add(lambda call: call.writes, RECEIVED, delay(seconds), times=0)
        trial.start()
        trial.last_start += 20 * seconds
        trial.blind_seconds = 10 * seconds
        workload.live(trial)
        return violations(trial, Expected(summary=known))


def test_slow_writes(rig, campaign):
    """C2: 2 s a write; for the whole alone, since the sample has the same life with late echoes (B6)."""
    if not campaign.whole:
        return
    runs = [Run(f"{name}, 2 s a write", partial(slow, rig, name, 2.0)) for name in ("vm", "edits", "vpc")]
    campaign.carry_out("C2", runs)


THROTTLED = ("patch gpuvms", "update gpuvms/status", "create events", "get namespaces", "list gpuvms")


def throttled(rig, word, seconds, times):
    """So many answers in a row of one class are 429; nobody comes back before the time that each names."""
    known = reference(rig, "vm").summary
    with rig.trial() as trial:
        WORKLOADS["vm"].prepare(trial)
        body = b'{"kind":"Status","status":"Failure","code":429,"reason":"TooManyRequests"}'
        refuse = answer(429, body, Retry_After=f"{seconds:g}")
        rule = trial.kube.add(every(word), RECEIVED, refuse, times=times)
        trial.start()
        trial.last_start += times * seconds
        trial.blind_seconds = times * seconds
        WORKLOADS["vm"].live(trial)
        if not rule.struck:
            raise NotReachedError
        return sooner(trial, word, seconds) + violations(trial, Expected(summary=known))


def sooner(trial, word, seconds):
    """Sentences about calls that came again before the time that a 429 had named. Another Event is another call."""
    seen = [one for one in trial.kube.seen if one.call.word == word]
    found = []
    for before, after in itertools.pairwise(seen):
        same = before.call.target == after.call.target and (word != "create events" or before.call.body == after.call.body)
        if before.note and before.status == 0 and same and after.received - before.received < seconds - 0.05:
            found.append(
                f"C2: {after.call} came {after.received - before.received:.2f} s after a 429 that asked for {seconds:g}"
            )
    return found


def test_a_throttling_apiserver_is_not_asked_sooner_than_it_says(rig, campaign):
    """C2: Retry-After is honoured for each class of calls, ours and kopf's."""
    runs = [Run(f"429 to {word}, three times", partial(throttled, rig, word, 3.0, 3)) for word in THROTTLED]
    campaign.carry_out("C2", runs, sample=2)
