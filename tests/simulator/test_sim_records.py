"""The answer of every operation: its stated status, and its record's fields with their names and types, no more and no less."""

import re

import pytest

from simulator.test_sim_client import OPERATIONS, VM_TYPE, Cloud, at, of

# The specification's tables, written out by hand: i integer, n number, b boolean, t date-time, l list of texts, plain: text.
FIELDS = {
    "VmRecord": "id namespace configuration storage:i gpu_type gpus:i vcpus:i memory:i ip privateIp image cluster username "
    "tenancy_name rpool nodeSelector directAttachedStoragePersisted:b storageType rootDiskSize status lastUpdated:t",
    "OperationResult": "id cluster status",
    "ConfigurationRecord": "id:i user_friendly_name name description storage:i type brand_family brand text_name gpus:i "
    "vcpus:i memory:i price:n compute_network is_gpu_platform:b clusters:l",
    "AvailabilityRecord": "configuration cluster rpool price:n available:b count:i maxCount:i availableNodeNames:l",
    "BootLogRecord": "id namespace cluster bootLogs",
    "HostRecord": "id cluster tenancyName nodeType image privateIp publicIp provisionedHostname operationalStatus "
    "poweredOn:b provisioningState",
    "SnapshotRecord": "id namespace sourceName osImage customPackage rootDiskSize creationDate:t username tenancyName "
    "readyToUse:b",
    "DeletedSnapshot": "id",
    "VpcRecord": "id name cluster tenancyName ipRange createdAt:t blockIntraVpcComms:b isDefault:b",
    "LoginResult": "accessToken encryptedAccessToken expireInSeconds:i refreshToken refreshTokenExpireInSeconds:i userId:i "
    "requiresTwoFactorVerification:b shouldResetPassword:b",
    "RefreshResult": "accessToken encryptedAccessToken expireInSeconds:i",
}


FITS = {
    "": lambda value: value is None or isinstance(value, str),
    "i": lambda value: type(value) is int,
    "n": lambda value: type(value) in {int, float},
    "b": lambda value: type(value) is bool,
    "t": lambda value: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value),
    "l": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
}
SERVER = {"vpc": "acme", "configuration": VM_TYPE, "cluster": "Msc1", "ssh_keys": ["ssh-ed25519 A"]}
SNAPSHOT = {"name": "s", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
HOST = {"Id": "bm-128", "Cluster": "Msc1"}
POOL = {"cluster": "Msc1", "resourcePool": "reserved-acme"}
LOGIN = {"userNameOrEmailAddress": "ann", "password": "made-up-p4ssphrase"}

# operation, parameters, status, record, whether it stands in a list named items
ANSWERS = [
    ("GetServers", {}, 200, "VmRecord", True),
    ("GetServer", at(), 200, "VmRecord", False),
    ("CreateServer", SERVER, 202, "VmRecord", False),
    ("StartServer", of(), 202, "OperationResult", False),
    ("StopServer", of(), 202, "OperationResult", False),
    ("DestroyServer", at(), 202, "OperationResult", False),
    ("GetConfigurations", {}, 200, "ConfigurationRecord", True),
    ("GetAvailability", POOL, 200, "AvailabilityRecord", True),
    ("GetVirtualMachineBootLogs", at() | {"Limit": "5"}, 200, "BootLogRecord", False),
    ("GetHost", HOST, 200, "HostRecord", False),
    ("GetHosts", {}, 200, "HostRecord", True),
    ("RebootHost", {"id": "bm-128", "cluster": "Msc1"}, 200, "HostRecord", False),
    ("ReprovisionHost", {"id": "bm-128", "cluster": "Msc1"}, 200, "HostRecord", False),
    ("GetSnapshots", {}, 200, "SnapshotRecord", True),
    ("GetSnapshot", at("snap"), 200, "SnapshotRecord", False),
    ("CreateSnapshot", SNAPSHOT, 202, "SnapshotRecord", False),
    ("DeleteSnapshot", at("snap"), 202, "DeletedSnapshot", False),
    ("GetVpcs", {}, 200, "VpcRecord", True),
    ("GetVpc", {"Id": "vpc-105", "Cluster": "Msc1"}, 200, "VpcRecord", False),
    ("CreateVpc", {"name": "acme-y", "cluster": "Msc1"}, 200, "VpcRecord", False),
    ("DestroyVpc", {"Id": "vpc-105", "Cluster": "Msc1"}, 200, "VpcRecord", False),
]


def fields_of(record):
    return dict(word.partition(":")[::2] for word in FIELDS[record].split())


def what_it_proves(operation, status, record):
    group = "general:1" if status == 202 else "general:2"
    return (operation, f"{operation}:answer", group, *(f"{record}.{name}" for name in fields_of(record)))


def assert_fits(found, record):
    assert sorted(found) == sorted(fields_of(record))
    assert [name for name, form in fields_of(record).items() if not FITS[form](found[name])] == []


@pytest.fixture
async def cloud():
    cloud = Cloud()
    await cloud.call("CreateVpc", name="acme-x", cluster="Msc1")
    await cloud.online()
    await cloud.ready_snapshot()
    return cloud


@pytest.mark.parametrize(
    ("operation", "parameters", "status", "record", "listed"),
    [pytest.param(*row, id=row[0], marks=pytest.mark.proves(*what_it_proves(row[0], row[2], row[3]))) for row in ANSWERS],
)
async def test_sim_an_answer_has_its_stated_status_and_fields(cloud, operation, parameters, status, record, listed):
    answer = await cloud.call(operation, **parameters)
    assert answer.status == status, answer.text
    if listed:
        assert list(answer.data) == ["items"]
        assert answer.items
    for found in answer.items if listed else [answer.data]:
        assert_fits(found, record)


@pytest.mark.proves("GetAll", "GetAll:answer", "general:2")
async def test_sim_clusters_are_an_array_of_names():
    answer = await Cloud().call("GetAll")
    assert (answer.status, answer.data) == (200, ["Msc1", "Hou1"])


@pytest.mark.proves("Authenticate:answer", *(f"LoginResult.{name}" for name in fields_of("LoginResult")))
async def test_sim_a_login_answers_both_tokens():
    answer = await Cloud().call("Authenticate", None, **LOGIN)
    assert answer.status == 200
    assert_fits(answer.data["result"], "LoginResult")


@pytest.mark.proves("RefreshToken:answer", "auth:token.renewal")
async def test_sim_a_refreshed_login_answers_a_new_access_token():
    cloud = Cloud()
    login = (await cloud.call("Authenticate", None, **LOGIN)).data["result"]
    answer = await cloud.call("RefreshToken", None, refreshToken=login["refreshToken"])
    assert answer.status == 200
    assert_fits(answer.data["result"], "RefreshResult")
    assert answer.data["result"]["accessToken"] != login["accessToken"]


@pytest.mark.proves("record:null")
async def test_sim_a_text_that_says_nothing_is_null(cloud):
    assert (await cloud.call("GetServer", **at())).data["nodeSelector"] is None
    assert (await cloud.call("GetSnapshot", **at("snap"))).data["customPackage"] is None


@pytest.mark.proves("record:optional")
async def test_sim_a_field_may_be_left_out(cloud):
    items = (await cloud.call("GetAvailability", cluster="Msc1", resourcePool="on-demand")).items
    assert items
    assert not any("availableNodeNames" in item for item in items)


def test_sim_every_operation_s_answer_is_looked_at():
    assert {row[0] for row in ANSWERS} | {"GetAll", "Authenticate", "RefreshToken"} == set(OPERATIONS)
