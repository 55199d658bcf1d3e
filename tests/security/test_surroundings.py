"""What is planted in the environment has no say in where the client goes or as whom (S15)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gpucloud.cloud import ApiKey, CloudClient, calls
from unit.cloud.fakes import KEY

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\n["Msc1"]'


class Server:
    """Answers everybody the same, and keeps what they said."""

    def __init__(self):
        self.heads = []

    async def serve(self, reader, writer):
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ANSWER)
        await writer.drain()
        writer.close()


def url_of(server):
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Plants a proxy and a .netrc."""

    def plant(proxy):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
            monkeypatch.setenv(name.lower(), proxy)
        netrc = tmp_path / ".netrc"
        netrc.write_text("default login planted password planted\n")
        netrc.chmod(0o600)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("NETRC", str(netrc))

    return plant


async def test_neither_proxies_nor_netrc(planted):
    cloud, proxy = Server(), Server()
    async with (
        await asyncio.start_server(cloud.serve, "127.0.0.1", 0) as at_cloud,
        await asyncio.start_server(proxy.serve, "127.0.0.1", 0) as at_proxy,
    ):
        planted(url_of(at_proxy))
        async with CloudClient(url_of(at_cloud), ApiKey(KEY)) as client:
            assert await client.get_all_clusters() == ("Msc1",)
            await client.run(replace(calls.get_all_clusters(), authenticated=False))
    assert proxy.heads == []
    with_key, without = cloud.heads
    assert with_key.lower().count(b"\r\nauthorization:") == 1
    assert f"ApiKey {KEY}".encode() in with_key
    assert b"authorization" not in without.lower(), "none but the client's own is ever at hand"
