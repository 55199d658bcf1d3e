"""spec.connection: other workloads find a running VM by a ConfigMap and a Service, and find nothing while it does not run."""

from __future__ import annotations

import pytest

from support.kstatus import condition, ready
from support.manifests import gpuvm
from support.operatorproc import USER
from support.waiting import eventually, gone, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
METRICS = {"name": "metrics", "port": 9400}
SERVICE = {"name": "train", "ports": [METRICS]}
BOTH = {"configMapName": "train-connection", "service": SERVICE}
OURS = ("configmap/train-connection", "service/train", "endpointslice/train")


def published(here):
    """What of ours stands, by kind and name; the ConfigMap that every namespace has is none of ours."""
    return {name: item for name in OURS if (item := here.get(*name.split("/"))) is not None}


def addresses(here, name="train"):
    return addresses_of(here.get("endpointslice", name) or {})


def addresses_of(found):
    return [one for item in found.get("endpoints") or () for one in item["addresses"]]


def look(here, number):
    """Ask the operator for a look at what stands, which it takes unasked only once a minute."""
    here.annotate("gpuvm", "train", **{"gpucloud.dev/reconcile-requested-at": f"2026-01-01T00:00:0{number}Z"})


def touched(window):
    return [one for one in window.requests(user=USER) if one.resource in {"configmaps", "services", "endpointslices"}]


def stands(here, names=OURS):
    return eventually(lambda: (found := published(here)).keys() == set(names) and addresses(here) and found, what=f"{names}")


def calls(process):
    """What the operator has had answered, by verb."""
    return [record["verb"] for record in process.logs() if record.get("event") == "call"]


def change(here, connection):
    here.patch("gpuvm", "train", {"spec": {"connection": connection}})


def failed(here, name="train"):
    item = here.get("gpuvm", name)
    return condition(item, "PublicationFailed")


def test_it_stands_while_the_vm_runs_and_not_a_moment_longer(here, sim, operator):
    process = operator(**FLAGS)
    here.apply(gpuvm(connection=BOTH))
    vm = reach(here, "gpuvm", "train", "True/Running")
    found, address = stands(here), vm["status"]["privateIp"]
    owner = {"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuVM", "name": "train", "uid": vm["metadata"]["uid"]}
    assert [item["metadata"]["ownerReferences"] for item in found.values()] == [[{**owner, "controller": True}]] * 3
    assert found["configmap/train-connection"]["data"] == {
        "host": vm["status"]["ip"],
        "privateAddress": address,
        "port": "22",
        "user": "ubuntu",
    }
    assert found["service/train"]["spec"]["ports"] == [{**METRICS, "protocol": "TCP", "targetPort": 9400}]
    assert "selector" not in found["service/train"]["spec"]
    assert addresses(here) == [address]
    assert vm["status"]["connection"]["address"] == address

    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "train", "True/PoweredOff")
    assert published(here) == {}
    here.patch("gpuvm", "train", {"spec": {"powerState": "Running"}})
    reach(here, "gpuvm", "train", "True/Running")
    stands(here)
    here.ok("delete", "gpuvm/train", "--wait=false")
    gone(here, "gpuvm", "train")
    assert published(here) == {}
    called, publish, withdraw = calls(process), "PublishConnection", "WithdrawConnection"
    assert called == ["CreateServer", publish, withdraw, "StopServer", "StartServer", publish, withdraw, "DestroyServer"]
    sim.assert_empty()


@pytest.mark.parametrize("kind", ["configmap", "service", "endpointslice"])
def test_what_is_not_ours_is_never_overwritten(here, operator, kind):
    operator(**FLAGS)
    name = dict(one.split("/") for one in OURS)[kind]
    foreign = {
        "configmap": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"host": "mine"}},
        "service": {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 1}]}},
        "endpointslice": {
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": []
        },
    }[kind]  # fmt: skip
    here.apply({**foreign, "metadata": {"name": name}})
    before = here.get(kind, name)
    here.apply(gpuvm(connection=BOTH))
    reach(here, "gpuvm", "train", "True/Running")
    said = eventually(lambda: failed(here), what="the conflict to be said")
    assert said["reason"] == "Conflict"
    assert f"{before['kind']} '{name}' exists and does not belong to this GpuVM" in said["message"]
    assert "Delete it, or choose another name in spec.connection." in said["message"]
    assert here.get(kind, name) == before

    if kind == "service":  # the way out by another name
        change(here, {"service": {**SERVICE, "name": "other"}})
        eventually(lambda: addresses(here, "other"), what="the other name to lead to the VM")
    else:  # the way out by deletion
        here.ok("delete", f"{kind}/{name}")
        stands(here)
    eventually(lambda: failed(here) is None, what="nothing to be wrong any more")
    here.ok("delete", "gpuvm/train", "--wait=false")
    gone(here, "gpuvm", "train")
    assert (here.get(kind, name) == before) is (kind == "service")


