"""GpuOffers on a real apiserver: they follow the catalogue of each account, at few requests, and go with their account."""

from __future__ import annotations

import json

import pytest
import yaml

from controlplane import ControlPlane
from support.canaries import searched
from support.kstatus import ready
from support.kubectl import Kubectl
from support.leases import lease_rights
from support.manifests import gpucloudaccount, secret
from support.offers import OFFERED, answers, availability, offers, place, published
from support.operatorproc import RBAC, USER, OperatorProcess, grant_rights, install_crds
from support.simcloud import API_KEY
from support.waiting import eventually, reach

INTERVAL = 0.3
FLAGS = {"offer_seconds": INTERVAL, "cloud_qps": 500, "cloud_burst": 100, "api_key_file": None}
ACCOUNT = [secret(apikey=API_KEY), gpucloudaccount()]
ONE = "--field-selector=configuration=A100_40GB_PCIe_1x,cluster=Msc1,resourcePool=on-demand"
READ = ("GetConfigurations", "GetAvailability")
SOMEBODYS = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "gpucloud-operator"},
    "spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 3600},
}


def the_one(here):
    """The offer of one GPU on demand in Msc1; None while there is none."""
    items = json.loads(here.ok("get", "gpuoffers", ONE, "--output=json"))["items"]
    return items[0] if items else None


def readings(sim, count=4):
    """Let the catalogue be read some more times."""
    asked = len(sim.calls("GetConfigurations"))
    eventually(lambda: len(sim.calls("GetConfigurations")) >= asked + count, 60, f"{count} more readings")


def wrote(window, here):
    """What operators wrote of GpuOffers in this namespace, by verb."""
    asked = window.requests(user=USER, namespace=here.namespace, reads=False)
    return [one.verb for one in asked if one.resource == "gpuoffers"]


UNKNOWN = [
    ({"kind": "status", "status": 500, "operation": "GetAvailability"}, "the availability cannot be read"),
    ({"kind": "status", "status": 500, "operation": "GetConfigurations"}, "the configurations cannot be read"),
    ({"kind": "status", "status": 403, "operation": "GetAvailability"}, "the key may not read it"),
    ({"kind": "truncated", "operation": "GetAvailability"}, "the answer is cut"),
    ({"kind": "status", "status": 200, "operation": "GetAvailability", "body": '{"items": [{"available": "?"}]}'}, "rubbish"),
    ({"kind": "empty", "operation": "GetConfigurations"}, "the catalogue is empty"),
]


def test_what_is_unknown_is_not_gone(here, sim, operator, audit):
    operator(**FLAGS)
    here.apply(ACCOUNT)
    published(here)
    for fault, why in UNKNOWN:
        window = audit.since_now()
        sim.fault(**fault)
        readings(sim)
        sim.clear_faults()
        assert (offers(here).keys(), wrote(window, here)) == (OFFERED, []), why


def test_what_people_do_to_an_offer_is_put_right(here, sim, operator):
    operator(**FLAGS)
    here.apply(ACCOUNT)
    published(here)
    before = the_one(here)
    name = before["metadata"]["name"]
    here.patch("gpuoffer", name, {"pricePerHour": "0.01", "metadata": {"labels": {"mine": "yes"}}})
    eventually(lambda: the_one(here)["pricePerHour"] == "2.05", what="the price to be put right")
    assert the_one(here)["metadata"]["labels"]["mine"] == "yes"
    here.patch("gpuoffer", name, {"metadata": {"ownerReferences": None}})
    owners = before["metadata"]["ownerReferences"]
    eventually(lambda: the_one(here)["metadata"].get("ownerReferences") == owners, what="the owner to be put right")
    here.ok("delete", "gpuoffers", "--all")
    published(here)
    here.apply({"apiVersion": "gpucloud.dev/v1alpha1", "kind": "GpuOffer", "metadata": {"name": "mine"}} | _mine("other"))
    readings(sim)
    assert offers(here, "other"), "it was made by a person, under another name"


def _mine(account):
    return {"account": account, "configuration": "mine", "cluster": "Msc1", "resourcePool": "mine"}


