"""What each operation takes and refuses. Each row says why, and after that what of the specification it proves."""

import pytest

from gpucloud.sim import Request
from simulator.test_sim_client import IN_QUERY, KEY, VM_TYPE, Cloud, at, of

SERVER = {"vpc": "acme", "configuration": VM_TYPE, "cluster": "Msc1", "ssh_keys": ["ssh-ed25519 A"]}
SNAPSHOT = {"namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
HOST = {"id": "bm-128", "cluster": "Msc1"}
LOGIN = {"userNameOrEmailAddress": "ann", "password": "made-up-p4ssphrase"}
NEW_VPC = {"name": "acme-x", "cluster": "Msc1"}
TEXTS_OF_A_SERVER = (
    "rpool",
    "vpc",
    "configuration",
    "cluster",
    "snapshotName",
    "tenantCustomImageFileName",
    "operatingSystemImage",
    "personalStorageMountPath",
    "tenantSharedAdditionalStorage",
    "directStorageMountPath",
    "selectedNode",
)


@pytest.fixture
async def cloud():
    """A cloud with one ONLINE machine named vm and its ready snapshot named snap."""
    cloud = Cloud()
    await cloud.online()
    await cloud.ready_snapshot()
    return cloud


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


def without(values, name):
    return {key: value for key, value in values.items() if key != name}


# why -> (operation, parameters, the member complained about, what it proves)
INVALID = {
    f"{operation} needs {member}": (
        operation,
        without(values, member),
        member,
        f"{operation}.{member}:required",
        *(["general:3"] if operation in IN_QUERY else []),
    )
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
        "CreateSnapshot": {"namespace": "acme", "cluster": "Msc1"},
        "CreateVpc": {"name": "acme-x", "cluster": "Msc1"},
        "Authenticate": LOGIN,
        "RefreshToken": {"refreshToken": "x"},
    }.items()
    for member in values
} | {
    "query names are case-sensitive": (
        "GetServer",
        {"id": "vm", "namespace": "acme", "cluster": "Msc1"},
        "Cluster",
        "general:case",
    ),
    "GetAvailability spells cluster in lower case": ("GetAvailability", {"Cluster": "Msc1"}, "cluster", "general:case"),
    "an empty required query parameter": ("GetServer", at(""), "Id"),
    "DeleteSnapshots is a boolean": (
        "DestroyServer",
        at() | {"DeleteSnapshots": "maybe"},
        "DeleteSnapshots",
        "DestroyServer.DeleteSnapshots",
    ),
    "Limit below 1": (
        "GetVirtualMachineBootLogs",
        at() | {"Limit": "0"},
        "Limit",
        "GetVirtualMachineBootLogs.Limit:min-1",
        "limit:boot-log",
    ),
    "Limit above 10000": (
        "GetVirtualMachineBootLogs",
        at() | {"Limit": "10001"},
        "Limit",
        "GetVirtualMachineBootLogs.Limit:max-10000",
        "limit:boot-log",
    ),
    "Limit is a number": ("GetVirtualMachineBootLogs", at() | {"Limit": "many"}, "Limit", "GetVirtualMachineBootLogs.Limit"),
    "reportNodes is a boolean": (
        "GetAvailability",
        {"cluster": "Msc1", "reportNodes": "x"},
        "reportNodes",
        "GetAvailability.reportNodes",
    ),
    "a name of 53 characters": (
        "CreateServer",
        SERVER | {"name": "n" * 53},
        "name",
        "CreateServer.name:max-52",
        "limit:vm-name",
    ),
    "an empty vpc": ("CreateServer", SERVER | {"vpc": ""}, "vpc", "CreateServer.vpc:min-length-1"),
    "no ssh key at all": ("CreateServer", SERVER | {"ssh_keys": []}, "ssh_keys", "CreateServer.ssh_keys:min-items-1"),
    "an ssh key that is no text": ("CreateServer", SERVER | {"ssh_keys": [1]}, "ssh_keys.0", "CreateServer.ssh_keys"),
    "a null for an optional member": ("CreateServer", SERVER | {"rpool": None}, "rpool"),
    "a null for an optional list": ("CreateServer", SERVER | {"blockStorageNames": None}, "blockStorageNames"),
    "a number for a text": ("CreateServer", SERVER | {"name": 5}, "name", "CreateServer.name"),
    "a text for a boolean": (
        "CreateServer",
        SERVER | {"persistStorage": "true"},
        "persistStorage",
        "CreateServer.persistStorage",
    ),
    "a disk that is no int32": (
        "CreateServer",
        SERVER | {"rootDiskSize": 2**31},
        "rootDiskSize",
        "CreateServer.rootDiskSize:int32",
    ),
    "a disk of fractions": ("CreateServer", SERVER | {"rootDiskSize": 1.5}, "rootDiskSize", "CreateServer.rootDiskSize"),
    "a disk of nothing": ("CreateServer", SERVER | {"rootDiskSize": 0}, "rootDiskSize"),
    "body names are not those of the query": ("StopServer", {"Id": "vm", "Namespace": "acme", "cluster": "Msc1"}, "id"),
    **{
        f"{operation} with an empty {member}": (operation, values | {member: ""}, member, f"{operation}.{member}:min-length-1")
        for operation, values, members in [
            ("CreateServer", SERVER, ("configuration", "cluster")),
            ("StartServer", of(), ("namespace", "cluster")),
            ("StopServer", of(), ("id", "namespace", "cluster")),
            ("CreateSnapshot", SNAPSHOT, ("namespace", "cluster")),
        ]
        for member in members
    },
    **{
        f"{operation}: {member} is {kind}": (operation, values | {member: wrong}, member, f"{operation}.{member}")
        for operation, values, members, kind, wrong in [
            ("CreateServer", SERVER, TEXTS_OF_A_SERVER, "a text", 5),
            ("CreateServer", SERVER, ("blockStorageNames",), "a list", "volume-1"),
            ("CreateSnapshot", SNAPSHOT, ("name", "namespace", "cluster", "sourceVMName"), "a text", 5),
            ("CreateVpc", NEW_VPC, ("name", "cluster"), "a text", 5),
            ("CreateVpc", NEW_VPC, ("blockIntraVpcComms", "isDefault"), "a boolean", "true"),
            ("ReprovisionHost", HOST, ("id", "cluster", "imageUrl", "imageChecksum", "cloudInitBase64"), "a text", 5),
            ("RebootHost", HOST, ("id", "cluster"), "a text", 5),
            ("StartServer", of(), ("id", "namespace", "cluster"), "a text", 5),
            ("StopServer", of(), ("id", "namespace", "cluster"), "a text", 5),
            ("Authenticate", LOGIN, ("userNameOrEmailAddress", "password", "twoFactorVerificationCode"), "a text", 5),
            ("Authenticate", LOGIN, ("rememberClient",), "a boolean", "true"),
        ]
        for member in members
    },
    "an empty id": ("StartServer", of(""), "id", "StartServer.id:min-length-1"),
    "a null for a snapshot's name": ("CreateSnapshot", SNAPSHOT | {"name": None}, "name"),
    "a null image": ("ReprovisionHost", HOST | {"imageUrl": None}, "imageUrl"),
    "a VPC without its tenant's name": (
        "CreateVpc",
        {"name": "train", "cluster": "Msc1"},
        "name",
        "CreateVpc.name:tenant-prefix",
    ),
    "a VPC named as the tenant, not default": (
        "CreateVpc",
        {"name": "acme", "cluster": "Msc1"},
        "name",
        "CreateVpc.name:tenant-prefix",
        "CreateVpc.isDefault:default-false",
    ),
    "a VPC of tenant and hyphen only": (
        "CreateVpc",
        {"name": "acme-", "cluster": "Msc1"},
        "name",
        "CreateVpc.name:tenant-prefix",
    ),
    "a VPC whose name only begins alike": (
        "CreateVpc",
        {"name": "acmeister", "cluster": "Msc1"},
        "name",
        "CreateVpc.name:tenant-prefix",
    ),
    "a default VPC of another name": (
        "CreateVpc",
        {"name": "acme-x", "cluster": "Msc1", "isDefault": True},
        "name",
        "CreateVpc.name:default-is-tenant",
    ),
    "a name of more than 256 characters": (
        "Authenticate",
        LOGIN | {"userNameOrEmailAddress": "a" * 257},
        None,
        "Authenticate.userNameOrEmailAddress:max-256",
    ),
    "a password of more than 128 characters": (
        "Authenticate",
        LOGIN | {"password": "p" * 129},
        "password",
        "Authenticate.password:max-128",
    ),
}


@pytest.mark.parametrize(
    ("operation", "parameters", "member"),
    [pytest.param(*row[:3], id=why, marks=pytest.mark.proves(*row[3:])) for why, row in INVALID.items()],
)
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


# Names that fit but stand for nothing; after the member complained about, what a row proves.
UNKNOWN = {
    "cluster": ("CreateServer", SERVER | {"cluster": "Oslo"}, "cluster", "CreateServer.cluster:listed"),
    "configuration": ("CreateServer", SERVER | {"configuration": "Z80"}, "configuration", "CreateServer.configuration:listed"),
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
@pytest.mark.parametrize(
    ("operation", "parameters", "member"),
    [pytest.param(*row[:3], id=why, marks=pytest.mark.proves(*row[3:])) for why, row in UNKNOWN.items()],
)
async def test_sim_an_unknown_reference_is_refused_with_the_knob_s_status(operation, parameters, member, status):
    cloud = Cloud(unknown_reference_status=status)
    answer = await cloud.call(operation, **parameters)
    assert answer.status == status
    if member is not None:
        assert answer.members == [member]


@pytest.mark.proves("CreateServer.selectedNode:pools")
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


@pytest.mark.proves("open:vm-errors")
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
