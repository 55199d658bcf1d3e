"""What a message says of a failed connection: plain words, which name no class of a library and hold no secret."""

from __future__ import annotations

import errno
import socket
import ssl

import httpx
import pytest

from gpucloud.cloud import ApiKey, ClientOptions, CloudClient, CloudError, CreateServer, ErrorKind
from gpucloud.cloud.failure_words import connection_words
from unit.cloud.fakes import KEY, Rig, in_turn

NEW_VM = CreateServer(vpc="acme", configuration="c", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA a",))


async def failure(client):
    with pytest.raises(CloudError) as caught:
        await client.create_server(NEW_VM)
    return caught.value


def caused(error, cause):
    """The error as the library raises it: the cause is two levels down."""
    between = httpx.ConnectError("All connection attempts failed")
    between.__context__ = cause
    error.__cause__ = between
    return error


def untrusted():
    cause = ssl.SSLCertVerificationError(1, "certificate verify failed")
    cause.verify_message = "self-signed certificate"
    return cause


# why, the error, the words
WORDS = [
    ("nothing listens", ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"), "connection refused"),
    ("the name is wrong", socket.gaierror(-2, "Name or service not known"), "no such host, or the name server does not answer"),
    ("a private CA", untrusted(), "the certificate is refused (self-signed certificate)"),
    ("plain HTTP", ssl.SSLError(1, "[SSL: X] x"), "the TLS handshake failed; check that the endpoint speaks https"),
    ("no route", OSError(errno.ENETUNREACH, "Connect call failed"), "network is unreachable"),
    ("a firewall", TimeoutError(), "no answer in time; check the address, and the firewalls on the way"),
    ("nobody says why", None, "the connection failed"),
]


@pytest.mark.parametrize(("cause", "words"), [row[1:] for row in WORDS], ids=[row[0] for row in WORDS])
def test_a_cause_has_plain_words(cause, words):
    assert connection_words(caused(httpx.ConnectError("All connection attempts failed"), cause)) == words


FAILURES = [
    (httpx.ConnectTimeout("t"), "no connection to the cloud: no answer in time; check the address"),
    (httpx.PoolTimeout("t"), "no connection to the cloud: no connection became free in time; send fewer calls at once"),
    (httpx.ProxyError("407 Authentication Required"), "no connection to the cloud: the proxy refuses it (407 "),
    (httpx.UnsupportedProtocol("u"), "no connection to the cloud: the URL of the endpoint cannot be used"),
    (httpx.ReadTimeout("t"), "no whole answer came in time; if the cloud is slow, raise total_deadline_seconds"),
    (httpx.RemoteProtocolError("closed"), "the connection failed before the whole answer was there"),
]


@pytest.mark.parametrize(("raised", "words"), FAILURES, ids=[type(row[0]).__name__ for row in FAILURES])
async def test_a_failure_names_no_class_of_a_library(raised, words):
    async with Rig(in_turn(raised)).client as client:
        error = await failure(client)
    assert error.message.startswith(words)
    assert type(raised).__name__ not in str(error)


async def test_a_refused_connection_says_so():
    with socket.socket() as placeholder:
        placeholder.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{placeholder.getsockname()[1]}"
        async with CloudClient(url, ApiKey(KEY), options=ClientOptions(max_retries=0)) as client:
            error = await failure(client)
    assert (error.kind, error.message) == (ErrorKind.NOT_SENT, "no connection to the cloud: connection refused")
