"""Every value of every knob does what the reference page says."""

import re
from pathlib import Path

import pytest

from gpucloud.sim import FaultKind, Knobs
from simulator.test_sim_client import VM_TYPE, Cloud, at, of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "simulator.md"
LOGIN = {"userNameOrEmailAddress": "ann", "password": "wrong"}


@pytest.mark.parametrize("name", Knobs.model_fields)
def test_sim_every_knob_is_on_the_reference_page_with_its_default(name):
    default = Knobs.model_fields[name].default
    shown = {True: "true", False: "false", "": '""'}.get(default, default) if isinstance(default, bool | str) else default
    shown = ", ".join(shown) if isinstance(shown, tuple) else f"{shown:.10g}" if isinstance(shown, float) else shown
    assert re.search(rf"^\| `{name}` \| {re.escape(str(shown))} \|", PAGE.read_text(), re.MULTILINE), shown


@pytest.mark.parametrize("kind", FaultKind)
def test_sim_every_fault_is_on_the_reference_page(kind):
    assert f"| `{kind}` |" in PAGE.read_text()


@pytest.mark.parametrize("name", Knobs.model_fields)
def test_sim_every_knob_is_turned_by_some_test(name):
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_sim_*.py")]
    assert any(f"{name}=" in text for text in texts)


async def test_sim_answers_plain_or_wrapped():
    assert (await Cloud(answers="plain").call("GetAll")).data == ["Msc1", "Hou1"]
    assert (await Cloud(answers="wrapped").call("GetAll")).data == {
        "result": ["Msc1", "Hou1"],
        "targetUrl": None,
        "success": True,
        "error": None,
        "unAuthorizedRequest": False,
        "__abp": True,
    }


FORMS = {
    "abp": lambda answer: answer.data["error"]["message"] and answer.data["__abp"],
    "empty": lambda answer: answer.text == "",
    "html": lambda answer: answer.text.startswith("<html>") and "text/html" in answer.response.content_type,
    "problem": lambda answer: answer.data["title"] and "problem+json" in answer.response.content_type,
    "null_error": lambda answer: answer.data == {"error": None},
    "text_error": lambda answer: isinstance(answer.data["error"], str),
    "list": lambda answer: isinstance(answer.data, list),
    "truncated": lambda answer: answer.text.startswith('{"result"') and not answer.text.endswith("}"),
}


@pytest.mark.proves("open:error-body")
@pytest.mark.parametrize("form", FORMS)
async def test_sim_error_form_and_unauthorized_form(form):
    missing = await Cloud(error_form=form).call("GetServer", **at("gone"))
    assert (missing.status, bool(FORMS[form](missing))) == (404, True)
    unauthorized = await Cloud(unauthorized_form=form).call("GetAll", None)
    assert (unauthorized.status, bool(FORMS[form](unauthorized))) == (401, True)
    assert ("www-authenticate", "Bearer") in unauthorized.response.headers


@pytest.mark.proves("auth:10.flag")
@pytest.mark.parametrize("flag", [True, False])
async def test_sim_unauthorized_flag(flag):
    assert (await Cloud(unauthorized_flag=flag).call("GetAll", None)).data["unAuthorizedRequest"] is flag


@pytest.mark.parametrize(("choice", "status"), [("as_listed", 404), ("all_500", 500), ("success_false_at_200", 200)])
async def test_sim_refusals(choice, status):
    cloud = Cloud(refusals=choice)
    answer = await cloud.call("GetServer", **at("gone"))
    assert (answer.status, answer.data["success"], answer.message) == (status, False, '"gone" not found')
    assert (await cloud.call("GetAll", None)).status == 401  # authentication keeps its codes


@pytest.mark.parametrize(("form", "text"), [("utc", "2026-01-01T00:00:00.000Z"), ("no_zone", "2026-01-01T00:00:00.000")])
async def test_sim_time_form(form, text):
    assert (await Cloud(time_form=form).create()).data["lastUpdated"] == text


async def test_sim_a_missing_time_is_the_framework_s_first_day():
    cloud = Cloud()
    cloud.clock._now = 0.0
    assert (await cloud.create()).data["lastUpdated"] == "0001-01-01T00:00:00"


@pytest.mark.parametrize(("choice", "text"), [("name", VM_TYPE), ("number", "101")])
async def test_sim_configuration_echo(choice, text):
    assert (await Cloud(configuration_echo=choice).create()).data["configuration"] == text


@pytest.mark.parametrize(("choice", "text"), [("underscores", "Debian_12"), ("verbatim", "Debian 12")])
async def test_sim_image_echo(choice, text):
    assert (await Cloud(image_echo=choice).create(operatingSystemImage="Debian 12")).data["image"] == text