def test_a_paused_account_keeps_its_offers(here, sim, operator, audit):
    operator(**FLAGS)
    here.apply(ACCOUNT)
    published(here)
    here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/paused": "true"})
    eventually(lambda: _quiet(sim), 60, "the operator to see the pause")
    window = audit.since_now()
    answers(sim, availability())
    assert _quiet(sim)
    assert (offers(here).keys(), wrote(window, here)) == (OFFERED, [])
    here.annotate("gpucloudaccount", "default", **{"gpucloud.dev/paused": None})
    left = {key for key in OFFERED if key[1] == "Hou1"}
    eventually(lambda: offers(here).keys() == left, 60, "what is no longer offered to go")


def _quiet(sim):
    """Whether the catalogue is not read while twenty intervals pass by the account's own checks."""
    asked, checks = len(sim.calls("GetAvailability")), sim.control("clock")["now"]
    eventually(lambda: sim.control("clock")["now"] >= checks + 20 * INTERVAL, 60, "twenty intervals")
    return len(sim.calls("GetAvailability")) == asked


def test_a_catalogue_of_five_hundred_offers(here, sim, operator, audit, figure):
    items = [place(f"GPU_{number}", pool) for number in range(50) for pool in map("pool-{}".format, range(10))]
    answers(sim, availability(*items))
    described = [{"id": number, "name": f"GPU_{number}", "brand": "NVIDIA", "gpus": 8} for number in range(50)]
    catalogue = {"kind": "status", "status": 200, "operation": "GetConfigurations", "body": json.dumps({"items": described})}
    sim.fault(**catalogue)
    sim.fault(kind="status", status=200, operation="GetAvailability", body=availability(), parameters={"cluster": "Hou1"})
    operator(**FLAGS)
    window = audit.since_now()
    here.apply(ACCOUNT)
    eventually(lambda: len(here.list("gpuoffers")) == 500, 120, "500 offers")
    written = [one for one in window.requests(user=USER, namespace=here.namespace) if one.resource == "gpuoffers"]
    posts = [one for one in written if one.verb == "create"]
    figure(f"500 offers: {len(posts)} creations in {posts[-1].at - posts[0].at:.1f} s")
    assert len(posts) == 500
    window = audit.since_now()
    readings(sim)
    assert wrote(window, here) == []
    lists = [one for one in window.requests(user=USER, namespace=here.namespace) if one.resource == "gpuoffers"]
    figure(f"500 offers, nothing changed: {len(lists)} lists and no write in 4 readings")


# --- who reads and writes nothing ---------------------------------------------------------------------------------------


IDLE = [
    ({"observe_only": True}, "it only says what it would do"),
    ({"offer_seconds": 0}, "offers are switched off"),
]


@pytest.mark.parametrize(("flags", "why"), IDLE, ids=[row[1] for row in IDLE])
def test_an_operator_without_offers_asks_for_none(here, sim, operator, audit, flags, why):
    window = audit.since_now()
    operator(**{**FLAGS, **flags})
    here.apply(ACCOUNT)
    reach(here, "gpucloudaccount", "default", "True/Connected")
    assert _quiet(sim)
    asked = [one for one in window.requests(user=USER) if one.resource == "gpuoffers"]
    assert (asked, [call for name in READ for call in sim.calls(name)]) == ([], []), why


def test_an_operators_own_account_costs_no_reading(sim, operator):
    """Who declares no GpuCloudAccount pays nothing for offers."""
    operator(offer_seconds=INTERVAL, cloud_qps=500).wait_for_line('"synced"')
    assert _quiet(sim)
    assert [call for name in READ for call in sim.calls(name)] == []


def test_a_standby_reads_and_writes_nothing(here, sim, operator, audit):
    here.apply([*lease_rights(here.namespace), SOMEBODYS])
    eventually(lambda: here.may(USER, "update", "leases", group="coordination.k8s.io", name="gpucloud-operator"), what="rights")
    place = {"namespace": [here.namespace], "install_tag": "offers", "lease_namespace": here.namespace, "leader_elect": True}
    window = audit.since_now()
    operator(**FLAGS, **place).wait_for_line('"synced"')
    here.apply(ACCOUNT)
    assert _quiet(sim)
    assert [one for one in window.requests(user=USER) if one.resource == "gpuoffers"] == []


