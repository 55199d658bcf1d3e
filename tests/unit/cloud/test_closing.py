"""A client that is closed sends nothing more: no order that waits for its turn, and no repetition."""

import asyncio

import httpx
import pytest

from gpucloud.cloud import ApiKey, CloudClient, CloudError, CreateServer, ErrorKind
from unit.cloud.fakes import BASE, KEY, FakeCloud, Rig, in_turn, plain, raw_server, refusal

SERVER = CreateServer(vpc="acme", configuration="A100", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA t",))


async def refused(call):
    began = asyncio.get_running_loop().time()
    with pytest.raises(CloudError) as caught:
        await call
    assert asyncio.get_running_loop().time() < began + 1, "at once"
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


@pytest.mark.looptime
async def test_an_order_that_waits_out_a_pause_of_the_cloud_is_refused_at_once():
    rig = Rig(in_turn(refusal(429, "slow down", **{"Retry-After": "20"}), plain({"id": "vm"})))
    with pytest.raises(CloudError):
        await rig.client.create_server(SERVER)
    order = asyncio.create_task(rig.client.create_server(SERVER))
    await asyncio.sleep(5)
    await rig.client.aclose()
    await refused(order)
    assert len(rig.cloud.requests) == 1


@pytest.mark.looptime
async def test_a_reading_call_that_waits_to_be_repeated_is_refused_at_once():
    rig = Rig(in_turn(refusal(503, "down", **{"Retry-After": "9"}), plain([])))
    reading = asyncio.create_task(rig.client.get_all_clusters())
    await asyncio.sleep(5)
    await rig.client.aclose()
    await refused(reading)
    assert [(report.attempt, report.sent) for report in rig.reports] == [(1, True), (2, False)]


@pytest.mark.looptime
async def test_a_reading_call_whose_connection_failed_is_refused_at_once():
    """What failed before an answer counted as under way, and waited out its pause."""
    paused = asyncio.Event()

    def refuse(_request):
        if len(rig.cloud.requests) == 5:  # the pause after the fifth is 4 seconds or more
            asyncio.get_running_loop().call_later(1, paused.set)
        raise httpx.ConnectError("refused")

    rig = Rig(refuse, max_retries=9)
    reading = asyncio.create_task(rig.client.get_all_clusters())
    await paused.wait()
    await rig.client.aclose()
    await refused(reading)
    assert [report.attempt for report in rig.reports] == [1, 2, 3, 4, 5, 6]


@pytest.mark.looptime
async def test_an_order_on_its_way_may_end():
    async def slow(_request):
        await asyncio.sleep(9)
        return plain({"id": "vm"})

    rig = Rig(slow)
    order = asyncio.create_task(rig.client.create_server(SERVER))
    await asyncio.sleep(5)
    await rig.client.aclose()
    assert (await order).id == "vm"


def test_a_client_is_closed_in_a_second_event_loop():
    """It was a RuntimeError: the loop of its connections was closed."""

    class Sockets(FakeCloud):
        async def handle_async_request(self, request):
            self.loop = asyncio.get_running_loop()
            return await super().handle_async_request(request)

        async def aclose(self):
            self.loop.call_soon(int)

    client = CloudClient(BASE, ApiKey(KEY), transport=Sockets(in_turn(plain([]))))
    assert asyncio.run(client.get_all_clusters()) == ()
    asyncio.run(client.aclose())
    assert client.is_closed


def test_a_client_in_a_second_event_loop_is_refused():
    """It was a RuntimeError as soon as a connection of the first one was used."""
    rig = Rig(in_turn(plain([])))
    assert asyncio.run(rig.client.get_all_clusters()) == ()
    with pytest.raises(CloudError, match="GetAll: Invalid: the client belongs to the event loop of its first call"):
        asyncio.run(rig.client.get_all_clusters())
    assert len(rig.cloud.requests) == 1
