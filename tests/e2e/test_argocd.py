"""Argo CD's actions, carried out as it does: the script's answer is sent to the apiserver, and the operator follows."""

from __future__ import annotations

import json

from support import argo
from support.manifests import gpuvm
from support.waiting import eventually, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5}


def act(here, action, **params):
    """Answers what was created, if anything."""
    item = here.get("gpuvm", "train")
    answer = argo.run(argo.of("GpuVM", f"actions/{action}/action.lua"), item, params)
    for one in argo.impacted(answer):
        verb = "create" if one["operation"] == "create" else "replace"
        here.ok(verb, "--filename=-", stdin=json.dumps(one["resource"]))


def healthy(here):
    return argo.health(here.get("gpuvm", "train"))["status"] == "Healthy"


def test_each_action_does_what_it_says(here, sim, operator):
    sim.turn(snapshot_seconds=0.3, stop_seconds=0.2)
    operator(**FLAGS)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    act(here, "stop")
    reach(here, "gpuvm", "train", "True/PoweredOff")
    assert healthy(here), "a wave behind it goes on"
    act(here, "start")
    reach(here, "gpuvm", "train", "True/Running")
    act(here, "restart")
    eventually(lambda: here.get("gpuvm", "train")["status"].get("lastHandledRestartAt"), 60, "the restart to be answered")
    reach(here, "gpuvm", "train", "True/Running")
    assert [len(sim.committed(call)) for call in ("StopServer", "StartServer")] == [2, 2]
    act(here, "snapshot", name="before")
    reach(here, "gpusnapshot", "before", "True/Completed")
    assert sim.snapshots()
    assert healthy(here)
