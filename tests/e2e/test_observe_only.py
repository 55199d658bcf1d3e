"""``--observe-only``, for whoever restores a cluster: it says of every object what it would do, countably, and does nothing."""

from __future__ import annotations

import urllib.request
from collections import Counter

from support.kstatus import ready
from support.manifests import gpucloudaccount, gpusnapshot, gpuvm, gpuvpc, secret
from support.operatorproc import USER
from support.simcloud import API_KEY
from support.waiting import eventually, gone, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
STANDING = {
    "gpuvm": ("as-asked", "to-stop", "to-go", "to-keep", "held"),
    "gpusnapshot": ("taken",),
}
WOULD = {
    ("gpuvm", "to-stop"): "StopServer",
    ("gpuvm", "to-go"): "DestroyServer",
    ("gpuvm", "new"): "CreateServer",
    ("gpuvpc", "new"): "CreateVpc",
    ("gpusnapshot", "taken"): "DeleteSnapshot",
}


def before_the_restore(here, operator):
    """A world that an operator has made, and that people have changed since it went."""
    process = operator(**FLAGS)
    here.apply([gpuvm(name) for name in STANDING["gpuvm"]])
    here.apply(gpusnapshot("taken", vmRef={"name": "as-asked"}))
    for name in STANDING["gpuvm"]:
        reach(here, "gpuvm", name, "True/Running")
    reach(here, "gpusnapshot", "taken", "True/Completed")
    assert process.stop() == 0
    here.patch("gpuvm", "to-stop", {"spec": {"powerState": "Stopped"}})
    here.patch("gpuvm", "to-keep", {"spec": {"deletion": {"policy": "Retain"}}})
    here.annotate("gpuvm", "held", **{"gpucloud.dev/paused": "true"})
    here.ok("delete", "gpuvm/to-go", "gpuvm/to-keep", "gpuvm/held", "gpusnapshot/taken", "--wait=false")
    here.apply([secret(apikey=API_KEY), gpucloudaccount("spare"), gpuvm("new"), gpuvpc("new")])


def finalizers(here):
    items = [item for kind in ("gpuvm", "gpuvpc", "gpusnapshot", "gpucloudaccount", "secret") for item in here.list(kind)]
    return {(item["kind"], item["metadata"]["name"]): item["metadata"].get("finalizers") for item in items}


def withheld(process):
    """What the metrics count, by kind and action."""
    port = next(record["metrics_port"] for record in process.logs() if record.get("event") == "listening")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return {line for line in lines if line.startswith("gpucloud_withheld_actions{")}


def test_it_says_of_every_object_what_it_would_do_and_does_nothing(here, sim, operator, audit):
    sim.turn(snapshot_seconds=0.3)
    before_the_restore(here, operator)
    made, standing, window = sim.mutations(), finalizers(here), audit.since_now()

    process = operator(**FLAGS, observe_only=True)
    for (kind, name), verb in WOULD.items():
        reach(here, kind, name, "Unknown/ObserveOnly", says=f"it would call {verb} now. To let it act")
    reach(
        here, "gpuvm", "to-keep", "Unknown/ObserveOnly", says="would remove its finalizer from this object now. To let it act"
    )
    reach(here, "gpuvm", "held", "False/DeletionBlocked", says="paused")
    reach(here, "gpucloudaccount", "spare", "True/Connected", says="would protect Secret")
    assert ready(here.get("gpuvm", "as-asked")) == "True/Running", "what is as asked is said to be so"

    expected = Counter({("GpuVM", "Release"): 1, ("GpuCloudAccount", "HoldSecret"): 1})
    kinds = {"gpuvm": "GpuVM", "gpuvpc": "GpuVpc", "gpusnapshot": "GpuSnapshot"}
    expected.update((kinds[kind], verb) for (kind, _), verb in WOULD.items())
    lines = {
        f'gpucloud_withheld_actions{{action="{action}",kind="{kind}"}} {count}.0' for (kind, action), count in expected.items()
    }
    eventually(lambda: withheld(process) == lines, 60, f"the metrics to count {lines}")
    logged = Counter((record["kind"], record["would"]) for record in process.logged("withheld", expected.total()))
    assert logged == expected, "one line each"

    assert sim.mutations() == made
    assert finalizers(here) == standing
    writes = {
        (one.verb, one.resource, one.subresource)
        for one in window.requests(user=USER, namespace=here.namespace, reads=False)
        if one.code < 400
    }
    assert {(verb, resource) for verb, resource, subresource in writes if subresource != "status"} <= {("create", "events")}

    # Without the flag exactly that is done, and nothing else.
    assert process.stop() == 0
    operator(**FLAGS)
    gone(here, "gpuvm", "to-go", "to-keep")
    gone(here, "gpusnapshot", "taken")
    reach(here, "gpuvm", "to-stop", "True/PoweredOff")
    reach(here, "gpuvm", "new", "True/Running")
    reach(here, "gpuvpc", "new", "True/Available")
    done = Counter(sim.mutations()) - Counter(made)
    assert done == Counter(WOULD.values()), "as it was said"


def test_what_is_bought_already_is_found_and_nothing_is_said_to_be_missing(here, sim, operator):
    """The status is lost, as after a restore of manifests with their UIDs: the name alone tells that nothing must be bought."""
    process = operator(**FLAGS)
    here.apply(gpuvm())
    reach(here, "gpuvm", "train", "True/Running")
    assert process.stop() == 0
    here.patch("gpuvm", "train", {"status": None}, subresource="status")
    process = operator(**FLAGS, observe_only=True)
    reach(here, "gpuvm", "train", "True/Running")
    assert withheld(process) == set()
    assert len(sim.vms()) == 1


def test_a_long_observation_stays_one(here, operator):
    """It counts against no deadline: whoever counts what would be done finds it the next day, too."""
    operator(**FLAGS, observe_only=True)
    here.apply([gpuvm(progressDeadlineSeconds=1), gpuvm("other")])
    reach(here, "gpuvm", "train", "Unknown/ObserveOnly")
    reach(here, "gpuvm", "other", "Unknown/ObserveOnly")
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    eventually(lambda: here.get("gpuvm", "train")["status"]["observedGeneration"] == 2, what="the edit to be seen")
    item = here.get("gpuvm", "train")
    assert ready(item) == "Unknown/ObserveOnly"
    assert "progressDeadlineAt" not in item["status"]
