"""What the specification says that each operation answers, in success and in failure, and what a caller gets of it."""

import pytest

from gpucloud.cloud import (
    AvailabilityRecord,
    BootLogRecord,
    CloudError,
    ConfigurationRecord,
    DeletedSnapshot,
    ErrorKind,
    HostRecord,
    Listing,
    LoginResult,
    OperationResult,
    SnapshotRecord,
    VmRecord,
    VpcRecord,
)
from support.cloudcalls import OPERATIONS, invoke, operation_of
from unit.cloud.fakes import LOGIN as ACCOUNT
from unit.cloud.fakes import Rig, in_turn, plain, refusal, token

VM = (
    {"id": "vm-1", "namespace": "acme", "cluster": "Msc1", "status": "PENDING"},
    VmRecord(id="vm-1", namespace="acme", cluster="Msc1", status="PENDING"),
)
RESULT = {"id": "vm-1", "cluster": "Msc1", "status": "PENDING"}, OperationResult(id="vm-1", cluster="Msc1", status="PENDING")
OFFER = {"name": "A100", "price": 2.05}, ConfigurationRecord(name="A100", price=2.05)
PLACE = {"configuration": "A100", "count": 3}, AvailabilityRecord(configuration="A100", count=3)
LOG = {"id": "vm-1", "bootLogs": "one\ntwo"}, BootLogRecord(id="vm-1", boot_logs="one\ntwo")
HOST = {"id": "bm-128", "poweredOn": True}, HostRecord(id="bm-128", powered_on=True)
SNAPSHOT = {"id": "s1", "readyToUse": False}, SnapshotRecord(id="s1", ready_to_use=False)
VPC = {"id": "vpc-1", "isDefault": False}, VpcRecord(id="vpc-1", is_default=False)
LOGIN = (
    {"accessToken": "made-up-token", "expireInSeconds": 86400},
    LoginResult(access_token="made-up-token", expire_in_seconds=86400),
)


def several(pair):
    return {"items": [pair[0], pair[0]]}, Listing((pair[1], pair[1]))


# operation -> status, what is answered and what a caller gets
ANSWERS = {
    "GetAll": (200, (["Msc1", "Hou1"], ("Msc1", "Hou1"))),
    "GetServers": (200, several(VM)),
    "GetServer": (200, VM),
    "CreateServer": (202, VM),
    "StartServer": (202, RESULT),
    "StopServer": (202, RESULT),
    "DestroyServer": (202, RESULT),
    "GetConfigurations": (200, several(OFFER)),
    "GetAvailability": (200, several(PLACE)),
    "GetVirtualMachineBootLogs": (200, LOG),
    "GetHost": (200, HOST),
    "GetHosts": (200, several(HOST)),
    "RebootHost": (200, HOST),
    "ReprovisionHost": (200, HOST),
    "GetSnapshots": (200, several(SNAPSHOT)),
    "GetSnapshot": (200, SNAPSHOT),
    "CreateSnapshot": (202, SNAPSHOT),
    "DeleteSnapshot": (202, ({"id": "s1"}, DeletedSnapshot(id="s1"))),
    "GetVpcs": (200, several(VPC)),
    "GetVpc": (200, VPC),
    "CreateVpc": (200, VPC),
    "DestroyVpc": (200, VPC),
    "Authenticate": (200, LOGIN),
    "RefreshToken": (200, LOGIN),
}
KINDS = {
    400: ErrorKind.INVALID,
    401: ErrorKind.UNAUTHORIZED,
    403: ErrorKind.FORBIDDEN,
    422: ErrorKind.INVALID,
    500: ErrorKind.SERVER,
    503: ErrorKind.UNAVAILABLE,
}
USUAL = (400, 401, 403, 500)
# operation -> the error codes listed for it
ERRORS = {
    **dict.fromkeys(("GetAll", "GetHost", "GetHosts", "GetSnapshots", "GetSnapshot", "DeleteSnapshot"), USUAL),
    **dict.fromkeys(("GetVpcs", "GetVpc", "CreateVpc", "DestroyVpc"), USUAL),
    **dict.fromkeys(("RebootHost", "ReprovisionHost"), (400, 401, 403, 422, 500)),
    "CreateSnapshot": (400, 401, 403, 500, 503),
}
BAREST = {operation_of(row[0]): row for row in reversed(OPERATIONS)}


async def ask(client, operation):
    name, arguments, *_ = BAREST[operation]
    return await invoke(client, name, arguments)


def group_of(operation, status):
    renewal = ["auth:token.renewal"] if operation == "RefreshToken" else []
    login = operation in {"Authenticate", "RefreshToken"}
    return [f"{operation}:answer", *renewal, *([] if login else ["general:1" if status == 202 else "general:2"])]


@pytest.mark.parametrize(
    ("operation", "status", "answer"),
    [
        pytest.param(name, status, answer, id=name, marks=pytest.mark.proves(*group_of(name, status)))
        for name, (status, answer) in ANSWERS.items()
    ],
)
async def test_the_stated_answer_becomes_its_record(operation, status, answer):
    told, expected = answer
    async with Rig(lambda _: plain(told, status)).client as client:
        assert await ask(client, operation) == expected


def test_every_operation_s_answer_is_looked_at():
    assert set(ANSWERS) == set(BAREST)


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        pytest.param(name, status, id=f"{name} {status}", marks=pytest.mark.proves(f"{name}:errors", "errors:names"))
        for name, codes in ERRORS.items()
        for status in codes
    ],
)
async def test_a_listed_error_code_becomes_its_kind(operation, status):
    async with Rig(lambda _: refusal(status, "words of the cloud"), max_retries=0).client as client:
        with pytest.raises(CloudError, match="words of the cloud") as caught:
            await ask(client, operation)
    assert (caught.value.kind, caught.value.status) == (KINDS[status], status)


@pytest.mark.proves("GetAll:content-types")
@pytest.mark.parametrize("media_type", ["text/plain", "application/json", "text/json"])
async def test_the_clusters_are_read_in_each_offered_content_type(media_type):
    answer = plain(["Msc1"], **{"Content-Type": f"{media_type}; charset=utf-8"})
    async with Rig(lambda _: answer).client as client:
        assert await client.get_all_clusters() == ("Msc1",)


@pytest.mark.proves("GetAvailability.reportNodes:uncounted")
@pytest.mark.parametrize("told", [{}, {"count": None, "maxCount": None}], ids=["absent", "null"])
async def test_what_was_not_counted_is_none_and_not_zero(told):
    async with Rig(lambda _: plain({"items": [{"configuration": "A100"} | told]})).client as client:
        (item,) = (await client.get_availability(cluster="Msc1", report_nodes=False)).items
    assert (item.count, item.max_count) == (None, None)


@pytest.mark.proves("auth:token.obtained", "auth:token.header", "general:credential")
@pytest.mark.parametrize("operation", sorted(set(ANSWERS) - {"Authenticate", "RefreshToken"}))
async def test_every_operation_takes_a_login_in_place_of_a_key(operation):
    status, (told, _) = ANSWERS[operation]
    rig = Rig(in_turn(token("made-up-token"), plain(told, status)), credential=ACCOUNT)
    async with rig.client as client:
        await ask(client, operation)
    assert [request.headers.get("Authorization") for request in rig.cloud.requests] == [None, "Bearer made-up-token"]
