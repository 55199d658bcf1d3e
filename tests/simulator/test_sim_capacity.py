"""Capacity: who waits for it, who frees it, and how it is listed with its prices."""

import pytest

from simulator.test_sim_client import VM_TYPE, Cloud, at, of


async def test_sim_without_capacity_a_vm_waits_first_come_first_served():
    cloud = Cloud(capacity=1, provision_seconds=10, destroy_seconds=1)
    for name in ("a", "b", "c"):
        await cloud.create(name)
    cloud.clock.advance(10)
    states = [await cloud.status(name) for name in ("a", "b", "c")]
    assert states == ["ONLINE", "PENDING_RESOURCES", "PENDING_RESOURCES"]
    cloud.clock.advance(1e6)
    assert await cloud.status("b") == "PENDING_RESOURCES"
    await cloud.call("DestroyServer", **at("a"))
    assert await cloud.words("b", seconds=9) == ["PENDING_RESOURCES", "PENDING_READINESS", "ONLINE"]
    assert await cloud.status("c") == "PENDING_RESOURCES"


async def test_sim_a_place_that_comes_free_while_a_vm_is_pending_is_taken():
    cloud = Cloud(capacity=1, provision_seconds=10, destroy_seconds=1)
    await cloud.online("a")
    await cloud.create("b")
    await cloud.call("DestroyServer", **at("a"))
    assert await cloud.words("b", seconds=10.5) == ["PENDING", "PENDING_READINESS", "ONLINE"]


@pytest.mark.proves("state:destroy")
async def test_sim_a_waiting_vm_that_is_destroyed_takes_no_place():
    cloud = Cloud(capacity=1)
    await cloud.online("a")
    await cloud.create("b")
    cloud.clock.advance(10)
    for name in ("b", "a"):
        await cloud.call("DestroyServer", **at(name))
    cloud.clock.advance(10)
    await cloud.online("c")


async def test_sim_more_capacity_serves_those_who_wait():
    cloud = Cloud(capacity=0)
    await cloud.create()
    cloud.clock.advance(10)
    assert await cloud.status() == "PENDING_RESOURCES"
    await cloud.control("capacity", {"configuration": VM_TYPE, "cluster": "Msc1", "total": 1})
    cloud.clock.advance(10)
    assert await cloud.status() == "ONLINE"


async def test_sim_capacity_is_counted_per_configuration_cluster_and_pool():
    cloud = Cloud(capacity=1)
    await cloud.online("a")
    await cloud.online("b", configuration="A100_40GB_PCIe_2x")
    await cloud.online("c", rpool="reserved-acme")
    assert (await cloud.create("d", cluster="Hou1")).status == 202
    cloud.clock.advance(10)
    assert (await cloud.call("GetServers", Cluster="Hou1")).items[0]["status"] == "ONLINE"


@pytest.mark.proves("state:stop")
async def test_sim_stopping_frees_the_gpus_and_starting_must_win_them_again():
    cloud = Cloud(capacity=1)
    await cloud.online("a")
    await cloud.call("StopServer", **of("a"))
    cloud.clock.advance(5)
    await cloud.online("b")
    refused = await cloud.call("StartServer", **of("a"))
    assert (refused.status, await cloud.status("a")) == (503, "OFFLINE")
    await cloud.call("DestroyServer", **at("b"))
    cloud.clock.advance(5)
    assert (await cloud.call("StartServer", **of("a"))).status == 202
    cloud.clock.advance(5)
    assert await cloud.status("a") == "ONLINE"


async def test_sim_availability_counts_what_is_left():
    cloud = Cloud(capacity=2)
    await cloud.online(rpool="reserved-acme")
    items = (await cloud.call("GetAvailability", cluster="Msc1")).items
    found = {(item["configuration"], item["rpool"]): item for item in items}
    reserved, on_demand = found[VM_TYPE, "reserved-acme"], found[VM_TYPE, "on-demand"]
    assert (reserved["available"], reserved["count"], reserved["maxCount"]) == (True, 1, 2)
    assert len(reserved["availableNodeNames"]) == 2
    assert (on_demand["count"], on_demand["maxCount"], "availableNodeNames" in on_demand) == (2, 0, False)
    assert on_demand["price"] == 2.05
    assert not any(item["configuration"] == "H100_80GB_SXM_8x" for item in items)
    only = await cloud.call("GetAvailability", cluster="Msc1", resourcePool="reserved-acme")
    assert {item["rpool"] for item in only.items} == {"reserved-acme"}


async def test_sim_configurations_are_those_of_the_examples():
    items = (await Cloud().call("GetConfigurations")).items
    assert {item["name"]: item["price"] for item in items} == {
        "A100_40GB_PCIe_1x": 2.05,
        "A100_40GB_PCIe_2x": 4.1,
        "H100_80GB_SXM_8x": 26.4,
    }


async def test_sim_a_vm_that_is_leaving_no_longer_waits_for_capacity():
    cloud = Cloud(capacity=1, destroy_seconds=60)
    await cloud.online("a")
    await cloud.create("b")
    cloud.clock.advance(10)
    await cloud.call("DestroyServer", **at("b"))
    await cloud.control("vms/destroy", of("a") | {"at_once": True})
    cloud.clock.advance(10)
    assert await cloud.status("b") == "PENDING"
    await cloud.online("c")


async def test_sim_a_vm_that_kept_its_place_starts_without_winning_it_again():
    cloud = Cloud(capacity=1)
    await cloud.online()
    await cloud.control("vms/force", of() | {"status": "OFFLINE"})
    assert (await cloud.call("StartServer", **of())).status == 202
    cloud.clock.advance(5)
    assert await cloud.status() == "ONLINE"


async def test_sim_less_capacity_than_is_in_use_evicts_nobody():
    cloud = Cloud(capacity=3)
    for name in "ab":
        await cloud.online(name)
    told = (await cloud.control("capacity", {"configuration": VM_TYPE, "cluster": "Msc1", "total": 1})).data
    assert told["free"] == 0
    assert [item["status"] for item in (await cloud.call("GetServers")).items] == ["ONLINE", "ONLINE"]


async def test_sim_what_is_offered_can_change_and_what_was_bought_stays():
    cloud = Cloud()
    await cloud.online("a")
    await cloud.control("offers", {"configuration": VM_TYPE, "price": 3.5, "clusters": ["Hou1"]})
    for cluster, prices in (("Msc1", set()), ("Hou1", {3.5})):
        items = (await cloud.call("GetAvailability", cluster=cluster)).items
        assert {item["price"] for item in items if item["configuration"] == VM_TYPE} == prices
    listed = {item["name"]: item for item in (await cloud.call("GetConfigurations")).items}
    assert (listed[VM_TYPE]["price"], listed[VM_TYPE]["clusters"]) == (3.5, ["Hou1"])
    assert (await cloud.create("b")).status >= 400
    assert await cloud.status("a") == "ONLINE"
