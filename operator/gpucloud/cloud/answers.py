"""From an answer's status and bytes to a value or a CloudError: decoding, both answer forms, what counts as failure.

Pure: no I/O, no clock. It trusts nothing in an answer, and never lets a secret pass from an answer into an error text.
"""

import contextlib
import html
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from pydantic_core import from_json

from gpucloud.cloud.calls import Call
from gpucloud.cloud.errors import CloudError, ErrorKind, is_false, is_true, kind_of, one_line, read_complaint

T = TypeVar("T")
Redact = Callable[[str], str]
_BLOT = "[redacted]"
_SHORTEST_SECRET = 4  # shorter ones would turn every message into stars


@dataclass(frozen=True)
class Answer:
    """An HTTP answer, read to its end. ``retry_after`` in seconds; ``challenge`` is the WWW-Authenticate header."""

    status: int
    body: bytes
    retry_after: float | None = None
    challenge: str = ""


def redactor(secrets: tuple[str, ...]) -> Redact:
    """Make the function that blots secrets out of a text, in every spelling that a service may echo, longest first."""
    forms = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in _spellings(secret)}
    ordered = sorted(forms, key=len, reverse=True)

    def redact(text: str) -> str:
        for form in ordered:
            text = text.replace(form, _BLOT)
        return _without_beginning(text, ordered)

    return redact


def _spellings(secret: str) -> set[str]:
    """A secret as it is, in JSON, in URLs and forms, and each of these in HTML."""
    in_json = {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    written = {secret, *in_json, quote(secret, safe=""), quote(secret), quote_plus(secret)}
    return written | {html.escape(form) for form in written}


def _without_beginning(text: str, forms: list[str]) -> str:
    """The text without the first part of a secret at its end: an answer may be cut off within one."""
    lengths = {
        length
        for form in forms
        for length in range(_SHORTEST_SECRET, min(len(form), len(text) + 1))
        if text.endswith(form[:length])
    }
    return text[: -max(lengths)] + _BLOT if lengths else text


def read(call: Call[T], answer: Answer, redact: Redact) -> T:
    """Return what the call asked for.

    Any 2xx is taken for success, whatever number the specification names (field notes: RebootHost answered 202).

    Raises:
        CloudError: for every other status, for ``success: false``, and MALFORMED for a 2xx that cannot be understood.
            The operation and ``ambiguous`` are filled in by the sender.
    """
    payload = _decode(answer.body)
    if not 200 <= answer.status < 300:
        raise _failure(answer, payload, redact)
    if isinstance(payload, Unreadable):
        raise CloudError(ErrorKind.MALFORMED, "the answer is no JSON", status=answer.status)
    if _announces_failure(payload):
        raise _failure(answer, payload, redact)
    return call.parse(_unwrap(payload))


@dataclass(frozen=True)
class Unreadable:
    """A body that is no JSON, as text."""

    text: str


def _decode(body: bytes) -> Any:
    with contextlib.suppress(ValueError):  # what it refuses, as lone surrogates and deep nesting, json may still read
        return from_json(body, cache_strings="keys")  # a listing of 1,000 VMs takes json 9 ms, and this one
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, absurd numbers, absurd nesting
        return Unreadable(body.decode("utf-8", "replace"))


def _announces_failure(payload: Any) -> bool:
    """Whether a 2xx answer is an error after all: ``success: false``, or an error and nothing else to show."""
    if not isinstance(payload, dict):
        return False
    if is_false(payload.get("success")) or is_true(payload.get("unAuthorizedRequest")):
        return True
    return bool(payload.get("error")) and payload.get("result") is None


def _unwrap(payload: Any) -> Any:
    """Take the inner value out of the service's envelope; a plain answer passes unchanged (field notes, Answers)."""
    if isinstance(payload, dict) and "result" in payload:
        enveloped = "success" in payload or "__abp" in payload or len(payload) == 1
        return payload["result"] if enveloped else payload
    return payload


def _failure(answer: Answer, payload: Any, redact: Redact) -> CloudError:
    complaint = read_complaint(redact(payload.text) if isinstance(payload, Unreadable) else payload)
    kind = kind_of(answer.status, complaint)
    words = one_line(redact(complaint.message)) or one_line(redact(answer.challenge))
    if kind is ErrorKind.REDIRECTED:
        words = "the cloud redirects elsewhere, which is never followed; check the base URL"
    return CloudError(
        kind,
        words or "the cloud gave no reason",
        status=answer.status,
        code=redact(complaint.code) if isinstance(complaint.code, str) else complaint.code,
        retry_after=answer.retry_after,
    )
