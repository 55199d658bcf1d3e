"""What the cloud's answers say of a credential, and what is never tried out."""

import asyncio
import logging
import traceback
from datetime import UTC, datetime

import httpx
import pytest

from gpucloud.cloud import calls
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.options import ApiKey, Login
from gpucloud.engine.cloud.account_session import AccountSession
from gpucloud.reconcile.facts import UnknownReason
from gpucloud.reconcile.naming import Identity
from gpucloud.reconcile.waiting_line import Offer, Waiter
from support.builders import a_change
from support.fakes import SECRET_WORDS
from support.sessionrig import DOWN, EVIDENCE, KEY, SLOW, TOKEN, URL

pytestmark = pytest.mark.looptime


def tasks():
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


async def test_a_refusal_of_one_operation_taints_no_other(rig):
    it = rig()
    it.cloud.refuse("GetSnapshots", 403)
    await it.call("get_servers")
    await it.call("get_snapshots")
    await it.call("get_vpcs")
    assert it.learned.allowed == {"GetServers", "GetVpcs"}
    assert set(it.learned.forbidden) == {"GetSnapshots"}
    assert it.learned.trouble is None, "the key works, and is restricted"
    assert it.learned.contact is not None


async def test_what_was_allowed_may_be_forbidden_and_allowed_again(rig):
    it = rig()
    await it.call()
    it.cloud.refuse("GetServers", 403)
    await it.call()
    assert (it.learned.allowed, set(it.learned.forbidden)) == (set(), {"GetServers"})
    it.cloud.heal()
    await it.call()
    assert (it.learned.allowed, it.learned.forbidden) == ({"GetServers"}, {})


async def test_nothing_is_tried_out_to_learn_what_is_allowed(rig):
    it = rig()
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    it.session.check()
    it.session.learn_tenant()
    await asyncio.sleep(600)
    assert {operation for _, operation, _ in it.cloud.calls} == {"GetAll", *EVIDENCE}


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (401, UnknownReason.REFUSED),
        (500, UnknownReason.UNREACHABLE),
        (502, UnknownReason.UNREACHABLE),
        (503, UnknownReason.UNREACHABLE),
        (302, UnknownReason.UNREACHABLE),
        (DOWN, UnknownReason.UNREACHABLE),
        (SLOW, UnknownReason.UNREACHABLE),
        (403, None),
        (404, None),
        (409, None),
        (400, None),
        (429, None),
    ],
)
async def test_what_an_answer_says_of_the_credential(rig, answer, cause):
    it = rig()
    it.cloud.refuse("GetServers", answer)
    await it.call()
    assert (it.learned.trouble.cause if it.learned.trouble else None) is cause
    assert (it.learned.contact is None) is (cause is not None)


@pytest.mark.parametrize("answer", [500, 503])
async def test_a_change_that_finds_no_room_is_no_trouble_of_the_account(rig, answer):
    """CreateSnapshot's 503 is waited out by the snapshot; an account that turned red with it would flap."""
    it = rig()
    it.cloud.refuse("CreateSnapshot", answer)
    with pytest.raises(CloudError):
        await it.session.writes.send(a_change(calls.create_snapshot(namespace="acme", cluster="Msc1")))
    assert (it.learned.trouble, it.changes) == (None, 0)


@pytest.mark.parametrize("how", [{}, {"credential": Login("operator", "made-up-password")}])
async def test_a_call_that_is_not_meant_any_more_does_not_leave(rig, how):
    """Nor is it any trouble of the account's; its login serves others, and is nobody's own."""
    it = rig(**how)
    it.cloud.refuse("Authenticate", TOKEN)
    refused = await it.start(holds=iter([True, False]).__next__)  # as the gate asks, and then as the door does
    assert await it.call("get_servers") is None, "reading changes nothing"
    assert (refused.kind, refused.ambiguous, it.learned.trouble) == (ErrorKind.WITHDRAWN, False, None)
    assert it.cloud.asked("StartServer") == []
    assert await it.start() is None, "a call that nobody took back"


async def test_trouble_keeps_its_beginning_and_ends_with_the_next_good_answer(rig):
    it = rig()
    it.cloud.refuse("GetServers", DOWN)
    await it.call()
    since = it.learned.trouble.since
    await asyncio.sleep(100)
    await it.call()
    assert it.learned.trouble.since == since
    it.cloud.refuse("GetServers", 401)
    await it.call()
    assert (it.learned.trouble.cause, it.learned.trouble.since > since) == (UnknownReason.REFUSED, True)
    it.cloud.heal()
    await it.call()
    assert it.learned.trouble is None


async def test_accounts_are_told_only_what_is_new(rig):
    it = rig()
    await it.call()
    assert it.changes == 1
    for _ in range(5):
        await it.call()
    assert it.changes == 1
    it.cloud.refuse("GetServers", DOWN)
    await it.call()
    await it.call()
    assert it.changes == 2
    it.cloud.heal()
    await it.call()
    assert it.changes == 3


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (400, UnknownReason.REFUSED),
        (401, UnknownReason.REFUSED),
        (403, UnknownReason.REFUSED),
        (429, UnknownReason.UNREACHABLE),  # not refused: a person who is told to change the password would do it in vain
        (503, UnknownReason.UNREACHABLE),
        (DOWN, UnknownReason.UNREACHABLE),
    ],
)
async def test_a_failed_login_is_no_contact(rig, answer, cause):
    it = rig(Login("ann", SECRET_WORDS))
    it.cloud.refuse("Authenticate", answer)
    await it.call()
    assert (it.learned.contact, it.learned.trouble.cause) == (None, cause)
    assert it.learned.forbidden == {}, "nothing was asked but the login"
    assert SECRET_WORDS not in it.learned.trouble.detail


