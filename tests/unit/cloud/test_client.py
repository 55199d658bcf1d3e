"""Sending: what is repeated, what is sent once, deadlines, broken transports, hostile servers."""

import asyncio
import gzip
import json
import socket
import ssl
import tracemalloc
import zlib

import httpx
import pytest

from gpucloud.cloud import ApiKey, CallReport, ClientOptions, CloudClient, CloudError, CreateServer, ErrorKind, Login
from unit.cloud.fakes import KEY, Rig, in_turn, plain, raw_server, refusal

NEW_VM = CreateServer(vpc="acme", configuration="c", cluster="Msc1", ssh_keys=("ssh-ed25519 AAAA a",))
NAMES = plain(["Msc1"])
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


async def failure(awaitable):
    with pytest.raises(CloudError) as caught:
        await awaitable
    return caught.value


def over(url, **options):
    return CloudClient(url, ApiKey(KEY), options=ClientOptions(**({"max_retries": 0} | options)))


PASSING = [refusal(500, "x"), refusal(502, "x"), refusal(503, "x"), refusal(429, "x"), refusal(408, "x")]


@pytest.mark.asyncio
@pytest.mark.looptime
@pytest.mark.parametrize("passing", [*PASSING, httpx.ConnectError("c"), httpx.ReadTimeout("r"), ConnectionResetError()])
async def test_a_reading_call_is_repeated_and_a_changing_one_is_not(passing):
    reading, changing = Rig(in_turn(passing, passing, NAMES)), Rig(in_turn(passing))
    async with reading.client as client:
        assert await client.get_all_clusters() == ("Msc1",)
    async with changing.client as client:
        await failure(client.create_server(NEW_VM))
    assert (len(reading.cloud.requests), len(changing.cloud.requests)) == (3, 1)


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_a_listing_says_after_how_long_the_request_began_that_was_answered():
    """Simulated world, seed 1201534: two listings each needed a second attempt, and counted as older than they were."""
    rig = Rig(in_turn(refusal(503, "x"), refusal(503, "x"), plain({"items": []})))
    async with rig.client as client:
        listing = await client.get_servers(cluster="Msc1")
    assert listing.delay == pytest.approx(rig.cloud.times[2] - rig.cloud.times[0])
    assert listing.delay > 0


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_repetition_is_capped_and_spread():
    rig = Rig(in_turn(refusal(500, "business rule")))
    async with rig.client as client:
        error = await failure(client.get_all_clusters())
    gaps = [later - earlier for earlier, later in zip(rig.cloud.times, rig.cloud.times[1:], strict=False)]
    assert error.kind is ErrorKind.SERVER
    assert len(gaps) == 2
    assert 0.25 <= gaps[0] <= 0.5 <= gaps[1] <= 1.0


FAILURES = [
    (httpx.ConnectError("refused"), "NOT_SENT", "no connection"),
    (httpx.ConnectTimeout("t"), "NOT_SENT", "no connection, yet"),
    (httpx.PoolTimeout("t"), "NOT_SENT", "no free connection"),
    (httpx.ProxyError("p"), "NOT_SENT", "the proxy let nothing through"),
    (httpx.UnsupportedProtocol("u"), "NOT_SENT", "no such scheme"),
    (httpx.ReadTimeout("t"), "OUTCOME_UNKNOWN", "sent, no answer"),
    (httpx.WriteError("w"), "OUTCOME_UNKNOWN", "part of it left"),
    (httpx.ReadError("r"), "OUTCOME_UNKNOWN", "reset"),
    (httpx.RemoteProtocolError("closed"), "OUTCOME_UNKNOWN", "closed after accept"),
    (OSError("o"), "OUTCOME_UNKNOWN", "a transport's own failure"),
    (asyncio.CancelledError(), "OUTCOME_UNKNOWN", "cancelled by nobody who may"),
    (TimeoutError(), "OUTCOME_UNKNOWN", "not to be taken for the deadline"),
]


@pytest.mark.parametrize(("raised", "kind", "_why"), FAILURES)
async def test_a_transport_failure_is_judged_by_whether_anything_may_have_left(raised, kind, _why):
    async with Rig(in_turn(raised)).client as client:
        error = await failure(client.create_server(NEW_VM))
    assert (error.kind, error.ambiguous, error.status) == (ErrorKind[kind], kind == "OUTCOME_UNKNOWN", None)


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_the_deadline_covers_everything_and_an_unanswered_change_is_unknown():
    async def hang(_request):
        await asyncio.sleep(10_000)

    async with Rig(hang).client as client:
        started = asyncio.get_running_loop().time()
        changing = await failure(client.create_server(NEW_VM))
        reading = await failure(client.get_all_clusters())
        assert asyncio.get_running_loop().time() - started == pytest.approx(60)
    assert (changing.kind, changing.ambiguous) == (ErrorKind.OUTCOME_UNKNOWN, True)
    assert (reading.kind, reading.ambiguous) == (ErrorKind.OUTCOME_UNKNOWN, False)


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_cancelling_a_call_is_no_cloud_error():
    async def hang(_request):
        await asyncio.sleep(10_000)

    async with Rig(hang).client as client:
        task = asyncio.create_task(client.get_all_clusters())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.asyncio
