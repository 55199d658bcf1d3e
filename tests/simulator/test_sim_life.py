"""The life of machines, snapshots, VPCs and hosts, by a clock that is moved by hand."""

import pytest

from simulator.test_sim_client import VM_TYPE, Cloud, at, of


async def words(cloud, name="vm", seconds=10.0, step=0.25):
    """The different statuses of a VM in their order while time passes."""
    seen = []
    for _ in range(int(seconds / step)):
        status = await cloud.status(name)
        if not seen or seen[-1] != status:
            seen.append(status)
        cloud.clock.advance(step)
    return seen


@pytest.mark.proves("general:1.continues")
async def test_sim_a_vm_s_way_to_online():
    cloud = Cloud(provision_seconds=5)
    created = await cloud.create()
    assert (created.status, created.data["status"], created.data["ip"]) == (202, "na", "")
    cloud.clock.advance(4.9)
    assert (await cloud.call("GetServer", **at())).data["ip"] == ""
    cloud.clock.advance(0.1)
    record = (await cloud.call("GetServer", **at())).data
    assert (record["status"], record["ip"].startswith("198.51.100.")) == ("ONLINE", True)


@pytest.mark.proves("general:1.continues", "state:start", "state:stop")
async def test_sim_the_words_of_a_life_in_their_order():
    cloud = Cloud(provision_seconds=5, stop_seconds=1, start_seconds=2, destroy_seconds=1)
    await cloud.create()
    assert await words(cloud, seconds=5.5) == ["PENDING", "PENDING_READINESS", "ONLINE"]
    await cloud.call("StopServer", **of())
    assert await words(cloud, seconds=2) == ["PENDING", "OFFLINE"]
    await cloud.call("StartServer", **of())
    assert await words(cloud, seconds=3) == ["PENDING", "PENDING_READINESS", "ONLINE"]
    await cloud.call("DestroyServer", **at())
    assert await words(cloud, seconds=2) == ["PENDING", None]


async def test_sim_no_seconds_at_all_make_everything_immediate():
    cloud = Cloud(provision_seconds=0, stop_seconds=0, destroy_seconds=0)
    await cloud.create()
    assert await cloud.status() == "ONLINE"
    await cloud.call("StopServer", **of())
    assert await cloud.status() == "OFFLINE"
    await cloud.call("DestroyServer", **at())
    assert await cloud.status() is None


@pytest.mark.proves("state:words")
async def test_sim_every_status_that_is_named_can_be_met():
    cloud = Cloud(capacity=1, created_word="PLANNED", provision_seconds=5, stop_seconds=1)
    met = {(await cloud.create()).data["status"]} | set(await words(cloud, seconds=6))
    await cloud.create("second")
    met |= set(await words(cloud, "second", seconds=6))
    await cloud.call("StopServer", **of())
    met |= set(await words(cloud, seconds=2))
    assert met == {"PLANNED", "PENDING", "PENDING_RESOURCES", "PENDING_READINESS", "ONLINE", "OFFLINE"}


@pytest.mark.proves("open:root-disk")
async def test_sim_the_record_has_the_fields_of_the_specification():
    cloud = Cloud()
    await cloud.online(rootDiskSize=500, rpool="reserved-acme", selectedNode="msc1-reserved-acme-1", persistStorage=True)
    record = (await cloud.call("GetServer", **at())).data
    assert record | {"lastUpdated": ""} == {
        "id": "vm",
        "namespace": "acme",
        "configuration": VM_TYPE,
        "storage": 1700,
        "gpu_type": "nvidia.com/A100PCIE40GB",
        "gpus": 1,
        "vcpus": 14,
        "memory": 112,
        "ip": "198.51.100.2",
        "privateIp": "172.16.0.2",
        "image": "Ubuntu_22.04.4_LTS",
        "cluster": "Msc1",
        "username": "ann",
        "tenancy_name": "acme",
        "rpool": "reserved-acme",
        "nodeSelector": "msc1-reserved-acme-1",
        "directAttachedStoragePersisted": True,
        "storageType": "local",
        "rootDiskSize": "500Gi",
        "status": "ONLINE",
        "lastUpdated": "",
    }
    assert record["lastUpdated"] == "2026-01-01T00:00:05.000Z"


@pytest.mark.proves("CreateServer.name:generated")
async def test_sim_omitted_names_are_generated_and_differ():
    cloud = Cloud()
    first, second = [(await cloud.create("")).data["id"] for _ in range(2)]
    assert first.startswith("vm-2026")
    assert first.removeprefix("vm-").isdigit()
    assert first != second


