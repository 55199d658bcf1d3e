"""What the client sends for every operation of the specification, and what it refuses."""

import json

import pytest
from pydantic import ValidationError

from gpucloud.cloud import ApiKey, CloudClient, CloudError, CreateServer, ErrorKind
from gpucloud.cloud.calls import get_boot_logs
from gpucloud.cloud.reader import CloudReader
from support.cloudcalls import (
    ANY_ANSWER,
    BARE_VM,
    BY_QUERY,
    KEYED,
    OPERATIONS,
    UNSIGNED,
    WHOLE,
    invoke,
    operation_of,
    parameter_of,
)
from unit.cloud.fakes import KEY, Rig, plain


def what_it_proves(name, _arguments, _method, path, query, body):
    """Method and path, the place and name of every parameter that is sent, and that the others may be left out."""
    operation = operation_of(name)
    assert path.endswith(f"/{operation}")
    sent = set(query) | set(body or {})
    everything = {member for row in OPERATIONS if row[0] == name for member in (*row[4], *(row[5] or {}))}
    shared = (
        ("version:logins", "auth:1.none")
        if name in UNSIGNED
        else ("version:path", "general:credential", "auth:1.key", "auth:2.space", "auth:3", "auth:key.header")
    )
    own = (f"{operation}.{member}" for member in sorted(sent))
    optional = (f"{operation}.{member}:optional" for member in sorted(everything - sent))
    return (operation, *own, *optional, *shared, *(["general:case"] if query else []))


@pytest.mark.parametrize(
    ("name", "arguments", "method", "path", "query", "body"),
    [
        pytest.param(*row, id=f"{row[0]}, {len(row[1])} arguments", marks=pytest.mark.proves(*what_it_proves(*row)))
        for row in OPERATIONS
    ],
)
async def test_an_operation_sends_exactly_what_the_specification_says(name, arguments, method, path, query, body):
    rig = Rig(lambda _: plain(["Msc1"] if name == "get_all_clusters" else ANY_ANSWER))
    async with rig.client as client:
        await invoke(client, name, arguments)
    (request,) = rig.cloud.requests
    assert (request.method, request.url.path) == (method, path)
    assert dict(request.url.params) == query
    assert (json.loads(request.content) if request.content else None) == body
    assert request.headers.get("Authorization") == (None if name in UNSIGNED else f"ApiKey {KEY}")
    assert KEY not in str(request.url)


def test_the_table_covers_every_public_operation():
    plumbing = {"aclose", "budget_left", "is_closed", "run", "token_expires_in", "wait_for"}
    public = {name for name in dir(CloudClient) if not name.startswith("_")} - plumbing
    assert public == {row[0] for row in OPERATIONS}


def test_what_is_handed_out_as_a_reader_has_no_operation_that_changes_anything():
    """A function that takes a CloudReader may be given any class that derives from it."""
    for one in (CloudReader, *CloudReader.__subclasses__()):
        changing = {name for name, _, method, *_ in OPERATIONS if method != "GET" and hasattr(one, name)}
        assert changing == set(), one.__name__


@pytest.mark.proves(
    "GetVirtualMachineBootLogs.Limit:required", "GetVirtualMachineBootLogs.Limit:default-2000", "limit:boot-log"
)
async def test_a_boot_log_is_never_asked_for_without_a_limit():
    rig = Rig(lambda _: plain(ANY_ANSWER))
    async with rig.client as client:
        await client.get_boot_logs(**WHOLE)
    assert rig.cloud.requests[0].url.params["Limit"] == get_boot_logs(**WHOLE).params["Limit"] == "2000"


@pytest.mark.proves("GetVirtualMachineBootLogs.Limit:min-1", "GetVirtualMachineBootLogs.Limit:max-10000", "limit:boot-log")
@pytest.mark.parametrize("limit", [1, 10_000])
async def test_the_least_and_the_greatest_limit_are_sent(limit):
    rig = Rig(lambda _: plain(ANY_ANSWER))
    async with rig.client as client:
        await client.get_boot_logs(**WHOLE, limit=limit)
    assert rig.cloud.requests[0].url.params["Limit"] == str(limit)


@pytest.mark.proves("open:images")
async def test_however_many_images_are_named_all_are_sent_for_the_service_to_judge():
    images = {"snapshot_name": "s1", "tenant_custom_image_file_name": "i.qcow2", "operating_system_image": "Debian 12"}
    rig = Rig(lambda _: plain(ANY_ANSWER))
    async with rig.client as client:
        await client.create_server(CreateServer(**BARE_VM, **images))
    sent = json.loads(rig.cloud.requests[0].content)
    assert [sent[name] for name in ("snapshotName", "tenantCustomImageFileName", "operatingSystemImage")] == [
        "s1",
        "i.qcow2",
        "Debian 12",
    ]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.proves(f"CreateServer.{name}:required"))
        for name in ("vpc", "configuration", "cluster", "ssh_keys")
    ],
)
def test_a_server_without_a_required_member_cannot_be_described(name):
    with pytest.raises(ValidationError, match=name):
        CreateServer(**{key: value for key, value in BARE_VM.items() if key != name})


def without(arguments, name):
    return arguments | {name: ""}


