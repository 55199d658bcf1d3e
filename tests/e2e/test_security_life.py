"""A whole life of every kind at DEBUG, with every class of error and a rotation, and what it leaves behind (S2-S5, S19, S20).

Everything that the apiserver was ever sent is kept, so that what stood only for a moment is searched for secrets, too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass

import yaml

from gpucloud.reconcile.naming import fingerprint
from support.canaries import said_by, shown_of
from support.connections import CONNECTION, let_a_connection_change
from support.finals import let_a_final_snapshot_be_taken
from support.kstatus import ready
from support.manifests import PUBLIC_KEY, gpucloudaccount, gpuhost, gpusnapshot, gpuvm, gpuvpc, secret
from support.offers import let_an_offer_change_and_end
from support.operatorproc import RBAC, USER
from support.processes import ChildProcess
from support.repeats import held_again
from support.waiting import eventually, gone, reach

FLAGS = {
    "poll_pending_seconds": 0.2,
    "poll_steady_seconds": 0.5,
    "create_grace_seconds": 1,
    "cloud_qps": 500,
    "cloud_burst": 100,
    "blind_after_seconds": 1,
    "offer_seconds": 0.3,
    "api_key_file": None,
}
PASSWORD = 'made-up "pass"\\wörd & <more>'
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nMADEUPMADEUPMADEUPMADEUP\n-----END OPENSSH PRIVATE KEY-----\n"
STATUSES = (400, 401, 403, 404, 409, 422, 429, 500, 503)
OTHERS = {word.partition("_")[0]: word for word in ("garbage", "html", "truncated", "cut_body", "reset", "lost_answer")}
DESTROYING = ("DestroyServer", "DestroyVpc", "DeleteSnapshot")
OPEN_TO_ALL = ("/", "selfsubjectaccessreviews")  # discovery, and the question what one may do: for everybody who may log in
IN_LAB = {"vpc": None, "vpcRef": {"name": "lab"}}
WATCHED = {
    "gpucloud.dev/v1alpha1": ("gpuvms", "gpuvpcs", "gpusnapshots", "gpuhosts", "gpucloudaccounts"),
    "events.k8s.io/v1": ("events",),
}


class Recorder:
    """Every version of every object and every Event of a namespace, from now on."""

    def __init__(self, kubectl, namespace, stack):
        self._streams = {}
        for group, plurals in WATCHED.items():
            for plural in plurals:
                path = f"/apis/{group}/namespaces/{namespace}/{plural}?watch=1"
                command = [kubectl.path, f"--kubeconfig={kubectl.kubeconfig}", "get", "--raw", path]
                self._streams[plural] = stack.enter_context(ChildProcess(command, name=f"watch-{plural}"))

    def versions(self, plural):
        return [json.loads(line)["object"] for line in self._streams[plural].lines() if line.startswith("{")]

    def shown(self):
        for plural in self._streams:
            for number, item in enumerate(self.versions(plural)):
                yield f"version {number} of {plural} {item['metadata']['name']}", shown_of(item)


def household(key):
    """All kinds, both kinds of credential, keys from a Secret and a ConfigMap, and a private key where none belongs.

    One VM is published, so that every right is used.
    """
    people = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "people"}, "data": {"ann": PUBLIC_KEY}}
    sources = [{"secretKeyRef": {"name": "team", "key": "ann"}}, {"configMapKeyRef": {"name": "people", "key": "ann"}}]
    return [
        people,
        secret("team", ann=PUBLIC_KEY, oops=PRIVATE),
        secret(apikey=key["value"]),
        gpucloudaccount(),
        secret("login", username="ann", password=PASSWORD),
        gpucloudaccount("login", secretRef={"name": "login"}),
        gpuvpc(),
        gpuvm(**IN_LAB, sshKeys=None, sshKeysFrom=sources, connection=CONNECTION),
        gpusnapshot(),
        gpuhost(),
        gpuvm("batch", **IN_LAB, image={"snapshotRef": {"name": "before"}}),
        gpuvm("logged", accountRef={"name": "login"}),
        gpuvm("oops", sshKeys=None, sshKeysFrom=[{"secretKeyRef": {"name": "team", "key": "oops"}}]),
    ]


READY = {
    ("gpuvpc", "lab"): "True/Available",
    ("gpuvm", "train"): "True/Running",
    ("gpusnapshot", "before"): "True/Completed",
    ("gpuhost", "metal"): "True/Running",
    ("gpuvm", "batch"): "True/Running",
    ("gpuvm", "logged"): "True/Running",
    ("gpuvm", "oops"): "False/InvalidSSHKeys",
    ("gpucloudaccount", "default"): "True/Connected",
    ("gpucloudaccount", "login"): "True/Connected",
}


def echo(sim, key):
    """From here on each sort of failure strikes once, for listings, a login and one order each, and repeats the credential."""
    mine = {
        "credential": key["id"],
        "times": 1,
        "message": f"You said ApiKey {key['value']} and {json.dumps(key['value'])}: no.",
    }
    for number, status in enumerate(STATUSES):
        listing = ("GetServers", "GetSnapshots", "GetVpcs")[number % 3]  # many in a row would slow the next listing down
        sim.fault(kind="status", operation=listing, status=status, **mine)
        target = {"name": f"refused-{status}"}
        sim.fault(kind="status", operation="CreateServer", status=status, parameters=target, **mine)
    login = f"You said {json.dumps({'password': PASSWORD})}, {PASSWORD}: no."
    sim.fault(kind="status", operation="Authenticate", status=503, message=login, times=1)
    for what, kind in OTHERS.items():
        sim.fault(kind=kind, operation="CreateServer", parameters={"name": f"refused-{what}"}, times=1)


def trouble(here, sim, key):
    """Orders that fail in every way, while listings and logins fail too; the login's tokens end, and then the key does."""
    sim.turn(login_token_seconds=2)
    sim.control("logins/end", {})
    echo(sim, key)
    names = [f"refused-{what}" for what in (*STATUSES, *OTHERS)]
    here.apply([gpuvm(name, vmName=name) for name in names])
    eventually(lambda: struck(sim) >= set(names), 60, "each order to have failed")
    new = sim.key("ann")
    sim.revoke(key)
    eventually(lambda: any(call["status"] == 401 for call in sim.calls("GetServers")), what="the key to be refused")
    here.apply(secret(apikey=new["value"]))
    here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/reconcile-requested-at": "now"})
    sim.clear_faults()
    reach(here, "gpucloudaccount", "default", "True/Connected")


