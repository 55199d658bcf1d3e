"""Every kind of fault, in process and over a real socket; then how faults are addressed, seeded and noted."""

import asyncio
import contextlib
import json
from pathlib import Path

import httpx
import pytest

from gpucloud.sim import Fault, FaultKind, Knobs, SimConfig, Simulator
from gpucloud.sim.messages import Response
from gpucloud.sim.server import serving
from gpucloud.sim.transport import SimTransport
from simulator.test_sim_client import KEY, VM_TYPE, Cloud, at

SERVERS = "/api/v1/servers/virtual/GetServers"
CREATE = "/api/v1/servers/virtual/CreateServer"
IMPATIENT = httpx.Timeout(
    30, read=0.3
)  # for calls that are never answered; the others may take as long as a busy machine takes
SERVER = {"name": "new", "vpc": "acme", "configuration": VM_TYPE, "cluster": "Msc1", "ssh_keys": ["k"]}


class Wire:
    """A client of a simulator in real time, with three ONLINE machines a, b, c."""

    def __init__(self, sim, client):
        self.sim = sim
        self.client = client

    def fault(self, kind, **more):
        self.sim.state.faults.add(Fault(kind=kind, **more))

    async def list(self, **more):
        return await self.client.get(SERVERS, **more)

    async def names(self):
        return [item["id"] for item in (await self.list()).json()["items"]]

    async def create(self, **more):
        return await self.client.post(CREATE, json=SERVER, **more)

    async def until_there(self, name):
        for _ in range(100):
            if name in await self.names():
                return
            await asyncio.sleep(0.02)
        pytest.fail(f"{name} never appeared")

    def entry(self, operation):
        return self.sim.state.ledger.entries(operation=operation)[-1]


@pytest.fixture(params=["in process", "socket"])
async def wire(request):
    sim = Simulator(SimConfig(api_key=KEY, knobs=Knobs(provision_seconds=0)))
    headers = {"Authorization": f"ApiKey {KEY}"}
    async with contextlib.AsyncExitStack() as stack:
        transport, url = SimTransport(sim), "http://sim.invalid"
        if request.param == "socket":
            url, transport = await stack.enter_async_context(serving(sim.handle)), httpx.AsyncHTTPTransport()
        client = httpx.AsyncClient(transport=transport, base_url=url, headers=headers, timeout=30)
        wire = Wire(sim, await stack.enter_async_context(client))
        for name in "abc":
            assert (await client.post(CREATE, json=SERVER | {"name": name})).status_code == 202
        yield wire


async def test_sim_no_fault(wire):
    answer = await wire.list()
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json; charset=utf-8")
    assert await wire.names() == ["a", "b", "c"]


async def test_sim_delay_past_the_caller_s_patience_still_commits(wire):
    wire.fault("delay", operation="CreateServer", seconds=0.4)
    with pytest.raises(httpx.ReadTimeout):
        await wire.create(timeout=IMPATIENT)
    wire.sim.state.faults.clear()
    await wire.until_there("new")
    assert wire.entry("CreateServer")["committed"] is not None


async def test_sim_delay_within_the_caller_s_patience(wire):
    wire.fault("delay", seconds=0.02)
    assert await wire.names() == ["a", "b", "c"]
    entry = wire.entry("GetServers")
    assert entry["answered"] - entry["received"] >= 0.02


async def test_sim_delay_answer_comes_after_the_commit(wire):
    wire.fault("delay_answer", operation="CreateServer", seconds=0.02)
    assert (await wire.create()).status_code == 202
    entry = wire.entry("CreateServer")
    assert entry["answered"] - entry["committed"] >= 0.02


@pytest.mark.parametrize("status", [401, 403, 408, 429, 500, 502, 503, 504])
async def test_sim_status_without_commit(wire, status):
    wire.fault("status", operation="CreateServer", status=status)
    answer = await wire.create()
    assert (answer.status_code, answer.json()["success"]) == (status, False)
    wire.sim.state.faults.clear()
    assert await wire.names() == ["a", "b", "c"]
    assert wire.entry("CreateServer")["committed"] is None


@pytest.mark.proves("open:rate-limit")
@pytest.mark.parametrize("text", ["3", "0", "-1", "1000000000", "Wed, 21 Oct 2026 07:28:00 GMT", "soon", ""])
async def test_sim_429_with_every_form_of_retry_after(wire, text):
    wire.fault("status", status=429, retry_after=text)
    answer = await wire.list()
    assert (answer.status_code, answer.headers.get("retry-after", "")) == (429, text)


async def test_sim_status_with_a_body_of_its_own(wire):
    wire.fault("status", status=200, body='{"items": null}', times=1)
    wire.fault("status", status=502, body="<bad gateway>")
    first, second = await wire.list(), await wire.list()
    assert (first.status_code, first.json()) == (200, {"items": None})
    assert (second.status_code, second.text) == (502, "<bad gateway>")


async def test_sim_status_after_commit_lies(wire):
    wire.fault("status_after_commit", operation="CreateServer", status=408)
    assert (await wire.create()).status_code == 408
    assert "new" in await wire.names()


