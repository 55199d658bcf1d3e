"""The search for secrets finds what it is for, and nothing else: it is the judge of every end-to-end test."""

from __future__ import annotations

import base64
import html
import json
from contextlib import nullcontext
from types import SimpleNamespace
from urllib.parse import quote, quote_plus

import pytest

from support.canaries import Canaries, searched, shown_of
from support.manifests import PUBLIC_KEY, secret

KEY = "Zx9-qwertz.UIOP/7+asdf=="
AWKWARD = 'pa"ss\\wörd & <more>'
TOKEN = "aB3" + "x_-Y9" * 8


def hits(text, *values):
    canaries = Canaries()
    for value in values or (KEY, AWKWARD):
        canaries.plant("a secret", value)
    return canaries.found_in([("a log", text)])


def in_base64(text, before):
    return base64.b64encode(b"x" * before + text.encode() + b"and more").decode()


SHOWN = {
    "plain": f"refused: {KEY}!",
    "its first eight characters": f"ApiKey {KEY[:8]}…",
    "its last twelve characters": f"the key that ends in {KEY[-12:]}",
    "in a URL": f"/path?key={quote(KEY, safe='')}",
    "in a form": f"key={quote_plus(AWKWARD)}",
    "in JSON": json.dumps({"password": AWKWARD}),
    "in JSON that keeps letters": json.dumps({"password": AWKWARD}, ensure_ascii=False),
    "in a URL of .NET": quote(AWKWARD, safe="").lower(),
    "in JSON of .NET": "pa\\u0022ss\\\\w\\u00F6rd \\u0026 \\u003Cmore\\u003E",
    "in HTML": f"<b>{html.escape(AWKWARD)}</b>",
    "in base64": base64.b64encode(KEY.encode()).decode(),
    "in base64, one character later": in_base64(KEY, 1),
    "in base64, two characters later": in_base64(KEY, 2),
    "in base64, three characters later": in_base64(KEY, 3),
    "a login's token": f"Authorization: Bearer {TOKEN[:43]}, and more",
}


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN)
def test_every_form_is_found(text):
    (found,) = hits(text)
    assert "in a log" in found


INNOCENT = {
    "nothing": "",
    "seven characters of it": f"{KEY[:7]}",
    "a UID": "0b7c4f0e-3a0e-4a64-9f1b-6d3bb4d1d1a1",
    "the name of a VM": "a-name-that-is-long-enough-abcde-f7g8h9i0j1",
    "a long word of one sort": "x" * 43,
    "a sentence about keys": "The Secret 'oops' holds a private key. Put the public key there, and replace this key pair.",
}


@pytest.mark.parametrize("text", INNOCENT.values(), ids=INNOCENT)
def test_what_is_no_trace_is_not_found(text):
    assert not hits(text)


def test_what_all_made_up_secrets_begin_with_is_no_trace():
    assert not hits("made-up-things", "made-up-p4ssphrase")
    assert hits("…de-up-p4…", "made-up-p4ssphrase")


def test_what_in_a_secret_is_one():
    private = "-----BEGIN OPENSSH PRIVATE KEY-----\nMADEUPMADEUPMADEUP\n-----END OPENSSH PRIVATE KEY-----\n"
    canaries = Canaries()
    canaries.plant_secret(
        secret(
            apikey=KEY, username="ann-of-the-tests", pub=f"# ann\n{PUBLIC_KEY}\n", oops=private, both=f"{PUBLIC_KEY}\n{private}"
        )
    )
    assert len(canaries) == 3
    assert canaries.found_in([("a status", "MADEUPMA")])
    assert not canaries.found_in([("a status", f"{PUBLIC_KEY} ann-of-the-tests -----BEGIN")])


def test_the_owners_own_words_are_not_searched():
    item = {
        "kind": "GpuVM",
        "metadata": {"name": "train", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": KEY, "other": "x"}},
        "spec": {"vpc": KEY},
        "status": {"state": "ONLINE"},
    }
    assert not hits(shown_of(item))
    assert hits(shown_of({**item, "status": {"state": KEY}}))


class Operator(nullcontext):
    """One that has ended and left a log."""

    pid = 1

    def __init__(self, *lines):
        super().__init__()
        self.process = SimpleNamespace(lines=lambda: lines)

    def logs(self):
        return []


def test_an_operator_that_a_test_starts_by_itself_is_searched_at_its_end():
    cloud = SimpleNamespace(canaries=Canaries(), calls=list)
    cloud.canaries.plant("a secret", KEY)
    with searched(Operator("all is well"), cloud, None):
        pass
    with pytest.raises(AssertionError, match="a secret \\(plain\\) in log of operator 1"), searched(Operator(KEY), cloud, None):
        pass


def test_the_tokens_of_a_login_are_secrets_from_then_on():
    canaries = Canaries()
    canaries.plant_tokens(json.dumps({"result": {"accessToken": TOKEN[:43], "expireInSeconds": 86400, "refreshToken": None}}))
    assert len(canaries) == 1
    assert canaries.found_in([("a log", f"the token that begins with {TOKEN[:8]}")])
