"""spec.placement.alternatives: what is ordered where the cloud refuses the spec's own configuration, and never two VMs."""

from __future__ import annotations

from datetime import datetime

import pytest

from support.kstatus import condition
from support.manifests import gpuvm
from support.waiting import eventually, reach

FLAGS = {"poll_pending_seconds": 0.2, "poll_steady_seconds": 0.5, "create_grace_seconds": 1}
OWN, OTHER = "A100_40GB_PCIe_1x", "A100_40GB_PCIe_2x"
POOL = "reserved-acme"


def train(*alternatives, **spec):
    return gpuvm(resourcePool=POOL, placement={"alternatives": list(alternatives)}, **spec)


@pytest.fixture
def scarce(sim):
    """A cloud that refuses what it has no capacity for, and has none for the spec's own configuration."""
    sim.turn(create_without_capacity="refuse_503")
    sim.control("capacity", {"configuration": OWN, "cluster": "Msc1", "pool": POOL, "total": 0})
    return sim


def orders(sim):
    return [
        (call["parameters"]["configuration"], call["parameters"]["rpool"], call["status"]) for call in sim.calls("CreateServer")
    ]


def test_without_capacity_the_first_alternative_that_has_some_is_ordered(here, scarce, operator):
    """What the cloud lists as taken is not ordered only to see it refused."""
    operator(**FLAGS)
    scarce.control("capacity", {"configuration": OTHER, "cluster": "Msc1", "pool": POOL, "total": 0})
    here.apply(train({"configuration": OTHER}, {"resourcePool": "on-demand"}))
    item = eventually(lambda: (found := here.get("gpuvm", "train"))["status"].get("placement", {}).get("refused") and found,
                      what="a refusal")  # fmt: skip
    refused = [(one["configuration"], one["reason"]) for one in item["status"]["placement"]["refused"]]
    assert refused == [(OWN, "NoCapacity")]
    status = reach(here, "gpuvm", "train", "True/Running", timeout=60)["status"]
    assert (status["order"]["configuration"], status["order"]["resourcePool"]) == (OWN, "on-demand")
    assert status["placement"] == {"configuration": OWN, "resourcePool": "on-demand", "refused": []}
    assert status["resourcePool"] == "on-demand"
    assert len(scarce.vms()) == 1
    assert len(scarce.calls("CreateServer")) == 2


def test_what_the_cloud_does_not_list_is_ordered_in_turn(here, scarce, operator):
    operator(**FLAGS)
    scarce.fault(kind="status", operation="GetAvailability", status=403)
    scarce.control("capacity", {"configuration": OTHER, "cluster": "Msc1", "pool": POOL, "total": 0})
    here.apply(train({"configuration": OTHER}, {"resourcePool": "on-demand"}))
    reach(here, "gpuvm", "train", "True/Running", timeout=60)
    assert [(one, pool) for one, pool, _ in orders(scarce)] == [(OWN, POOL), (OTHER, POOL), (OWN, "on-demand")]


AWAY = {"cluster": "Hou1"}


def where(sim):
    return [(call["parameters"]["cluster"], call["status"]) for call in sim.calls("CreateServer")]


def test_without_capacity_another_cluster_is_ordered_in_and_everything_follows_the_vm_there(here, scarce, operator):
    operator(**FLAGS)
    here.apply(train(AWAY))
    status = reach(here, "gpuvm", "train", "True/Running", timeout=60)["status"]
    assert where(scarce) == [("Msc1", 503), ("Hou1", 202)]
    assert (status["cluster"], status["order"]["cluster"], status["placement"]["cluster"]) == ("Hou1", "Hou1", "Hou1")
    here.patch("gpuvm", "train", {"spec": {"powerState": "Stopped"}})
    reach(here, "gpuvm", "train", "True/PoweredOff", timeout=60)
    here.delete("gpuvm", "train")
    assert scarce.vms() == []
    assert {call["parameters"]["cluster"] for call in scarce.calls("StopServer")} == {"Hou1"}
    assert {call["parameters"]["Cluster"] for call in scarce.calls("DestroyServer")} == {"Hou1"}


