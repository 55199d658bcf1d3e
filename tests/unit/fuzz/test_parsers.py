"""What others write and we read or repeat: headers, Secrets, key lines, names. Nothing crashes, leaks, or forges a line.

Of a Secret that cannot be used not even eight characters in a row may be told.
"""

import base64
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from random import Random

from hypothesis import example, given, seed
from hypothesis import strategies as st
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from gpucloud.cloud.limits import LONGEST_PAUSE, parse_http_date, parse_retry_after
from gpucloud.cloud.options import ApiKey, Login
from gpucloud.engine.cloud import credentials
from gpucloud.engine.kube import ssh_keys
from gpucloud.engine.kube.event_recorder import EventRecorder
from gpucloud.engine.kube.events import Event
from gpucloud.engine.telemetry.metrics import Metrics
from gpucloud.reconcile import naming
from support.builders import TAG, an_object
from support.fakes import EveryEntry, FakeKube, HandClock
from support.generated_amount import SEED, amount, drawn_for, tried
from support.generated_specs import CLOUD_NAME, LOWER, text

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MANY = amount(400, 30_000)
OBJECT_NAMES = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")  # Kubernetes: DNS subdomain
DATES = ("Wed, 21 Oct 2026 07:28:00 GMT", "21 Oct 26 07:28 +0000", "Wed Oct 21 07:28:00 2026", "1e3", "-0", "0x10", "\u0663")


def damaged(r, whole):
    """A text with some of its characters replaced, doubled, or gone."""
    for _ in range(r.randrange(5)):
        at = r.randrange(len(whole) + 1)
        whole = (
            whole[:at]
            + r.choice(("", "9", "-", "+", "99999", " ", "\x00", ",", ":", "GMT", "e9", "\u00b2"))
            + whole[at + r.randrange(4) :]
        )
    return whole


# --- headers ----------------------------------------------------------------------------------------------------------


def judged(value):
    seconds = parse_retry_after(value, NOW)
    assert seconds is None or 0.0 <= seconds <= LONGEST_PAUSE
    moment = parse_http_date(value)
    assert moment is None or moment.tzinfo is UTC


@seed(SEED)
@tried(300, 20_000)
@given(st.text() | st.integers().map(str) | st.floats().map(str))
@example("1_000")
@example("Mon, 1 Jan 0001 00:00:00 +2359")
@example("Fri, 31 Dec 9999 23:59:59 -2359")
def test_any_retry_after_is_a_wait_within_bounds_or_none(value):
    judged(value)


def test_any_damaged_date_is_a_wait_within_bounds_or_none():
    for number in range(MANY * 3):
        r = drawn_for("dates", number)
        judged(damaged(r, r.choice(DATES)))


# --- Secrets ----------------------------------------------------------------------------------------------------------

KEY_LINE = "ssh-ed25519 AAAAMADEUPMADEUP ann@example"


def secret_bytes(r: Random) -> bytes:
    """What a Secret may hold: binary, huge, of many lines, or nearly right."""
    match r.choice(("binary", "text", "lines", "huge", "nearly", "blank")):
        case "binary":
            return r.randbytes(r.randrange(300))
        case "text":
            return text(r, r.randrange(300)).encode()
        case "lines":
            return r.choice((b"\n", b"\r", b"\r\n", b"\x0b", "\u2028".encode())).join([b"made-up-key"] * r.randrange(1, 9))
        case "huge":
            return r.choice((b"A", b"\n", b"ssh-rsa AAAA\n", b"#\n")) * r.choice((8191, 8193, 70_000))
        case "blank":
            return r.choice((b"", b" ", b"\n\n", b"\xef\xbb\xbf", b"\x00"))
    return damaged(r, r.choice((KEY_LINE, "made-up-p4ssphrase", "-----BEGIN MADE UP " + "PRIVATE KEY-----"))).encode()


def repeats(words, content):
    """Whether eight characters of the content in a row stand in these words."""
    whole = content.decode("utf-8", "replace")
    pieces = {whole[at : at + 8] for at in range(min(len(whole), 2000) - 7)} - set(credentials.LIMITS)
    return {piece for piece in pieces if piece.strip() and piece in words}


