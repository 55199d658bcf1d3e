"""The control API, the ledger and the server's own pages."""

import json
import re
from pathlib import Path

import pytest
from openapi_spec_validator import validate

from gpucloud.sim.control.api import ACTIONS
from gpucloud.sim.knobs import SPEEDS
from simulator.test_sim_client import KEY, VM_TYPE, Cloud, at

PLACE = {"namespace": "acme", "cluster": "Msc1"}


@pytest.mark.parametrize("peer", ["192.0.2.7", "10.0.0.1", "", "localhost", "2001:db8::1"])
async def test_sim_control_answers_on_loopback_only(peer):
    assert (await Cloud().send("GET", "/_sim/knobs", peer=peer)).status == 403


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.9.1", "::1"])
async def test_sim_control_answers_loopback(peer):
    assert (await Cloud().send("GET", "/_sim/knobs", peer=peer)).status == 200


async def test_sim_control_takes_json_only():
    answer = await Cloud().send("POST", "/_sim/reset", body=b"{}", headers=[("content-type", "text/plain")])
    assert answer.status == 415


async def test_sim_control_refuses_what_is_nested_too_deeply():
    answer = await Cloud().send("POST", "/_sim/knobs", body=b"[" * 100_000, headers=[("content-type", "application/json")])
    assert (answer.status, "nested too deeply" in answer.data["error"]) == (400, True)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "nothing", None, 404),
        ("GET", "faults/a/b", None, 404),
        ("PUT", "knobs", {}, 405),
        ("GET", "reset", None, 405),
        ("POST", "knobs", {"colour": 1}, 400),
        ("POST", "knobs", {"duplicate_vm": "sometimes"}, 400),
        ("POST", "speeds", {"duplicate_vm": "twin"}, 400),
        ("POST", "speeds", {"provision_seconds": -1}, 400),
        ("POST", "faults", {"kind": "earthquake"}, 400),
        ("POST", "faults", {"kind": "delay", "probability": 2}, 400),
        ("DELETE", "faults/none", None, 404),
        ("POST", "vms/force", {"id": "x", "namespace": "acme", "cluster": "Msc1", "status": "A"}, 404),
        ("POST", "hosts/force", {"id": "x", "cluster": "Msc1"}, 404),
        ("POST", "capacity", {"configuration": "Z80", "cluster": "Msc1", "total": 1}, 400),
        ("POST", "clock/advance", {"seconds": -1}, 400),
        ("GET", "keys?owner=nobody", None, 404),
    ],
)
async def test_sim_control_says_what_is_wrong(method, path, body, status):
    path, _, query = path.partition("?")
    answer = await Cloud().control(path, body, method, **dict([query.split("=")] if query else []))
    assert (answer.status, bool(answer.data["error"])) == (status, True)


