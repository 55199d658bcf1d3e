"""Events on a real apiserver: in order, with causes, the newest line of ``describe`` the newest thing that happened."""

from __future__ import annotations

import re

from support.manifests import gpucloudaccount, gpuvm, secret
from support.repeats import held_again
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
PAUSE = "gpucloud.dev/paused"


def described(here, *what):
    """Reasons and notes as ``kubectl describe`` prints them, from top to bottom."""
    text = here.ok("describe", *what).partition("\nEvents:")[2]
    return [re.split(r"\s{2,}", line.strip(), maxsplit=4) for line in text.splitlines()[3:] if line.strip()]


def reasons(here, *what):
    return [line[1] for line in described(here, *what)]


def test_describe_tells_a_life_in_order_with_its_causes(here, sim, operator):
    sim.turn(start_seconds=0.3, stop_seconds=0.3)
    operator(**FLAGS)
    vm = ("gpuvm", "train")
    here.apply(gpuvm())
    reach(here, *vm, "True/Running")
    eventually(lambda: reasons(here, *vm) == ["Created", "Running"], what="both events of a creation")

    sim.force(sim.vms()[0], "OFFLINE")
    drift = ["Drifted", "Started", "Running"]
    eventually(lambda: reasons(here, *vm)[2:] == drift, what="the drift and its end")
    seen, call, corrected = (line[-1] for line in described(here, *vm)[2:])
    assert "stopped outside Kubernetes" in seen
    assert call.startswith("Requested start of VM 'train-")
    assert call.endswith(": it was switched outside Kubernetes, against spec.powerState.")
    assert corrected == "Drift corrected: The VM is running."

    here.annotate(*vm, **{PAUSE: "true"})
    eventually(lambda: reasons(here, *vm)[-1] == "Paused", what="the pause")
    row = here.ok("get", *vm, "--output=wide").splitlines()
    at = row[0].index("PAUSED")
    assert row[1][at:].split()[0] == "True"
    here.ok("annotate", *vm, f"{PAUSE}-")
    here.patch(*vm, {"spec": {"powerState": "Stopped"}})
    ended = ["Paused", "Resumed", "Stopped", "PoweredOff"]  # also where one write ends the pause and begins to stop
    eventually(lambda: reasons(here, *vm)[-1] == "PoweredOff", what="it to be off")
    assert reasons(here, *vm)[5:] == ended
    assert described(here, *vm)[-2][-1].endswith(": spec.powerState is Stopped.")

    here.delete(*vm)

    def told():
        return [item for item in here.list("events.events.k8s.io") if item["regarding"]["name"] == "train"]

    eventually(
        lambda: [item["reason"] for item in told()][-2:] == ["Destroyed", "Gone"], what="the last one, which outlives it"
    )
    events = told()
    assert events == sorted(events, key=lambda item: item["eventTime"]), "a list by name is a list by time"


def test_what_repeats_is_counted_on_the_event_that_stands(here, operator):
    operator(**FLAGS, api_key_file=None)
    here.apply([secret(apikey=API_KEY), gpucloudaccount(), gpuvm()])
    reach(here, "gpuvm", "train", "True/Running")
    reach(here, "gpucloudaccount", "default", "True/Connected")
    event = held_again(here)
    assert event["series"]["lastObservedTime"] > event["eventTime"]
    assert re.search(r"\(x\d+ over \S+\)", here.ok("describe", "gpucloudaccount", "default").splitlines()[-1])
    here.ok("delete", "gpuvm/train", "gpucloudaccount/default", "--wait=false")
    gone(here, "gpucloudaccount", "default")