def test_any_secret_is_a_credential_or_a_complaint_that_repeats_nothing():
    for number in range(MANY):
        r = drawn_for("credentials", number)
        held = {name: secret_bytes(r) for name in credentials.LIMITS if r.random() < 0.6}
        try:
            found = credentials.parse({name: base64.b64encode(content).decode() for name, content in held.items()})
        except credentials.CredentialError as error:
            words = f"{error} {error!r} {error.__cause__} {error.__context__ if not error.__suppress_context__ else ''}"
            assert [repeats(words, content) for content in held.values() if repeats(words, content)] == [], number
        else:
            assert isinstance(found, ApiKey | Login)
            assert repr(found) in {"ApiKey()", f"Login(username={getattr(found, 'username', '')!r})"}


def read_keys(content):
    """The public keys in a Secret, and what is wrong with it."""
    try:
        return ssh_keys.parse(ssh_keys._decoded(base64.b64encode(content).decode(), "made-up Secret"), "The made-up key"), ""
    except ssh_keys.KeyProblemError as problem:
        return [], problem.keys.detail


def test_any_text_is_public_keys_or_a_complaint_that_repeats_nothing():
    for number in range(MANY):
        content = secret_bytes(drawn_for("keys", number))
        lines, problem = read_keys(content)
        assert repeats(problem, content) == set(), number
        assert problem.isprintable()
        assert bool(lines) != bool(problem)
        for line in lines:
            assert "PRIVATE KEY" not in line
            assert line.splitlines() == [line], number  # one key is one line to every reader
            assert line.startswith(("ssh-", "ecdsa-", "sk-"))


# --- names, and other people's words ----------------------------------------------------------------------------------


def object_name(r: Random) -> str:
    """A name that Kubernetes accepts: letters and digits, with a hyphen or a dot here and there, never two together."""
    name = [r.choice(LOWER) for _ in range(r.choice((1, 2, 20, 52, 63, 201, 202, 253)))]
    for at in range(r.choice((1, 2, 3)), len(name) - 1, r.choice((2, 3, 7))):
        name[at] = r.choice("-.")
    return "".join(name)


def test_any_object_s_name_makes_a_name_that_the_cloud_takes():
    for number in range(MANY):
        r = drawn_for("names", number)
        name = naming.external_name(object_name(r), str(r.random()), TAG)
        assert len(name) <= naming.MAX_LENGTH
        assert re.fullmatch(CLOUD_NAME.removeprefix("self.matches('").removesuffix("')"), name), number


def posted(r):
    recorder = EventRecorder(FakeKube(), HandClock(), EveryEntry())
    note = text(r, r.choice((1, 50, 1024, 3000)))
    recorder.record("GpuVM", an_object(name=object_name(r)), Event("Created", note, "CreateServer"))
    return recorder.poster._backlog.get_nowait().document("one")


def test_any_event_has_a_name_and_a_length_that_the_apiserver_takes():
    for number in range(MANY):
        document = posted(drawn_for("events", number))
        assert OBJECT_NAMES.fullmatch(document["metadata"]["name"]), number
        assert len(document["metadata"]["name"]) <= 253
        assert len(document["note"].encode()) <= 1024, "the API counts bytes"


def test_no_name_forges_a_line_of_the_metrics():
    metrics, names = Metrics(), {text(drawn_for("metrics", number), 20) for number in range(amount(100, 2000))}
    for name in names:
        metrics.listings("team/default", "vms").listed(name, plausible=True)
    families = text_string_to_metric_families(generate_latest(metrics.registry).decode())
    read = {sample.labels["cluster"] for family in families for sample in family.samples if "cluster" in sample.labels}
    known = {sample for sample in read if not sample.startswith("(")}  # beyond a number of them they may be put together
    assert known <= names
    assert known


LOGGER = """
import json, sys
import structlog
from gpucloud import app
from gpucloud.settings import Settings
words = json.load(sys.stdin)
for form in ("json", "text"):
    app.configure_logging(Settings(endpoint=("a=https://cloud.example",), log_format=form))
    log = structlog.get_logger("gpucloud.made-up")
    for word in words:
        log.info("call", name=word, note=f"The VM {word} was ordered.")
"""


def test_no_word_forges_a_line_of_the_log_in_either_form():
    words = [text(drawn_for("log", number), length) for number in range(30) for length in (1, 5, 40)]
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-c", LOGGER], input=json.dumps(words), capture_output=True, text=True, check=True, timeout=120
    )
    lines = done.stderr.split("\n")[:-1]
    assert len(lines) == 2 * len(words)
    assert [line for line in lines if not line.isprintable()] == []
    assert [json.loads(line)["name"] for line in lines[: len(words)]] == words
