"""A cloud that cannot prove who it is gets no byte of a credential (S14)."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import warnings
from datetime import UTC, datetime

import pytest
import trustme

from gpucloud.cloud import ApiKey, ClientOptions, CloudClient, CloudError, ErrorKind, Login
from unit.cloud.fakes import KEY, PASSWORD

NAME = "localhost"
ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\n["Msc1"]'
PAST = datetime(2020, 1, 1, tzinfo=UTC)


class Listener:
    """A TLS server that notes every byte which reaches it in clear, and every connection."""

    def __init__(self):
        self.said, self.connections = b"", 0

    async def serve(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            self.said += await reader.readuntil(b"\r\n\r\n")
            writer.write(ANSWER)
            await writer.drain()
        writer.close()

    @contextlib.asynccontextmanager
    async def listening(self, context):
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=context)
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _what: None)  # refused handshakes are the point
        async with server:
            yield f"https://{NAME}:{server.sockets[0].getsockname()[1]}"


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def context_with(certificate):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)
    return context


def self_signed(_authority, tmp_path):
    """Trusted by nobody but itself."""
    stranger = trustme.CA()
    path = tmp_path / "self.pem"
    path.write_bytes(stranger.private_key_pem.bytes() + stranger.cert_pem.bytes())
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(path)
    return context


def old_protocol(authority, _tmp_path):
    context = context_with(authority.issue_cert(NAME))
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    return context


BAD = {
    "expired": lambda ca, _: context_with(ca.issue_cert(NAME, not_before=PAST, not_after=PAST.replace(month=2))),
    "not valid yet": lambda ca, _: context_with(
        ca.issue_cert(NAME, not_before=PAST.replace(year=2999), not_after=PAST.replace(year=3000))
    ),
    "another host's": lambda ca, _: context_with(ca.issue_cert("evil.example")),
    "no host's": lambda ca, _: context_with(ca.issue_cert("ann@evil.example")),
    "self-signed": self_signed,
    "of an unknown authority": lambda _ca, _: context_with(trustme.CA().issue_cert(NAME)),
    "of a protocol below TLS 1.2": old_protocol,
}


def client_of(url, credential, authority, tmp_path):
    path = tmp_path / "ca.pem"
    path.write_bytes(authority.cert_pem.bytes())
    return CloudClient(url, credential, options=ClientOptions(ca_file=str(path), max_retries=0, total_deadline_seconds=10))


@pytest.mark.parametrize("credential", [ApiKey(KEY), Login("ann", PASSWORD)], ids=["key", "login"])
@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
async def test_who_cannot_prove_its_name_gets_nothing(make, credential, authority, tmp_path):
    listener = Listener()
    async with listener.listening(make(authority, tmp_path)) as url, client_of(url, credential, authority, tmp_path) as client:
        with pytest.raises(CloudError) as caught:
            await client.get_all_clusters()
    assert caught.value.kind is ErrorKind.NOT_SENT
    assert listener.said == b"", "nothing was said before trust"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_who_proves_its_name_is_spoken_to(version, authority, tmp_path):
    listener, context = Listener(), context_with(authority.issue_cert(NAME))
    context.minimum_version = context.maximum_version = version
    async with listener.listening(context) as url, client_of(url, ApiKey(KEY), authority, tmp_path) as client:
        assert await client.get_all_clusters() == ("Msc1",)
    assert KEY.encode() in listener.said


async def test_without_a_file_of_ours_only_the_usual_authorities_count(authority):
    listener = Listener()
    options = ClientOptions(max_retries=0)
    async with (
        listener.listening(context_with(authority.issue_cert(NAME))) as url,
        CloudClient(url, ApiKey(KEY), options=options) as client,
    ):
        with pytest.raises(CloudError) as caught:
            await client.get_all_clusters()
    assert caught.value.kind is ErrorKind.NOT_SENT
    assert listener.said == b""


async def test_variables_of_the_environment_name_no_authority(authority, tmp_path, monkeypatch):
    """Whoever can set SSL_CERT_FILE must not thereby choose whom the key is sent to (S15)."""
    path = tmp_path / "planted.pem"
    path.write_bytes(authority.cert_pem.bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    await test_without_a_file_of_ours_only_the_usual_authorities_count(authority)