# method, arguments, words of the refusal, what it proves
REFUSED = [
    *[
        (
            operation,
            without(WHOLE, name),
            name,
            *(() if operation in BY_QUERY else (f"{parameter_of(operation, name)}:min-length-1",)),
        )
        for operation in (
            "get_server",
            "start_server",
            "stop_server",
            "destroy_server",
            "get_boot_logs",
            "get_snapshot",
            "delete_snapshot",
        )
        for name in WHOLE
    ],
    *[
        (operation, without(KEYED, name), name)
        for operation in ("get_host", "reboot_host", "reprovision_host", "get_vpc", "destroy_vpc")
        for name in KEYED
    ],
    *[
        ("create_server", without(BARE_VM, name), name, f"CreateServer.{name}:min-length-1")
        for name in ("vpc", "configuration", "cluster")
    ],
    ("create_server", BARE_VM | {"ssh_keys": ()}, "ssh_keys", "CreateServer.ssh_keys:min-items-1"),
    ("create_server", BARE_VM | {"name": "n" * 53}, "52", "CreateServer.name:max-52", "limit:vm-name"),
    ("create_server", BARE_VM | {"name": ""}, "name"),
    ("create_server", BARE_VM | {"root_disk_size": 0}, "root_disk_size"),
    ("create_server", BARE_VM | {"root_disk_size": 2**31}, "root_disk_size", "CreateServer.rootDiskSize:int32"),
    ("get_availability", {"cluster": ""}, "cluster"),
    ("get_boot_logs", WHOLE | {"limit": 0}, "10000", "GetVirtualMachineBootLogs.Limit:min-1", "limit:boot-log"),
    ("get_boot_logs", WHOLE | {"limit": 10001}, "10000", "GetVirtualMachineBootLogs.Limit:max-10000", "limit:boot-log"),
    ("create_snapshot", {"namespace": "", "cluster": "Msc1"}, "namespace", "CreateSnapshot.namespace:min-length-1"),
    ("create_snapshot", {"namespace": "acme", "cluster": ""}, "cluster", "CreateSnapshot.cluster:min-length-1"),
    ("create_vpc", {"name": "", "cluster": "Msc1"}, "name"),
    ("create_vpc", {"name": "acme", "cluster": ""}, "cluster"),
    ("authenticate", {"username": "", "password": "pw-0000"}, "username"),
    ("authenticate", {"username": "u" * 257, "password": "pw-0000"}, "256", "Authenticate.userNameOrEmailAddress:max-256"),
    ("authenticate", {"username": "ann", "password": ""}, "password"),
    ("authenticate", {"username": "ann", "password": "p" * 129}, "128", "Authenticate.password:max-128"),
    ("refresh_token", {"refresh_token": ""}, "refresh_token"),
    ("get_server", WHOLE | {"id": None}, "id must be text"),
    ("get_servers", {"cluster": "\ud800"}, "Unicode"),
    ("create_vpc", {"name": "\ud800", "cluster": "Msc1"}, "Unicode"),
]
# method -> its required arguments, each of which is left out in turn
REQUIRED = {
    **dict.fromkeys(("get_server", "destroy_server", "get_boot_logs", "get_snapshot", "delete_snapshot"), WHOLE),
    **dict.fromkeys(("start_server", "stop_server"), WHOLE),
    **dict.fromkeys(("get_host", "get_vpc", "destroy_vpc", "reboot_host", "reprovision_host"), KEYED),
    "get_availability": {"cluster": "Msc1"},
    "create_snapshot": {"namespace": "acme", "cluster": "Msc1"},
    "create_vpc": {"name": "acme-x", "cluster": "Msc1"},
}
# Those whose names on the wire are not the Python ones.
RENAMED = [
    ("authenticate", {"username": None, "password": "pw-0000"}, "username", "Authenticate.userNameOrEmailAddress:required"),
    ("authenticate", {"username": "ann", "password": None}, "password", "Authenticate.password:required"),
    ("refresh_token", {"refresh_token": None}, "refresh_token", "RefreshToken.refreshToken:required", "general:3"),
]
LEFT_OUT = RENAMED + [
    (
        name,
        arguments | {argument: None},
        argument,
        f"{parameter_of(name, argument)}:required",
        *(["general:3"] if name in BY_QUERY else []),
    )
    for name, arguments in REQUIRED.items()
    for argument in arguments
]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        pytest.param(*row[:3], id=f"{row[0]}{breaks} {row[2]}", marks=pytest.mark.proves(*row[3:]))
        for breaks, rows in ((":", REFUSED), (" without", LEFT_OUT))
        for row in rows
    ],
)
async def test_what_breaks_a_rule_is_refused_before_anything_is_sent(name, arguments, said):
    rig = Rig(lambda _: plain(ANY_ANSWER))
    async with rig.client as client:
        with pytest.raises(CloudError, match=said) as caught:
            await invoke(client, name, arguments)
    assert (caught.value.kind, caught.value.status, caught.value.ambiguous) == (ErrorKind.INVALID, None, False)
    assert rig.cloud.requests == []


async def test_a_base_url_may_have_a_prefix():
    rig = Rig(lambda _: plain([]))
    client = CloudClient("http://127.0.0.1:9/gpu/", ApiKey(KEY), transport=rig.cloud)
    async with client:
        await client.get_all_clusters()
    assert rig.cloud.requests[0].url.path == "/gpu/api/v1/clusters/GetAll"
