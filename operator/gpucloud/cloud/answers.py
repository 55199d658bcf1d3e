"""From an answer's status and bytes to a value or a CloudError: decoding, both answer forms, what counts as failure.

Pure: no I/O, no clock. It trusts nothing in an answer, and never lets a secret pass from an answer into an error text.
"""

import contextlib
import json
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic_core import from_json

from gpucloud.cloud.calls import Call
from gpucloud.cloud.errors import CloudError, ErrorKind, is_false, is_true, kind_of, one_line, read_complaint
from gpucloud.cloud.redaction import Redact

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """An HTTP answer, read to its end. ``retry_after`` in seconds; ``challenge`` is the WWW-Authenticate header."""

    status: int
    body: bytes
    retry_after: float | None = None
    challenge: str = ""


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
        raise CloudError(ErrorKind.MALFORMED, "the answer is not JSON", status=answer.status)
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
    body = payload.text if isinstance(payload, Unreadable) else payload
    kind = kind_of(answer.status, read_complaint(body))  # by the cloud's own words, even if they may not be shown
    complaint = read_complaint(redact(body) if isinstance(body, str) else body)
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