@pytest.mark.proves("GetAvailability.reportNodes:uncounted")
@pytest.mark.parametrize(("choice", "value"), [("absent", ...), ("null", None), ("zero", 0)])
async def test_sim_uncounted(choice, value):
    items = (await Cloud(uncounted=choice).call("GetAvailability", cluster="Msc1", reportNodes="false")).items
    assert {(item.get("count", ...), item.get("maxCount", ...)) for item in items} == {(value, value)}


async def test_sim_created_word_stopping_word_and_destroying_word():
    cloud = Cloud(created_word="PLANNED", stopping_word="STOPPING", destroying_word="DELETING")
    assert (await cloud.create()).data["status"] == "PLANNED"
    cloud.clock.advance(5)
    assert (await cloud.call("StopServer", **of())).data["status"] == "STOPPING"
    assert (await cloud.call("DestroyServer", **at())).data["status"] == "DELETING"


@pytest.mark.parametrize("outcome", ["ONLINE", "CREATE_FAILED", "ADMIN_WAIT"])
async def test_sim_provision_outcome(outcome):
    cloud = Cloud(provision_outcome=outcome)
    await cloud.create()
    cloud.clock.advance(5)
    record = (await cloud.call("GetServer", **at())).data
    assert (record["status"], record["ip"] != "") == (outcome, outcome == "ONLINE")


@pytest.mark.parametrize(
    ("stage", "status"),
    [("", "ONLINE"), *((stage, stage) for stage in ("PENDING", "PENDING_RESOURCES", "PENDING_READINESS"))],
)
async def test_sim_provision_stuck_at(stage, status):
    cloud = Cloud(provision_stuck_at=stage)
    await cloud.create()
    cloud.clock.advance(1e6)
    assert await cloud.status() == status


@pytest.mark.parametrize(
    ("choice", "status", "count"),
    [("refuse_409", 409, 1), ("refuse_400", 400, 1), ("refuse_500", 500, 1), ("existing", 202, 1), ("twin", 202, 2)],
)
async def test_sim_duplicate_vm(choice, status, count):
    cloud = Cloud(duplicate_vm=choice)
    await cloud.online()
    assert (await cloud.create()).status == status
    assert len((await cloud.call("GetServers")).items) == count
    commits = [entry["committed"] for entry in await cloud.ledger(operation="CreateServer")]
    assert len([at for at in commits if at is not None]) == count


async def test_sim_twins_are_destroyed_one_by_one():
    cloud = Cloud(duplicate_vm="twin")
    for _ in range(2):
        await cloud.create()
    for left in (1, 0):
        await cloud.call("DestroyServer", **at())
        cloud.clock.advance(3)
        assert len((await cloud.call("GetServers")).items) == left


@pytest.mark.parametrize(
    ("choice", "status"), [("refuse_400", 400), ("refuse_409", 409), ("refuse_500", 500), ("existing", 202)]
)
async def test_sim_duplicate_snapshot(choice, status):
    cloud = Cloud(duplicate_snapshot=choice)
    await cloud.online()
    await cloud.ready_snapshot()
    body = {"name": "snap", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}
    assert (await cloud.call("CreateSnapshot", **body)).status == status
    assert len((await cloud.call("GetSnapshots")).items) == 1


@pytest.mark.parametrize("status", [400, 409, 500])
async def test_sim_duplicate_vpc(status):
    cloud = Cloud(duplicate_vpc=status)
    assert (await cloud.call("CreateVpc", name="acme", cluster="Msc1", isDefault=True)).status == status


@pytest.mark.proves("state:start")
@pytest.mark.parametrize(
    ("choice", "status"), [("accept_202", 202), ("refuse_400", 400), ("refuse_422", 422), ("refuse_500", 500)]
)
async def test_sim_wrong_power_state(choice, status):
    cloud = Cloud(wrong_power_state=choice)
    await cloud.online()
    assert (await cloud.call("StartServer", **of())).status == status
    await cloud.call("StopServer", **of())
    cloud.clock.advance(5)
    assert (await cloud.call("StopServer", **of())).status == status
    assert await cloud.status() == "OFFLINE"


@pytest.mark.parametrize(("choice", "status", "count"), [("wait", 202, 1), ("refuse_503", 503, 0)])
async def test_sim_create_without_capacity(choice, status, count):
    cloud = Cloud(capacity=0, create_without_capacity=choice)
    assert (await cloud.create()).status == status
    assert len((await cloud.call("GetServers")).items) == count


