"""What each parameter does: every part of a name counts, every filter narrows, every choice shows in the record."""

import pytest

from simulator.test_sim_client import Cloud, at, of

OTHERWISE = {"id": "other", "namespace": "acme-x", "cluster": "Hou1"}  # all of them exist, but not together with the rest

# operation -> what names an object that is there
NAMED = {
    "GetServer": at("vm"),
    "StartServer": of("vm"),
    "StopServer": of("vm"),
    "DestroyServer": at("vm"),
    "GetVirtualMachineBootLogs": at("vm") | {"Limit": "5"},
    "GetSnapshot": at("snap"),
    "DeleteSnapshot": at("snap"),
    "GetHost": {"Id": "bm-128", "Cluster": "Msc1"},
    "RebootHost": {"id": "bm-128", "cluster": "Msc1"},
    "ReprovisionHost": {"id": "bm-128", "cluster": "Msc1"},
    "GetVpc": {"Id": "vpc-105", "Cluster": "Msc1"},
    "DestroyVpc": {"Id": "vpc-105", "Cluster": "Msc1"},
}
PARTS = [
    pytest.param(operation, part, id=f"{operation}.{part}", marks=pytest.mark.proves(f"{operation}.{part}"))
    for operation, names in NAMED.items()
    for part in names
    if part.lower() in OTHERWISE
]


@pytest.fixture
async def cloud():
    """A cloud with a VM, its snapshot, and a second VPC, numbered 105, in Msc1."""
    cloud = Cloud()
    assert (await cloud.call("CreateVpc", name="acme-x", cluster="Msc1")).data["id"] == "vpc-105"
    await cloud.online()
    await cloud.ready_snapshot()
    return cloud


@pytest.mark.parametrize(("operation", "part"), PARTS)
async def test_sim_every_part_of_a_name_counts(cloud, operation, part):
    names = NAMED[operation]
    elsewhere = await cloud.call(operation, **names | {part: OTHERWISE[part.lower()]})
    assert (elsewhere.status >= 400, "not found" in elsewhere.message) == (True, True)
    assert (await cloud.call(operation, **names)).status < 300


@pytest.mark.parametrize(
    ("operation", "filters", "found"),
    [
        pytest.param(
            "GetServers", {"Cluster": "Hou1"}, {"Hou1"}, id="GetServers", marks=pytest.mark.proves("GetServers.Cluster")
        ),
        pytest.param("GetHosts", {"Cluster": "Hou1"}, {"Hou1"}, id="GetHosts", marks=pytest.mark.proves("GetHosts.Cluster")),
        pytest.param("GetVpcs", {"cluster": "Hou1"}, {"Hou1"}, id="GetVpcs", marks=pytest.mark.proves("GetVpcs.cluster")),
        pytest.param(
            "GetAvailability",
            {"cluster": "Hou1"},
            {"Hou1"},
            id="GetAvailability",
            marks=pytest.mark.proves("GetAvailability.cluster"),
        ),
    ],
)
async def test_sim_a_listing_is_of_the_cluster_asked_for(cloud, operation, filters, found):
    await cloud.create("elsewhere", cluster="Hou1")
    assert {item["cluster"] for item in (await cloud.call(operation, **filters)).items} == found


@pytest.mark.proves("GetSnapshots.Cluster")
async def test_sim_snapshots_are_of_the_cluster_asked_for(cloud):
    names = {cluster: (await cloud.call("GetSnapshots", Cluster=cluster)).items for cluster in ("Msc1", "Hou1")}
    assert {cluster: [item["id"] for item in items] for cluster, items in names.items()} == {"Msc1": ["snap"], "Hou1": []}


@pytest.mark.proves("GetAvailability.resourcePool")
async def test_sim_availability_is_of_the_pool_asked_for(cloud):
    items = (await cloud.call("GetAvailability", cluster="Msc1", resourcePool="reserved-acme")).items
    assert {item["rpool"] for item in items} == {"reserved-acme"}


@pytest.mark.proves("GetAvailability.reportNodes", "GetAvailability.reportNodes:uncounted")
async def test_sim_availability_without_nodes_counts_nothing(cloud):
    counted, uncounted = [
        (await cloud.call("GetAvailability", cluster="Msc1", reportNodes=flag)).items for flag in ("true", "false")
    ]
    assert all("count" in item and "maxCount" in item for item in counted)
    assert not any("count" in item or "maxCount" in item for item in uncounted)