@pytest.mark.looptime
async def test_every_attempt_is_reported():
    rig = Rig(in_turn(refusal(503, "x"), httpx.ReadError("r"), NAMES))
    async with rig.client as client:
        await client.get_all_clusters()
    assert [(r.operation, r.method, r.status, r.kind, r.attempt) for r in rig.reports] == [
        ("GetAll", "GET", 503, ErrorKind.UNAVAILABLE, 1),
        ("GetAll", "GET", None, ErrorKind.OUTCOME_UNKNOWN, 2),
        ("GetAll", "GET", 200, None, 3),
    ]
    assert CallReport("GetAll", "GET", 200, None, 0.0, 3) == rig.reports[-1]


async def test_a_broken_metric_does_not_change_what_became_of_a_call(caplog):
    def broken(_report):
        raise RuntimeError("metric")

    transport = Rig(lambda _: plain({"id": "vm-1"})).cloud
    async with CloudClient("http://127.0.0.1:9", ApiKey(KEY), transport=transport, on_call=broken) as client:
        assert (await client.create_server(NEW_VM)).id == "vm-1"
    assert "on_call" in caplog.text


async def test_cookies_are_not_kept():
    rig = Rig(lambda _: plain(["Msc1"], **{"Set-Cookie": "session=1; Path=/"}))
    async with rig.client as client:
        await client.get_all_clusters()
        await client.get_all_clusters()
    assert "Cookie" not in rig.cloud.requests[1].headers


# --- the size of answers ----------------------------------------------------------------------------------------------


def answered(content, status=200, **headers):
    # As a stream, because httpx would decompress content itself, and at once.
    return lambda _: httpx.Response(status, stream=httpx.ByteStream(content), headers=headers)


async def test_gzip_is_understood():
    async with Rig(answered(gzip.compress(b'["Msc1"]', mtime=0), **{"Content-Encoding": "gzip"})).client as client:
        assert await client.get_all_clusters() == ("Msc1",)


FULL = json.dumps(["x" * 996]).encode()  # 1000 bytes
SIZES = [
    (FULL, {}, 1000, None, "exactly the limit"),
    (FULL, {}, 999, "TOO_LARGE", "one too many"),
    (gzip.compress(FULL, mtime=0), {"Content-Encoding": "gzip"}, 1000, None, "exactly the limit, inflated"),
    (gzip.compress(FULL, mtime=0), {"Content-Encoding": "gzip"}, 999, "TOO_LARGE", "one too many, inflated"),
    (gzip.compress(FULL, mtime=0)[:-12], {"Content-Encoding": "gzip"}, 1000, "MALFORMED", "cut off"),
    (b"no gzip", {"Content-Encoding": "gzip"}, 1000, "MALFORMED", "not what it claims to be"),
    (zlib.compress(FULL), {"Content-Encoding": "br"}, 1000, "MALFORMED", "an encoding that was not asked for"),
]


@pytest.mark.parametrize(("content", "headers", "limit", "kind", "_why"), SIZES)
async def test_an_answer_is_bounded_after_decompression_too(content, headers, limit, kind, _why):
    async with Rig(answered(content, **headers), max_body_bytes=limit).client as client:
        if kind is None:
            assert len(await client.get_all_clusters()) == 1
        else:
            error = await failure(client.get_all_clusters())
            assert (error.kind, error.status) == (ErrorKind[kind], 200)


async def test_of_an_error_too_large_to_read_the_status_decides():
    async with Rig(answered(b"x" * 5000, 403), max_body_bytes=1000).client as client:
        error = await failure(client.create_server(NEW_VM))
    assert (error.kind, error.ambiguous) == (ErrorKind.FORBIDDEN, False)


@pytest.mark.parametrize("limit_mib", [1, 8])
async def test_a_gzip_bomb_is_not_inflated(limit_mib):
    squeeze = zlib.compressobj(wbits=31)
    bomb = b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(200)) + squeeze.flush()  # 200 MiB in 200 kB

    async def serve(_reader, writer):
        writer.write(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb)
        await writer.drain()

    async with raw_server(serve) as url, over(url, max_body_bytes=limit_mib << 20) as client:
        tracemalloc.start()
        try:
            error = await failure(client.get_all_clusters())
            kept, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert error.kind is ErrorKind.TOO_LARGE
    assert kept < 1 << 20, "the error's traceback keeps no body: it may live until the next collection"
    assert peak < (2 * limit_mib + 4) << 20, "what is kept, as it grows, and little beside it"


# --- real sockets -----------------------------------------------------------------------------------------------------


async def drip(writer, text):
    for byte in text:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("head", [b"", HEAD + b"Content-Length: 1000\r\n\r\n"], ids=["headers drip", "body drips"])