async def test_sim_reset_before_commit(wire):
    wire.fault("reset", operation="CreateServer")
    with pytest.raises(httpx.ReadError):
        await wire.create()
    assert "new" not in await wire.names()
    entry = wire.entry("CreateServer")
    assert (entry["committed"], entry["answered"], entry["ending"]) == (None, None, "reset")


async def test_sim_lost_answer_after_commit(wire):
    wire.fault("lost_answer", operation="CreateServer")
    with pytest.raises(httpx.ReadError):
        await wire.create()
    assert "new" in await wire.names()
    entry = wire.entry("CreateServer")
    assert (entry["committed"] is not None, entry["answered"], entry["ending"]) == (True, None, "reset")


@pytest.mark.parametrize(("kind", "exists"), [("silence", False), ("silence_after_commit", True)])
async def test_sim_silence_until_the_caller_gives_up(wire, kind, exists):
    wire.fault(kind, operation="CreateServer", seconds=60)
    with pytest.raises(httpx.ReadTimeout):
        await wire.create(timeout=IMPATIENT)
    assert ("new" in await wire.names()) is exists
    assert wire.entry("CreateServer")["ending"] == "silence"


@pytest.mark.parametrize(("kind", "exists"), [("silence", False), ("silence_after_commit", True)])
async def test_sim_silence_until_the_cloud_hangs_up(wire, kind, exists):
    wire.fault(kind, operation="CreateServer", seconds=0.01)
    with pytest.raises(httpx.RemoteProtocolError):
        await wire.create()
    assert ("new" in await wire.names()) is exists


async def test_sim_late_commit_after_an_error(wire):
    wire.fault("late_commit", operation="CreateServer", status=500, seconds=0.05)
    assert (await wire.create()).status_code == 500
    await wire.until_there("new")
    entry = wire.entry("CreateServer")
    assert entry["committed"] - entry["received"] >= 0.05
    assert entry["subject"] == {"cluster": "Msc1", "namespace": "acme", "id": "new"}


async def test_sim_late_commit_after_hanging_up(wire):
    wire.fault("late_commit", operation="CreateServer", status=0, seconds=0.05)
    with pytest.raises(httpx.ReadError):
        await wire.create()
    await wire.until_there("new")


async def test_sim_ghost_says_yes_and_does_nothing(wire):
    wire.fault("ghost", operation="CreateServer")
    answer = await wire.create()
    assert (answer.status_code, answer.json()) == (202, {"id": "new", "cluster": "Msc1", "status": "na"})
    assert "new" not in await wire.names()
    assert wire.entry("CreateServer")["committed"] is None


async def test_sim_partial_listing(wire):
    wire.fault("partial", operation="GetServers", items=2)
    assert await wire.names() == ["a"]


async def test_sim_empty_listing(wire):
    wire.fault("empty", operation="GetServers")
    assert await wire.names() == []


async def test_sim_duplicate_items(wire):
    wire.fault("duplicate", operation="GetServers", items=2)
    assert await wire.names() == ["a", "b", "c", "a", "b"]


@pytest.mark.proves("state:open")
async def test_sim_unknown_status_words(wire):
    wire.fault("status_word", operation="GetServers", word="DREAMING")
    assert {item["status"] for item in (await wire.list()).json()["items"]} == {"DREAMING"}


@pytest.mark.parametrize("kind", ["garbage", "truncated", "html"])
async def test_sim_bodies_that_are_no_json(wire, kind):
    wire.fault(kind)
    answer = await wire.list()
    assert answer.status_code == 200
    with pytest.raises(ValueError, match=r"."):
        json.loads(answer.content)
    assert answer.headers["content-type"].startswith("text/html") is (kind == "html")


async def test_sim_a_body_that_breaks_off(wire):
    wire.fault("cut_body")
    with pytest.raises(httpx.RemoteProtocolError):
        await wire.list()


async def test_sim_a_body_that_drips_arrives_whole(wire):
    wire.fault("drip", operation="GetAll", seconds=0.001)
    assert (await wire.client.get("/api/v1/clusters/GetAll")).json() == ["Msc1", "Hou1"]


async def test_sim_a_body_that_drips_too_slowly(wire):
    wire.fault("drip", seconds=30)
    with pytest.raises(httpx.ReadTimeout):
        await wire.list(timeout=IMPATIENT)


async def test_sim_stale_listing(wire):
    before = wire.sim.state.now()
    await wire.create()
    wire.fault("stale", operation="GetServers", seconds=wire.sim.state.now() - before + 1000)
    assert await wire.names() == []
    wire.sim.state.faults.clear()
    assert "new" in await wire.names()


# How faults are addressed.


async def statuses(cloud, count, operation="GetAll"):
    return [(await cloud.call(operation)).status for _ in range(count)]


async def test_sim_a_fault_without_address_strikes_always():
    cloud = Cloud()
    cloud.fault("status")
    assert await statuses(cloud, 3) == [500, 500, 500]


