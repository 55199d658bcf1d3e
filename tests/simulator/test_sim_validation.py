"""What each operation takes and refuses. Each row says why."""

import pytest

from gpucloud.sim import Request
from simulator.test_sim_client import KEY, VM_TYPE, Cloud, at, of

SERVER = {"vpc": "acme", "configuration": VM_TYPE, "cluster": "Msc1", "ssh_keys": ["ssh-ed25519 A"]}
SNAPSHOT = {"namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
HOST = {"id": "bm-128", "cluster": "Msc1"}
LOGIN = {"userNameOrEmailAddress": "ann", "password": "made-up-password"}


@pytest.fixture
async def cloud():
    """A cloud with one ONLINE machine named vm and its ready snapshot named snap."""
    cloud = Cloud()
    await cloud.online()
    await cloud.ready_snapshot()
    return cloud


VALID = {
    "clusters need no parameters": ("GetAll", {}, 200),
    "VMs of all clusters": ("GetServers", {}, 200),
    "VMs of one cluster": ("GetServers", {"Cluster": "Hou1"}, 200),
    "one VM": ("GetServer", at(), 200),
    "the least that CreateServer takes": ("CreateServer", SERVER, 202),
    "a name of 52 characters": ("CreateServer", SERVER | {"name": "n" * 52}, 202),
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
    "a member nobody knows is ignored": ("CreateServer", SERVER | {"colour": "blue"}, 202),
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
    "boot logs, the least": ("GetVirtualMachineBootLogs", at() | {"Limit": "1"}, 200),
    "boot logs, the most": ("GetVirtualMachineBootLogs", at() | {"Limit": "10000"}, 200),
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
    "a snapshot deleted": ("DeleteSnapshot", at("snap"), 202),
    "all VPCs": ("GetVpcs", {}, 200),
    "VPCs of one cluster, in lower case": ("GetVpcs", {"cluster": "Msc1"}, 200),
    "one VPC": ("GetVpc", {"Id": "vpc-101", "Cluster": "Msc1"}, 200),
    "a VPC": ("CreateVpc", {"name": "acme-train", "cluster": "Msc1"}, 200),
    "a VPC that blocks": ("CreateVpc", {"name": "acme-b", "cluster": "Msc1", "blockIntraVpcComms": True}, 200),
    "a login": ("Authenticate", LOGIN, 200),
    "a login by e-mail address": ("Authenticate", LOGIN | {"userNameOrEmailAddress": "ann@acme.example"}, 200),
}


@pytest.mark.parametrize(("operation", "parameters", "status"), VALID.values(), ids=VALID.keys())
async def test_sim_a_valid_request_is_answered(cloud, operation, parameters, status):
    answer = await cloud.call(operation, **parameters)
    assert answer.status == status, answer.text


def without(values, name):
    return {key: value for key, value in values.items() if key != name}


# why -> (operation, parameters, the member complained about)
INVALID = {
    f"{operation} needs {member}": (operation, without(values, member), member)
    for operation, values in {
        "GetServer": at(),
        "DestroyServer": at(),
        "GetSnapshot": at("snap"),
        "DeleteSnapshot": at("snap"),
        "GetVirtualMachineBootLogs": at() | {"Limit": "5"},
        "GetAvailability": {"cluster": "Msc1"},
        "GetHost": {"Id": "bm-128", "Cluster": "Msc1"},
        "GetVpc": {"Id": "vpc-101", "Cluster": "Msc1"},
        "DestroyVpc": {"Id": "vpc-101", "Cluster": "Msc1"},
        "CreateServer": SERVER,
        "StartServer": of(),
        "StopServer": of(),
        "RebootHost": HOST,
        "ReprovisionHost": HOST,
        "CreateSnapshot": SNAPSHOT,
        "CreateVpc": {"name": "acme-x", "cluster": "Msc1"},
        "Authenticate": LOGIN,
        "RefreshToken": {"refreshToken": "x"},
    }.items()
    for member in values
} | {
    "query names are case-sensitive": ("GetServer", {"id": "vm", "namespace": "acme", "cluster": "Msc1"}, "Cluster"),
    "GetAvailability spells cluster in lower case": ("GetAvailability", {"Cluster": "Msc1"}, "cluster"),
    "an empty required query parameter": ("GetServer", at(""), "Id"),
    "DeleteSnapshots is a boolean": ("DestroyServer", at() | {"DeleteSnapshots": "maybe"}, "DeleteSnapshots"),
    "Limit below 1": ("GetVirtualMachineBootLogs", at() | {"Limit": "0"}, "Limit"),
    "Limit above 10000": ("GetVirtualMachineBootLogs", at() | {"Limit": "10001"}, "Limit"),
    "Limit is a number": ("GetVirtualMachineBootLogs", at() | {"Limit": "many"}, "Limit"),
    "reportNodes is a boolean": ("GetAvailability", {"cluster": "Msc1", "reportNodes": "x"}, "reportNodes"),
    "a name of 53 characters": ("CreateServer", SERVER | {"name": "n" * 53}, "name"),
    "an empty vpc": ("CreateServer", SERVER | {"vpc": ""}, "vpc"),
    "no ssh key at all": ("CreateServer", SERVER | {"ssh_keys": []}, "ssh_keys"),
    "an ssh key that is no text": ("CreateServer", SERVER | {"ssh_keys": [1]}, "ssh_keys.0"),
    "a null for an optional member": ("CreateServer", SERVER | {"rpool": None}, "rpool"),
    "a null for an optional list": ("CreateServer", SERVER | {"blockStorageNames": None}, "blockStorageNames"),
    "a number for a text": ("CreateServer", SERVER | {"name": 5}, "name"),
    "a text for a boolean": ("CreateServer", SERVER | {"persistStorage": "true"}, "persistStorage"),
    "a disk that is no int32": ("CreateServer", SERVER | {"rootDiskSize": 2**31}, "rootDiskSize"),
    "a disk of fractions": ("CreateServer", SERVER | {"rootDiskSize": 1.5}, "rootDiskSize"),
    "a disk of nothing": ("CreateServer", SERVER | {"rootDiskSize": 0}, "rootDiskSize"),
    "body names are not those of the query": ("StopServer", {"Id": "vm", "Namespace": "acme", "cluster": "Msc1"}, "id"),
    "an empty id": ("StartServer", of(""), "id"),
    "a null for a snapshot's name": ("CreateSnapshot", SNAPSHOT | {"name": None}, "name"),
    "a null image": ("ReprovisionHost", HOST | {"imageUrl": None}, "imageUrl"),
    "a VPC without its tenant's name": ("CreateVpc", {"name": "train", "cluster": "Msc1"}, "name"),
    "a VPC named as the tenant, not default": ("CreateVpc", {"name": "acme", "cluster": "Msc1"}, "name"),
    "a VPC of tenant and hyphen only": ("CreateVpc", {"name": "acme-", "cluster": "Msc1"}, "name"),
    "a VPC whose name only begins alike": ("CreateVpc", {"name": "acmeister", "cluster": "Msc1"}, "name"),
    "a default VPC of another name": ("CreateVpc", {"name": "acme-x", "cluster": "Msc1", "isDefault": True}, "name"),
    "a name of more than 256 characters": ("Authenticate", LOGIN | {"userNameOrEmailAddress": "a" * 257}, None),
    "a password of more than 128 characters": ("Authenticate", LOGIN | {"password": "p" * 129}, "password"),
}


@pytest.mark.parametrize(("operation", "parameters", "member"), INVALID.values(), ids=INVALID.keys())
async def test_sim_an_invalid_request_is_400_and_names_the_member(cloud, operation, parameters, member):
    before = (await cloud.control("world")).data
    answer = await cloud.call(operation, **parameters)
    assert answer.status == 400, answer.text
    assert answer.data["success"] is False
    if member is not None:
        assert member in answer.members
    assert (await cloud.control("world")).data == before


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"null", "application/json", 400),
        (b'{"name": NaN}', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"name": "\\ud800"}', "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
    ],
    ids=["none", "broken", "list", "null", "NaN", "not UTF-8", "nested", "lone surrogate", "text", "untyped"],
)
async def test_sim_a_body_that_is_no_json_object_is_refused(body, content_type, status):
    headers = [("authorization", f"ApiKey {KEY}"), ("content-type", content_type)]
    answer = await Cloud().send("POST", "/api/v1/servers/virtual/CreateServer", body=body, headers=headers)
    assert answer.status == status