async def test_a_slow_loris_ends_at_the_deadline(head):
    async def serve(_reader, writer):
        writer.write(head)
        await drip(writer, b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1000)

    async with raw_server(serve) as url, over(url, total_deadline_seconds=3) as client:
        error = await failure(client.create_server(NEW_VM))
    assert (error.kind, error.ambiguous) == (ErrorKind.OUTCOME_UNKNOWN, True)


@pytest.mark.parametrize(
    "answer",
    [b"", HEAD + b"Content-Length: 1000\r\n\r\n[", b"SMTP ready\r\n\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz"],
    ids=["closed without an answer", "cut off", "no HTTP", "broken chunks"],
)
async def test_a_connection_that_breaks_after_sending_leaves_the_outcome_unknown(answer):
    async def serve(_reader, writer):
        writer.write(answer)
        await writer.drain()

    async with raw_server(serve) as url, over(url) as client:
        error = await failure(client.create_server(NEW_VM))
    assert (error.kind, error.ambiguous) == (ErrorKind.OUTCOME_UNKNOWN, True)


async def test_a_reset_after_sending_leaves_the_outcome_unknown():
    async def serve(_reader, writer):
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async with raw_server(serve) as url, over(url) as client:
        error = await failure(client.create_server(NEW_VM))
    assert (error.kind, error.ambiguous) == (ErrorKind.OUTCOME_UNKNOWN, True)


async def test_a_refused_connection_sent_nothing():
    with socket.socket() as placeholder:
        placeholder.bind(("127.0.0.1", 0))  # bound, not listening: refused, and nobody else can take the port
        async with over(f"http://127.0.0.1:{placeholder.getsockname()[1]}") as client:
            error = await failure(client.create_server(NEW_VM))
    assert (error.kind, error.ambiguous) == (ErrorKind.NOT_SENT, False)


async def test_a_failed_or_endless_tls_handshake_sent_nothing():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts in the kernel, never says a word
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        async with over(url, total_deadline_seconds=3) as client:
            assert (await failure(client.create_server(NEW_VM))).kind is ErrorKind.NOT_SENT

    async def babble(_reader, writer):
        writer.write(b"this is no TLS\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(babble, "127.0.0.1", 0)
    async with server, over(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}") as client:
        assert (await failure(client.create_server(NEW_VM))).kind is ErrorKind.NOT_SENT


async def test_a_redirect_is_never_followed():
    heads = []

    async def elsewhere(_reader, writer):
        heads.append("followed")
        writer.write(HEAD + b"Content-Length: 2\r\n\r\n[]")

    async with raw_server(elsewhere) as other:

        async def serve(_reader, writer):
            writer.write(f"HTTP/1.1 307 Moved\r\nLocation: {other}/\r\nContent-Length: 0\r\n\r\n".encode())

        async with raw_server(serve) as url, over(url) as client:
            error = await failure(client.get_all_clusters())
    assert (error.kind, error.status, heads) == (ErrorKind.REDIRECTED, 307, [])


async def test_variables_of_the_environment_are_ignored(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def serve(_reader, writer):
        writer.write(HEAD + b"Content-Length: 8\r\n\r\n" + b'["Msc1"]')

    async with raw_server(serve) as url, over(url) as client:
        assert await client.get_all_clusters() == ("Msc1",)


# --- construction -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["", "cloud.example", "ftp://cloud.example", "https://", "https://u:canary@h", "https://h?canary=1", "https://h:x"],
)
def test_a_base_url_that_cannot_serve_is_refused_without_being_repeated(url):
    with pytest.raises(ValueError, match="base URL") as caught:
        CloudClient(url, ApiKey(KEY), transport=Rig(in_turn(NAMES)).cloud)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("value", ["", "  ", "two words", "a\nb", "naïve"])
def test_an_api_key_that_cannot_be_a_header_is_refused(value):
    with pytest.raises(ValueError, match="printable") as caught:
        ApiKey(value)
    assert not value.strip() or value not in str(caught.value)


def test_an_api_key_from_a_file_loses_its_last_newline():
    assert ApiKey("key-0001\n") == ApiKey("key-0001")


@pytest.mark.parametrize("wrong", [{"qps": 0}, {"burst": 0}, {"burst": 0.5}, {"max_retries": -1}, {"max_body_bytes": 0}])
def test_options_under_which_nothing_could_be_sent_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ClientOptions(**wrong)


def test_a_ca_file_that_cannot_be_used_is_named(tmp_path):
    rubbish = tmp_path / "ca.pem"
    rubbish.write_text("no certificate")
    for path in (rubbish, tmp_path / "missing.pem"):
        with pytest.raises(ValueError, match="CA file"):
            CloudClient("https://127.0.0.1:9", ApiKey(KEY), options=ClientOptions(ca_file=str(path)))


async def test_tls_is_verified_and_modern():
    async with over("https://127.0.0.1:9") as client:
        context = client._connection._transport._inner._context
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_no_repr_shows_a_secret():
    shown = repr([ApiKey(KEY), Login("ann", "canary-pw"), ClientOptions(proxy="http://u:canary@127.0.0.1:1")])
    assert "canary" not in shown
