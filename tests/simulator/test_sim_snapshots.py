"""The life of snapshots."""

import pytest

from simulator.test_sim_client import Cloud, at


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


async def test_sim_a_vm_that_is_leaving_is_not_snapshotted_whatever_its_word():
    cloud = Cloud(destroying_word="ONLINE", destroy_seconds=5)
    await cloud.online()
    await cloud.call("DestroyServer", **at())
    body = {"name": "s", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
    assert (await cloud.call("CreateSnapshot", **body)).status == 400


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