def test_a_vm_in_another_cluster_is_found_when_its_status_is_lost_and_it_is_deleted(here, scarce, operator):
    process = operator(**FLAGS)
    here.apply(train(AWAY))
    reach(here, "gpuvm", "train", "True/Running", timeout=60)
    process.kill9()
    lost = {"order": None, "account": None, "placement": None}
    here.patch("gpuvm", "train", {"status": lost}, subresource="status")
    operator(**FLAGS)
    order = eventually(lambda: here.get("gpuvm", "train")["status"].get("order"), 60, "its order to be found")
    assert (order["state"], order["cluster"]) == ("Seen", "Hou1")
    assert len(scarce.vms()) == 1
    here.delete("gpuvm", "train")
    assert scarce.vms() == []


def test_an_unknown_cluster_is_told_with_the_one_that_is_near(here, sim, operator):
    operator(**FLAGS)
    here.apply(train({"cluster": "Huo1"}))
    item = reach(here, "gpuvm", "train", "False/InvalidSpec", timeout=60)
    assert "Unknown cluster 'Huo1' in spec.placement.alternatives. Did you mean 'Hou1'?" in condition(item, "Ready")["message"]
    assert sim.calls("CreateServer") == []
    here.patch("gpuvm", "train", {"spec": {"placement": {"alternatives": [AWAY]}}})
    reach(here, "gpuvm", "train", "True/Running", timeout=60)


def test_by_price_the_cheapest_alternative_is_ordered_first(here, scarce, operator):
    alternatives = {(OTHER, POOL): "4.10", (OWN, "on-demand"): "2.05"}
    for configuration, pool in alternatives:
        scarce.control("capacity", {"configuration": configuration, "cluster": "Msc1", "pool": pool, "total": 0})
    operator(**FLAGS)
    listed = [{"configuration": OTHER}, {"resourcePool": "on-demand"}]
    here.apply(gpuvm(resourcePool=POOL, placement={"alternatives": listed, "order": "Price"}))

    def offers():
        found = here.get("gpuvm", "train")["status"].get("placement", {}).get("offers", [])
        return [(one["configuration"], one["resourcePool"], one.get("pricePerHour")) for one in found]

    by_price = [(OWN, POOL, "2.05"), (OWN, "on-demand", "2.05"), (OTHER, POOL, "4.10")]
    eventually(lambda: offers() == by_price, what="the order by price")
    for configuration, pool in reversed(alternatives):
        scarce.control("capacity", {"configuration": configuration, "cluster": "Msc1", "pool": pool, "total": 1})
    status = reach(here, "gpuvm", "train", "True/Running", timeout=60)["status"]
    assert (status["order"]["configuration"], status["order"]["resourcePool"]) == (OWN, "on-demand")
    assert (status["pricePerHour"], offers()) == ("2.05", [])


def test_before_wait_seconds_are_over_no_alternative_is_ordered(here, scarce, operator):
    operator(**FLAGS)
    patient = gpuvm(resourcePool=POOL, placement={"alternatives": [{"configuration": OTHER}], "waitSeconds": 8})
    here.apply(patient)
    began = reach(here, "gpuvm", "train", "False/WaitingForCapacity")["status"]["placement"]["waitingSince"]
    status = reach(here, "gpuvm", "train", "True/Running", timeout=60)["status"]
    first, second = scarce.calls("CreateServer")
    assert (first["parameters"]["configuration"], second["parameters"]["configuration"]) == (OWN, OTHER)
    recorded, since = map(datetime.fromisoformat, (status["order"]["recordedAt"], began))
    assert (recorded - since).total_seconds() >= 8
    assert status["order"]["configuration"] == OTHER


def test_a_wrong_word_is_told_and_the_next_alternative_is_ordered(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuvm(configuration="A100_40GB_PCIe_3x", placement={"alternatives": [{"configuration": OTHER}]}))
    status = reach(here, "gpuvm", "train", "True/Running")["status"]
    assert (status["order"]["configuration"], status["pricePerHour"]) == (OTHER, "4.10")
    assert len(sim.vms()) == 1
    eventually(lambda: any("A100_40GB_PCIe_3x" in one["note"] for one in here.list("events.events.k8s.io")), what="the Event")