@pytest.mark.proves("GetAvailability.reportNodes:default-true")
async def test_sim_availability_counts_unless_told_otherwise(cloud):
    told, untold = [
        (await cloud.call("GetAvailability", cluster="Msc1", **more)).items for more in ({"reportNodes": "true"}, {})
    ]
    assert untold == told


@pytest.mark.proves("GetVirtualMachineBootLogs.Limit")
async def test_sim_a_boot_log_has_no_more_entries_than_asked_for(cloud):
    await cloud.control("knobs", {"boot_log_lines": 3000})
    lengths = [
        len((await cloud.call("GetVirtualMachineBootLogs", **at(), Limit=str(limit))).data["bootLogs"].split("\n"))
        for limit in (1, 7, 2500)
    ]
    assert lengths == [1, 7, 2500]


RESERVED = {"rpool": "reserved-acme"}

# what is asked for beside the least -> what the record shows
SHOWN = [
    ({"name": "mine"}, {"id": "mine"}, ["name"]),
    (RESERVED, RESERVED, ["rpool"]),
    ({"vpc": "acme-x"}, {"namespace": "acme-x"}, ["vpc"]),
    ({"vpc": "acme"}, {"namespace": "acme", "tenancy_name": "acme"}, ["vpc:usually-tenant"]),
    ({"configuration": "A100_40GB_PCIe_2x"}, {"configuration": "A100_40GB_PCIe_2x", "gpus": 2}, ["configuration"]),
    ({"cluster": "Hou1"}, {"cluster": "Hou1"}, ["cluster"]),
    ({"snapshotName": "of-debian"}, {"image": "Debian_12"}, ["snapshotName"]),
    (
        {"tenantCustomImageFileName": "acme-base.qcow2"},
        {"image": "acme-base.qcow2"},
        ["tenantCustomImageFileName", "tenantCustomImageFileName:deploys"],
    ),
    ({"operatingSystemImage": "Rocky Linux 9"}, {"image": "Rocky_Linux_9"}, ["operatingSystemImage"]),
    ({"persistStorage": True}, {"directAttachedStoragePersisted": True}, ["persistStorage", "persistStorage:meaning"]),
    ({"persistStorage": False}, {"directAttachedStoragePersisted": False}, ["persistStorage", "persistStorage:meaning"]),
    ({"rootDiskSize": 321}, {"rootDiskSize": "321Gi"}, ["rootDiskSize"]),
    (
        RESERVED | {"selectedNode": "msc1-reserved-acme-2"},
        {"nodeSelector": "msc1-reserved-acme-2"},
        ["selectedNode", "selectedNode:node-selector", "selectedNode:pools"],
    ),
]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        pytest.param(asked, shown, id=str(asked), marks=pytest.mark.proves(*(f"CreateServer.{name}" for name in names)))
        for asked, shown, names in SHOWN
    ],
)
async def test_sim_what_is_asked_of_create_server_shows_in_the_record(cloud, asked, shown):
    await cloud.online("debian", operatingSystemImage="Debian 12")
    await cloud.ready_snapshot("of-debian", "debian")
    created = (await cloud.create(**{"name": "vm-2"} | asked)).data
    stored = (await cloud.call("GetServer", Id=created["id"], Namespace=created["namespace"], Cluster=created["cluster"])).data
    assert {name: created[name] for name in shown} == {name: stored[name] for name in shown} == shown


UNSHOWN = {
    "personalStorageMountPath": "/home/ubuntu/personal",
    "tenantSharedAdditionalStorage": "/home/ubuntu/tenant-shared",
    "directStorageMountPath": "/home/ubuntu/direct-attached",
    "blockStorageNames": ["volume-1"],
}


@pytest.mark.parametrize("member", [pytest.param(name, marks=pytest.mark.proves(f"CreateServer.{name}")) for name in UNSHOWN])
async def test_sim_what_shows_in_no_record_is_understood_all_the_same(cloud, member):
    """The ledger blots out members that an operation does not have, so a value in it was read under that name."""
    assert (await cloud.create("vm-2", **{member: UNSHOWN[member]})).status == 202
    entry = (await cloud.ledger(operation="CreateServer"))[-1]
    assert entry["parameters"][member] == UNSHOWN[member]


