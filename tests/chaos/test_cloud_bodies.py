"""Answers made to hurt: bombs of gzip, endless bodies, and answers that never come (D9, D13)."""

from __future__ import annotations

import zlib
from functools import partial
from pathlib import Path

import pytest

from chaos.rig.campaign import Run
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import Hold, answer, every
from chaos.rig.strangers import plant
from chaos.rig.tour import ONE_VM, gone, one_vm, reach
from chaos.rig.workloads import RUNNING
from support.manifests import gpuvm

pytestmark = pytest.mark.timeout(600)

FLAGS = {"cloud_timeout_seconds": 2, "poll_pending_seconds": 0.3}
MEBIBYTE = 2**20
BOMB = 200 * MEBIBYTE
RISE_MIB = 50  # of resident memory, at its peak
VERBS = ("GetServers", "CreateServer", "DestroyServer")


def bomb(encoding):
    """200 MB of blanks within a listing, packed."""
    packer = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    parts = [packer.compress(b'{"items": [')]
    parts += [packer.compress(b" " * MEBIBYTE) for _ in range(BOMB // MEBIBYTE)]
    return b"".join([*parts, packer.compress(b"]}"), packer.flush()])


BODIES = {
    "gzip": lambda: answer(200, bomb("gzip"), Content_Encoding="gzip"),
    "deflate": lambda: answer(200, bomb("deflate"), Content_Encoding="deflate"),
    "gzip in gzip": lambda: answer(200, bomb("gzip"), Content_Encoding="gzip, gzip"),
    "an unknown encoding": lambda: answer(200, b"\0" * 1000, Content_Encoding="brotli"),
    "30 MB of items": lambda: answer(200, b'{"items": [' + b'{"id": "x"},' * 2_500_000 + b'{"id": "x"}]}'),
    "deeply nested": lambda: answer(200, b"[" * 500_000),
    "an error of 30 MB": lambda: answer(500, b'{"error": {"message": "' + b"x" * 30 * MEBIBYTE + b'"}}'),
}


def test_a_body_made_to_hurt(rig, campaign):
    """Instead of the answer to the listings, the order and the destroying call, all of which were carried out."""
    runs = [Run(name, partial(hurt, rig, make)) for name, make in BODIES.items()]
    campaign.carry_out("D13", runs, sample=1)


def test_many_that_hang_do_not_hold_the_others_up(rig, campaign):
    """Calls that nobody ever answers each end at their deadline, and listings are asked for again."""
    campaign.carry_out("D9", [Run(phase, partial(hanging, rig, phase)) for phase in ("received", "answered")], sample=1)


def hurt(rig, make):
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        trial.start()
        trial.apply(gpuvm("p0"))
        reach(trial, "gpuvm", "p0", RUNNING)
        before = peak_mib(trial)
        listed = trial.cloud.add(every("GetServers"), "answered", make(), times=4)
        trial.wait(lambda: listed.struck == 4, "four such listings, one after the other")
        reach(trial, "gpuvm", "p0", RUNNING)
        rise = peak_mib(trial) - before
        for verb in VERBS:
            trial.cloud.add(every(verb), "answered", make(), times=4)
        one_vm(trial)
        trial.here.delete("gpuvm", "p0")
        gone(trial, "gpuvm", "p0")
        found = [f"resident memory rose by {rise:.0f} MiB"] if rise > RISE_MIB else []
        return found + violations(
            trial, Expected(summary=ONE_VM + type(ONE_VM)({("GpuVM/p0", what): 1 for what in ("created", "destroyed")}))
        )


def peak_mib(trial):
    """The highest resident memory of the operator so far."""
    lines = Path(f"/proc/{trial.operator.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def hanging(rig, phase):
    hold, names = Hold(), [f"vm-{number}" for number in range(20)]
    with rig.trial(**FLAGS) as trial:
        plant(trial)
        trial.blind_seconds = 60.0
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", RUNNING)
        rule = trial.cloud.add(lambda _: True, phase, hold, times=0)
        trial.apply(*(gpuvm(name) for name in names))
        asked = trial.cloud.count("GetServers")
        trial.wait(lambda: trial.cloud.count("GetServers") >= asked + 3, "listings to be given up, and asked for again")
        trial.cloud.rules.remove(rule)
        hold.release()
        for name in names:
            reach(trial, "gpuvm", name, RUNNING)
        return violations(trial, Expected(standing={f"GpuVM/{name}": RUNNING for name in ("train", *names)}))