@pytest.mark.parametrize(
    ("method", "path", "body", "says", "why"),
    [
        ("GET", "nothing", None, "There is no /_sim/nothing. GET /_sim/ lists what there is.", "the index is named"),
        ("POST", "reset", {"nope": 1}, "nope: unknown parameter; POST /_sim/reset takes seed", "what is permitted"),
        ("GET", "clock", {"nope": 1}, "nope: unknown parameter; GET /_sim/clock takes none", "nothing is permitted"),
        ("POST", "faults", {"kind": "delay", "nope": 1}, "POST /_sim/faults takes kind, id, operation", "fields of a fault"),
        ("POST", "knobs", {"nope": 1}, "Unknown knob: nope. GET /_sim/knobs lists all knobs", "too many for one line"),
        ("POST", "speeds", {"nope": 1}, f"Not a speed: nope. Speeds: {', '.join(sorted(SPEEDS))}.", "all speeds"),
        ("POST", "speeds", {"duplicate_vm": "twin"}, "POST /_sim/knobs turns the other knobs.", "where a knob is turned"),
        ("POST", "faults", {"kind": "nope"}, "'delay', 'delay_answer', 'status'", "the kinds of faults"),
        (
            "POST",
            "faults",
            {"kind": "delay", "operation": "GetSevers"},
            "Operations: Authenticate, CreateServer,",
            "operations",
        ),
        ("POST", "faults", {"kind": "delay", "operation": "get*"}, 'No operation is named "get*".', "capitals count"),
        ("DELETE", "faults/nope", None, "GET /_sim/faults lists the faults in force.", "where faults are listed"),
        ("GET", "keys", {"owner": "nope"}, '"nope" not found. Users: ann, bob,', "the users"),
        ("DELETE", "keys/nope", None, "GET /_sim/keys?owner=NAME lists a user's keys.", "where keys are listed"),
        ("POST", "keys", {"description": "d", "expiration": "nope"}, "'one_week', 'one_month'", "the lifetimes"),
        (
            "POST",
            "keys",
            {"description": "d", "permissions": ["nope"]},
            "GET /_sim/permissions lists",
            "a new key's permissions",
        ),
        ("POST", "users", {"name": "zoe", "permissions": ["nope"]}, "GET /_sim/permissions lists", "a user's permissions"),
        ("GET", "history", {"kind": "nope"}, "'vms', 'snapshots', 'vpcs' or 'hosts'", "the kinds of records"),
        ("POST", "vms/stop", {"id": "nope", **PLACE}, "GET /_sim/world lists what there is.", "where VMs are listed"),
        ("POST", "vms/force", {"id": "nope", "status": "A", **PLACE}, "GET /_sim/world lists what there is.", "a forced VM"),
        ("POST", "vms/destroy", {"id": "nope", **PLACE}, "GET /_sim/world lists what there is.", "a destroyed VM"),
        ("POST", "vms/create", {"vpc": "acme", "cluster": "nope"}, "Clusters: Msc1, Hou1.", "a created VM's cluster"),
        (
            "POST",
            "vms/create",
            {"vpc": "nope", "cluster": "Msc1"},
            "GET /_sim/world lists what there is.",
            "a created VM's VPC",
        ),
        ("POST", "hosts/force", {"id": "nope", "cluster": "Msc1"}, "GET /_sim/world lists what there is.", "a forced host"),
        (
            "POST",
            "capacity",
            {"configuration": "nope", "cluster": "Msc1", "total": 1},
            f"Configurations: {VM_TYPE} (in Msc1 and Hou1)",
            "offers",
        ),
        ("POST", "capacity", {"configuration": VM_TYPE, "cluster": "nope", "total": 1}, "Clusters: ", "clusters"),
        (
            "POST",
            "capacity",
            {"configuration": VM_TYPE, "cluster": "Msc1", "pool": "nope", "total": 1},
            "Pools: on-demand",
            "pools",
        ),
    ],
)
async def test_sim_control_names_what_is_permitted(method, path, body, says, why):
    assert says in (await Cloud().control(path, body, method)).data["error"], why


async def test_sim_a_list_instead_of_an_object_is_refused():
    assert (await Cloud().control("reset", [])).status == 400


async def test_sim_knobs_are_read_and_turned_one_by_one():
    cloud = Cloud(destroy_seconds=7)
    turned = (await cloud.control("knobs", {"duplicate_vm": "twin"})).data
    assert (turned["duplicate_vm"], turned["destroy_seconds"]) == ("twin", 7)
    assert (await cloud.control("knobs")).data == turned
    await cloud.create()
    assert (await cloud.create()).status == 202


async def test_sim_speeds_are_knobs_that_end_in_seconds():
    cloud = Cloud()
    assert (await cloud.control("speeds", {"provision_seconds": 0})).data["provision_seconds"] == 0
    await cloud.create()
    assert await cloud.status() == "ONLINE"


async def test_sim_faults_are_added_listed_and_removed():
    cloud = Cloud()
    added = (await cloud.control("faults", {"kind": "status", "operation": "GetAll", "status": 503})).data
    assert added["id"] == "fault-1"
    assert (await cloud.call("GetAll")).status == 503
    (listed,) = (await cloud.control("faults")).data["faults"]
    assert (listed["seen"], listed["struck"]) == (1, 1)
    await cloud.control("faults/fault-1", method="DELETE")
    assert (await cloud.call("GetAll")).status == 200
    await cloud.control("faults", {"kind": "reset"})
    await cloud.control("faults", method="DELETE")
    assert (await cloud.control("faults")).data == {"faults": []}


