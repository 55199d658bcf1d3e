"""What one credential learns about itself from the cloud's answers, and what it never tries out. Time is the loop's."""

import asyncio
import logging
import traceback
from dataclasses import replace
from itertools import pairwise

import httpx
import pytest

from gpucloud.cloud import calls
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.options import ApiKey, Login
from gpucloud.engine.cloud.account_session import EVIDENCE_SECONDS, AccountSession, NoListener
from gpucloud.reconcile.facts import Present, UnknownReason
from gpucloud.reconcile.naming import Identity
from support.builders import a_change
from support.fakes import SECRET_WORDS

pytestmark = pytest.mark.looptime
URL, KEY = "https://cloud.example", "made-up-key"
EVIDENCE = ["GetVpcs", "GetServers", "GetSnapshots"]


def vm(name="x", tenant="acme"):
    return {"id": name, "namespace": "acme", "cluster": "Msc1", "tenancy_name": tenant, "status": "ONLINE"}


def vpc(name="acme", tenant="acme"):
    return {"id": "7", "name": name, "cluster": "Msc1", "tenancyName": tenant}


def snapshot(name="s", tenant="acme"):
    return {"id": name, "namespace": "acme", "tenancyName": tenant}


class Listener(NoListener):
    """Notes what it is told."""

    def __init__(self):
        self.changes, self.tenants, self.proving = 0, [], []

    def learned(self, _session):
        self.changes += 1

    def tenant_learned(self, session):
        self.tenants.append(session.learned.tenants)
        self.proving.append(session.proving)


class Rig:
    def __init__(self, cloud, around, credential):
        self.cloud, self.listener = cloud, Listener()
        self.session = AccountSession(URL, credential, "team/default", replace(around, listener=self.listener))

    @property
    def learned(self):
        return self.session.learned

    @property
    def changes(self):
        return self.listener.changes

    @property
    def tenants(self):
        return self.listener.tenants

    async def start(self, holds=lambda: True):
        """Start a VM."""
        try:
            await self.session.writes.send(a_change(calls.start_server(id="x", namespace="acme", cluster="Msc1"), holds=holds))
        except CloudError as error:
            return error
        return None

    async def call(self, operation="get_servers", **where):
        try:
            await getattr(self.session.client, operation)(**where)
        except CloudError as error:
            return error
        return None


@pytest.fixture
async def rig(cloud, around):
    made = []

    def make(credential=None, **records):
        cloud.world(KEY, **records)
        made.append(Rig(cloud, around, credential or ApiKey(KEY)))
        return made[-1]

    yield make
    for item in made:
        await item.session.aclose()


def tasks():
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


# --- whose it is


@pytest.mark.parametrize(
    ("holds", "records"),
    [
        ("vms", {"GetServers": [vm()]}),
        ("vpcs", {"GetVpcs": [vpc()]}),
        ("snapshots", {"GetSnapshots": [snapshot()]}),
    ],
)
async def test_any_listing_tells_whose_the_credential_is(rig, holds, records):
    it = rig(**records)
    it.session.inventories[holds].watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    assert it.learned.tenant == "acme"
    assert it.tenants == [{"acme"}]
    assert it.changes >= 1


async def test_records_without_a_tenant_tell_nothing(rig):
    it = rig(GetServers=[vm(tenant=None), vm("y", tenant="")])
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    assert (it.learned.tenants, it.learned.tenant, it.tenants) == (frozenset(), None, [])
    assert isinstance(it.session.vms.observe(Identity("Msc1", "acme", "x")), Present)


async def test_a_credential_that_shows_several_tenants_is_of_none_alone(rig):
    it = rig(GetServers=[vm(), vm("y", tenant="other")])
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    assert (it.learned.tenants, it.learned.tenant) == ({"acme", "other"}, None)


async def test_the_same_tenant_again_is_no_news(rig):
    it = rig(GetServers=[vm()])
    it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
    await asyncio.sleep(1)
    changes = it.changes
    await asyncio.sleep(300)
    assert (it.tenants, it.changes) == ([{"acme"}], changes)