@pytest.mark.proves("CreateServer.rpool:first-assigned", "CreateServer.rpool:on-demand")
async def test_sim_the_default_pool_is_the_tenant_s_first_else_on_demand():
    cloud = Cloud()
    pools = cloud.sim.state.world.catalogue.pools
    pools["acme"] = ("reserved-acme",)
    assert (await cloud.create("a")).data["rpool"] == "reserved-acme"
    pools["acme"] = ()
    assert (await cloud.create("b")).data["rpool"] == "on-demand"


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
    assert await words(cloud, "b", seconds=9) == ["PENDING_RESOURCES", "PENDING_READINESS", "ONLINE"]
    assert await cloud.status("c") == "PENDING_RESOURCES"


async def test_sim_a_place_that_comes_free_while_a_vm_is_pending_is_taken():
    cloud = Cloud(capacity=1, provision_seconds=10, destroy_seconds=1)
    await cloud.online("a")
    await cloud.create("b")
    await cloud.call("DestroyServer", **at("a"))
    assert await words(cloud, "b", seconds=10.5) == ["PENDING", "PENDING_READINESS", "ONLINE"]


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


async def test_sim_a_stopped_vm_has_no_address_and_gets_its_own_again():
    cloud = Cloud()
    await cloud.online()
    address = (await cloud.call("GetServer", **at())).data["ip"]
    await cloud.call("StopServer", **of())
    cloud.clock.advance(5)
    assert (await cloud.call("GetServer", **at())).data["ip"] == ""
    await cloud.call("StartServer", **of())
    cloud.clock.advance(5)
    assert (await cloud.call("GetServer", **at())).data["ip"] == address


@pytest.mark.proves("state:destroy", "state:open")
@pytest.mark.parametrize("status", ["PENDING", "PENDING_RESOURCES", "ONLINE", "OFFLINE", "CREATE_FAILED", "HIBERNATING"])
async def test_sim_destroy_is_legal_in_every_state(status):
    cloud = Cloud()
    await cloud.create()
    await cloud.control("vms/force", of() | {"status": status})
    assert (await cloud.call("DestroyServer", **at())).status == 202
    cloud.clock.advance(2)
    assert await cloud.status() is None
    assert (await cloud.call("GetServers")).items == []


async def test_sim_a_second_destroy_is_accepted_and_changes_nothing():
    cloud = Cloud(destroy_seconds=2)
    await cloud.online()
    await cloud.call("DestroyServer", **at())
    cloud.clock.advance(1)
    assert (await cloud.call("DestroyServer", **at())).status == 202
    cloud.clock.advance(1)
    assert await cloud.status() is None
    assert [entry["committed"] is not None for entry in await cloud.ledger(operation="DestroyServer")] == [True, False]


async def test_sim_a_name_is_free_again_once_its_vm_is_gone():
    cloud = Cloud()
    await cloud.online()
    await cloud.call("DestroyServer", **at())
    assert (await cloud.create()).status == 409
    cloud.clock.advance(2)
    assert (await cloud.create()).status == 202


async def test_sim_one_name_may_live_in_each_cluster_and_vpc():
    cloud = Cloud()
    await cloud.call("CreateVpc", name="acme-train", cluster="Msc1")
    await cloud.create()
    for elsewhere in ({"cluster": "Hou1"}, {"vpc": "acme-train"}):
        assert (await cloud.create(**elsewhere)).status == 202
    assert len((await cloud.call("GetServers")).items) == 3
    assert len((await cloud.call("GetServers", Cluster="Hou1")).items) == 1


async def test_sim_forcing_a_state_holds_it_for_ever():
    cloud = Cloud()
    await cloud.create()
    assert (await cloud.control("vms/force", of() | {"status": "PENDING_RESOURCES"})).status == 200
    cloud.clock.advance(1e6)
    assert await cloud.status() == "PENDING_RESOURCES"


async def test_sim_outsiders_create_stop_start_and_destroy():
    cloud = Cloud()
    await cloud.control("vms/create", {"name": "theirs", "cluster": "Msc1", "vpc": "acme"})
    cloud.clock.advance(5)
    assert (await cloud.call("GetServer", **at("theirs"))).data["username"] == "somebody-else"
    for action, then in (("stop", "OFFLINE"), ("start", "ONLINE"), ("destroy", None)):
        assert (await cloud.control(f"vms/{action}", of("theirs"))).status == 200
        cloud.clock.advance(5)
        assert await cloud.status("theirs") == then
    assert await cloud.ledger(mutating="true") == []


