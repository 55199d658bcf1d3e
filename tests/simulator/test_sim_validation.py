"""What each operation refuses. Each row says why, and after that what of the specification it proves."""

import pytest

from simulator.test_sim_client import IN_QUERY, KEY, Cloud, at, of
from support.simrequests import HOST, LOGIN, SERVER, SNAPSHOT

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