async def test_sim_reset_begins_anew_and_keeps_the_key():
    cloud = Cloud(destroy_seconds=7)
    await cloud.online()
    await cloud.control("knobs", {"destroy_seconds": 1})
    await cloud.control("faults", {"kind": "delay", "seconds": 0})
    await cloud.control("reset", {})
    assert (await cloud.call("GetServers")).items == []
    assert (await cloud.control("knobs")).data["destroy_seconds"] == 7
    assert (await cloud.control("faults")).data["faults"] == []
    assert [entry["seq"] for entry in await cloud.ledger()] == [1]


async def test_sim_a_manual_clock_is_moved_by_control():
    cloud = Cloud()
    before = (await cloud.control("clock")).data
    after = (await cloud.control("clock/advance", {"seconds": 90})).data
    assert (after["now"] - before["now"], after["manual"]) == (90, True)


async def test_sim_the_true_world_is_seen_past_every_fault():
    cloud = Cloud()
    await cloud.online()
    cloud.fault("empty")
    assert (await cloud.call("GetServers")).items == []
    world = (await cloud.control("world")).data
    assert [(vm["order"]["name"], vm["status"]) for vm in world["vms"]] == [("vm", "ONLINE")]
    assert (len(world["vpcs"]), len(world["hosts"]), world["snapshots"]) == (4, 2, [])


async def test_sim_history_tells_every_change_at_its_own_time():
    cloud = Cloud(provision_seconds=10, destroy_seconds=1)
    start = cloud.clock.now()
    await cloud.create()
    cloud.clock.advance(100)
    await cloud.call("DestroyServer", **at())
    cloud.clock.advance(100)
    changes = (await cloud.control("history")).data["changes"]
    told = [(change["at"] - start, (change["after"] or {}).get("status")) for change in changes]
    assert told == [(0, "PENDING"), (3, "PENDING_READINESS"), (10, "ONLINE"), (100, "PENDING"), (101, None)]


async def test_sim_new_users_and_tenants():
    cloud = Cloud()
    await cloud.control("users", {"name": "zoe", "tenant": "initech", "password": "made-up"})
    value = (await cloud.control("keys", {"description": "d", "owner": "zoe", "value": "made-up-key-of-zoe"})).data["value"]
    assert value == "made-up-key-of-zoe"
    vpcs = (await cloud.call("GetVpcs", f"ApiKey {value}")).items
    assert {vpc["name"] for vpc in vpcs} == {"initech"}
    names = [user["name"] for user in (await cloud.control("users")).data["users"]]
    assert names == ["ann", "bob", "tia", "rex", "gil", "zoe"]
    assert (await cloud.control("permissions")).text.count("API Keys") == 1


async def test_sim_users_can_be_given_a_second_factor_or_a_reset():
    cloud = Cloud()
    login = {"userNameOrEmailAddress": "ann", "password": "made-up-p4ssphrase"}
    await cloud.control("users", {"name": "ann", "two_factor_code": "123456"})
    assert (await cloud.call("Authenticate", None, **login)).data["result"]["requiresTwoFactorVerification"] is True
    await cloud.control("users", {"name": "ann", "must_reset_password": True})
    assert (await cloud.call("Authenticate", None, **login)).data["result"]["shouldResetPassword"] is True


# The ledger


async def test_sim_the_ledger_notes_received_committed_and_answered():
    cloud = Cloud()
    await cloud.create()
    (entry,) = await cloud.ledger()
    now = cloud.clock.now()
    assert entry == {
        "seq": 1,
        "operation": "CreateServer",
        "method": "POST",
        "path": "/api/v1/servers/virtual/CreateServer",
        "credential": "key-1",
        "parameters": {
            "name": "vm",
            "vpc": "acme",
            "configuration": VM_TYPE,
            "cluster": "Msc1",
            "ssh_keys": "[redacted]",
        },
        "received": now,
        "mutating": True,
        "secret_in_url": False,
        "committed": now,
        "subject": {"cluster": "Msc1", "namespace": "acme", "id": "vm"},
        "answered": now,
        "status": 202,
        "ending": "complete",
        "faults": [],
    }