# --- looking for evidence


@pytest.mark.parametrize(
    ("records", "asked"),
    [
        ({"GetVpcs": [vpc()], "GetServers": [vm()]}, EVIDENCE[:1]),
        ({"GetServers": [vm()]}, EVIDENCE[:2]),
        ({"GetSnapshots": [snapshot()]}, EVIDENCE),
        ({}, EVIDENCE),
    ],
)
async def test_evidence_is_sought_the_cheapest_first_until_it_is_found(rig, records, asked):
    it = rig(**records)
    it.session.learn_tenant()
    assert it.session.proving
    await asyncio.sleep(1)
    assert not it.session.proving
    assert [operation for _, operation, _ in it.cloud.calls] == asked
    assert all(not where for _, _, where in it.cloud.calls), "everywhere, in no particular cluster"
    assert it.learned.tenants == (frozenset({"acme"}) if records else frozenset())
    assert it.tenants, "those who waited are told, found or not"


async def test_whoever_waits_is_woken_when_the_search_is_over(rig):
    """While it is proving an object waits; woken too early, it would wait for ever."""
    it = rig()
    it.session.learn_tenant()
    await asyncio.sleep(1)
    proving = it.listener.proving
    assert proving
    assert not proving[-1]


async def test_a_refusal_of_one_listing_is_no_end_of_the_search(rig):
    it = rig(GetSnapshots=[snapshot()])
    it.cloud.refuse("GetVpcs", 403)
    it.cloud.refuse("GetServers", httpx.ReadTimeout("slow"))
    it.session.learn_tenant()
    await asyncio.sleep(1)
    assert it.learned.tenant == "acme"


async def test_many_who_ask_share_one_search(rig):
    it = rig()
    for _ in range(100):
        it.session.learn_tenant()
        await asyncio.sleep(0.5)
    assert len(it.cloud.calls) == len(EVIDENCE)


async def test_what_was_sought_in_vain_is_sought_again_each_minute_by_itself(rig):
    """The cloud was down when the operator began: nobody asks again, since every object only waits to be woken."""
    it = rig(GetVpcs=[vpc()])
    for operation in EVIDENCE:
        it.cloud.refuse(operation, httpx.ConnectError("down"))
    it.session.learn_tenant()
    await asyncio.sleep(3 * EVIDENCE_SECONDS + 1)
    times = [at for at, (_, operation, _) in zip(it.cloud.times, it.cloud.calls, strict=True) if operation == "GetVpcs"]
    assert all(later - sooner >= EVIDENCE_SECONDS for sooner, later in pairwise(times))
    assert len(times) in {3, 4}
    it.cloud.heal()
    it.tenants.clear()
    await asyncio.sleep(EVIDENCE_SECONDS + 1)
    assert it.learned.tenant == "acme"
    assert it.tenants[-1] == {"acme"}
    asked = len(it.cloud.calls)
    await asyncio.sleep(10 * EVIDENCE_SECONDS)
    assert len(it.cloud.calls) == asked, "known is known"


@pytest.mark.parametrize("how", ["believed", "listed"])
async def test_what_is_known_is_not_sought(rig, how):
    it = rig(GetServers=[vm()])
    if how == "believed":
        it.session.assume_tenant("acme")
    else:
        it.session.vms.watch("u", Identity("Msc1", "acme", "x"))
        await asyncio.sleep(1)
    asked = len(it.cloud.calls)
    it.session.learn_tenant()
    await asyncio.sleep(1)
    assert len(it.cloud.calls) == asked
    assert not it.session.proving


# --- what is allowed


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
    assert {operation for _, operation, _ in it.cloud.calls} <= {"GetAll", *EVIDENCE}


# --- whether the cloud is there

DOWN, SLOW = httpx.ConnectError("no route"), httpx.ReadTimeout("slow")


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


# --- logins

TOKEN = {"accessToken": KEY, "expireInSeconds": 86400}


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


# --- the check


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


# --- the end


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


# --- secrets


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
