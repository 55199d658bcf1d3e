"""Every operation against answers that no cloud should give: a record or a CloudError of the right kind, and nothing else.

A failing case names its class, its operation and its number, from which alone it is drawn.
"""

import html
import json
import time
import tracemalloc
from urllib.parse import quote

import httpx
import pytest

from gpucloud.cloud import ApiKey, CloudError, ErrorKind, Login, LoginError
from support.cloudcalls import OPERATIONS, invoke, operation_of
from support.generated_amount import amount, drawn_for, replay
from support.generated_answers import CLASSES, RECORD, SMALL_BODY, bomb, encoded, odd
from unit.cloud.fakes import Rig, plain, token
from unit.cloud.test_stated_answers import ANSWERS

EACH = amount(5, 30)  # of each class for each of the 24 operations
READING = {"Authenticate", "RefreshToken"} | {operation_of(row[0]) for row in OPERATIONS if row[2] == "GET"}
FULLEST = {operation_of(row[0]): row for row in OPERATIONS}
KEY, PASSWORD = 'canary-key"0001\\<&>', 'canary pass"word\\0002 <&>\u00fc'
CREDENTIALS = {"key": ApiKey(KEY), "login": Login("ann@example.com", PASSWORD)}
LONGEST_SECONDS = 5.0


def call(client, operation):
    name, arguments, *_ = FULLEST[operation]
    return invoke(client, name, arguments)


async def outcome(answer, operation, credential="key", **options):
    """What comes of one call: a value, or the CloudError. Any other exception is the test's failure."""
    rig = Rig(answer, credential=CREDENTIALS[credential], max_retries=0, **({"max_body_bytes": SMALL_BODY} | options))
    async with rig.client as client:
        try:
            return await call(client, operation)
        except CloudError as error:
            return error


def served(rubbish):
    return httpx.Response(rubbish.status, headers=list(rubbish.headers), stream=httpx.ByteStream(rubbish.body))


def kinds(result):
    return result.kind if isinstance(result, CloudError) else RECORD


def judge(rubbish, operation, result):
    assert kinds(result) in rubbish.right
    if not isinstance(result, CloudError):
        assert 200 <= rubbish.status < 300
        return
    assert result.operation == operation
    assert len(result.message) <= 500
    assert result.message.isprintable()
    str(result).encode()
    if operation in READING:
        assert operation in {"Authenticate", "RefreshToken"} or not result.ambiguous
    elif result.kind in {ErrorKind.MALFORMED, ErrorKind.TOO_LARGE} or rubbish.status >= 500:
        assert result.ambiguous or result.kind is ErrorKind.NOT_FOUND  # it may have been carried out: look first


def cases(name, operation):
    """The answers of one class to one operation."""
    for number in range(EACH):
        r = drawn_for(name, operation, number)
        yield number, CLASSES[name](r, ANSWERS[operation][1][0])


@pytest.mark.parametrize("name", CLASSES)
async def test_rubbish_is_a_record_or_an_error_of_the_right_kind(name):
    for operation in ANSWERS:
        for number, rubbish in cases(name, operation):
            try:
                judge(rubbish, operation, await outcome(lambda _, it=rubbish: served(it), operation))
            except Exception as error:
                error.add_note(f"{name}, {operation}, number {number}: {rubbish.status} {rubbish.headers} {rubbish.body[:300]}")
                error.add_note(replay("tests/unit/fuzz/test_answers.py"))
                raise


@pytest.mark.parametrize("name", CLASSES)
async def test_a_rubbish_login_fails_the_call_unsent(name):
    for number, rubbish in cases(name, "Authenticate"):
        sent = []

        def answer(request, it=rubbish, sent=sent):
            if request.url.path.endswith("/Authenticate"):
                return served(it)
            sent.append(request.headers["Authorization"])
            return plain({"items": []})

        result = await outcome(answer, "CreateServer", "login")
        told = f"{name}, number {number}: {rubbish.status} {rubbish.body[:300]}"
        assert isinstance(result, LoginError) != bool(sent), told  # it was sent, or it had no token
        assert not (isinstance(result, LoginError) and result.ambiguous), told


# --- what an answer repeats -------------------------------------------------------------------------------------------


def json_escaped(secret):
    return json.dumps(secret)[1:-1]