async def test_sim_reads_refusals_and_no_ops_commit_nothing():
    cloud = Cloud()
    await cloud.online()
    await cloud.call("GetServers")
    await cloud.create()
    await cloud.call("StartServer", id="vm", namespace="acme", cluster="Msc1")
    committed = [entry["operation"] for entry in await cloud.ledger() if entry["committed"] is not None]
    assert committed == ["CreateServer"]


async def test_sim_the_ledger_is_filtered():
    cloud = Cloud()
    await cloud.create()
    for _ in range(3):
        await cloud.call("GetServers")
    await cloud.call("GetAll", None)
    assert [entry["seq"] for entry in await cloud.ledger(since=2)] == [3, 4, 5]
    assert [entry["seq"] for entry in await cloud.ledger(operation="GetServers", since=3)] == [4]
    assert [entry["seq"] for entry in await cloud.ledger(mutating="true")] == [1]
    assert [entry["seq"] for entry in await cloud.ledger(credential="none")] == [5]
    assert (await cloud.control("ledger")).data["last"] == 5


async def test_sim_control_leaves_no_trace_in_the_ledger():
    cloud = Cloud()
    await cloud.control("world")
    assert await cloud.ledger() == []


# Beside the API


@pytest.mark.proves("GetAll:content-types")
@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/plain", "text/plain"),
        ("text/json", "text/json"),
        ("application/xml", "application/json"),
        ("text/plain;q=0.5, text/json", "text/json"),
        ("text/plain;q=nonsense, text/json;q=0.1", "text/json"),
    ],
)
async def test_sim_get_all_offers_three_content_types(accept, content_type):
    headers = [("authorization", f"ApiKey {KEY}"), ("accept", accept)]
    answer = await Cloud().send("GET", "/api/v1/clusters/GetAll", headers=headers)
    assert (answer.data, answer.response.content_type) == (["Msc1", "Hou1"], f"{content_type}; charset=utf-8")


async def test_sim_a_sign_of_life_needs_no_credential():
    assert (await Cloud().send("GET", "/healthz")).text == "ok"


@pytest.mark.parametrize("path", ["/_sim", "/_sim/"])
async def test_sim_the_control_root_lists_every_action(path):
    answer = await Cloud().send("GET", path)
    assert answer.status == 200
    assert set(answer.data) == {f"{action.method} /_sim/{action.path}" for action in ACTIONS}


async def test_sim_the_control_root_is_for_loopback_only():
    assert (await Cloud().send("GET", "/_sim/", peer="192.0.2.7")).status == 403


async def test_sim_the_control_api_has_a_valid_document_of_its_own():
    answer = await Cloud().send("GET", "/_sim/openapi.json")
    validate(answer.data)
    described = {(method.upper(), path) for path, item in answer.data["paths"].items() for method in item}
    assert described == {(action.method, f"/_sim/{action.path}") for action in ACTIONS}


async def test_sim_every_operation_of_the_control_document_has_a_name_that_a_client_can_call():
    """They were "GET " and "DELETE keys/{id}", which no generator of clients takes."""
    answer = await Cloud().send("GET", "/_sim/openapi.json")
    names = [operation["operationId"] for item in answer.data["paths"].values() for operation in item.values()]
    assert [name for name in names if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)] == []
    assert len(names) == len(set(names))


async def test_sim_the_root_says_where_everything_is():
    answer = await Cloud().send("GET", "/", headers=[])
    assert answer.status == 200, "no credential is needed to find the way"
    assert answer.data["control"] == "/_sim/"
    assert "POST /api/v1/servers/virtual/CreateServer" in answer.data["endpoints"]
    for path in (*answer.data["documents"], answer.data["health"], answer.data["control"]):
        assert (await Cloud().send("GET", path)).status == 200, path


# The reference page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "simulator.md"


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.method} {action.path}")
def test_sim_every_action_is_on_the_reference_page(action):
    assert f"| `{action.method} /_sim/{action.path}` |" in PAGE.read_text()


async def test_sim_the_page_s_examples_work_as_they_stand():
    cloud = Cloud()
    posts = re.findall(r"^post (\S+) '(\{.*\})'", PAGE.read_text(), re.MULTILINE)
    assert len(posts) > 10
    for path, body in posts:
        answer = await cloud.control(path, json.loads(body))
        assert answer.status == 200, (path, answer.text)
