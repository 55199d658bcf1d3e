"""Logins: one for all, renewed in time, repeated once after a 401, never in a hot loop."""

import asyncio

import httpx
import pytest

from gpucloud.cloud import ApiKey, CloudError, CreateServer, ErrorKind, LoginError
from unit.cloud.fakes import LOGIN, PASSWORD, Rig, in_turn, plain, refusal, token

pytestmark = [pytest.mark.asyncio, pytest.mark.looptime]
NEW_VM = CreateServer(vpc="acme", configuration="c", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA a",))


class Cloud:
    """Issues numbered tokens and accepts those that ``accepts`` allows."""

    def __init__(self, accepts=lambda _token: True, lifetime=86400, logins=None):
        self.accepts = accepts
        self.lifetime = lifetime
        self.logins = logins or (lambda number: token(f"token-{number}", self.lifetime))
        self.count = 0

    async def __call__(self, request):
        await asyncio.sleep(1)
        if request.url.path.endswith("/Authenticate"):
            self.count += 1
            answer = self.logins(self.count)
            if isinstance(answer, Exception):
                raise answer
            return answer
        bearer = request.headers["Authorization"].removeprefix("Bearer ")
        if not self.accepts(bearer):
            return refusal(401, "Current user did not login to the application!", unauthorized=True)
        return plain([bearer] if request.method == "GET" else {"id": "vm-1"})


def rig(cloud, **options):
    return Rig(cloud, credential=LOGIN, **({"qps": 1000, "burst": 1000} | options))


async def failures(client, count):
    results = await asyncio.gather(*(client.get_all_clusters() for _ in range(count)), return_exceptions=True)
    assert all(isinstance(result, CloudError) for result in results)
    return results


async def test_fifty_waiting_calls_share_one_login():
    cloud = Cloud()
    async with rig(cloud).client as client:
        results = await asyncio.gather(*(client.get_all_clusters() for _ in range(50)))
    assert (cloud.count, set(results)) == (1, {("token-1",)})


async def test_a_caller_who_gives_up_does_not_take_the_login_along():
    cloud = Cloud()
    async with rig(cloud).client as client:
        first = asyncio.create_task(client.get_all_clusters())
        second = asyncio.create_task(client.get_all_clusters())
        await asyncio.sleep(0.5)
        first.cancel()
        assert await second == ("token-1",)
    assert cloud.count == 1


async def test_a_token_is_renewed_before_it_expires_without_anybody_waiting():
    cloud = Cloud(lifetime=1000)
    async with rig(cloud).client as client:
        await client.get_all_clusters()
        await asyncio.sleep(890)
        assert await client.get_all_clusters() == ("token-1",)
        await asyncio.sleep(20)
        assert await client.get_all_clusters() == ("token-1",)  # 912 s of 1000: still good, the next is on its way
        await asyncio.sleep(5)
        assert await client.get_all_clusters() == ("token-2",)
    assert cloud.count == 2


async def test_an_expired_token_is_never_sent():
    cloud = Cloud(lifetime=1000)
    async with rig(cloud).client as client:
        await client.get_all_clusters()
        await asyncio.sleep(5000)
        assert await client.get_all_clusters() == ("token-2",)


async def test_a_failed_early_renewal_leaves_the_old_token_in_use():
    cloud = Cloud(lifetime=1000, logins=lambda number: token("token-1", 1000) if number == 1 else plain("down", 503))
    async with rig(cloud).client as client:
        await client.get_all_clusters()
        await asyncio.sleep(950)
        await client.get_all_clusters()
        await asyncio.sleep(2)
        assert await client.get_all_clusters() == ("token-1",)


async def test_a_401_renews_the_login_and_repeats_even_a_changing_call_once():
    cloud = Cloud(accepts=lambda bearer: bearer != "token-1")
    fixture = rig(cloud)
    async with fixture.client as client:
        await client.create_server(NEW_VM)
    sent = fixture.cloud.sent_to("CreateServer")
    assert len(sent) == 2
    assert sent[0].content == sent[1].content
    assert cloud.count == 2


async def test_fifty_calls_that_meet_a_401_share_one_renewal():
    cloud = Cloud(accepts=lambda bearer: bearer != "token-1")
    async with rig(cloud).client as client:
        results = await asyncio.gather(*(client.get_all_clusters() for _ in range(50)))
    assert (cloud.count, set(results)) == (2, {("token-2",)})


async def test_a_late_401_for_an_old_token_causes_no_further_login():
    logins = in_turn(token("token-1"), token("token-2"), token("token-3"))

    async def cloud(request):
        if request.url.path.endswith("/Authenticate"):
            return logins(request)
        slow = request.url.path.endswith("/GetServer")
        await asyncio.sleep(10 if slow else 1)
        return refusal(401, "no") if request.headers["Authorization"].endswith("-1") else plain(["x"] if not slow else {})

    fixture = rig(cloud)
    async with fixture.client as client:
        slow = client.get_server(id="vm-1", namespace="acme", cluster="Msc1")
        await asyncio.gather(slow, client.get_all_clusters())
    assert fixture.cloud.logins == 2


async def test_a_renewal_that_hangs_after_a_401_leaves_the_call_surely_not_carried_out():
    async def cloud(request):
        if request.url.path.endswith("/CreateServer"):
            return refusal(401, "no")
        if fixture.cloud.logins > 1:
            await asyncio.sleep(10_000)
        return token("token-1")

    fixture = rig(cloud)
    async with fixture.client as client:
        with pytest.raises(CloudError) as caught:
            await client.create_server(NEW_VM)
    assert (caught.value.kind, caught.value.ambiguous) == (ErrorKind.NOT_SENT, False)


@pytest.mark.proves("auth:9.rejected", "auth:10.expired")
async def test_an_api_key_is_never_renewed():
    fixture = Rig(lambda _: refusal(401, "expired"))
    async with fixture.client as client:
        with pytest.raises(CloudError) as caught:
            await client.create_server(NEW_VM)
    assert (caught.value.kind, len(fixture.cloud.requests)) == (ErrorKind.UNAUTHORIZED, 1)


async def test_when_renewal_does_not_help_there_is_one_login_a_minute():
    cloud = Cloud(accepts=lambda _bearer: False)
    async with rig(cloud).client as client:
        for error in await failures(client, 200):
            assert error.kind is ErrorKind.UNAUTHORIZED
        assert cloud.count == 2  # the first, and the one that showed that renewal does not help
        for _ in range(10):
            await failures(client, 20)
        assert cloud.count == 2
        await asyncio.sleep(60)
        await failures(client, 200)
        assert cloud.count == 3


@pytest.mark.parametrize("status", [400, 401, 403, 500])
async def test_a_refused_login_is_tried_once_a_minute_however_many_ask(status):
    cloud = Cloud(logins=lambda _number: refusal(status, "wrong password"))
    fixture = rig(cloud)
    async with fixture.client as client:
        for _ in range(5):
            for error in await failures(client, 200):
                assert isinstance(error, LoginError)
                assert "wrong password" in error.message
                assert error.retry_after <= 60
        assert (cloud.count, len(fixture.cloud.requests)) == (1, 1)
        await asyncio.sleep(61)
        await failures(client, 200)
        assert cloud.count == 2


async def test_a_corrected_login_heals_within_a_minute():
    cloud = Cloud(logins=lambda number: refusal(401, "locked") if number == 1 else token("token-2"))
    async with rig(cloud).client as client:
        await failures(client, 1)
        await asyncio.sleep(60)
        assert await client.get_all_clusters() == ("token-2",)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.ReadTimeout("t"), ErrorKind.NOT_SENT),
        (httpx.ConnectError("c"), ErrorKind.NOT_SENT),
        (refusal(500, "internal"), ErrorKind.SERVER),
        (refusal(503, "down"), ErrorKind.UNAVAILABLE),
        (plain({"result": {"requiresTwoFactorVerification": True}, "success": True}), ErrorKind.LOGIN),
        (plain({"result": {"shouldResetPassword": True}, "success": True}), ErrorKind.LOGIN),
        (plain("rubbish"), ErrorKind.MALFORMED),
    ],
)
async def test_when_the_login_fails_a_changing_call_was_surely_not_carried_out(answer, kind):
    fixture = rig(Cloud(logins=lambda _number: answer))
    async with fixture.client as client:
        with pytest.raises(LoginError) as caught:
            await client.create_server(NEW_VM)
    assert (caught.value.kind, caught.value.ambiguous, caught.value.operation) == (kind, False, "CreateServer")
    assert fixture.cloud.sent_to("CreateServer") == []