# Names that fit but stand for nothing.
UNKNOWN = {
    "cluster": ("CreateServer", SERVER | {"cluster": "Oslo"}, "cluster"),
    "configuration": ("CreateServer", SERVER | {"configuration": "Z80"}, "configuration"),
    "configuration not offered in the cluster": (
        "CreateServer",
        SERVER | {"configuration": "H100_80GB_SXM_8x"},
        "configuration",
    ),
    "vpc": ("CreateServer", SERVER | {"vpc": "acme-none"}, "vpc"),
    "vpc of another tenant": ("CreateServer", SERVER | {"vpc": "globex"}, "vpc"),
    "image": ("CreateServer", SERVER | {"operatingSystemImage": "OS/2"}, "operatingSystemImage"),
    "custom image": ("CreateServer", SERVER | {"tenantCustomImageFileName": "no.qcow2"}, "tenantCustomImageFileName"),
    "snapshot": ("CreateServer", SERVER | {"snapshotName": "none"}, None),
    "pool": ("CreateServer", SERVER | {"rpool": "reserved-globex"}, "rpool"),
    "node": ("CreateServer", SERVER | {"rpool": "reserved-acme", "selectedNode": "n"}, "selectedNode"),
    "cluster of a listing": ("GetServers", {"Cluster": "Oslo"}, "Cluster"),
    "cluster of availability": ("GetAvailability", {"cluster": "Oslo"}, "cluster"),
    "cluster of hosts": ("GetHosts", {"Cluster": "Oslo"}, "Cluster"),
    "cluster of VPCs": ("GetVpcs", {"cluster": "Oslo"}, "cluster"),
    "cluster of a new VPC": ("CreateVpc", {"name": "acme-x", "cluster": "Oslo"}, "cluster"),
}


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(("operation", "parameters", "member"), UNKNOWN.values(), ids=UNKNOWN.keys())
async def test_sim_an_unknown_reference_is_refused_with_the_knob_s_status(operation, parameters, member, status):
    cloud = Cloud(unknown_reference_status=status)
    answer = await cloud.call(operation, **parameters)
    assert answer.status == status
    if member is not None:
        assert answer.members == [member]