def struck(sim):
    """The orders that a fault has hit."""
    return {call["parameters"]["name"] for call in sim.calls("CreateServer") if call["faults"]}


def all_gone(here):
    """Whether all are gone. After an order without a clear answer, whose a chosen name is asks a person: keep what it names."""
    left = here.list("gpuvm,gpusnapshot,gpuvpc")
    for item in left:
        if ready(item) == "False/DeletionBlocked" and "vmName" in item["spec"]:
            here.patch("gpuvm", item["metadata"]["name"], {"spec": {"deletion": {"policy": "Retain"}}})
    return not left


@dataclass(frozen=True)
class Life:
    """What a life has left behind."""

    recorder: Recorder
    logs: list
    requests: list
    calls: list


def test_a_whole_life(here, sim, operator, audit, figure, subtests):
    sim.turn(snapshot_seconds=0.3, snapshot_delete_seconds=0.3, destroy_seconds=0.3, stop_seconds=0.2, start_seconds=0.2)
    sim.control("users", {"name": "ann", "password": sim.canaries.plant("the password", PASSWORD)})
    sim.canaries.plant("the private key", PRIVATE)
    key = sim.key("ann")
    process = operator(**FLAGS, log_level="debug")
    with ExitStack() as stack:
        recorder = Recorder(here, here.namespace, stack)
        here.apply(household(key))
        for (kind, name), wanted in READY.items():
            reach(here, kind, name, wanted)
        held_again(here)
        let_an_offer_change_and_end(here, sim)
        let_a_connection_change(here, "train")
        let_a_final_snapshot_be_taken(here)
        metrics = dict(said_by(process))
        here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
        trouble(here, sim, key)
        reach(here, "gpuvm", "train", "True/PoweredOff")
        here.ok("delete", "gpuvm,gpusnapshot,gpuvpc,gpuhost", "--all", "--wait=false")
        eventually(lambda: all_gone(here), 60, "all to go")
        for name in {f"refused-{what}" for what in (*STATUSES, *OTHERS)} & set(sim.vms()):
            sim.destroy_vm(name)  # kept above; any other VM that is left is a leak
        sim.assert_empty()
        destroyed_and_killed(here, sim, process)
        logs = process.logs()
        operator(**FLAGS)
        gone(here, "gpuvm", "last")
        here.ok("delete", "gpucloudaccount", "--all", "--wait=false")
        gone(here, "gpucloudaccount", "default", "login")
        life = Life(recorder, logs, audit.requests(user=USER), sim.calls())
        with subtests.test("S4, S5: no secret in any version of any object, any Event, log, metric or URL"):
            no_secret(life, sim.canaries, metrics, figure)
        with subtests.test("S2: what is granted suffices, and is used"):
            rights_used(life, figure)
        with subtests.test("S19: each destroying call has its Event and its line in the log"):
            trail(life, figure)
        with subtests.test("S20: metrics name nothing that a tenant has"):
            private_metrics(next(text for place, text in metrics.items() if place.startswith("metrics")), life)


