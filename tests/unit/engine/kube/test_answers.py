"""Answers that fail: refused tokens, silence and 429."""

import asyncio
from datetime import UTC, datetime

import pytest

from gpucloud.engine.kube import sending as module
from gpucloud.engine.kube.client import KubeClient
from gpucloud.engine.kube.errors import KubeError
from gpucloud.engine.kube.other_operators import held_leases
from gpucloud.engine.kube.sending import CALL_SECONDS
from gpucloud.engine.kube.transport import NoAnswer
from support.kubeserver import OWNER, Answering, Connection, NoConnection, Silent


@pytest.mark.parametrize("body", ["", "<html>no</html>", "[1]", "null", "{"])
async def test_an_error_that_is_no_json_is_an_error_all_the_same(server, kube, body):
    server.answer = lambda _seen: (502, body)
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert caught.value.status == 502


UNREADABLE = ["", "<html>log in</html>", "[1]", "null", '{"items": [{"metadata": {"na', {"ok": True}, {"metadata": {}}]
LISTS = {
    "uids": lambda kube: kube.uids("gpuvms", ()),
    "resources": lambda kube: anext(kube.resources("gpuvms", ()), None),
    "find": lambda kube: kube.find("gpuvms", "team", "train"),
    "read": lambda kube: kube.read("gpuvms", OWNER),
    "held_leases": lambda kube: held_leases(kube, datetime.now(UTC)),
}
WRITES = {
    "replace_status": lambda kube: kube.replace_status("gpuvms", "GpuVM", OWNER, {}),
    "add_finalizer": lambda kube: kube.add_finalizer("gpuvms", OWNER),
    "release": lambda kube: kube.release("gpuvms", OWNER),
    "create_lease": lambda kube: kube.create_lease({"metadata": {"namespace": "team"}}),
}


@pytest.mark.parametrize("body", [*UNREADABLE, {"items": "none"}], ids=str)
@pytest.mark.parametrize("call", LISTS.values(), ids=LISTS)
async def test_an_answer_that_is_no_list_is_not_an_empty_one(server, kube, call, body):
    """A proxy's login page, or an answer cut short: objects that it does not name may be there."""
    server.answer = lambda seen: (200, {"status": {"allowed": True}} if "reviews" in seen["path"] else body)
    with pytest.raises(KubeError) as caught:
        await call(kube)
    assert (caught.value.status, caught.value.reason, caught.value.gone) == (0, "Malformed", False)


@pytest.mark.parametrize("body", UNREADABLE, ids=str)
@pytest.mark.parametrize("call", WRITES.values(), ids=WRITES)
async def test_a_write_that_is_not_answered_with_the_object_is_not_known_to_be_done(server, kube, call, body):
    server.answer = lambda _seen: (200, body)
    with pytest.raises(KubeError) as caught:
        await call(kube)
    assert (caught.value.status, caught.value.reason) == (0, "Malformed")


@pytest.mark.parametrize("body", UNREADABLE[:5], ids=str)
async def test_a_secret_that_cannot_be_read_is_not_an_empty_one(server, kube, body):
    server.answer = lambda _seen: (200, body)
    with pytest.raises(KubeError, match="Malformed"):
        await kube.data_of("secrets", "team", "keys")


async def test_a_rotated_token_is_fetched_once_and_the_call_sent_again(server, kube):
    server.answer = lambda seen: (200, {"metadata": {"uid": "u"}}) if seen["token"] == "Bearer made-up-2" else (401, {})
    assert await kube.cluster_uid() == "u"
    assert await kube.cluster_uid() == "u"
    assert [seen["token"] for seen in server.seen] == ["Bearer made-up-1", "Bearer made-up-2", "Bearer made-up-2"]


async def test_a_token_that_stays_refused_is_told(server, kube):
    server.answer = lambda _seen: (401, {"reason": "Unauthorized", "message": "no"})
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert (caught.value.status, len(server.seen)) == (401, 2)
    assert "made-up" not in str(caught.value)


async def test_calls_under_way_survive_the_login_of_another(server, kube):
    """Twenty writes at once meet a rotated token."""

    async def slow(seen):
        await asyncio.sleep(0.05 if seen["path"].endswith("first") else 0.3)
        return (401, {}) if seen["token"] == "Bearer made-up-1" else (200, {"metadata": {}})

    server.answer = slow
    first = kube.data_of("secrets", "team", "first")
    others = [kube.data_of("secrets", "team", f"s{number}") for number in range(10)]
    assert await asyncio.gather(first, *others) == [{}] * 11


async def test_silence_is_an_error_of_status_zero(server, kube, monkeypatch):
    monkeypatch.setattr(module, "CALL_SECONDS", 0.1)

    async def never(_seen):
        await asyncio.sleep(5)
        return 200, {}

    server.answer = never
    with pytest.raises(KubeError) as caught:
        await kube.release("gpuvms", OWNER)
    assert (caught.value.status, caught.value.conflict, caught.value.gone) == (0, False, False)


async def test_no_connection_is_an_error_of_status_zero():
    kube = KubeClient(lambda: Connection("http://127.0.0.1:1", "made-up"))
    with pytest.raises(KubeError) as caught:
        await kube.replace_status("gpuvms", "GpuVM", OWNER, {})
    await kube.aclose()
    assert caught.value.status == 0
    assert "?" not in str(caught.value)


@pytest.mark.parametrize(("asked", "pause"), [("3", 3), ("100000", 60), ("soon", 1), ("-5", 1)])
@pytest.mark.looptime
async def test_a_429_keeps_all_of_us_quiet_for_as_long_as_it_asks(asked, pause):
    transport = Answering(429, asked)
    kube, began = KubeClient(NoConnection, transport=transport), asyncio.get_running_loop().time()
    for call in (kube.cluster_uid(), kube.namespace("team")):
        with pytest.raises(KubeError):
            await call
    assert [round(at - began, 3) for at in transport.asked] == [0, pause]


@pytest.mark.looptime
async def test_a_transport_that_never_answers_is_given_up():
    kube = KubeClient(NoConnection, transport=Silent())
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert (caught.value.status, caught.value.reason) == (0, "TimeoutError")
    assert asyncio.get_running_loop().time() == pytest.approx(CALL_SECONDS)


async def test_what_the_transport_says_of_a_lost_answer_is_told():
    kube = KubeClient(NoConnection, transport=Silent(NoAnswer("ConnectionReset")))
    with pytest.raises(KubeError) as caught:
        await kube.cluster_uid()
    assert (caught.value.status, caught.value.reason) == (0, "ConnectionReset")


async def test_a_transport_is_told_of_every_login():
    transport = Answering(401, "")
    with pytest.raises(KubeError):
        await KubeClient(NoConnection, transport=transport).cluster_uid()
    assert (len(transport.asked), transport.logins) == (2, 2)
