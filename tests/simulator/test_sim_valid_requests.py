"""What each operation takes. Each row says why, and after that what of the specification it proves."""

import pytest

from gpucloud.sim import Request
from simulator.test_sim_client import KEY, Cloud, at, of
from support.simrequests import HOST, LOGIN, SERVER, SNAPSHOT

# why -> (operation, parameters, status, what it proves beyond that the operation is there and may do without the others)
VALID = {
    "clusters need no parameters": ("GetAll", {}, 200),
    "VMs of all clusters": ("GetServers", {}, 200),
    "VMs of one cluster": ("GetServers", {"Cluster": "Hou1"}, 200),
    "one VM": ("GetServer", at(), 200),
    "the least that CreateServer takes": ("CreateServer", SERVER, 202),
    "a name of 52 characters": ("CreateServer", SERVER | {"name": "n" * 52}, 202, "CreateServer.name:max-52", "limit:vm-name"),
    "everything CreateServer takes": (
        "CreateServer",
        SERVER
        | {
            "name": "all",
            "rpool": "reserved-acme",
            "operatingSystemImage": "Debian 12",
            "personalStorageMountPath": "/home/ubuntu/personal",
            "tenantSharedAdditionalStorage": "/home/ubuntu/tenant-shared",
            "persistStorage": True,
            "directStorageMountPath": "/home/ubuntu/direct-attached",
            "blockStorageNames": ["volume-1"],
            "rootDiskSize": 500,
            "selectedNode": "msc1-reserved-acme-1",
        },
        202,
    ),
    "a VM from a snapshot": ("CreateServer", SERVER | {"snapshotName": "snap"}, 202),
    "a VM from a custom image": ("CreateServer", SERVER | {"tenantCustomImageFileName": "acme-base.qcow2"}, 202),
    "stop": ("StopServer", of(), 202),
    "start, though ONLINE already": ("StartServer", of(), 202),
    "destroy": ("DestroyServer", at(), 202),
    "destroy with snapshots": ("DestroyServer", at() | {"DeleteSnapshots": "true"}, 202),
    "configurations": ("GetConfigurations", {}, 200),
    "availability": ("GetAvailability", {"cluster": "Msc1"}, 200),
    "availability of one pool, uncounted": (
        "GetAvailability",
        {"cluster": "Msc1", "resourcePool": "on-demand", "reportNodes": "false"},
        200,
    ),
    "boot logs, the least": (
        "GetVirtualMachineBootLogs",
        at() | {"Limit": "1"},
        200,
        "GetVirtualMachineBootLogs.Limit:min-1",
        "limit:boot-log",
    ),
    "boot logs, the most": (
        "GetVirtualMachineBootLogs",
        at() | {"Limit": "10000"},
        200,
        "GetVirtualMachineBootLogs.Limit:max-10000",
        "limit:boot-log",
    ),
    "one host": ("GetHost", {"Id": "bm-128", "Cluster": "Msc1"}, 200),
    "all hosts": ("GetHosts", {}, 200),
    "hosts of one cluster": ("GetHosts", {"Cluster": "Msc1"}, 200),
    "reboot": ("RebootHost", HOST, 200),
    "reprovision with the present image": ("ReprovisionHost", HOST, 200),
    "reprovision with everything": (
        "ReprovisionHost",
        HOST | {"imageUrl": "http://x/i", "imageChecksum": "http://x/c", "cloudInitBase64": "IyE="},
        200,
    ),
    "all snapshots": ("GetSnapshots", {}, 200),
    "snapshots of one cluster": ("GetSnapshots", {"Cluster": "Msc1"}, 200),
    "one snapshot": ("GetSnapshot", at("snap"), 200),
    "a snapshot with a generated name": ("CreateSnapshot", SNAPSHOT, 202),
    "a snapshot of a given name": ("CreateSnapshot", SNAPSHOT | {"name": "another"}, 202),
    "a snapshot deleted": ("DeleteSnapshot", at("snap"), 202),
    "all VPCs": ("GetVpcs", {}, 200),
    "VPCs of one cluster, in lower case": ("GetVpcs", {"cluster": "Msc1"}, 200),
    "one VPC": ("GetVpc", {"Id": "vpc-101", "Cluster": "Msc1"}, 200),
    "a VPC": ("CreateVpc", {"name": "acme-train", "cluster": "Msc1"}, 200),
    "a VPC that blocks": ("CreateVpc", {"name": "acme-b", "cluster": "Msc1", "blockIntraVpcComms": True}, 200),
    "a VPC that is not the default": ("CreateVpc", {"name": "acme-c", "cluster": "Msc1", "isDefault": False}, 200),
    "a login": ("Authenticate", LOGIN, 200),
    "a login by e-mail address": ("Authenticate", LOGIN | {"userNameOrEmailAddress": "ann@acme.example"}, 200),
    "a login with everything": ("Authenticate", LOGIN | {"rememberClient": True, "twoFactorVerificationCode": "0"}, 200),
}


def what_it_proves(operation, parameters, _status, *more):
    """The operation answers where the specification has it, and does without what this request leaves out."""
    everything = {name for row in VALID.values() if row[0] == operation for name in row[1]}
    return (operation, *more, *(f"{operation}.{name}:optional" for name in sorted(everything - set(parameters))))


@pytest.mark.parametrize(
    ("operation", "parameters", "status"),
    [pytest.param(*row[:3], id=why, marks=pytest.mark.proves(*what_it_proves(*row))) for why, row in VALID.items()],
)
async def test_sim_a_valid_request_is_answered(cloud, operation, parameters, status):
    answer = await cloud.call(operation, **parameters)
    assert answer.status == status, answer.text


async def test_sim_a_member_nobody_knows_is_ignored(cloud):
    assert (await cloud.call("CreateServer", **SERVER, colour="blue")).status == 202


async def test_sim_a_repeated_query_parameter_counts_by_its_first_value():
    cloud = Cloud()
    await cloud.create(cluster="Hou1")
    request = Request(
        "GET",
        "/api/v1/servers/virtual/GetServers",
        (("Cluster", "Hou1"), ("Cluster", "Msc1")),
        (("authorization", f"ApiKey {KEY}"),),
    )
    assert b'"Hou1"' in (await cloud.sim.handle(request)).body