def destroyed_and_killed(here, sim, process):
    """The last thing that this process does is to destroy a VM; it does not live to hear the answer."""
    here.apply(gpuvm("last"))
    reach(here, "gpuvm", "last", "True/Running")
    eventually(lambda: ("last", "Running") in here.events(), what="the Events so far: a kill loses those that wait to be sent")
    sim.fault(kind="delay_answer", operation="DestroyServer", seconds=20)
    here.delete("gpuvm", "last", wait=False)
    eventually(lambda: any("last-" in call["parameters"]["Id"] for call in sim.committed("DestroyServer")), what="its end")
    process.kill9()
    sim.clear_faults()


def no_secret(life, canaries, metrics, figure):
    places = [*life.recorder.shown(), *metrics.items()]
    found = canaries.found_in(places)
    assert not found, "\n".join(found)
    errors = {call["status"] for call in life.calls} & set(STATUSES)
    assert errors == set(STATUSES), "every class of error was met"
    texts = [text for place, text in places if place.startswith("version")]
    assert sum("[redacted]" in text for text in texts) >= 5, "the echoes did reach statuses and Events, blotted out"
    figure(f"{len(canaries)} secrets searched in {len(texts)} versions of objects and {len(life.logs)} lines of log: 0 found")


def granted():
    """The documented rights as (verb, resource), subresources with a slash."""
    roles = [item for item in yaml.safe_load_all(RBAC.read_text()) if item["kind"] == "ClusterRole"]
    rules = [rule for role in roles for rule in role["rules"]]
    return {(verb, resource) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}


def rights_used(life, figure):
    used = {
        (one.verb, f"{one.resource}/{one.subresource}" if one.subresource else one.resource)
        for one in life.requests
        if not one.resource.startswith(OPEN_TO_ALL)
    }
    assert not [one for one in life.requests if one.code in {401, 403}], "nothing was denied"
    assert used == granted(), "what is used is granted, and nothing else is"
    figure(f"{len(granted())} rights granted, all of them used, {len(life.requests)} requests, 0 denied")


def trail(life, figure):
    """The ledger, the Events and the log tell the same story of what was destroyed."""
    uids = {item["metadata"]["uid"] for plural in WATCHED["gpucloud.dev/v1alpha1"] for item in life.recorder.versions(plural)}
    sent = [call for call in life.calls if call["operation"] in DESTROYING and call["committed"] is not None]
    told = [item for item in life.recorder.versions("events") if item["action"] in DESTROYING]
    before = [record for record in life.logs if record.get("event") == "calling"]
    assert {call["operation"] for call in sent} == set(DESTROYING)
    for call in sent:
        lines = [record for record in before if record["verb"] == call["operation"] and is_about(record, call)]
        assert lines, f"no line in the log of {call['operation']} of {call['parameters']}"
        assert all(record["uid"] in uids and record["generation"] >= 1 and record["reason"] for record in lines)
    by_operation = Counter(call["operation"] for call in sent if "last-" not in call["parameters"]["Id"])
    assert Counter(item["action"] for item in told if item["type"] == "Normal" and "'last-" not in item["note"]) >= by_operation
    assert all(item["regarding"]["uid"] in uids for item in told)
    assert len(before) >= len([call for call in life.calls if call["mutating"] and call["operation"] != "Authenticate"])
    figure(f"{len(sent)} destroying calls, each with its Event and its line in the log: {dict(by_operation)}")


def is_about(record, call):
    """Whether a line of the log speaks of the very thing that a call ended: by the mark of its object, or by its name."""
    name = call["parameters"]["Id"]
    marked = name.endswith(f"-{fingerprint(record['uid'])}")
    return (
        marked or name in {record["name"], record["target"]} or (record["kind"], call["operation"]) == ("GpuVpc", "DestroyVpc")
    )


def private_metrics(text, life):
    named = {
        value
        for item in life.recorder.versions("gpuvms")
        + life.recorder.versions("gpuvpcs")
        + life.recorder.versions("gpusnapshots")
        for value in (item["metadata"]["name"], item["metadata"]["uid"], *_ids(item.get("status", {})))
    }
    values = {value for line in text.splitlines() for value in re.findall(r'="([^"]*)"', line)}
    assert "default" in {value.rpartition("/")[2] for value in values}, "accounts are named, as documented"
    assert not named & values
    assert not [value for value in values if re.search(r"\d+\.\d+\.\d+\.\d+", value)], "no address"


def _ids(status):
    return [
        status[name] for name in ("vmId", "vpcId", "snapshotId", "ip", "privateIp", "username", "tenancy") if status.get(name)
    ]
