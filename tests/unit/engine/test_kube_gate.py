"""What is written to the apiserver only while the Lease is held, by us and by kopf; and the Lease as it goes over the wire."""

import asyncio
import json

import aiohttp
import kopf
import pytest
from aiohttp import web

from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.handlers.lifecycle import WRITES_IN_FLIGHT, gated

OWNER = {"name": "train", "namespace": "team", "uid": "u-1", "resourceVersion": "7", "finalizers": []}
LEASES = "/apis/coordination.k8s.io/v1/namespaces/team/leases"
LEASE = {"metadata": {"name": "it", "namespace": "team", "resourceVersion": "7"}, "spec": {"holderIdentity": "me"}}
WRITES = {
    "status": lambda kube: kube.replace_status("gpuvms", "GpuVM", OWNER, {}),
    "our finalizer": lambda kube: kube.release("gpuvms", OWNER),
    "a Secret's finalizer": lambda kube: kube.set_secret_finalizer("team", "key", held=True),
    "an Event": lambda kube: kube.record_event("team", {}),
}
READS = {
    "an object": lambda kube: kube.read("gpuvms", OWNER),
    "a Secret": lambda kube: kube.secret("team", "key"),
    "all of a kind": lambda kube: kube.uids("gpuvms", ()),
}


class Server:
    """Answers everything alike, and remembers what came."""

    def __init__(self):
        self.seen, self.status = [], 200
        self.busy, self.asks = [], lambda: None
        self.answer = {"metadata": {**OWNER}, "items": [{"metadata": OWNER}]}

    async def handle(self, request):
        text = await request.text()
        self.busy.append(self.asks())
        self.seen.append((request.method, request.path, json.loads(text) if text else None))
        return web.json_response(self.answer, status=self.status)

    @property
    def writes(self):
        return [one for one in self.seen if one[0] != "GET"]


@pytest.fixture
async def server():
    made = Server()
    runner = web.ServerRunner(web.Server(made.handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


@pytest.fixture
async def kube_of(server):
    made = []

    def make(may_write=lambda: True):
        made.append(KubeClient(lambda: kopf.ConnectionInfo(server=server.url, token="made-up"), may_write))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_nothing_is_written_without_the_lease(server, kube_of, write):
    with pytest.raises(KubeError) as caught:
        await write(kube_of(lambda: False))
    assert (caught.value.reason, caught.value.gone, caught.value.conflict) == ("NotLeading", False, False)
    assert server.writes == []
    await write(kube_of())
    assert server.writes, "with it the same is sent"


@pytest.mark.parametrize("read", READS.values(), ids=READS)
async def test_reading_needs_no_lease(server, kube_of, read):
    await read(kube_of(lambda: False))
    assert server.seen


@pytest.mark.looptime  # what is done before the pause may take as long as it takes
async def test_it_is_asked_when_the_pause_that_the_apiserver_wanted_is_over(server, kube_of):
    allowed = [True]
    kube = kube_of(lambda: allowed[0])
    kube._sender._quiet_until = asyncio.get_running_loop().time() + 0.2
    write = asyncio.create_task(kube.record_event("team", {}))
    await asyncio.sleep(0.05)
    allowed[0] = False
    with pytest.raises(KubeError, match="NotLeading"):
        await write
    assert server.seen == []


async def test_kopf_writes_nothing_without_the_lease_and_watches_on(server):
    found = gated(kopf.ConnectionInfo(server=server.url, token="made-up", default_namespace="team"), lambda: False)
    async with found.aiohttp_session as session:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            with pytest.raises(aiohttp.ClientConnectionError, match="Lease"):  # kopf takes it for an outage, and waits
                await session.request(method, f"{server.url}/anything")
        assert server.seen == []
        async with session.get(f"{server.url}/anything") as answer:
            assert answer.status == 200
    assert (found.server, found.default_namespace) == (server.url, "team")


async def test_kopf_writes_to_few_objects_at_once(server):
    """It gives all objects of a list their finalizer at once: a connection for each would be as many TLS handshakes."""
    found, most = gated(kopf.ConnectionInfo(server=server.url, token="made-up"), None), 0

    async def write():
        nonlocal most
        async with session.patch(f"{server.url}/anything", json={}):
            most = max(most, len(session.connector._acquired))

    async with found.aiohttp_session as session:
        await asyncio.gather(*(write() for _ in range(200)))
        assert most <= 2 * WRITES_IN_FLIGHT, "an answer that is being read holds its connection, too"
    assert len(server.seen) == 200


async def test_the_lease_over_the_wire(server, kube_of):
    kube = kube_of()
    server.answer = LEASE
    new = {"metadata": {"name": "it", "namespace": "team"}, "spec": {}}
    answers = [await kube.lease("team", "it"), await kube.create_lease(new), await kube.replace_lease(LEASE)]
    assert server.seen == [("GET", f"{LEASES}/it", None), ("POST", LEASES, new), ("PUT", f"{LEASES}/it", LEASE)]
    assert answers == [LEASE] * 3


async def test_there_may_be_no_lease_yet(server, kube_of):
    server.status = 404
    assert await kube_of().lease("team", "it") is None


@pytest.mark.parametrize("answer", [{}, {"metadata": {}}, {"metadata": {"name": "it"}}, []])
async def test_an_answer_without_a_version_proves_nothing(server, kube_of, answer):
    """Whoever took it for a Lease could later overwrite another's without a guard."""
    server.answer = answer
    for ask in (lambda kube: kube.lease("team", "it"), lambda kube: kube.replace_lease(LEASE)):
        with pytest.raises(KubeError, match="not an object"):
            await ask(kube_of())


@pytest.mark.parametrize("name", [*WRITES, *READS])
async def test_all_but_events_make_it_busy(server, kube_of, name):
    """Events wait while it is; they must not wait for themselves."""
    kube = kube_of()
    server.asks = lambda: kube.busy
    await (WRITES | READS)[name](kube)
    assert set(server.busy) == {name != "an Event"}
    server.status = 500
    with pytest.raises(KubeError):
        await (WRITES | READS)[name](kube)
    assert not kube.busy
