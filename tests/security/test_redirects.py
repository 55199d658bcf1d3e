"""No redirect is followed, whatever its number and wherever it points: nothing ever arrives elsewhere (S6)."""

from __future__ import annotations

import asyncio

import pytest

from gpucloud.cloud import ApiKey, ClientOptions, CloudClient, CloudError, ErrorKind, Login, models
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.errors import KubeError
from unit.cloud.fakes import KEY, PASSWORD, raw_server

STATUSES = range(301, 309)
PLACES = {
    "another host": "{elsewhere}/stolen",
    "another host by http": "http://127.0.0.1:{port}/stolen",
    "another host, no scheme": "//127.0.0.1:{port}/stolen",
    "another host with a user": "http://somebody@127.0.0.1:{port}/stolen",
    "the same host, another path": "/stolen",
    "a file": "file:///etc/passwd",
}
CALLS = {
    "read": lambda client: client.get_all_clusters(),
    "order": lambda client: client.create_server(
        models.CreateServer(vpc="acme", configuration="A100", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAAMADEUP",))
    ),
    "destroy": lambda client: client.destroy_server(id="train", namespace="acme", cluster="Msc1"),
}


class Elsewhere:
    """A server that nobody should come to, and one that sends everybody there."""

    def __init__(self):
        self.came, self.asked = [], []
        self.location, self.status = "", 302

    async def catch(self, reader, writer):
        self.came.append(await reader.read(1))
        writer.close()

    async def send_on(self, _reader, writer):
        self.asked.append(self.location)
        head = (
            f"HTTP/1.1 {self.status} Elsewhere\r\nLocation: {self.location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode())


@pytest.fixture
async def servers():
    them = Elsewhere()
    async with await asyncio.start_server(them.catch, "127.0.0.1", 0) as canary, raw_server(them.send_on) as url:
        them.url, them.port = url, canary.sockets[0].getsockname()[1]
        yield them


def point(them, status, place):
    them.status = status
    them.location = place.format(elsewhere=f"http://127.0.0.1:{them.port}", port=them.port)


@pytest.mark.parametrize("credential", [ApiKey(KEY), Login("ann", PASSWORD)], ids=["key", "login"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
async def test_the_cloud_sends_nobody_elsewhere(call, credential, servers):
    for status in STATUSES:
        for place in PLACES.values():
            point(servers, status, place)  # a client each: a login that failed is not tried again at once
            async with CloudClient(servers.url, credential, options=ClientOptions(qps=1000, burst=1000)) as client:
                with pytest.raises(CloudError) as caught:
                    await call(client)
            assert caught.value.kind is ErrorKind.REDIRECTED
            assert servers.location not in str(caught.value), "where it points is nobody's business"
    assert servers.came == []
    assert len(servers.asked) == len(STATUSES) * len(PLACES), "each call asked once: none was sent to another path"


class Apiserver:
    """A connection to it, as kopf's is."""

    proxy_url = None

    def __init__(self, server):
        self.server = server

    def as_http_headers(self):
        return {"Authorization": "Bearer made-up-token-of-the-tests"}

    def as_ssl_context(self):
        return False


ASKED = {
    "reading": lambda kube: kube.secret("team", "cloud-credential"),
    "changing": lambda kube: kube.release(
        "gpuvms", {"namespace": "team", "name": "train", "uid": "u1", "resourceVersion": "1"}
    ),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
async def test_the_apiserver_sends_nobody_elsewhere(servers, ask):
    kube = KubeClient(lambda: Apiserver(servers.url))
    for status in STATUSES:
        for place in PLACES.values():
            point(servers, status, place)
            with pytest.raises(KubeError) as caught:
                await ask(kube)
            assert "made-up-token" not in str(caught.value)
    await kube.aclose()
    assert servers.came == []
    assert len(servers.asked) == len(STATUSES) * len(PLACES)