@pytest.mark.parametrize(("choice", "status", "then"), [("wait", 202, "PENDING_RESOURCES"), ("refuse_503", 503, "OFFLINE")])
async def test_sim_start_without_capacity(choice, status, then):
    cloud = Cloud(capacity=1, start_without_capacity=choice)
    await cloud.online()
    await cloud.call("StopServer", **of())
    cloud.clock.advance(5)
    await cloud.online("other")
    assert (await cloud.call("StartServer", **of())).status == status
    cloud.clock.advance(5)
    assert await cloud.status() == then


@pytest.mark.proves("open:images")
@pytest.mark.parametrize(("choice", "status"), [("refuse_400", 400), ("snapshot_first", 202)])
async def test_sim_image_sources_combined(choice, status):
    cloud = Cloud(image_sources_combined=choice)
    await cloud.online()
    await cloud.ready_snapshot()
    answer = await cloud.create("two", snapshotName="snap", operatingSystemImage="Debian 12")
    assert answer.status == status
    if status == 202:
        assert answer.data["image"] == "Ubuntu_22.04.4_LTS"


@pytest.mark.parametrize(("choice", "status", "count"), [("all", 200, 2), ("default_cluster", 200, 1), ("refuse_400", 400, 0)])
async def test_sim_unfiltered_listing(choice, status, count):
    cloud = Cloud(unfiltered_listing=choice)
    for cluster in ("Msc1", "Hou1"):
        await cloud.create(cluster=cluster)
    answer = await cloud.call("GetServers")
    assert (answer.status, len(answer.data.get("items", []))) == (status, count)
    assert (await cloud.call("GetSnapshots")).status == status
    assert len((await cloud.call("GetServers", Cluster="Hou1")).items) == 1


@pytest.mark.proves("GetVirtualMachineBootLogs.Limit:default-2000", "limit:boot-log")
@pytest.mark.parametrize(("required", "status"), [(True, 400), (False, 200)])
async def test_sim_boot_log_limit_required(required, status):
    cloud = Cloud(boot_log_limit_required=required, boot_log_lines=3000)
    await cloud.online()
    answer = await cloud.call("GetVirtualMachineBootLogs", **at())
    assert answer.status == status
    if status == 200:
        assert answer.data["bootLogs"].count("\n") == 1999


SNAPSHOT = {"name": "s", "namespace": "acme", "cluster": "Msc1", "sourceVMName": "vm"}


@pytest.mark.parametrize(("down", "status"), [(True, 503), (False, 202)])
async def test_sim_snapshot_unavailable(down, status):
    cloud = Cloud(snapshot_unavailable=down)
    await cloud.online()
    assert (await cloud.call("CreateSnapshot", **SNAPSHOT)).status == status


@pytest.mark.parametrize(
    ("required", "status"),
    [(True, 400), pytest.param(False, 202, marks=pytest.mark.proves("CreateSnapshot.sourceVMName:optional"))],
)
async def test_sim_snapshot_source_required(required, status):
    cloud = Cloud(snapshot_source_required=required)
    assert (await cloud.call("CreateSnapshot", name="s", namespace="acme", cluster="Msc1")).status == status


@pytest.mark.parametrize(("states", "status"), [(("ONLINE", "OFFLINE"), 400), (("PENDING",), 202)])
async def test_sim_snapshot_source_states(states, status):
    cloud = Cloud(snapshot_source_states=states)
    await cloud.create()
    assert (await cloud.call("CreateSnapshot", **SNAPSHOT)).status == status


@pytest.mark.parametrize(("choice", "same"), [("numbered", False), ("name", True)])
async def test_sim_vpc_ids(choice, same):
    record = (await Cloud(vpc_ids=choice).call("CreateVpc", name="acme-x", cluster="Msc1")).data
    assert (record["id"] == record["name"]) is same


@pytest.mark.parametrize(("blocked", "status"), [(True, 400), (False, 200)])
async def test_sim_vpc_destroy_blocked_by_snapshots(blocked, status):
    cloud = Cloud(vpc_destroy_blocked_by_snapshots=blocked)
    vpc = (await cloud.call("CreateVpc", name="acme-x", cluster="Msc1")).data
    await cloud.create("vm", vpc="acme-x")
    cloud.clock.advance(5)
    await cloud.call("CreateSnapshot", **SNAPSHOT | {"namespace": "acme-x"})
    await cloud.call("DestroyServer", **at("vm", "acme-x"))
    cloud.clock.advance(5)
    assert (await cloud.call("DestroyVpc", Id=vpc["id"], Cluster="Msc1")).status == status


@pytest.mark.parametrize("status", [200, 202])
async def test_sim_metal_success_status(status):
    cloud = Cloud(metal_success_status=status, host_reboot_seconds=0)
    for operation in ("RebootHost", "ReprovisionHost"):
        assert (await cloud.call(operation, id="bm-128", cluster="Msc1")).status == status