@pytest.mark.proves("CreateServer.configuration:listed", "CreateServer.cluster:listed")
async def test_sim_what_is_listed_can_be_ordered(cloud):
    for item in (await cloud.call("GetConfigurations")).items:
        for cluster in item["clusters"]:
            assert cluster in (await cloud.call("GetAll")).data
            assert (await cloud.create("", configuration=item["name"], cluster=cluster)).status == 202


@pytest.mark.proves("CreateSnapshot.name", "CreateSnapshot.sourceVMName", "CreateSnapshot.namespace", "CreateSnapshot.cluster")
async def test_sim_a_snapshot_is_what_was_asked_for(cloud):
    await cloud.create("inside", vpc="acme-x")
    cloud.clock.advance(5)
    body = {"name": "mine", "namespace": "acme-x", "cluster": "Msc1", "sourceVMName": "inside"}
    record = (await cloud.call("CreateSnapshot", **body)).data
    assert (record["id"], record["namespace"], record["sourceName"]) == ("mine", "acme-x", "inside")
    elsewhere = await cloud.call("CreateSnapshot", **body | {"name": "more", "cluster": "Hou1"})
    assert (elsewhere.status, elsewhere.message) == (400, '"inside" not found')


@pytest.mark.proves("CreateVpc.name", "CreateVpc.cluster", "CreateVpc.blockIntraVpcComms")
@pytest.mark.parametrize("blocks", [True, False])
async def test_sim_a_vpc_is_what_was_asked_for(cloud, blocks):
    asked = {"name": "acme-y", "cluster": "Hou1", "blockIntraVpcComms": blocks}
    record = (await cloud.call("CreateVpc", **asked)).data
    assert {name: record[name] for name in asked} == asked


@pytest.mark.proves("CreateVpc.blockIntraVpcComms:default-false", "CreateVpc.isDefault:default-false")
async def test_sim_a_vpc_neither_blocks_nor_is_the_default_unless_asked(cloud):
    record = (await cloud.call("CreateVpc", name="acme-y", cluster="Msc1")).data
    assert (record["blockIntraVpcComms"], record["isDefault"]) == (False, False)


@pytest.mark.proves("CreateVpc.isDefault", "CreateVpc.name:default-is-tenant")
async def test_sim_a_cluster_without_a_default_vpc_can_be_given_one(cloud):
    """No request takes the default away, so the world is told directly."""
    cloud.sim.state.world.vpcs.table.remove(("Msc1", "vpc-101"), cloud.clock.now())
    record = (await cloud.call("CreateVpc", name="acme", cluster="Msc1", isDefault=True)).data
    assert (record["name"], record["isDefault"]) == ("acme", True)


@pytest.mark.proves("ReprovisionHost.imageUrl")
async def test_sim_a_host_gets_the_image_asked_for(cloud):
    await cloud.call("ReprovisionHost", id="bm-128", cluster="Msc1", imageUrl="http://images.invalid/a.qcow2")
    cloud.clock.advance(6)
    assert (await cloud.call("GetHost", Id="bm-128", Cluster="Msc1")).data["image"] == "http://images.invalid/a.qcow2"


@pytest.mark.proves("VpcRecord.id:unique", "HostRecord.id:unique")
@pytest.mark.parametrize("choice", ["numbered", "name"])
async def test_sim_ids_are_unique_within_a_cluster(choice):
    cloud = Cloud(vpc_ids=choice)
    for cluster in ("Msc1", "Hou1"):
        for name in ("acme-x", "acme-y"):
            assert (await cloud.call("CreateVpc", name=name, cluster=cluster)).status == 200
    for operation in ("GetVpcs", "GetHosts"):
        ids = [(item["cluster"], item["id"]) for item in (await cloud.call(operation)).items]
        assert len(ids) == len(set(ids)) > 1


@pytest.mark.proves("RefreshToken", "RefreshToken.refreshToken")
async def test_sim_a_refresh_token_goes_in_the_query(cloud):
    login = await cloud.call("Authenticate", None, userNameOrEmailAddress="ann", password="made-up-p4ssphrase")
    token = login.data["result"]["refreshToken"]
    assert (await cloud.call("RefreshToken", None, refreshToken=token)).status == 200
    assert (await cloud.call("RefreshToken", None, refreshToken=f"{token}x")).status == 401