async def test_a_login_that_hangs_leaves_the_call_unsent():
    async def hang(_request):
        await asyncio.sleep(10_000)

    async with rig(hang, total_deadline_seconds=30).client as client:
        started = asyncio.get_running_loop().time()
        with pytest.raises(CloudError) as caught:
            await client.create_server(NEW_VM)
        assert asyncio.get_running_loop().time() - started <= 30
    assert (caught.value.kind, caught.value.ambiguous) == (ErrorKind.NOT_SENT, False)


async def test_closing_the_client_ends_those_who_wait_for_a_login():
    async with rig(Cloud()).client as client:
        waiting = asyncio.create_task(client.get_all_clusters())
        await asyncio.sleep(0.5)
    with pytest.raises(CloudError, match="GetAll: NotSent: the client is closed"):
        await waiting
    with pytest.raises(CloudError, match="closed"):
        await client.get_all_clusters()


@pytest.mark.proves("auth:token.lifetime", "limit:token-lifetime")
@pytest.mark.parametrize("seconds", [None, 0, -5, "rubbish"])
async def test_a_login_without_a_lifetime_gets_the_documented_one(seconds):
    cloud = Cloud(lifetime=seconds)
    async with rig(cloud).client as client:
        await client.get_all_clusters()
        await asyncio.sleep(80_000)
        assert await client.get_all_clusters() == ("token-1",)
        await asyncio.sleep(7_000)
        assert await client.get_all_clusters() == ("token-2",)


async def test_the_login_as_an_operation_neither_uses_nor_changes_the_clients_own():
    fixture = Rig(in_turn(token("token-9")), credential=ApiKey("canary-key-0001"))
    async with fixture.client as client:
        result = await client.authenticate(username="bob", password=PASSWORD)
    assert (result.access_token, result.expire_in_seconds) == ("token-9", 86400)
    assert "Authorization" not in fixture.cloud.requests[0].headers