async def test_sim_an_outsider_may_destroy_at_once_with_snapshots():
    cloud = Cloud(snapshot_delete_seconds=0)
    await cloud.online()
    await cloud.ready_snapshot()
    await cloud.control("vms/destroy", of() | {"at_once": True, "delete_snapshots": True})
    assert await cloud.status() is None
    assert (await cloud.call("GetSnapshots")).items == []


@pytest.mark.proves("GetVirtualMachineBootLogs.Limit")
async def test_sim_boot_logs_are_empty_until_booted_and_then_the_last_lines():
    cloud = Cloud()
    await cloud.create()
    assert (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="5")).data["bootLogs"] == ""
    cloud.clock.advance(5)
    five = (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="5")).data["bootLogs"].split("\n")
    everything = (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="10000")).data["bootLogs"].split("\n")
    assert (len(five), len(everything), everything[-5:]) == (5, 3000, five)


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


@pytest.mark.proves("state:snapshot", "DeleteSnapshot:answer")
async def test_sim_the_life_of_a_snapshot():
    cloud = Cloud(snapshot_seconds=3, snapshot_delete_seconds=1)
    await cloud.online(rootDiskSize=200)
    body = {"name": "snap", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
    created = (await cloud.call("CreateSnapshot", **body)).data
    assert (created["readyToUse"], created["sourceName"], created["rootDiskSize"]) == (False, "vm", "200Gi")
    refused = await cloud.create("early", snapshotName="snap")
    assert (refused.status, refused.members) == (400, ["snapshotName"])
    cloud.clock.advance(3)
    assert (await cloud.call("GetSnapshot", **at("snap"))).data["readyToUse"] is True
    assert (await cloud.create("copy", snapshotName="snap")).data["image"] == "Ubuntu_22.04.4_LTS"
    deleted = await cloud.call("DeleteSnapshot", **at("snap"))
    assert (deleted.status, deleted.data) == (202, {"id": "snap"})
    assert len((await cloud.call("GetSnapshots", Cluster="Msc1")).items) == 1
    cloud.clock.advance(1)
    assert (await cloud.call("GetSnapshots", Cluster="Msc1")).items == []


@pytest.mark.proves(
    "DestroyServer.DeleteSnapshots", "DestroyServer.DeleteSnapshots:meaning", "DestroyServer.DeleteSnapshots:optional"
)
async def test_sim_a_snapshot_outlives_its_vm_unless_deleted_with_it():
    cloud = Cloud()
    for name in ("kept", "dropped"):
        await cloud.online(name)
        await cloud.ready_snapshot(f"of-{name}", name)
    await cloud.call("DestroyServer", **at("kept"))
    await cloud.call("DestroyServer", **at("dropped"), DeleteSnapshots="true")
    cloud.clock.advance(5)
    assert [item["id"] for item in (await cloud.call("GetSnapshots")).items] == ["of-kept"]


async def test_sim_the_life_of_a_vpc():
    cloud = Cloud()
    created = (await cloud.call("CreateVpc", name="acme-train", cluster="Msc1", blockIntraVpcComms=True)).data
    assert created["id"] != created["name"]
    assert (created["isDefault"], created["blockIntraVpcComms"], created["tenancyName"]) == (False, True, "acme")
    place = {"Id": created["id"], "Cluster": "Msc1"}
    assert (await cloud.call("GetVpc", **place)).data == created
    assert len((await cloud.call("GetVpcs", cluster="Msc1")).items) == 2
    await cloud.online()
    await cloud.create("inside", vpc="acme-train")
    assert (await cloud.call("DestroyVpc", **place)).status == 400
    await cloud.call("DestroyServer", **at("inside", "acme-train"))
    assert (await cloud.call("DestroyVpc", **place)).status == 400  # until the record has vanished
    cloud.clock.advance(5)
    destroyed = await cloud.call("DestroyVpc", **place)
    assert (destroyed.status, destroyed.data) == (200, created)
    assert (await cloud.call("GetVpc", **place)).status == 400


@pytest.mark.proves("CreateVpc.isDefault:one-per-cluster", "limit:default-vpc", "VmRecord.namespace:default")
async def test_sim_each_cluster_has_one_default_vpc_which_stays():
    cloud = Cloud()
    defaults = [item for item in (await cloud.call("GetVpcs")).items if item["isDefault"]]
    assert sorted((item["name"], item["cluster"]) for item in defaults) == [("acme", "Hou1"), ("acme", "Msc1")]
    for item in defaults:
        assert (await cloud.call("DestroyVpc", Id=item["id"], Cluster=item["cluster"])).status == 400
    assert (await cloud.call("CreateVpc", name="acme", cluster="Msc1", isDefault=True)).status == 400


@pytest.mark.proves("state:host")
async def test_sim_a_reboot_powers_off_and_on():
    cloud = Cloud(host_reboot_seconds=3)
    body, query = {"id": "bm-128", "cluster": "Msc1"}, {"Id": "bm-128", "Cluster": "Msc1"}
    assert (await cloud.call("RebootHost", **body)).data["poweredOn"] is False
    assert (await cloud.call("RebootHost", **body)).status == 422
    assert (await cloud.call("ReprovisionHost", **body)).status == 422
    cloud.clock.advance(3)
    assert (await cloud.call("GetHost", **query)).data["poweredOn"] is True


@pytest.mark.proves("state:host", "ReprovisionHost.imageUrl")
async def test_sim_a_reprovisioning_goes_through_its_states():
    cloud = Cloud(host_provision_seconds=10)
    body, query = {"id": "bm-128", "cluster": "Msc1"}, {"Id": "bm-128", "Cluster": "Msc1"}
    first = (await cloud.call("ReprovisionHost", **body, imageUrl="http://images/new.qcow2")).data
    assert (first["provisioningState"], first["image"]) == ("deprovisioning", "Ubuntu 22.04.4 LTS")
    assert (await cloud.call("ReprovisionHost", **body)).status == 422
    assert (await cloud.call("RebootHost", **body)).status == 422
    cloud.clock.advance(3)
    assert (await cloud.call("GetHost", **query)).data["provisioningState"] == "provisioning"
    cloud.clock.advance(7)
    last = (await cloud.call("GetHost", **query)).data
    assert (last["provisioningState"], last["image"]) == ("provisioned", "http://images/new.qcow2")


@pytest.mark.proves("open:host-words")
async def test_sim_a_host_can_be_forced_into_any_state():
    cloud = Cloud()
    await cloud.control(
        "hosts/force", {"id": "bm-129", "cluster": "Hou1", "operational": "error", "provisioning": "inspecting"}
    )
    host = (await cloud.call("GetHost", Id="bm-129", Cluster="Hou1")).data
    assert (host["operationalStatus"], host["provisioningState"]) == ("error", "inspecting")
    assert (await cloud.call("RebootHost", id="bm-129", cluster="Hou1")).status == 422


# What overlaps


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


async def test_sim_a_vm_that_is_leaving_is_not_started_whatever_its_word():
    cloud = Cloud(destroying_word="OFFLINE", destroy_seconds=5)
    await cloud.online()
    await cloud.call("DestroyServer", **at())
    await cloud.call("StartServer", **of())
    cloud.clock.advance(5)
    assert await cloud.status() is None


async def test_sim_a_vm_that_is_leaving_is_not_snapshotted_whatever_its_word():
    cloud = Cloud(destroying_word="ONLINE", destroy_seconds=5)
    await cloud.online()
    await cloud.call("DestroyServer", **at())
    body = {"name": "s", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
    assert (await cloud.call("CreateSnapshot", **body)).status == 400


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


async def test_sim_no_vm_is_made_from_a_snapshot_that_is_leaving():
    cloud = Cloud()
    await cloud.online()
    await cloud.ready_snapshot()
    await cloud.call("DeleteSnapshot", **at("snap"))
    assert (await cloud.create("copy", snapshotName="snap")).status == 400


async def test_sim_a_second_snapshot_deletion_is_accepted_and_changes_nothing():
    cloud = Cloud()
    await cloud.online()
    await cloud.ready_snapshot()
    for _ in range(2):
        assert (await cloud.call("DeleteSnapshot", **at("snap"))).status == 202
    cloud.clock.advance(5)
    assert (await cloud.call("GetSnapshots")).items == []
    commits = [entry["committed"] is not None for entry in await cloud.ledger(operation="DeleteSnapshot")]
    assert commits == [True, False]


async def test_sim_no_snapshot_of_another_tenant_s_vm():
    cloud = Cloud()
    await cloud.online()
    other = (await cloud.control("keys", {"description": "d", "owner": "gil"})).data["value"]
    body = {"name": "s", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
    refused = await cloud.call("CreateSnapshot", f"ApiKey {other}", **body)
    assert (refused.status, refused.message) == (400, '"vm" not found')


async def test_sim_a_host_forced_during_its_reboot_stays_as_forced():
    cloud = Cloud(host_reboot_seconds=3)
    await cloud.call("RebootHost", id="bm-128", cluster="Msc1")
    await cloud.control("hosts/force", {"id": "bm-128", "cluster": "Msc1", "powered_on": False})
    cloud.clock.advance(10)
    assert (await cloud.call("GetHost", Id="bm-128", Cluster="Msc1")).data["poweredOn"] is False