def test_an_operator_without_the_right_says_so_once(here, kubectl, sim, operator, audit, denials_meant):
    denials_meant(here.namespace)
    (role,) = [item for item in yaml.safe_load_all(RBAC.read_text()) if item["kind"] == "ClusterRole"]
    kubectl.apply({**role, "rules": [rule for rule in role["rules"] if "gpuoffers" not in rule["resources"]]})
    try:
        eventually(lambda: not here.may(USER, "list", "gpuoffers", group="gpucloud.dev"), what="the right to be gone")
        process = operator(**FLAGS)
        window = audit.since_now()
        here.apply(ACCOUNT)
        readings(sim, 6)
        assert ready(here.get("gpucloudaccount", "default")) == "True/Connected", "all else works"
        asked = [one for one in window.requests(user=USER, namespace=here.namespace) if one.resource == "gpuoffers"]
        assert len(asked) <= len(sim.calls("GetConfigurations")), "one list a reading"
        assert len(process.logged("the GpuOffers cannot be written")) == 1
        refusals = lambda: [item for item in here.list("events.events.k8s.io") if item["reason"] == "OffersNotWritten"]  # noqa: E731
        (event,) = eventually(refusals, what="the Event")
        assert "Grant the operator list, create, patch and delete on gpuoffers.gpucloud.dev" in event["note"]
    finally:
        grant_rights(kubectl)
    published(here)


# --- with kube-controller-manager, which deletes what has lost its owner or its namespace ---------------------------------


@pytest.fixture(scope="module")
def whole():
    """The administrator's kubectl, and an operator's kubeconfig."""
    with ControlPlane.start(controller_manager=True) as plane:
        kubectl = Kubectl(plane.kubectl, plane.kubeconfig)
        install_crds(kubectl)
        grant_rights(kubectl)
        yield kubectl, plane.kubeconfig_for(USER)


def test_a_deleted_account_takes_its_offers_along(whole, sim):
    kubectl, kubeconfig = whole
    kubectl.ok("create", "namespace", "deleted")
    here = kubectl.in_namespace("deleted")
    with searched(OperatorProcess(sim.url, kubeconfig, **FLAGS), sim, kubectl, "deleted"):
        here.apply([*ACCOUNT, gpucloudaccount("second")])
        published(here, "default", "second")
        here.delete("gpucloudaccount", "second")
        eventually(lambda: not offers(here, "second"), 60, "the garbage collector to delete the offers")
        readings(sim)
        assert (offers(here, "second"), offers(here).keys()) == ({}, OFFERED)
        kubectl.delete("namespace", "deleted")


def test_a_namespace_that_terminates_gets_no_offers(whole, sim):
    kubectl, kubeconfig = whole
    kubectl.ok("create", "namespace", "terminating")
    here = kubectl.in_namespace("terminating")
    with searched(OperatorProcess(sim.url, kubeconfig, **FLAGS), sim, kubectl) as process:
        here.apply(ACCOUNT)
        published(here)
        here.patch("gpucloudaccount", "default", {"metadata": {"finalizers": ["test.example/hold"]}})
        kubectl.ok("delete", "namespace", "terminating", "--wait=false")
        eventually(lambda: here.list("gpuoffers") == [], 60, "the offers to go with the namespace")
        eventually(lambda: _quiet(sim), 60, "the catalogue to be read no more")
        assert here.list("gpuoffers") == []
        refused = [record for record in process.logs() if record.get("event") == "the GpuOffers cannot be written"]
        assert refused == [], "Kubernetes refuses new objects in a namespace that terminates"
        here.patch("gpucloudaccount", "default", {"metadata": {"finalizers": None}})
        eventually(lambda: kubectl.get("namespace", "terminating") is None, 60, "the namespace to go")
