"""The operator's clock jumps by a day, or runs half again as fast, at each step of a life (E1).

Only the wall clock: durations are monotonic, so nothing may be bought twice, given up or let go early, and a login stays in
use. The simulated cloud's own clock is far from the operator's in all tests: it begins at 2026-01-01 whatever the day is.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial

import pytest

from chaos.rig.campaign import NotReachedError, Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import nth
from chaos.rig.skewed import Clock
from chaos.rig.strangers import plant
from chaos.rig.tour import ONCE, tour

pytestmark = pytest.mark.timeout(600)

DAY = 86_400.0
PASSWORD = "made-up-p4ssphrase"
JUMPS = {
    "a day ahead": (DAY, 1.0),
    "a day back": (-DAY, 1.0),
    "half again as fast": (0.0, 1.5),
    "five minutes back": (-300.0, 1.0),
}
AT = (
    "the start",
    "CreateVpc",
    "CreateServer",
    "CreateSnapshot",
    "StopServer",
    "StartServer",
    "DeleteSnapshot",
    "DestroyServer",
    "DestroyVpc",
)


def test_the_clock_jumps(rig, campaign, tmp_path_factory):
    runs = [
        Run(f"{how} at {at}", partial(jump, rig, tmp_path_factory.mktemp("clock"), JUMPS[how], at))
        for how in JUMPS
        for at in AT
    ]
    campaign.carry_out("E1", runs, sample=1, at_once=5)


def test_it_jumps_again_and_again(rig, campaign, tmp_path_factory):
    """To and fro at each change, with the answer to each of them lost."""
    campaign.carry_out("E1", [Run("to and fro", partial(to_and_fro, rig, tmp_path_factory.mktemp("clock")))], sample=1)


def jump(rig, folder, how, at):
    clock = Clock(folder)
    with rig.trial(own_account=False, env=clock.env) as trial:
        plant(trial)

        async def strike(_):
            clock.set(how[0], rate=how[1])

        rule = None
        if at == "the start":
            clock.set(how[0], rate=how[1])
        else:
            rule = trial.cloud.add(nth(at), "answered", strike)
        trial.start()
        tour(trial, username="ann", password=PASSWORD)
        if rule is not None and not rule.struck:
            raise NotReachedError
        return violations(trial, Expected(summary=ONCE)) + logins(trial, 1) + skew_is_real(trial, *how)


def to_and_fro(rig, folder):
    clock = Clock(folder)
    with rig.trial(own_account=False, env=clock.env, cloud_timeout_seconds=2) as trial:
        plant(trial)
        jumps = iter([DAY, -DAY, 3600.0, 0.0, -DAY, DAY, -300.0, 0.0])

        async def strike(_):
            clock.set(next(jumps))

        for operation in (
            "CreateVpc",
            "CreateServer",
            "CreateSnapshot",
            "StopServer",
            "StartServer",
            "DeleteSnapshot",
            "DestroyServer",
        ):
            trial.sim.fault(operation=operation, nth=1, kind="lost_answer")
            trial.cloud.add(nth(operation), "received", strike)
        trial.start()
        tour(trial, username="ann", password=PASSWORD)
        return violations(trial, Expected(summary=ONCE)) + logins(trial, 1)


def logins(trial, most):
    made = len(trial.sim.calls("Authenticate"))
    return [f"{made} logins, {most} allowed"] if made > most else []


def skew_is_real(trial, jump, rate):
    """Its Events tell the operator's clock: without this a shift that did not take would pass for a proof."""
    last = [seen for seen in trial.kube.seen if seen.call.word == "create events"][-1]
    shown = datetime.fromisoformat(json.loads(last.call.body)["eventTime"]).timestamp() - last.at
    seconds = jump + (rate - 1.0) * (last.received - trial.last_start)
    return (
        []
        if abs(shown - seconds) < 4 + abs(seconds) * 0.02  # they are sent a moment later
        else [f"the operator's clock is {shown:.0f} s off, not {seconds:.0f}"]
    )
