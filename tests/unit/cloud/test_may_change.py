"""Whoever may not change the cloud any more sends nothing that would, however late that turns out; reading stays possible."""

import asyncio

import pytest

from gpucloud.cloud import ApiKey, ClientOptions, CloudClient, CloudError, CreateServer, ErrorKind
from unit.cloud.fakes import BASE, KEY, FakeCloud, in_turn, plain, raw_server

SERVER = CreateServer(vpc="acme", configuration="A100", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA t",))
PLACE = {"id": "vm", "namespace": "acme", "cluster": "Msc1"}
CHANGES = {
    "create_server": lambda client: client.create_server(SERVER),
    "destroy_server": lambda client: client.destroy_server(**PLACE),
    "start_server": lambda client: client.start_server(**PLACE),
    "stop_server": lambda client: client.stop_server(**PLACE),
}


def client_of(cloud, may_change, **options):
    return CloudClient(BASE, ApiKey(KEY), options=ClientOptions(**options), transport=cloud, may_change=may_change)


async def refused(call):
    with pytest.raises(CloudError) as caught:
        await call
    assert (caught.value.kind, caught.value.ambiguous) == (ErrorKind.WITHDRAWN, False), "surely not carried out"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_no_change_is_sent(change):
    cloud = FakeCloud(in_turn(plain({"items": []})))
    async with client_of(cloud, lambda: False) as client:
        await refused(change(client))
        assert cloud.requests == []
        await client.get_servers(cluster="Msc1")
    assert len(cloud.requests) == 1


@pytest.mark.looptime
async def test_it_is_asked_when_the_wait_for_the_budget_is_over():
    """An order may wait long for its turn; whether it may be sent is not known before."""
    cloud, allowed = FakeCloud(in_turn(plain({"items": []}))), [True]
    async with client_of(cloud, lambda: allowed[0], qps=0.1, burst=1) as client:
        await client.get_servers(cluster="Msc1")
        order = asyncio.create_task(client.create_server(SERVER))
        await asyncio.sleep(5)
        allowed[0] = False
        await refused(order)
    assert len(cloud.requests) == 1


async def test_it_is_asked_again_when_the_connection_stands():
    """Connecting takes time, too: the last question comes right before the first byte."""
    heads, answers = [], [True, False]

    async def serve(_reader, _writer):
        heads.append("a request")

    async with raw_server(serve) as url, CloudClient(url, ApiKey(KEY), may_change=lambda: answers.pop(0)) as client:
        await refused(client.create_server(SERVER))
    assert (answers, heads) == ([], [])
