"""No key, password, token or cloud-init ever leaves by an error, a log line, a report or a repr."""

import asyncio
import base64
import logging
import traceback
from urllib.parse import unquote

import httpx
import pytest

from gpucloud.cloud import ApiKey, ClientOptions, CloudClient, CloudError, Login, calls
from unit.cloud.fakes import KEY, LOGIN, PASSWORD, Rig, plain, raw_server, refusal, token

CLOUD_INIT = base64.b64encode(b"#cloud-config canary").decode()
REFRESH = "canary/refresh+0005=="
SIGNED_URL = "https://canary-user@images.example/a.qcow2?X-Expires=900&X-Signature=canary%2Fsignature%2B0006#canary-fragment"
SECRETS = [
    *(KEY, PASSWORD, CLOUD_INIT, REFRESH, "canary/refresh", "canary%2Frefresh", "canary-token", "canary-refresh"),
    *("canary%2Fsignature", "canary/signature", "canary-user", "canary-fragment"),
]


def reprovision(client):
    return client.reprovision_host(
        id="bm-128", cluster="Msc1", image_url=SIGNED_URL, image_checksum=SIGNED_URL, cloud_init_base64=CLOUD_INIT
    )


def echo(status):
    """A cloud that repeats whatever it was given in its complaint: the worst server there is."""

    def answer(request):
        if request.url.path.endswith("/Authenticate") and b"ann@" in request.content:
            return token()
        given = f"{request.url.params.get('refreshToken')} {unquote(request.content.decode())}"
        said = f"{request.headers.get('Authorization')} {request.url} {request.content.decode()} {given}"
        return refusal(status, said, code=0)

    return answer


def wreck(_request):
    raise httpx.ReadError(f"{KEY} {PASSWORD} {REFRESH}")


def refuse_connection(request):
    raise httpx.ConnectError(f"cannot reach {request.url} {request.headers.get('Authorization')}")


OPERATIONS = [
    lambda client: client.get_servers(),
    reprovision,
    lambda client: client.authenticate(username="bob", password=PASSWORD),
    lambda client: client.refresh_token(refresh_token=REFRESH),
]


def shown(error):
    return "\n".join([str(error), repr(error), *traceback.format_exception(error), repr(vars(error))])


def chain(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("credential", [ApiKey(KEY), LOGIN], ids=["key", "login"])
@pytest.mark.parametrize("answer", [echo(400), echo(401), echo(500), lambda _: plain(REFRESH), wreck, refuse_connection])
async def test_a_failure_shows_no_secret(caplog, operation, credential, answer):
    caplog.set_level(logging.DEBUG)
    rig = Rig(answer, credential=credential, max_retries=0)
    async with rig.client as client:
        with pytest.raises(CloudError) as caught:
            await operation(client)
    everything = "\n".join([shown(caught.value), caplog.text, repr(rig.reports), repr(client), repr(credential)])
    assert [secret for secret in SECRETS if secret in everything] == []
    assert all(isinstance(error, CloudError) for error in chain(caught.value))


async def test_a_success_over_a_real_connection_logs_no_secret(caplog):
    async def serve(_reader, writer):
        body = b'{"result":{"accessToken":"canary-token-0003","refreshToken":"canary-refresh-0004"},"success":true}'
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()

    caplog.set_level(logging.DEBUG)
    asyncio.get_running_loop().set_debug(True)
    async with raw_server(serve) as url:
        for credential in (ApiKey(KEY), Login("ann", PASSWORD)):
            async with CloudClient(url, credential) as client:
                result = await client.refresh_token(refresh_token=REFRESH)
                await client.get_server(id="vm-1", namespace="acme", cluster="Msc1")
    assert result.access_token == "canary-token-0003"
    assert "receive_response_headers.complete" in caplog.text  # the log lines are there, without the query
    assert [secret for secret in SECRETS if secret in caplog.text + repr(result)] == []


def test_a_call_shows_no_secret():
    made = [
        calls.authenticate(username="ann", password=PASSWORD, two_factor_verification_code="canary-2fa"),
        calls.refresh_token(refresh_token=REFRESH),
        reprovision(calls),
    ]
    assert [secret for secret in [*SECRETS, "canary-2fa"] if secret in repr(made)] == []


@pytest.mark.proves("auth:token.header", "auth:token.obtained")
async def test_the_authorization_header_is_sent_exactly_so():
    rig = Rig(lambda request: token() if request.url.path.endswith("Authenticate") else plain(["Msc1"]), credential=LOGIN)
    async with rig.client as client:
        await client.get_all_clusters()
    assert rig.cloud.requests[-1].headers["Authorization"] == "Bearer canary-token-0003"


# what a person may give as the URL of a proxy: each holds a password
PROXIES = [
    f"ann:{PASSWORD}@proxy:3128",
    f"//ann:{PASSWORD}@proxy",
    f"socks5://ann:{PASSWORD}@proxy:1080",
    f"http://ann:{PASSWORD}@proxy:notaport",
    f"http://ann:{PASSWORD}@",
]


@pytest.mark.parametrize("proxy", PROXIES)
def test_a_proxy_that_cannot_be_used_is_refused_without_its_password(proxy):
    with pytest.raises(ValueError, match="the proxy's URL") as caught:
        CloudClient("https://cloud.example", ApiKey(KEY), options=ClientOptions(proxy=proxy))
    assert PASSWORD not in shown(caught.value)
    assert caught.value.__cause__ is None
