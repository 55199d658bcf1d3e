"""From a Secret to a credential, or to words that repeat nothing of it."""

import base64
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpucloud.cloud.options import ApiKey, Login
from gpucloud.engine.cloud.credentials import CredentialError, kind_of, parse
from gpucloud.kinds.gpucloudaccount import CredentialKind
from support.fakes import SECRET_WORDS


def b64(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


def holding(**texts):
    return {name: b64(text) for name, text in texts.items()}


@pytest.mark.parametrize(
    ("data", "credential", "kind"),
    [
        (holding(apikey="made-up"), ApiKey("made-up"), CredentialKind.API_KEY),
        (holding(apikey="made-up\n"), ApiKey("made-up"), CredentialKind.API_KEY),
        (holding(apikey="made-up\r\n"), ApiKey("made-up"), CredentialKind.API_KEY),
        (holding(apikey="  made-up "), ApiKey("made-up"), CredentialKind.API_KEY),
        (holding(apikey="made-up", other="x"), ApiKey("made-up"), CredentialKind.API_KEY),
        (holding(apikey="made-up", username="", password=""), ApiKey("made-up"), CredentialKind.API_KEY),
        (holding(username="ann", password=SECRET_WORDS), Login("ann", SECRET_WORDS), CredentialKind.LOGIN),
        (holding(username=" ann\n", password=SECRET_WORDS + "\n"), Login("ann", SECRET_WORDS), CredentialKind.LOGIN),
        (holding(username="ann", password=" a b "), Login("ann", " a b "), CredentialKind.LOGIN),  # blanks may be meant
        (holding(username="änne", password="gehëim"), Login("änne", "gehëim"), CredentialKind.LOGIN),
        (holding(apikey="", username="ann", password=SECRET_WORDS), Login("ann", SECRET_WORDS), CredentialKind.LOGIN),
    ],
)
def test_what_can_be_used(data, credential, kind):
    assert parse(data) == credential
    assert kind_of(credential) is kind


@pytest.mark.parametrize(
    ("data", "says", "why"),
    [
        ({}, "no credential", "empty"),
        (holding(key=SECRET_WORDS), "no credential", "another name"),
        ({"apikey": None}, "no credential", "null"),
        (holding(apikey="", username="", password=""), "no credential", "all empty"),
        (holding(apikey="\n"), "no credential", "a newline is nothing"),
        (holding(apikey=" "), "no credential", "nor is a blank"),
        (holding(apikey=SECRET_WORDS, username="ann", password=SECRET_WORDS), "both kinds", ""),
        (holding(apikey=SECRET_WORDS, password=SECRET_WORDS), "both kinds", "which one is meant?"),
        (holding(username="ann"), "'password' is missing or empty", ""),
        (holding(username="ann", password="\n"), "'password' is missing or empty", ""),
        (holding(password=SECRET_WORDS), "'username' is missing or empty", ""),
        (holding(username="  ", password=SECRET_WORDS), "'username' is missing or empty", "blanks name nobody"),
        ({"apikey": f"!{SECRET_WORDS}!"}, "'apikey' holds no text", "no base64"),
        ({"apikey": b64("x") + "="}, "'apikey' holds no text", "broken base64"),
        ({"apikey": "gehëim"}, "'apikey' holds no text", "not even ASCII"),
        ({"password": b64(b"\xff\xfe"), "username": b64("ann")}, "'password' holds no text", "no UTF-8"),
        (holding(apikey="x" * 8193), "'apikey' is longer than 8192 characters", "huge"),
        (holding(username="x" * 257, password="x"), "'username' is longer than 256", ""),
        (holding(username="x", password="x" * 129), "'password' is longer than 128", ""),
        (holding(apikey="x" * 5_000_000), "'apikey' is longer", "no memory is spent on it"),
        (holding(apikey=f"two {SECRET_WORDS}"), "key 'apikey': the API key must be", "cannot be sent in a header"),
        (holding(apikey=f"{SECRET_WORDS}\nX-Evil: 1"), "key 'apikey': the API key must be", "a header of its own"),
        (holding(apikey="gehëim"), "key 'apikey': the API key must be", ""),
    ],
)
def test_what_cannot_be_used_is_told_by_the_names_of_keys_only(data, says, why):
    with pytest.raises(CredentialError) as caught:
        parse(data)
    assert says in str(caught.value), why
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert SECRET_WORDS not in told
    assert len(str(caught.value)) < 200


VALUES = st.text(min_size=8).filter(lambda text: text not in {"username", "password"})  # the names of keys are told


@given(st.dictionaries(st.sampled_from(["apikey", "username", "password"]), VALUES | st.binary().map(b64)))
def test_whatever_a_secret_holds_nothing_of_it_is_told(data):
    try:
        found, told = parse(data), ""
    except CredentialError as error:
        found, told = None, str(error)
    assert isinstance(found, ApiKey | Login) != bool(told)
    assert not any(value in told for value in data.values() if len(value) >= 8)
