"""Class B of the catalogue: a watch or a list that the apiserver refuses, ends, or lets fall silent, with orders in flight.

The operator may end and be restarted (a kubelet does that here); it may not live on without its watch, and it must serve again
soon after the apiserver does.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from functools import partial

from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.kubelet import Kubelet
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import Hold, answer
from chaos.rig.strangers import plant
from chaos.rig.watchlines import error_event
from chaos.rig.workloads import RUNNING
from support.manifests import gpuvm

NAMES = ("train", "p0", "p1")
SILENCE_SECONDS = 75.0  # settings of kopf: inactivity_timeout 70, connect_timeout 10, reconnect_backoff 1
# What an operator may say of an apiserver that refuses it; kopf's own words when it ends for that.
MOURNING = (
    "WatchingError",
    "APIUnauthorizedError",
    "APINotFoundError",
    "APIError",
    "LoginError",
    "Traceback",
    "CancelledError",
)


def status_body(code):
    """A Status, as the apiserver answers it."""
    said = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code}
    return json.dumps({**said, "reason": "MadeUp", "message": "made up by a test"}).encode()


def refused(trial, code, seconds, *, lists_only):
    """Every list (or every request) is answered with this code for so long, beginning with the watches that there are."""

    def when(call):
        return call.verb in {"list", "watch"} if lists_only else True

    rule = trial.kube.add(when, "received", answer(code, status_body(code)), times=0)
    trial.kube.inject(error_event(410))
    time.sleep(seconds)
    trial.kube.rules.remove(rule)


def lists_refused(code, *, lists_only=True):
    return lambda trial, seconds: refused(trial, code, seconds, lists_only=lists_only)


def told(code):
    """The open streams end with an error; the next list is fine."""

    def fault(trial, _seconds):
        trial.kube.inject(error_event(code, "MadeUp"))
        time.sleep(1.0)

    return fault


def gone_over_http(trial, seconds):
    """Neither a list nor a watch can be had from where it is asked for."""
    refused(trial, 410, seconds, lists_only=True)


FAULTS = {
    "410 Gone in the stream": told(410),
    "ERROR 500 in the stream": told(500),
    "410 to lists": gone_over_http,
    "401 to lists": lists_refused(401),
    "401 to everything": lists_refused(401, lists_only=False),
    "403 to lists": lists_refused(403),
    "404 to lists": lists_refused(404),
    "503 to lists": lists_refused(503),
    "503 to everything": lists_refused(503, lists_only=False),
}


def orders_in_flight(rig, fault, seconds):
    """Three VMs are being ordered when it begins; one more is applied, and one deleted, while it lasts."""
    with rig.trial() as trial:
        plant(trial)
        trial.blind_seconds = seconds + 30
        hold = Hold()
        trial.cloud.add(lambda call: call.word == "CreateServer", "received", hold, times=0)
        trial.start()
        trial.apply(*(gpuvm(name) for name in NAMES))
        hold.wait()
        trial.wait(lambda: trial.cloud.count("CreateServer") == len(NAMES), "all orders to be in flight")
        with Kubelet(trial) as kubelet:
            trial.apply(gpuvm("late"))
            trial.here.delete("gpuvm", NAMES[0])
            hold_later(hold)
            fault(trial, seconds)
            trial.last_start = max(trial.last_start, time.monotonic()) + 60  # 120 s after the apiserver's return
            for name in (*NAMES[1:], "late"):
                trial.reach("gpuvm", name, RUNNING)
            trial.gone("gpuvm", NAMES[0])
            trial.here.delete("gpuvm", *NAMES, "late")
            trial.gone("gpuvm", *NAMES, "late")
            summary = Counter({(f"GpuVM/{name}", what): 1 for name in (*NAMES, "late") for what in ("created", "destroyed")})
            found = violations(trial, Expected(summary=summary, logs=MOURNING if kubelet.exits else ()))
        if kubelet.exits not in ([], [1]):  # kopf kills a process (-9) whose watch died a minute ago and that lives on
            found.append(f"B4: the operator ended other than once by itself, with exit codes {kubelet.exits}")
        return found


def hold_later(hold):
    """The orders go on half a second from now, when the fault has begun."""
    threading.Timer(0.5, hold.release).start()


def test_lists_and_watches_are_refused_while_orders_are_in_flight(rig, campaign):
    """B4. The whole: for 65 s, longer than kopf's own patience of 54 s; the sample: for 3 s."""
    seconds = 65.0 if campaign.whole else 3.0
    runs = [Run(f"{name} for {seconds:g} s", partial(orders_in_flight, rig, fault, seconds)) for name, fault in FAULTS.items()]
    campaign.carry_out("B4", runs, sample=2)


def half_open(rig, word):
    """The streams that are open bring no byte any more, and are not cut; what is asked anew is answered."""
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm())
        trial.wait(lambda: trial.cloud.count(word), word)
        if word == "GetServers":
            trial.reach("gpuvm", "train", RUNNING)
        last = len(trial.kube.seen)
        trial.kube.on_line = lambda call, line: () if call.index <= last else ((0.0, line),)
        since = time.monotonic()
        trial.here.delete("gpuvm", "train")
        trial.last_start = since + SILENCE_SECONDS
        trial.blind_seconds = SILENCE_SECONDS
        trial.gone("gpuvm", "train")
        if trial.kube.on_line is None or not any(seen.call.watches for seen in trial.kube.seen[last:]):
            raise NotReachedError
        return violations(trial, Expected(summary=Counter({("GpuVM/train", "created"): 1, ("GpuVM/train", "destroyed"): 1})))


def test_a_half_open_stream_is_given_up(rig, campaign):
    """B5. What bounds it is kopf's ``inactivity_timeout``, which no flag shortens, so this is for the whole alone."""
    if campaign.whole:
        runs = [Run(f"silent after {word}", partial(half_open, rig, word)) for word in ("CreateServer", "GetServers")]
        campaign.carry_out("B5", runs)