def test_an_alternative_that_the_account_may_not_use_is_told_and_capacity_is_waited_for(here, sim, operator):
    """Its pool is another tenant's: a wrong word among the refused, beside the offer that is right and without capacity."""
    sim.turn(create_without_capacity="refuse_503")
    sim.control("capacity", {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "pool": "reserved-acme", "total": 0})
    operator(**FLAGS)
    here.apply(gpuvm(resourcePool="reserved-acme", placement={"alternatives": [{"resourcePool": "reserved-globex"}]}))
    reach(here, "gpuvm", "train", "False/WaitingForCapacity")

    def refused():
        found = here.get("gpuvm", "train")["status"]["placement"]["refused"]
        return {(one["resourcePool"], one["reason"]) for one in found}

    both = {("reserved-acme", "NoCapacity"), ("reserved-globex", "Rejected")}
    eventually(lambda: refused() == both, what="both to be among the refused")

    def told(note):
        return '"reserved-globex" is not assigned' in note and "Correct spec.placement.alternatives." in note

    eventually(lambda: any(told(one["note"]) for one in here.list("events.events.k8s.io")), what="the Event")
    item = reach(here, "gpuvm", "train", "False/WaitingForCapacity", says='"reserved-globex" is not assigned')
    assert "; correct spec.placement.alternatives." in condition(item, "Ready")["message"]
    assert not condition(item, "Stalled"), "the other offer is right"
    sim.control("capacity", {"configuration": "A100_40GB_PCIe_1x", "cluster": "Msc1", "pool": "reserved-acme", "total": 1})
    reach(here, "gpuvm", "train", "True/Running", timeout=60)
    assert len(sim.vms()) == 1


def test_when_every_word_is_wrong_a_person_is_called(here, sim, operator):
    operator(**FLAGS)
    here.apply(gpuvm(configuration="wrong-1", placement={"alternatives": [{"configuration": "wrong-2"}]}))
    item = reach(here, "gpuvm", "train", "False/Rejected")
    refused = [(one["configuration"], one["reason"]) for one in item["status"]["placement"]["refused"]]
    assert refused == [("wrong-1", "Rejected"), ("wrong-2", "Rejected")]
    assert condition(item, "Stalled")
    here.patch("gpuvm", "train", {"spec": {"placement": {"alternatives": [{"configuration": OTHER}]}}})
    reach(here, "gpuvm", "train", "True/Running")
    assert len(sim.vms()) == 1


@pytest.mark.parametrize("fault", ["lost_answer", "late_commit"])
def test_an_answer_that_is_lost_moves_nothing(here, sim, operator, fault):
    """The VM of the first order shows up while the operator looks for it: no alternative is ordered beside it."""
    late = {"status": 503, "seconds": 0.8} if fault == "late_commit" else {}
    sim.fault(kind=fault, operation="CreateServer", nth=1, **late)
    operator(**FLAGS)
    here.apply(train({"configuration": OTHER}))
    status = reach(here, "gpuvm", "train", "True/Running", timeout=60)["status"]
    assert status["placement"]["configuration"] == OWN
    assert len(sim.calls("CreateServer")) == 1
    assert len(sim.vms()) == 1


def test_killed_between_two_alternatives_there_is_one_vm_in_the_end(here, scarce, operator):
    process = operator(**FLAGS)
    here.apply(train({"configuration": OTHER}))
    scarce.fault(kind="delay_answer", operation="CreateServer", nth=2, seconds=600)
    eventually(lambda: len(scarce.calls("CreateServer")) == 2 or scarce.vms(), what="the alternative to be ordered")
    process.kill9()
    operator(**FLAGS)
    status = reach(here, "gpuvm", "train", "True/Running", timeout=90)["status"]
    assert status["order"]["configuration"] == OTHER
    assert len(scarce.vms()) == 1
    here.delete("gpuvm", "train")
    assert scarce.vms() == []
