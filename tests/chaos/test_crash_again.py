"""The same point over and over (A3), a status that cannot be saved (A4), ends with a grace and a process put to sleep (A5)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from functools import partial

from chaos.rig.calls import CLOUD, Phase
from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.points import points
from chaos.rig.reference import reference
from chaos.rig.rules import Hold, answer, drop, nth
from chaos.rig.strangers import plant, things
from chaos.rig.tour import ONE_VM
from chaos.rig.workloads import RUNNING, WORKLOADS
from gpucloud.kinds.meta import Annotation
from support.manifests import gpuvm

CRASHES = 20
REFUSALS = 50
STATUS = "update gpuvms/status"
REFUSED = {
    "409": answer(409, b'{"kind":"Status","reason":"Conflict","message":"made up: the object has been modified"}'),
    "422": answer(422, b'{"kind":"Status","reason":"Invalid","message":"made up: invalid"}'),
    "500": answer(500, b'{"kind":"Status","reason":"InternalError","message":"made up"}'),
    "no answer": drop(),
}
GRACES = (1, 5, 30)
SLEEP = 11.0  # seconds; facts older than 10 are not acted on
LONG_SLEEP = 90.0


def test_the_status_after_a_good_order_is_never_saved(rig, campaign):
    """20 crashes in a row between the order and the first word of it: one VM, not 21."""
    crashes = CRASHES if campaign.whole else 3
    campaign.carry_out("A3", [Run("saved never", partial(crash_loop, rig, "answered", crashes))], sample=1)


def test_the_order_is_never_sent(rig, campaign):
    """Each time it dies with the order in hand, and must look for a whole grace before the next."""
    if campaign.whole:
        campaign.carry_out("A3", [Run("sent never", partial(crash_loop, rig, "received", CRASHES))])


def crash_loop(rig, phase, crashes):
    """Die at the order, then at each first attempt to save anything of it (or at each next order, if it was not sent)."""
    with rig.trial(create_grace_seconds=1) as trial:
        WORKLOADS["vm"].prepare(trial)

        def again():
            if trial.kills < crashes:
                link, word = (trial.kube, STATUS) if phase == "answered" else (trial.cloud, "CreateServer")
                link.add(nth(word), "received", trial.crash(then=again))

        trial.cloud.add(nth("CreateServer"), phase, trial.crash(then=again))
        trial.start()
        WORKLOADS["vm"].live(trial)
        found = violations(trial, Expected(summary=reference(rig, "vm").summary))
        return found if trial.kills == crashes else [*found, f"only {trial.kills} crashes came about"]


def test_the_save_is_refused_50_times(rig, campaign):
    """By itself the operator waits up to a minute between two tries, so each refusal is followed by a person's wish."""
    times = REFUSALS if campaign.whole else 5
    runs = [Run(f"refused with {how}", partial(refused_life, rig, REFUSED[how], times)) for how in REFUSED]
    campaign.carry_out("A4", runs, sample=1)


def refused_life(rig, refusal, times):
    """After the order nothing of it can be saved for a long while; nothing is ordered again, and then it is saved."""
    with rig.trial() as trial:
        WORKLOADS["vm"].prepare(trial)
        refused = []

        async def refuse(call):
            refused.append(call)
            trial.prolong()
            trial.keep(asyncio.create_task(touch(str(len(refused)))))
            return await refusal(call)

        async def touch(what):
            await asyncio.sleep(0.2)
            wish = {Annotation.RECONCILE_REQUESTED_AT.value: what}
            await asyncio.to_thread(lambda: trial.here.annotate("gpuvm", "train", **wish))

        trial.kube.add(lambda call: call.word == STATUS and ordered(trial), "received", refuse, times=times)
        trial.start()
        WORKLOADS["vm"].live(trial)
        trial.blind_seconds = refused_for(trial)
        found = violations(trial, Expected(summary=reference(rig, "vm").summary))
        return found if len(refused) == times else [*found, f"only {len(refused)} were refused"]


def ordered(trial):
    return any(seen.call.word == "CreateServer" and seen.delivered for seen in trial.cloud.seen)


