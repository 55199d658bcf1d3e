"""The console answers whom the apiserver knows and lets see what is asked about, and nobody else."""

import asyncio
from dataclasses import dataclass, field
from itertools import islice

import aiohttp
import pytest

from gpucloud.cloud.connection import Connection
from gpucloud.cloud.options import ApiKey, ClientOptions
from gpucloud.cloud.reader import CloudReader
from gpucloud.engine.cloud.account_session import Learned
from gpucloud.engine.cloud.accounts import Account, Accounts
from gpucloud.engine.kinds.registry import new_listers
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.manager.console import AT_ONCE, Console, ConsoleDeps
from gpucloud.kinds.common import OWN_ACCOUNT, OrderState
from gpucloud.reconcile.naming import external_name
from support.builders import KEY, TAG, UID, an_order
from support.fakes import FakeCloud
from support.pluginworld import a_body

NAME = external_name("train", UID, TAG)
SPEC = {"cluster": "Msc1", "configuration": "A100", "vpc": "acme", "sshKeys": [KEY]}
TEAM = "/v1/namespaces/team"
LOG, OWN = f"{TEAM}/gpuvms/train/boot-log", f"{TEAM}/offers"
OFFERS, RECORDS = f"{TEAM}/gpucloudaccounts/default/offers", f"{TEAM}/gpucloudaccounts/default/records"
WORLD = {
    "GetVirtualMachineBootLogs": {"id": NAME, "bootLogs": "booting"},
    "GetConfigurations": [{"name": "A100", "price": 2.05}],
    "GetAvailability": [{"configuration": "A100", "available": True}],
    "GetServers": [{"id": NAME, "namespace": "acme", "cluster": "Msc1"}],
}


@dataclass
class Session:
    client: CloudReader
    learned: Learned = field(default_factory=Learned)


class Apiserver:
    """Knows one token, and what its user may do."""

    def __init__(self):
        self.allowed, self.asked, self.trouble = set(), [], None

    async def review(self, _group, resource, _kind, spec):
        if self.trouble is not None:
            raise self.trouble
        if resource == "tokenreviews":
            known = spec["token"] == "made-up-token"
            return {"authenticated": known, "user": {"username": "ann", "groups": ["team"]} if known else {}}
        self.asked.append(spec)
        wanted = spec["resourceAttributes"]
        assert (spec["user"], spec["groups"], wanted["namespace"]) == ("ann", ["team"], "team")
        return {"allowed": (wanted["verb"], wanted["resource"], wanted.get("name", "")) in self.allowed}


class Rig:
    def __init__(self, client, cloud):
        self.cloud, self.apiserver = cloud, Apiserver()
        self.objects = new_listers(TAG)
        self.accounts = Accounts((), lambda: 0.0)
        self.accounts.put("team", Account("default", Session(client)))
        self.accounts.own = Account(OWN_ACCOUNT, Session(client))
        self.objects.accounts.put(a_body("GpuCloudAccount", "default", spec={"secretRef": {"name": "credential"}}))
        self.deps = ConsoleDeps(self.objects, self.accounts)
        self.port = 0

    def vm(self, reason="Running", vm_id=NAME, **spec):
        how = "Stalled" if reason == "Conflict" else "Ready"
        state = OrderState.REFUSED if reason == "Conflict" else OrderState.SEEN
        order = an_order(vm_id, state).model_dump(mode="json", by_alias=True) if vm_id else None
        status = {"vmId": vm_id, "order": order} if vm_id else {}
        self.objects.vms.put(a_body("GpuVM", "train", how, reason, uid=UID, spec=SPEC | spec, status=status))

    async def get(self, path, token="made-up-token", **query):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"http://127.0.0.1:{self.port}{path}"
        async with aiohttp.ClientSession() as http, http.get(url, headers=headers, params=query) as answer:
            return answer.status, await answer.json()


@pytest.fixture
async def rig():
    cloud = FakeCloud()
    cloud.world("key", **WORLD)
    connection = Connection("https://cloud.example", ApiKey("key"), options=ClientOptions(), transport=cloud)
    async with CloudReader(connection) as client:
        made = Rig(client, cloud)
        console = Console(made.apiserver, lambda: made.deps)
        made.port = await console.start(0)
        yield made
        await console.stop()


MAY_LOG, MAY_OFFERS = ("get", "gpuvms", "train"), ("get", "gpucloudaccounts", "default")
MAY_SECRET, MAY_LIST = ("get", "secrets", "credential"), ("list", "gpuvms", "")