async def test_a_login_by_itself_is_no_contact_and_what_follows_is(rig):
    it = rig(Login("ann", SECRET_WORDS))
    it.cloud.refuse("Authenticate", TOKEN)
    it.cloud.refuse("GetServers", 401)
    await it.call()
    assert it.learned.trouble.cause is UnknownReason.REFUSED
    it.cloud.refuse("GetServers", [])
    await it.call()
    assert (it.learned.trouble, it.learned.allowed) == (None, {"GetServers"})


async def test_the_check_learns_the_clusters_and_tells(rig):
    it = rig(GetAll=["Msc1", "Hou1"])
    it.session.check()
    await asyncio.sleep(1)
    assert it.learned.clusters == ("Hou1", "Msc1")
    assert it.changes


async def test_the_clusters_are_asked_for_once_where_only_a_message_needs_them(rig):
    it = rig(GetAll=["Msc1", "Hou1"])
    for _ in range(2):
        it.session.learn_clusters()
        await asyncio.sleep(1)
    assert it.learned.clusters == ("Hou1", "Msc1")
    assert [operation for _, operation, _ in it.cloud.calls] == ["GetAll"]


async def test_an_empty_list_of_clusters_keeps_those_that_were_known(rig):
    it = rig(GetAll=["Msc1", "Hou1"])
    it.session.check()
    await asyncio.sleep(1)
    it.cloud.worlds[KEY]["GetAll"], it.listener.changes = [], 0
    it.session.check()
    await asyncio.sleep(1)
    assert it.learned.clusters == ("Hou1", "Msc1")
    assert it.changes


async def test_a_check_that_fails_tells_and_keeps_what_was_known(rig):
    it = rig()
    it.session.check()
    await asyncio.sleep(1)
    it.cloud.refuse("GetAll", 401)
    it.listener.changes = 0
    it.session.check()
    await asyncio.sleep(1)
    assert (it.learned.clusters, it.learned.trouble.cause) == (("Msc1",), UnknownReason.REFUSED)
    assert it.changes


@pytest.mark.parametrize("moment", [0.0, 0.05, 5.0, 90.0])
async def test_closing_leaves_no_task(cloud, around, moment):
    cloud.world(KEY)
    cloud.takes = {"GetVpcs": 0.2, "GetAll": 3.0}
    session = AccountSession(URL, ApiKey(KEY), "team/default", around)
    for inventory in session.inventories.values():
        inventory.watch("u", Identity("Msc1", "acme", "x"))
    session.check()
    session.learn_tenant()
    session.catalogue.refresh()
    await asyncio.sleep(moment)
    await session.aclose()
    await asyncio.sleep(0)
    assert tasks() == []
    asked = len(cloud.calls)
    await asyncio.sleep(300)
    assert len(cloud.calls) == asked


@pytest.mark.parametrize("credential", [ApiKey(SECRET_WORDS), Login("ann", SECRET_WORDS)])
@pytest.mark.parametrize("answer", [401, 403, 500, DOWN, httpx.ReadError(f"reset by {SECRET_WORDS}")])
async def test_no_secret_is_told(rig, logs, caplog, credential, answer):
    """The fake cloud repeats the key in its refusals, as a careless proxy would."""
    caplog.set_level(logging.DEBUG)
    it = rig(credential)
    for operation in ("GetAll", "Authenticate", *EVIDENCE):
        it.cloud.refuse(operation, answer)
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    it.session.check()
    it.session.learn_tenant()
    error = await it.call()
    await asyncio.sleep(5)
    told = "".join(traceback.format_exception(error)) + repr(logs) + caplog.text + repr(it.learned) + repr(error)
    assert it.learned.trouble or it.learned.forbidden
    assert logs
    assert SECRET_WORDS not in told


async def test_the_log_of_a_cloud_that_cannot_be_reached_names_its_host(rig, logs):
    """Never a user or password: a URL that holds them is refused."""
    it = rig()
    for operation in ("GetAll", *EVIDENCE):
        it.cloud.refuse(operation, DOWN)
    it.session.check()
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(10)
    assert_hosts(logs, "the account's check failed", "listing failed")


async def test_the_log_of_each_background_question_names_the_host(rig, logs):
    it = rig()
    for operation in ("GetAll", "GetConfigurations", "GetAvailability"):
        it.cloud.refuse(operation, DOWN)
    it.session.catalogue.refresh()
    it.session.capacity.join("Msc1", Waiter("u", datetime(2026, 1, 1, tzinfo=UTC), (Offer("A100_1x", "pool-a"),)))
    it.session.cluster_searches["vms"].search("u", "x", 0.0)
    await asyncio.sleep(20)
    assert_hosts(
        logs,
        "no prices: the configurations cannot be listed",
        "the availability cannot be listed",
        "the list of clusters cannot be read",
    )


def assert_hosts(logs, *events):
    """Assert that these lines of the log name the host of the cloud."""
    hosts = {line["event"]: line.get("host") for line in logs}
    assert {event: hosts[event] for event in events} == dict.fromkeys(events, "cloud.example")
