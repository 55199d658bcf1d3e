"""The rig itself: its oracles notice each kind of harm, and its links do what rules say. Else its green would mean nothing."""

from __future__ import annotations

import json
import threading
import urllib.request

from chaos.rig.ledger import Books
from chaos.rig.oracles import Expected, violations
from chaos.rig.rules import Hold, answer, every, nth
from chaos.rig.strangers import plant
from chaos.rig.trial import PASSWORD
from gpucloud.sim.routes import ROUTES
from support.manifests import gpuvm
from support.simcloud import API_KEY
from support.waiting import eventually

ORDER = {"cluster": "Msc1", "vpc": "acme", "configuration": "A100_40GB_PCIe_1x", "ssh_keys": ["ssh-ed25519 AAAA made up"]}
LOGIN = next(route.path for route in ROUTES if route.operation == "Authenticate")
STANDING = {"GpuVM/train": "True/Running"}


def test_the_oracles_notice_each_kind_of_harm(rig):
    """Somebody with the operator's own key does what a broken operator would do."""
    with rig.trial() as trial:
        plant(trial)
        trial.start()
        made = trial.apply(gpuvm())
        vm = trial.reach("gpuvm", "train", "True/Running")["status"]["vmId"]
        summary = Books.of(trial).summary()
        assert violations(trial, Expected(summary=summary, standing=STANDING)) == []

        trial.sim.turn(duplicate_vm="twin")
        trial.sim.ask("POST", "servers/virtual/CreateServer", body={"name": vm, **ORDER})
        trial.sim.ask("POST", "servers/virtual/CreateServer", body={"name": "nobodys", **ORDER})
        stranger = next(name for name in trial.sim.vms() if name.startswith("train-zzzzz"))
        trial.sim.ask("DELETE", "servers/virtual/DestroyServer", Id=stranger, Namespace="acme", Cluster="Msc1")
        trial.here.annotate("gpuvm", "train", note=f"my key is {API_KEY}, and my token begins with {logged_in(trial)[:12]}")
        trial.apply(gpuvm("p1"))
        eventually(lambda: trial.here.get("gpuvm", "p1")["status"]["vmId"], 60, "the second VM")
        trial.kill()
        told = "\n".join(violations(trial, Expected(summary=summary, standing=STANDING)))
    assert made[0]["metadata"]["uid"] in trial.uids
    for part in (
        "GpuVM/train was created 2 times; without faults 1",
        "GpuVM/p1 was created 1 times; without faults 0",
        "GpuVM/p1 is still there",
        f"VM acme/{stranger} of somebody else is not as it was",
        "leaked: VM acme/nobodys, of nobody's",
        f"I1: more than one lived at once: VM {vm}",
        "I3: CreateServer of {'cluster': 'Msc1', 'namespace': 'acme', 'id': 'nobodys'}",
        "I3: DestroyServer",
        "I6: the API key of the simulated cloud (plain) in an object",
        "I6: a login's token (a piece) in an object",
        "I8: the operator has ended with exit code -9",
    ):
        assert part in told, f"not noticed: {part}\n{told}"


def logged_in(trial):
    """The token of a login through the link, as an operator gets it."""
    body = json.dumps({"userNameOrEmailAddress": "ann", "password": PASSWORD}).encode()
    request = urllib.request.Request(f"{trial.cloud.url}{LOGIN}", body, {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answered:
        said = json.loads(answered.read())
        return said.get("result", said)["accessToken"]


def test_the_oracles_notice_what_comes_after_the_end_and_what_is_false(rig):
    """I4: a VM is stopped behind its back, so it is started again; I5: its status may say nothing meanwhile."""
    with rig.trial(poll_steady_seconds=1.0) as trial:
        plant(trial)
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", "True/Running")
        name = trial.here.get("gpuvm", "train")["status"]["vmId"]
        held = Hold()
        trial.kube.add(every("update gpuvms/status"), "received", held, times=0)
        trial.sim.force(name, "OFFLINE")
        held.wait()
        eventually(lambda: trial.now() > trial.sim.control("history?kind=vms")["changes"][-1]["at"] + 8, 60, "time to pass")
        threading.Timer(2.0, held.release).start()  # the search for what comes after the end must have begun
        told = "\n".join(violations(trial, Expected(standing=STANDING)))
    assert "I4: sent after the end: StartServer" in told
    assert "I5: the status of GpuVM/train said Running for" in told


def test_a_link_does_what_its_rules_say(rig):
    """Refused before it is passed on, refused after, held, cut off and up again: each is seen, and lived through."""
    with rig.trial(cloud_timeout_seconds=15) as trial:
        plant(trial)
        trial.cloud.add(nth("GetServers"), "received", answer(503))
        trial.cloud.add(nth("CreateServer"), "answered", answer(500))
        trial.start()
        trial.apply(gpuvm())
        trial.reach("gpuvm", "train", "True/Running")
        refused = next(seen for seen in trial.cloud.seen if seen.call.word == "GetServers")
        assert (refused.forwarded, refused.delivered) == (None, None)
        assert len(trial.sim.committed("CreateServer")) == 1, "it was carried out, and looked for"
        trial.kube.down()
        trial.here.delete("gpuvm", "train")
        trial.kube.up()
        trial.gone("gpuvm", "train")
        assert violations(trial, Expected(logs=("Traceback", "never retrieved"))) == []