def refused_for(trial):
    """From the first to the last refusal."""
    times = [seen.received for seen in trial.kube.seen if seen.note]
    return times[-1] - times[0]


def test_told_to_end_in_each_phase(rig, campaign):
    """SIGTERM while a call is on its way, then SIGKILL after the grace; the call goes on after half a second, or never."""
    changing = [point for point in points(reference(rig, "vm")) if mutates(point)]
    runs = [
        Run(f"{point}, {grace} s, {'hangs' if hangs else 'goes on'}", partial(ended_life, rig, point, grace, hangs=hangs))
        for point in changing
        for grace in GRACES
        for hangs in (False, True)
        if not (hangs and (grace > 5 or point.phase is Phase.DELIVERED))
    ]
    campaign.carry_out("A5", runs, sample=2)


def mutates(point):
    return point.word in {"CreateServer", "DestroyServer", STATUS, "patch gpuvms"}


def ended_life(rig, point, grace, *, hangs):
    """The next operator starts when the last has ended, as in a Deployment that recreates its pod."""
    with rig.trial() as trial:
        WORKLOADS["vm"].prepare(trial)
        codes = []

        def end(process):
            codes.append(process.stop(grace))
            trial.wire.era += 1
            trial.start()

        async def do(_call):
            ending = asyncio.get_running_loop().run_in_executor(None, end, trial.operator)
            trial.keep(ending)
            if hangs:
                await ending
            else:
                await asyncio.sleep(0.5)

        point.arm(trial, do)
        trial.start()
        WORKLOADS["vm"].live(trial)
        found = violations(trial, Expected(summary=reference(rig, "vm").summary))
        if not codes and not found:
            raise NotReachedError
        if grace == GRACES[-1] and codes != [0]:
            found.append(f"it ended with {codes}, not by itself within {grace} s")
        return found


def test_put_to_sleep_and_woken(rig, campaign):
    """SIGSTOP for longer than facts may be old, then SIGCONT; alone, or while another operator did the work meanwhile."""
    where = [point for point in points(reference(rig, "vm")) if point.phase is Phase.ANSWERED]
    runs = [
        Run(
            f"{point}, {SLEEP:g} s, {'another at work' if another else 'alone'}",
            partial(slept_life, rig, point, SLEEP, another),
        )
        for point in where
        for another in (False, True)
    ]
    if campaign.whole:
        long = [point for point in where if (point.word, point.number) in {(STATUS, 1), ("CreateServer", 1), ("GetServers", 1)}]
        runs += [
            Run(f"{point}, {LONG_SLEEP:g} s", partial(slept_life, rig, point, LONG_SLEEP, another=False)) for point in long
        ]
    campaign.carry_out("A5", runs, sample=2, at_once=4)


def slept_life(rig, point, seconds, another):
    """What it had in mind when it fell asleep is not carried out: it looks first."""
    with rig.trial() as trial:
        WORKLOADS["vm"].prepare(trial)
        sleeper = trial.start()
        woken = []

        async def wake():
            await asyncio.sleep(seconds)
            if another:
                trial.kill()
                trial.processes.remove(sleeper)
                trial.processes.append(sleeper)  # it is the present one again
            woken.append(time.monotonic())
            os.kill(sleeper.pid, signal.SIGCONT)
            trial.prolong()

        async def do(_call):
            os.kill(sleeper.pid, signal.SIGSTOP)
            trial.prolong(seconds)
            if another:
                await asyncio.to_thread(trial.start)
            trial.keep(asyncio.create_task(wake()))

        point.arm(trial, do)
        WORKLOADS["vm"].live(trial)
        if not trial.kept:
            raise NotReachedError
        trial.wait(lambda: woken, "it to be woken")
        trial.blind_seconds = seconds
        found = violations(trial, Expected(summary=reference(rig, "vm").summary))
        return found + stale_calls(trial, woken[0])


def shows_the_object(seen):
    """Whether the apiserver has shown it as it is now: it took a status for it, or was asked for it by name."""
    by_name = seen.call.word == "list gpuvms" and "fieldSelector" in seen.call.query
    return seen.status == 200 and (by_name or seen.call.word == STATUS)