async def test_sim_a_fault_strikes_one_operation():
    cloud = Cloud()
    cloud.fault("status", "GetServers")
    assert (await statuses(cloud, 1), await statuses(cloud, 1, "GetServers")) == ([200], [500])


async def test_sim_a_fault_strikes_operations_by_pattern():
    cloud = Cloud()
    cloud.fault("status", "Get*")
    assert (await cloud.create()).status == 202
    assert await statuses(cloud, 1, "GetVpcs") == [500]


async def test_sim_a_fault_strikes_the_nth_call_once():
    cloud = Cloud()
    cloud.fault("status", "GetAll", nth=2)
    await cloud.call("GetServers")  # another operation does not count
    assert await statuses(cloud, 4) == [200, 500, 200, 200]


async def test_sim_a_fault_strikes_from_the_nth_call_so_many_times():
    cloud = Cloud()
    cloud.fault("status", "GetAll", nth=2, times=2)
    assert await statuses(cloud, 5) == [200, 500, 500, 200, 200]


async def test_sim_a_fault_strikes_so_many_times():
    cloud = Cloud()
    cloud.fault("status", times=2)
    assert await statuses(cloud, 3) == [500, 500, 200]


async def test_sim_a_fault_strikes_by_parameters():
    cloud = Cloud()
    cloud.fault("status", "CreateServer", parameters={"name": "b"})
    assert [(await cloud.create(name)).status for name in ("a", "b", "c")] == [202, 500, 202]


async def test_sim_a_fault_strikes_one_credential():
    cloud = Cloud()
    value = (await cloud.control("keys", {"description": "other"})).data["value"]
    cloud.fault("status", credential="key-2")
    assert (await cloud.call("GetAll")).status == 200
    assert (await cloud.call("GetAll", f"ApiKey {value}")).status == 500


async def test_sim_chance_repeats_with_the_seed():
    async def run(seed):
        cloud = Cloud(seed=seed)
        cloud.fault("status", probability=0.5)
        return await statuses(cloud, 40)

    first = await run(1)
    assert first == await run(1)
    assert first != await run(2)
    assert set(first) == {200, 500}


async def test_sim_faults_combine():
    cloud = Cloud()
    for name in "abc":
        await cloud.create(name)
    cloud.fault("partial", "GetServers", items=1)
    cloud.fault("status_word", "GetServers", word="X")
    assert [(item["id"], item["status"]) for item in (await cloud.call("GetServers")).items] == [("a", "X"), ("b", "X")]


async def test_sim_a_stale_record_is_what_it_was_then():
    cloud = Cloud(provision_seconds=10, destroy_seconds=0)
    await cloud.create()
    cloud.clock.advance(20)
    await cloud.call("DestroyServer", **at())
    cloud.clock.advance(5)
    assert await cloud.status() is None
    for ago, status in ((5, None), (6, "ONLINE"), (15, "ONLINE"), (20, "PENDING_READINESS"), (24, "PENDING"), (26, None)):
        fault = cloud.fault("stale", seconds=ago)
        assert await cloud.status() == status, ago
        cloud.sim.state.faults.remove(fault.id)


async def test_sim_a_late_commit_that_has_become_impossible_is_dropped():
    cloud = Cloud()
    cloud.fault("late_commit", "CreateServer", nth=1, seconds=5)
    assert (await cloud.create()).status == 500
    assert (await cloud.create()).status == 202
    cloud.clock.advance(10)
    assert len((await cloud.call("GetServers")).items) == 1


async def test_sim_a_late_commit_is_refused_now_if_the_request_is_wrong():
    cloud = Cloud()
    cloud.fault("late_commit", "CreateServer")
    assert (await cloud.create(ssh_keys=[])).status == 400


async def test_sim_the_ledger_names_the_faults_that_struck():
    cloud = Cloud()
    cloud.fault("delay", id="slow", seconds=0)
    cloud.fault("partial", id="less")
    await cloud.call("GetServers")
    (entry,) = await cloud.ledger()
    assert entry["faults"] == ["slow", "less"]


def test_sim_every_kind_of_fault_is_played_here():
    text = Path(__file__).read_text()
    assert [kind for kind in FaultKind if f'"{kind}"' not in text] == []


class Held:
    """A simulator that answers when it is told to."""

    def __init__(self):
        self.released = asyncio.Event()

    async def handle(self, _request):
        await self.released.wait()
        return Response(200)


@pytest.mark.parametrize("turns", range(5))
async def test_sim_a_call_that_is_cancelled_as_its_answer_comes_is_cancelled(turns):
    """In whatever turn of the loop: a caller whose deadline has passed gets no answer after it."""
    held = Held()
    request = httpx.Request("GET", "http://sim.invalid", extensions={"timeout": {"read": 30}})
    call = asyncio.create_task(SimTransport(held).handle_async_request(request))
    await asyncio.sleep(0.01)
    held.released.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    taken = not call.done() and call.cancel()
    await asyncio.wait([call])
    assert call.cancelled() == taken
