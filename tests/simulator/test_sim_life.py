"""The life of a VM, by a clock that is moved by hand."""

import pytest

from simulator.test_sim_client import VM_TYPE, Cloud, at, of


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
    assert await cloud.words(seconds=5.5) == ["PENDING", "PENDING_READINESS", "ONLINE"]
    await cloud.call("StopServer", **of())
    assert await cloud.words(seconds=2) == ["PENDING", "OFFLINE"]
    await cloud.call("StartServer", **of())
    assert await cloud.words(seconds=3) == ["PENDING", "PENDING_READINESS", "ONLINE"]
    await cloud.call("DestroyServer", **at())
    assert await cloud.words(seconds=2) == ["PENDING", None]


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
    met = {(await cloud.create()).data["status"]} | set(await cloud.words(seconds=6))
    await cloud.create("second")
    met |= set(await cloud.words("second", seconds=6))
    await cloud.call("StopServer", **of())
    met |= set(await cloud.words(seconds=2))
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
    cloud = Cloud(boot_log_lines=3000)
    await cloud.create()
    assert (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="5")).data["bootLogs"] == ""
    cloud.clock.advance(5)
    five = (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="5")).data["bootLogs"].split("\n")
    everything = (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="10000")).data["bootLogs"].split("\n")
    assert (len(five), len(everything), everything[-5:]) == (5, 3000, five)


async def test_sim_a_boot_log_is_short_unless_a_long_one_is_asked_for():
    """Whoever tries `kubectl gpucloud logs` with it sees the boot, and no thousands of made-up lines."""
    cloud = Cloud()
    await cloud.create()
    cloud.clock.advance(5)
    lines = (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="2000")).data["bootLogs"].split("\n")
    assert (len(lines), [line for line in lines if "tick" in line]) == (7, [])
    assert lines[-1].endswith("of vm"), "a log says whose it is"
    cloud.clock.advance(600)
    lines = (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="2000")).data["bootLogs"].split("\n")
    assert len(lines) == 7 + 600 / 5


async def test_sim_a_boot_log_grows_while_the_vm_is_on():
    """Else whoever tries `kubectl gpucloud logs --follow` with it never sees a line come."""
    cloud = Cloud()
    await cloud.online()

    async def lines():
        return (await cloud.call("GetVirtualMachineBootLogs", **at(), Limit="10000")).data["bootLogs"].split("\n")

    before = await lines()
    cloud.clock.advance(11)
    after = await lines()
    assert (after[: len(before)], len(after) - len(before)) == (before, 2)
    await cloud.call("StopServer", **of())
    cloud.clock.advance(60)
    off = await lines()
    cloud.clock.advance(60)
    assert await lines() == off


async def test_sim_a_vm_that_is_leaving_is_not_started_whatever_its_word():
    cloud = Cloud(destroying_word="OFFLINE", destroy_seconds=5)
    await cloud.online()
    await cloud.call("DestroyServer", **at())
    await cloud.call("StartServer", **of())
    cloud.clock.advance(5)
    assert await cloud.status() is None