SPELT = {
    "as it is": str,
    "in a URL": lambda secret: quote(secret, safe=""),
    "in JSON": json_escaped,
    "in JSON, unescaped above ASCII": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    "in HTML": html.escape,
}
PAGES = {  # a body that holds {}, and whether it is JSON
    "an error": '{"error": {"message": "you sent {}", "code": "{}", "details": "{}"}}',
    "a truncated error": '{"error": {"message": "you sent {}", "co',
    "a list": '["you sent {}", {"message": "{}"}]',
    "a page": "<html><body>you sent {}</body></html>",
    "text": "you sent {} and {}",
    "cut within it": '{"error": {"message": "you sent {}',
}


@pytest.mark.parametrize("credential", CREDENTIALS)
@pytest.mark.parametrize("spelt", SPELT)
@pytest.mark.parametrize("page", PAGES)
async def test_no_answer_brings_a_secret_into_an_error(page, spelt, credential):
    secret = {"key": KEY, "login": PASSWORD}[credential]
    said = SPELT[spelt](secret)
    body = PAGES[page].replace("{}", said).encode()
    if page == "cut within it":
        body = body[: -len(said.encode()) // 3]

    def answer(request):
        if request.url.path.endswith("/Authenticate") and credential == "login":
            return token()
        return httpx.Response(500, content=body, headers={"WWW-Authenticate": 'Bearer realm="x"'})

    for operation in ("GetServers", "CreateServer", "DestroyVpc"):
        error = await outcome(answer, operation, credential)
        assert isinstance(error, CloudError)
        pieces = [secret[at : at + 8] for at in range(len(secret) - 7)]
        everything = f"{error} {error!r} {vars(error)}"
        assert [piece for piece in pieces if piece in everything or html.unescape(piece) in everything] == []


# --- how much it may cost ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 500])
async def test_a_gzip_bomb_is_cut_by_the_cap_in_bounded_memory(status):
    body, limit = bomb(200), 10 * 1024 * 1024
    assert len(body) < 250_000
    headers = {"Content-Encoding": "gzip"}
    tracemalloc.start()
    try:
        result = await outcome(
            lambda _: httpx.Response(status, headers=headers, stream=httpx.ByteStream(body)), "GetServers", max_body_bytes=limit
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.kind is (ErrorKind.TOO_LARGE if status == 200 else ErrorKind.SERVER)
    assert peak < 5 * limit


SLOW_TO_READ = {
    "tags that never end": b"<" * 10_000_000,
    "tags within tags": b"<p<" * 3_000_000,
    "blanks": b" " * 10_000_000,
    "one long word": b"x" * 10_000_000,
    "a long list": b"[" + b"{}," * 2_000_000 + b"{}]",
    "a long number": b"1" * 10_000_000,
    "ampersands": b"<&amp" * 2_000_000,
    "a key that is a wall": b'{"' + b"not found " * 900_000 + b'":1}',
    "the words, over and over": b'"' + b"not found " * 900_000 + b'"',
}


@pytest.mark.parametrize("why", SLOW_TO_READ)
async def test_nothing_that_fits_the_cap_takes_long_to_judge(why):
    """The event loop stands still meanwhile: this is no measurement, it only tells linear from quadratic."""
    began = time.thread_time()
    for status in (200, 500):
        error = await outcome(
            lambda _, it=status: httpx.Response(it, content=SLOW_TO_READ[why]), "GetServers", max_body_bytes=2**24
        )
        assert isinstance(error, CloudError)
    assert time.thread_time() - began < LONGEST_SECONDS


# --- found, and kept --------------------------------------------------------------------------------------------------


async def test_a_login_that_lasts_absurdly_long_is_taken_for_a_usual_one():
    def answer(request):
        return token(seconds=10**400) if request.url.path.endswith("/Authenticate") else plain({"items": []})

    assert (await outcome(answer, "GetServers", "login")).complete


def test_the_classes_are_drawn_anew_the_same():
    again = [(name, CLASSES[name](drawn_for(name), {"items": [{"id": "a"}]})) for name in CLASSES for _ in range(2)]
    assert again[::2] == again[1::2]
    assert len({encoded(odd(drawn_for(number))) for number in range(200)}) > 20
