"""A client that is closed sends nothing more: no order that waits for its turn, and no repetition."""

import asyncio

import pytest

from gpucloud.cloud import ApiKey, CloudClient, CloudError, CreateServer, ErrorKind
from unit.cloud.fakes import KEY, Rig, in_turn, plain, raw_server, refusal

SERVER = CreateServer(vpc="acme", configuration="A100", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA t",))


async def refused(call):
    with pytest.raises(CloudError) as caught:
        await call
    assert (caught.value.kind, caught.value.ambiguous) == (ErrorKind.NOT_SENT, False), "surely not carried out"
    assert "the client is closed" in str(caught.value)


@pytest.mark.looptime
async def test_an_order_that_waits_for_the_budget_is_not_sent_after_that():
    rig = Rig(in_turn(plain([])), qps=0.1, burst=1)
    await rig.client.get_all_clusters()
    order = asyncio.create_task(rig.client.create_server(SERVER))
    await asyncio.sleep(5)
    await rig.client.aclose()
    await refused(order)
    assert len(rig.cloud.requests) == 1


async def test_an_order_whose_connection_is_being_made_is_not_sent_after_that():
    """The last question before the first byte: closing while the connection was made came too late before."""
    heads = []

    async def serve(_reader, _writer):
        heads.append("a request")

    async with raw_server(serve) as url:
        closing = []

        def may_change():  # asked when the budget is had, and again when the connection stands
            closing.append(asyncio.ensure_future(client.aclose()))
            return True

        client = CloudClient(url, ApiKey(KEY), may_change=may_change)
        await refused(client.create_server(SERVER))
        await asyncio.gather(*closing)
    assert heads == []


@pytest.mark.looptime
async def test_a_reading_call_is_not_repeated_after_that():
    rig = Rig(lambda _request: refusal(503, "down"))
    reading = asyncio.create_task(rig.client.get_servers())
    await asyncio.sleep(0.1)
    await rig.client.aclose()
    await refused(reading)
    assert len(rig.cloud.requests) == 1
