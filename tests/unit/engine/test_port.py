"""The one port for changes: every changing operation passes every gate, and what a gate refuses never reaches the cloud."""

import asyncio

import pytest

from gpucloud.cloud import calls
from gpucloud.cloud.errors import CloudError, ErrorKind
from gpucloud.cloud.models import CreateServer
from gpucloud.cloud.options import ApiKey, ClientOptions
from gpucloud.engine.cloud.gates import ACCEPTED, GateDeps, gated
from gpucloud.engine.cloud.port import Change, Closed, connect
from gpucloud.reconcile.facts import DESTROYS
from gpucloud.sim.routes import ROUTES
from support.builders import a_change
from support.fakes import FakeCloud

pytestmark = pytest.mark.looptime
URL, KEY, PLACE = "https://cloud.example", "made-up-key", {"id": "x", "namespace": "acme", "cluster": "Msc1"}
HOST = {"id": "host", "cluster": "Msc1"}
SERVER = CreateServer(vpc="acme", configuration="A100", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA t",))
CHANGES = [
    calls.create_server(SERVER),
    calls.start_server(**PLACE),
    calls.stop_server(**PLACE),
    calls.destroy_server(**PLACE),
    calls.reboot_host(**HOST),
    calls.reprovision_host(**HOST),
    calls.create_snapshot(namespace="acme", cluster="Msc1"),
    calls.delete_snapshot(**PLACE),
    calls.create_vpc(name="acme", cluster="Msc1"),
    calls.destroy_vpc(**HOST),
]
LOGINS = {"Authenticate", "RefreshToken"}
every = pytest.mark.parametrize("call", CHANGES, ids=lambda call: call.operation)


class Around:
    """What the gates ask; each can be told to refuse."""

    def __init__(self):
        self.leader, self.held, self.admitted, self.counted = True, False, [], []

    def hold(self, _uid):
        return "held" if self.held else None

    def admit(self, uid):
        self.admitted.append(uid)
        return True

    def roll_back(self, uid):
        self.admitted.remove(uid)

    def change(self, operation, outcome):
        self.counted.append((operation, outcome))


class Rig:
    """A port before a fake cloud."""

    def __init__(self, **options):
        self.cloud, self.around = FakeCloud(), Around()
        self.cloud.world(KEY)
        chosen = ClientOptions(**{"qps": 1000, "burst": 1000, "max_retries": 0} | options)
        self.client, self.door = connect(URL, ApiKey(KEY), options=chosen, transport=self.cloud, on_call=lambda _: None)
        self.port = gated(self.door, GateDeps(lambda: self.around.leader, self.around, self.around), "cloud.example")

    @property
    def sent(self):
        return [operation for _, operation, _ in self.cloud.calls]

    async def refused(self, change):
        with pytest.raises(CloudError) as caught:
            await self.port.send(change)
        assert (caught.value.kind, caught.value.ambiguous) == (ErrorKind.WITHDRAWN, False)
        assert self.sent == []
        assert self.around.counted == [(change.call.operation, ErrorKind.WITHDRAWN)]


@pytest.fixture
async def rig():
    made = []

    def make(**options):
        made.append(Rig(**options))
        return made[-1]

    yield make
    for it in made:
        await it.client.aclose()


def test_these_are_all_changing_operations_of_the_specification():
    assert {call.operation for call in CHANGES} | LOGINS == {route.operation for route in ROUTES if route.method != "GET"}
    assert {call.operation for call in CHANGES if call.method == "DELETE"} == DESTROYS


@every
async def test_a_change_passes_every_gate(rig, call, logs):
    it = rig()
    await it.port.send(a_change(call, uid="u-1"))
    assert it.sent == [call.operation]
    assert it.around.counted == [(call.operation, ACCEPTED)]
    assert it.around.admitted == (["u-1"] if call.operation in DESTROYS else [])
    said = [(line["event"], line["verb"], line["uid"], line["generation"]) for line in logs if line["event"].startswith("call")]
    assert said == [(event, call.operation, "u-1", 1) for event in ("calling", "call")]


@every
async def test_without_the_lease_nothing_is_sent(rig, call):
    it = rig()
    it.around.leader = False
    await it.refused(a_change(call))


@every
async def test_a_change_whose_precondition_is_not_met_is_not_sent(rig, call):
    await rig().refused(a_change(call, holds=lambda: False))


@pytest.mark.parametrize("call", [call for call in CHANGES if call.operation in DESTROYS], ids=lambda call: call.operation)
async def test_what_the_deletion_guard_holds_is_not_destroyed(rig, call):
    it = rig()
    it.around.held = True
    await it.refused(a_change(call))


@every
@pytest.mark.parametrize("lost", ["the Lease", "the precondition"])
async def test_both_are_asked_again_when_the_request_budget_lets_the_change_through(rig, call, lost):
    it, met = rig(qps=0.1, burst=1), [True]
    await it.client.get_all_clusters()
    it.cloud.calls.clear()
    sending = asyncio.create_task(it.refused(a_change(call, holds=lambda: met[0])))
    await asyncio.sleep(5)
    assert it.sent == [], "the budget is spent"
    if lost == "the Lease":
        it.around.leader = False
    else:
        met[0] = False
    await sending
    assert it.around.admitted == [], "the deletion guard counts what was sent"


@every
async def test_a_change_without_a_precondition_is_a_mistake(rig, call):
    it, change = rig(), a_change(call)
    with pytest.raises(TypeError, match="no precondition"):
        await it.port.send(Change(call, change.purpose, change.target, ()))
    assert it.sent == []


@every
async def test_a_session_that_only_reads_sends_no_change(rig, call):
    with pytest.raises(CloudError) as caught:
        await Closed().send(a_change(call))
    assert caught.value.kind is ErrorKind.WITHDRAWN
    with pytest.raises(TypeError, match="only reads"):
        await rig().client.run(call)


async def test_a_failure_of_the_cloud_is_counted_and_told_as_such(rig, logs):
    it = rig()
    it.cloud.refuse("DestroyServer", 500)
    with pytest.raises(CloudError):
        await it.port.send(a_change(calls.destroy_server(**PLACE), uid="u-1"))
    assert it.around.counted == [("DestroyServer", ErrorKind.SERVER)]
    assert it.around.admitted == ["u-1"], "it may have been carried out"
    assert [(line["outcome"], line["host"]) for line in logs if line["event"] == "call"] == [("OrderFailed", "cloud.example")]