@pytest.mark.parametrize(
    ("path", "rights", "holds"),
    [
        (LOG, {MAY_LOG}, {"bootLog": "booting"}),
        (OFFERS, {MAY_OFFERS}, "configurations"),
        (OWN, {MAY_LIST}, "configurations"),
        (RECORDS, {MAY_OFFERS, MAY_SECRET}, "clusters"),
    ],
)
async def test_each_answer_needs_exactly_its_rights(rig, path, rights, holds):
    rig.vm()
    rig.apiserver.allowed = rights
    status, answer = await rig.get(path)
    assert status == 200
    assert answer == holds if isinstance(holds, dict) else answer[holds]
    for missing in rights:
        rig.cloud.calls.clear()
        rig.apiserver.allowed = {MAY_LOG, MAY_OFFERS, MAY_SECRET, MAY_LIST} - {missing}
        status, answer = await rig.get(path)
        assert (status, rig.cloud.calls) == (403, []), "refused before the cloud is asked anything"
        assert "'ann'" in answer["error"]


@pytest.mark.parametrize("token", ["", "another"])
async def test_whom_nobody_knows_learns_nothing(rig, token):
    """Not even whether there is such an object."""
    rig.apiserver.allowed = {MAY_LOG}
    status, answer = await rig.get(LOG, token)
    assert (status, rig.cloud.calls) == (401, [])
    assert "train" not in answer["error"]


@pytest.mark.parametrize(
    ("vm", "why"),
    [
        (None, "no such object"),
        ({"vm_id": ""}, "nothing bought yet"),
        ({"vm_id": "a-strangers-vm"}, "a status that names what is not this object's"),
        ({"reason": "Conflict", "vm_id": "taken", "vmName": "taken"}, "a name that is another's opens no view on that"),
    ],
)
async def test_a_boot_log_is_of_the_objects_own_vm_only(rig, vm, why):
    if vm is not None:
        rig.vm(**vm)
    rig.apiserver.allowed = {MAY_LOG}
    assert (await rig.get(LOG))[0] == 404, why
    assert rig.cloud.asked("GetVirtualMachineBootLogs") == []


@pytest.mark.parametrize(("said", "sent"), [("100", "100"), ("99999999", "10000"), ("0", "1"), ("many", "2000"), ("", "2000")])
async def test_the_length_of_a_log_is_bounded(rig, said, sent):
    rig.vm()
    rig.apiserver.allowed = {MAY_LOG}
    await rig.get(LOG, limit=said)
    ((_, _, query),) = rig.cloud.asked("GetVirtualMachineBootLogs")
    assert query["Limit"] == sent


async def test_an_account_that_is_not_ready_says_why(rig):
    rig.accounts.put("team", Account("default", None, "The Secret is missing."))
    rig.apiserver.allowed = {MAY_OFFERS}
    status, answer = await rig.get(OFFERS)
    assert status == 409
    assert "The Secret is missing." in answer["error"]


async def test_the_clouds_refusal_is_told(rig):
    rig.cloud.refuse("GetConfigurations", 403)
    rig.apiserver.allowed = {MAY_OFFERS}
    assert (await rig.get(OFFERS))[0] == 502


async def test_an_operator_without_the_right_to_ask_says_so_and_gives_nothing(rig):
    rig.apiserver.trouble = KubeError(403, "Forbidden", "no")
    status, answer = await rig.get(OFFERS)
    assert (status, rig.cloud.calls) == (503, [])
    assert "console-rbac.yaml" in answer["error"]


async def test_nothing_is_answered_before_all_is_known(rig):
    rig.deps = None
    assert (await rig.get(LOG))[0] == 503


async def test_few_ask_at_once_so_that_none_queues_up_the_budget(rig):
    rig.apiserver.allowed = {MAY_OFFERS}
    gate, answer = asyncio.Event(), rig.cloud.handle_async_request

    async def held(request):
        await gate.wait()
        return await answer(request)

    rig.cloud.handle_async_request = held
    asked = [asyncio.create_task(rig.get(OFFERS)) for _ in range(AT_ONCE + 2)]
    first = [await one for one in islice(asyncio.as_completed(asked), 2)]
    assert [status for status, _ in first] == [503] * 2, "while the others wait"
    gate.set()
    assert sorted(status for status, _ in await asyncio.gather(*asked)) == [200] * AT_ONCE + [503] * 2


@pytest.mark.parametrize(("query", "listed"), [({"hosts": "true"}, [{"id": "bm-1"}]), ({}, None)])
async def test_hosts_are_listed_for_who_asks_for_them(rig, query, listed):
    rig.cloud.world("key", **WORLD, GetHosts=[{"id": "bm-1"}])
    rig.apiserver.allowed = {MAY_OFFERS, MAY_SECRET}
    status, answer = await rig.get(RECORDS, **query)
    hosts = answer["clusters"][0]["hosts"]
    shown = hosts and [{name: value for name, value in item.items() if value is not None} for item in hosts]
    assert (status, shown) == (200, listed)