async def test_sim_a_node_is_selected_in_reserved_pools_only():
    answer = await Cloud().create(rpool="on-demand", selectedNode="msc1-reserved-acme-1")
    assert (answer.status, answer.members) == (400, ["selectedNode"])


MISSING = {
    "GetServer": ("GetServer", at("gone")),
    "GetServer in another VPC": ("GetServer", at("gone", "acme-x")),
    "StartServer": ("StartServer", of("gone")),
    "StopServer": ("StopServer", of("gone")),
    "DestroyServer": ("DestroyServer", at("gone")),
    "boot logs": ("GetVirtualMachineBootLogs", at("gone") | {"Limit": "9"}),
}
MISSING_OTHER = {
    "GetSnapshot": ("GetSnapshot", at("gone")),
    "DeleteSnapshot": ("DeleteSnapshot", at("gone")),
    "GetVpc": ("GetVpc", {"Id": "gone", "Cluster": "Msc1"}),
    "DestroyVpc": ("DestroyVpc", {"Id": "gone", "Cluster": "Msc1"}),
    "GetHost": ("GetHost", {"Id": "gone", "Cluster": "Msc1"}),
    "RebootHost": ("RebootHost", {"id": "gone", "cluster": "Msc1"}),
    "ReprovisionHost": ("ReprovisionHost", {"id": "gone", "cluster": "Msc1"}),
    "a snapshot's source": ("CreateSnapshot", SNAPSHOT | {"sourceVMName": "gone"}),
}


@pytest.mark.parametrize("status", [404, 400, 500])
@pytest.mark.parametrize(("operation", "parameters"), MISSING.values(), ids=MISSING.keys())
async def test_sim_a_missing_vm_is_told_by_its_text(operation, parameters, status):
    answer = await Cloud(missing_vm_status=status).call(operation, **parameters)
    assert (answer.status, answer.message) == (status, '"gone" not found')


@pytest.mark.parametrize("status", [400, 404, 500])
@pytest.mark.parametrize(("operation", "parameters"), MISSING_OTHER.values(), ids=MISSING_OTHER.keys())
async def test_sim_anything_else_missing_is_told_by_its_text(operation, parameters, status):
    answer = await Cloud(missing_other_status=status).call(operation, **parameters)
    assert (answer.status, answer.message) == (status, '"gone" not found')


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