@pytest.mark.parametrize(("required", "status"), [(True, 400), (False, 200)])
async def test_sim_reprovision_image_required(required, status):
    cloud = Cloud(reprovision_image_required=required)
    assert (await cloud.call("ReprovisionHost", id="bm-128", cluster="Msc1")).status == status


@pytest.mark.parametrize("status", [401, 400, 500])
async def test_sim_login_failure_status_and_refresh_failure_status(status):
    cloud = Cloud(login_failure_status=status, refresh_failure_status=status)
    assert (await cloud.call("Authenticate", None, **LOGIN)).status == status
    assert (await cloud.call("RefreshToken", None, refreshToken="dead")).status == status


@pytest.mark.parametrize(("choice", "works"), [("POST", {"POST"}), ("GET", {"GET"}), ("both", {"GET", "POST"})])
async def test_sim_refresh_method(choice, works):
    cloud = Cloud(refresh_method=choice)
    login = await cloud.call("Authenticate", None, **LOGIN | {"password": "made-up-p4ssphrase"})
    query = {"refreshToken": login.data["result"]["refreshToken"]}
    for method in ("GET", "POST"):
        answer = await cloud.send(method, "/api/TokenAuth/RefreshToken", query=query)
        assert answer.status == (200 if method in works else 405)


async def test_sim_login_token_seconds_and_refresh_token_seconds():
    cloud = Cloud(login_token_seconds=10, refresh_token_seconds=20)
    login = (await cloud.call("Authenticate", None, **LOGIN | {"password": "made-up-p4ssphrase"})).data["result"]
    assert (login["expireInSeconds"], login["refreshTokenExpireInSeconds"]) == (10, 20)
    cloud.clock.advance(10)
    assert (await cloud.call("GetAll", f"Bearer {login['accessToken']}")).status == 401
    cloud.clock.advance(10)
    assert (await cloud.call("RefreshToken", None, refreshToken=login["refreshToken"])).status == 401


@pytest.mark.parametrize(
    ("choice", "asked", "status", "listed"),
    [
        ("exact", "msc1", 400, None),
        ("exact", "Msc1", 202, "Msc1"),
        ("any_case", "msc1", 202, "Msc1"),
        ("upper", "msc1", 202, "MSC1"),
        ("upper", "nowhere", 400, None),
    ],
)
async def test_sim_cluster_spelling(choice, asked, status, listed):
    cloud = Cloud(cluster_spelling=choice)
    made = await cloud.create(cluster=asked)
    assert made.status == status
    if listed is None:
        return
    assert made.data["cluster"] == listed
    assert [item["cluster"] for item in (await cloud.call("GetServers", Cluster=asked)).items] == [listed]
    assert (await cloud.call("GetServer", **at(cluster=asked))).data["cluster"] == listed
    assert [item["cluster"] for item in (await cloud.call("GetVpcs", cluster=asked)).items] == [listed]
    assert (await cloud.call("DestroyServer", **at(cluster=asked))).status == 202


@pytest.mark.parametrize(("size", "shown"), [(0, 3), (2, 2), (5, 3)])
@pytest.mark.parametrize("answers", ["plain", "wrapped"])
async def test_sim_total_count_and_page_size(size, shown, answers):
    cloud = Cloud(total_count="present", page_size=size, answers=answers)
    for name in ("a", "b", "c"):
        await cloud.create(name)
    answer = (await cloud.call("GetServers")).data
    answer = answer if answers == "plain" else answer["result"]
    assert (len(answer["items"]), answer["totalCount"]) == (shown, 3)


async def test_sim_total_count_absent():
    assert (await Cloud(total_count="absent").call("GetServers")).data == {"items": []}


@pytest.mark.parametrize(("choice", "clusters"), [("works", {"Hou1"}), ("ignored", {"Hou1", "Msc1"})])
async def test_sim_cluster_filter(choice, clusters):
    cloud = Cloud(cluster_filter=choice)
    await cloud.create("a", cluster="Msc1")
    await cloud.create("b", cluster="Hou1")
    assert {item["cluster"] for item in (await cloud.call("GetServers", Cluster="Hou1")).items} == clusters
    assert {item["cluster"] for item in (await cloud.call("GetVpcs", cluster="Hou1")).items} == clusters


@pytest.mark.parametrize("own", [False, True])
async def test_sim_own_ids(own):
    cloud = Cloud(own_ids=own)
    made = (await cloud.create("vm")).data["id"]
    assert (made != "vm") is own
    assert [item["id"] for item in (await cloud.call("GetServers")).items] == [made]
    assert await cloud.status(made) is not None
