"""Every operation that the operator calls, with every fault, once, three times, and for a while (D1 to D3, D5 to D10, D13).

A run is a life that uses all operations, in which each operation of a group meets one fault in its own time. Ten minutes of the
catalogue are ``WHILE`` seconds here, its grace of 30 seconds is 2, and its deadline of 30 seconds is 2. The end must be
as if nothing had been: one of each made, one of each destroyed.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from functools import partial

import pytest

from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import every
from chaos.rig.strangers import plant
from chaos.rig.tour import ONCE, ONE_VM, one_vm, tour
from support.simcloud import API_KEY

pytestmark = pytest.mark.timeout(1800)

WHILE = 8.0  # seconds: several listings, each of which the client itself tries three times
AT_ONCE = 6  # most of a run is waiting
READS = ("GetServers", "GetSnapshots", "GetVpcs", "GetAll", "GetConfigurations")
LISTINGS = {"GetServers": 9, "GetSnapshots": 9, "GetVpcs": 9}  # there is something to lose by this call, at the latest
DESTROYS = ("DeleteSnapshot", "DestroyServer", "DestroyVpc")
CHANGES = ("CreateVpc", "CreateServer", "CreateSnapshot", "StopServer", "StartServer", *DESTROYS)
LOGINS = ("Authenticate",)
LONG = {"once": 1, "three times": 3, "a while": 1000}
ATTEMPTS = 3  # of a reading call, by the client itself
FLAGS = {"cloud_timeout_seconds": 2, "blind_after_seconds": 2, "poll_pending_seconds": 0.3}
PASSWORD = "made-up-p4ssphrase"

REFUSED = {
    **{
        str(status): {"kind": "status", "status": status}
        for status in (400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504)
    },
    "401 without a word": {"kind": "status", "status": 401, "body": ""},
    "500 that says not found": {"kind": "status", "status": 500, "message": '"x" not found'},
    "302 elsewhere": {"kind": "status", "status": 302, "body": ""},
}
UNHEARD = {
    "reset": {"kind": "reset"},
    "silence": {"kind": "silence", "seconds": 30},
    "hang-up": {"kind": "silence", "seconds": 0.1},
    "slow": {"kind": "delay", "seconds": 1},
}
BROKEN = {  # on a change these come after it has been carried out
    "lost by RST": {"kind": "lost_answer"},
    "lost by FIN": {"kind": "silence_after_commit", "seconds": 0.1},
    "lost by silence": {"kind": "silence_after_commit", "seconds": 30},
    "done, and 408": {"kind": "status_after_commit", "status": 408},
    "done, and 500": {"kind": "status_after_commit", "status": 500},
    "done, and 503": {"kind": "status_after_commit", "status": 503},
    "done, and slow": {"kind": "delay_answer", "seconds": 1},
    "garbage": {"kind": "garbage"},
    "html": {"kind": "html"},
    "truncated": {"kind": "truncated"},
    "cut": {"kind": "cut_body"},
    "slow loris": {"kind": "drip", "seconds": 0.1},
}
ODD = {  # of listings alone
    "stale": {"kind": "stale", "seconds": 3},
    "partial": {"kind": "partial", "items": 1},
    "empty": {"kind": "empty"},
    "each item twice": {"kind": "duplicate", "items": 50},
    "unknown word": {"kind": "status_word"},
}
LATE = {
    f"late by {seconds} s, {word}": {"kind": "late_commit", "seconds": seconds, "status": status}
    for seconds in (0.3, 1.5)
    for status, word in ((0, "reset"), (504, "504"))
}  # within the grace
# A 404 to a destroying call is its success; when it is a lie, the call is repeated after five minutes: see test_cloud_destroys.
NOT_HERE = {("404", operation) for operation in DESTROYS} | {("500 that says not found", operation) for operation in DESTROYS}
GROUPS = {
    "reads": (
        READS,
        REFUSED | UNHEARD | BROKEN | ODD,
        ("three times", "a while"),
    ),  # the client itself repeats what failed once
    "changes": (CHANGES, REFUSED | UNHEARD | BROKEN | LATE, ("once", "three times")),
}


@pytest.mark.parametrize("group", GROUPS)
def test_a_life_with_a_fault_at_every_operation(rig, campaign, group):
    operations, faults, durations = GROUPS[group]
    runs = [
        Run(f"{group}: {name}, {long}", partial(life, rig, operations, (name, fault), long))
        for long in (durations if campaign.whole else durations[:1])
        for name, fault in faults.items()
    ]
    campaign.carry_out("D", runs, sample=1, at_once=AT_ONCE)


def test_a_login_with_every_fault(rig, campaign):
    """Once is enough: a login that failed is held for five seconds, and after a refusal or a 500 for a minute."""
    runs = [
        Run(f"login: {name}", partial(life, rig, LOGINS, (name, fault), "once", username="ann", password=PASSWORD))
        for name, fault in (UNHEARD | BROKEN).items()
        if campaign.whole or name != "done, and 500"
    ]
    campaign.carry_out("D1", runs, sample=1, at_once=AT_ONCE)


def test_an_outage_of_everything(rig, campaign):
    """All operations at once, from the moment on at which the VM is ordered, or told to go."""
    faults = {
        name: fault for name, fault in (REFUSED | UNHEARD | BROKEN).items() if name not in {"404", "500 that says not found"}
    }
    runs = [
        Run(f"{name}, from {begin} on", partial(outage, rig, fault, begin))
        for name, fault in faults.items()
        for begin in ("CreateServer", "DestroyServer")
    ]
    campaign.carry_out("D8", runs, sample=1, at_once=AT_ONCE)


def life(rig, operations, fault, long, **credential):
    """A tour of all operations; each of these meets the fault."""
    name, spec = fault
    with rig.trial(own_account=False, **FLAGS) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        for operation in operations:
            if (name, operation) not in NOT_HERE:
                times = LONG[long] * (ATTEMPTS if operation in READS else 1)
                trial.sim.fault(id=operation, operation=operation, **spec, nth=LISTINGS.get(operation, 1), times=times)
        with ending(trial.sim, long):
            trial.start()
            tour(trial, patience=300.0, **credential or {"apikey": API_KEY})
        missed = any(not fault["struck"] for fault in trial.sim.control("faults")["faults"])
        trial.sim.clear_faults()
        found = violations(trial, Expected(summary=ONCE))
        if missed and not found:
            raise NotReachedError
        return found


def outage(rig, fault, begin):
    """The life of a VM in which nothing works for a while, from the first call of one operation on."""
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        struck = threading.Event()

        async def strike(_):
            await asyncio.to_thread(trial.sim.fault, **fault)
            struck.set()

        trial.cloud.add(every(begin), "received", strike)
        ender = threading.Thread(target=lambda: struck.wait(120) and (time.sleep(WHILE), trial.sim.clear_faults()))
        ender.start()
        trial.start()
        one_vm(trial)
        ender.join()
        found = violations(trial, Expected(summary=ONE_VM))
        if not struck.is_set() and not found:
            raise NotReachedError
        return found


@contextmanager
def ending(sim, long):
    """End each fault some seconds after it has first struck, when it is to last a while."""
    done = threading.Event()

    def watch():
        struck = {}
        while not done.wait(0.2):
            for fault in sim.control("faults")["faults"]:
                if fault["struck"] and time.monotonic() > struck.setdefault(fault["id"], time.monotonic()) + WHILE:
                    sim.control(f"faults/{fault['id']}", method="DELETE")

    thread = threading.Thread(target=watch)
    if long == "a while":
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.is_alive():
            thread.join()