def stale_calls(trial, woken):
    """Before its first call after waking that changes the cloud, it has looked there again, or been taken at its word.

    A status is only taken at the object's present version, so what it announces is what is wanted now; one that was on its
    way when the process fell asleep is proven by reading the object again. For a destroy or a change of power that is enough,
    since the name proves whose it is. Before an order there must be a listing.
    """
    later = [seen for seen in (*trial.cloud.seen, *trial.kube.seen) if seen.received > woken]
    first = min((seen for seen in later if seen.call.link == CLOUD and seen.call.writes), key=received, default=None)
    if first is None:
        return []
    before = [seen for seen in later if seen.received < first.received]
    looked = any(seen.call.word == "GetServers" for seen in before)
    if looked or (first.call.word != "CreateServer" and any(map(shows_the_object, before))):
        return []
    return [f"woken, it sent {first.call} without having looked again; before it: {[str(seen.call) for seen in before]}"]


def received(seen):
    return seen.received


def test_woken_it_obeys_what_was_said_while_it_slept(rig, campaign):
    """It fell asleep with the announcement saved and the call not yet sent; meanwhile the owner has changed their mind."""
    runs = [Run(name, partial(changed_mind, rig, **row)) for name, row in CHANGED.items()]
    campaign.carry_out("A5", runs, sample=3)


def release_finalizer(trial):
    """The object goes, and its VM stays: whose it is, is its owner's to know from here on."""
    trial.gone("gpuvm", "train")
    trial.strangers = things(trial.sim)
    return {("GpuVM/train", "created"): 1}


def held(trial):
    """It stays as long as it is paused, and goes after that."""
    trial.reach("gpuvm", "train", "False/DeletionBlocked")
    trial.wait(looks_again(trial), "some more looks")
    assert not trial.sim.calls("DestroyServer")
    trial.here.annotate("gpuvm", "train", **{"gpucloud.dev/paused": None})
    trial.gone("gpuvm", "train")
    return ONE_VM


def running(trial):
    """It says so by a status that knows the last wish, and by a later look."""
    trial.wait(looks_again(trial), "some more looks")
    trial.reach("gpuvm", "train", RUNNING)
    assert not trial.sim.calls("StopServer")
    trial.here.delete("gpuvm", "train")
    trial.gone("gpuvm", "train")
    return ONE_VM


def looks_again(trial, times=4):
    before = trial.looks()
    return lambda: trial.looks() >= before + times


CHANGED = {
    "deleting, then Retain": {
        "then": {"spec": {"deletion": {"policy": "Retain"}}},
        "end": release_finalizer,
        "never": "DestroyServer",
    },
    "deleting, then paused": {"then": {"metadata": {"annotations": {"gpucloud.dev/paused": "true"}}}, "end": held},
    "stopping, then Running": {
        "stop": True,
        "then": {"spec": {"powerState": "Running"}},
        "end": running,
        "never": "StopServer",
    },
}


def changed_mind(rig, then, end, *, never="", stop=False):
    """Woken, it lives on and obeys: ``end`` is the rest of that life, and tells what it makes and destroys."""
    with rig.trial() as trial:
        plant(trial)
        process = trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        asleep = Hold()

        async def do(_call):
            os.kill(process.pid, signal.SIGSTOP)
            return await asleep(_call)

        trial.kube.add(nth(STATUS), "answered", do)
        if stop:
            trial.here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
        else:
            trial.here.delete("gpuvm", "train")
        asleep.wait()
        trial.here.patch("gpuvm", "train", then)
        asleep.release()
        time.sleep(SLEEP)
        os.kill(process.pid, signal.SIGCONT)
        trial.prolong()
        trial.blind_seconds = SLEEP
        summary = Counter(end(trial))
        sent = [str(seen.call) for seen in trial.cloud.seen if seen.call.word == never]
        found = [f"woken, it sent {sent}, which its owner had taken back {SLEEP:g} s before"] if sent else []
        return found + violations(trial, Expected(summary=summary))