def test_it_follows_the_spec_and_comes_back_when_it_is_deleted_by_hand(here, operator):
    operator(**FLAGS)
    here.apply(gpuvm(connection=BOTH))
    reach(here, "gpuvm", "train", "True/Running")
    stands(here)
    here.ok("delete", "service/train", "endpointslice/train")
    look(here, 1)
    stands(here)

    more = [METRICS, {"name": "api", "port": 8443}]
    change(here, {"configMapName": "train-connection", "user": "root", "service": {**SERVICE, "ports": more}})
    eventually(lambda: [one["port"] for one in here.get("service", "train")["spec"]["ports"]] == [9400, 8443], what="both")
    eventually(lambda: len(here.get("endpointslice", "train")["ports"]) == 2, what="both ports of the VM")
    eventually(lambda: here.get("configmap", "train-connection")["data"]["user"] == "root", what="the other user")

    change(here, {"configMapName": None, "service": {"name": "renamed", "address": "Public", "ports": [METRICS]}})
    vm = here.get("gpuvm", "train")
    eventually(lambda: addresses(here, "renamed") == [vm["status"]["ip"]], what="the public address")
    assert published(here) == {}, "withdrawn before the new names were published"
    change(here, None)
    eventually(lambda: here.get("service", "renamed") is None and here.get("endpointslice", "renamed") is None, what="nothing")
    eventually(lambda: "connection" not in here.get("gpuvm", "train")["status"], what="nothing in status")
    assert ready(here.get("gpuvm", "train")) == "True/Running"


def test_an_edit_by_hand_is_set_back_and_what_others_add_is_kept(here, operator, audit):
    process = operator(**FLAGS)
    here.apply(gpuvm(connection=BOTH))
    reach(here, "gpuvm", "train", "True/Running")
    before = stands(here)
    # What was written is seen before the apiserver has answered the operator, and so before the audit log has it.
    eventually(lambda: "PublishConnection" in calls(process), what="the answer to the last write")
    window = audit.since_now()
    look(here, 1)
    eventually(lambda: [one for one in touched(window) if one.resource == "endpointslices"], what="a look")
    assert [one for one in touched(window) if one.verb != "get"] == [], "what stands is not written again"

    theirs = {"labels": {"team": "blue"}, "annotations": {"example.com/note": "theirs"}}
    for one in OURS:
        here.patch(*one.split("/"), {"metadata": theirs})
    here.patch("endpointslice", "train", {"endpoints": [{"addresses": ["10.99.0.1"]}]})
    here.patch("configmap", "train-connection", {"data": {"host": "other.example.com", "more": "theirs"}})
    here.patch("service", "train", {"spec": {"selector": {"app": "other"}}})
    look(here, 2)
    eventually(lambda: "selector" not in here.get("service", "train")["spec"], what="the Service to be set back")
    eventually(lambda: addresses(here) == addresses_of(before["endpointslice/train"]), what="the address to be set back")
    wanted = before["configmap/train-connection"]["data"] | {"more": "theirs"}  # a write that failed is repeated after 2 s
    eventually(lambda: here.get("configmap", "train-connection")["data"] == wanted, what="the ConfigMap to be set back")
    found = published(here)
    assert found["endpointslice/train"]["metadata"]["labels"]["team"] == "blue"
    assert found["configmap/train-connection"]["metadata"]["annotations"] == theirs["annotations"]


def test_nothing_is_written_for_a_paused_object_nor_by_who_only_observes(here, operator, audit):
    first = operator(**FLAGS)
    here.apply(gpuvm(connection={"service": SERVICE}))
    reach(here, "gpuvm", "train", "True/Running")
    eventually(lambda: addresses(here), what="it to be published")
    here.annotate("gpuvm", "train", **{"gpucloud.dev/paused": "true"})
    eventually(lambda: condition(here.get("gpuvm", "train"), "Paused"), what="the pause")
    change(here, {"configMapName": "other"})
    eventually(lambda: here.get("gpuvm", "train")["status"]["observedGeneration"] == 2, what="the edit to be seen")
    assert addresses(here)
    assert first.stop() == 0
    window = audit.since_now()
    here.ok("annotate", "gpuvm/train", "gpucloud.dev/paused-")
    operator(**FLAGS, observe_only=True)
    eventually(lambda: condition(here.get("gpuvm", "train"), "Paused") is None, what="it to be looked at")
    assert [one for one in touched(window) if one.verb != "get"] == []
    assert addresses(here)
