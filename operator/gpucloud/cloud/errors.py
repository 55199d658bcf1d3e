"""What can go wrong with a call, as one exception with a kind, and the pure rules from an answer to its kind.

This module does no I/O. It knows the forms in which the service speaks of errors; it does not know what a caller does
about them, nor which transport brought them.
"""

import html
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_MESSAGE = 500
MAX_READ = 16_384
"""So many characters of an answer are looked at for a message."""
_NOT_FOUND = re.compile(r"\bnot found\b", re.IGNORECASE)
_PERMISSION = re.compile(r"\bpermissions?\b", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]*>")


class ErrorKind(StrEnum):
    """Why a call failed, in the terms in which a caller must act."""

    UNAUTHORIZED = "Unauthorized"
    """The credential was refused (401)."""
    FORBIDDEN = "Forbidden"
    """The credential lacks the permission (403)."""
    NOT_FOUND = "NotFound"
    """The cloud says that the object is not there. Only a complete listing proves it."""
    CONFLICT = "Conflict"
    """The state or name of an object stands against it (409)."""
    INVALID = "Invalid"
    """The request was refused as wrong, by the cloud (400, 422, other 4xx) or before it was sent (``status`` None)."""
    THROTTLED = "Throttled"
    """Too many requests (429)."""
    UNAVAILABLE = "Unavailable"
    """No capacity, or the service or a cluster is down (503)."""
    SERVER = "Server"
    """Any other 5xx, and an error announced with status 200. The service reports business errors this way too."""
    OUTCOME_UNKNOWN = "OutcomeUnknown"
    """The transport failed after sending may have begun, or the answer was 408."""
    NOT_SENT = "NotSent"
    """Nothing was sent: no connection, no trust, no budget, no time. Surely not carried out."""
    WITHDRAWN = "Withdrawn"
    """Nothing was sent: the caller withdrew the call."""
    MALFORMED = "Malformed"
    """A 2xx answer that cannot be understood."""
    TOO_LARGE = "TooLarge"
    """A 2xx answer larger than ``max_body_bytes``."""
    REDIRECTED = "Redirected"
    """A 3xx answer. Redirects are never followed; the base URL is wrong."""
    LOGIN = "Login"
    """The login needs a person: two factors, or a new password."""


class CloudError(Exception):
    """A call that failed.

    ``message`` holds the cloud's own words on one line of at most 500 characters. ``status`` is the HTTP status when
    an answer came, ``code`` the service's own code. ``retry_after`` counts seconds from now. ``ambiguous`` says that a
    call which changes something may have been carried out: look before sending it again.
    """

    def __init__(  # noqa: PLR0913 - the facts of a failure, named at every call
        self,
        kind: ErrorKind,
        message: str,
        *,
        operation: str = "",
        status: int | None = None,
        code: int | str | None = None,
        retry_after: float | None = None,
        ambiguous: bool = False,
    ) -> None:
        self.kind = kind
        self.message = one_line(message)
        super().__init__(kind, self.message)
        self.operation = operation
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.ambiguous = ambiguous

    def __str__(self) -> str:
        status = f" (HTTP {self.status})" if self.status is not None else ""
        return f"{self.operation or 'cloud call'}: {self.kind.value}{status}: {self.message}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self} ambiguous={self.ambiguous}>"


class LoginError(CloudError):
    """No login token could be had, so the call itself was not carried out: never ambiguous, no early retry."""


@dataclass(frozen=True)
class Complaint:
    """What an error body says: all its words for people, and what may be concluded from them.

    ``headline`` is the one sentence of the service itself that may decide a kind. It is empty for HTML, which comes
    from whatever stands in front of the service, and holds no details, which may quote anything.
    """

    message: str = ""
    headline: str = ""
    code: int | str | None = None
    unauthorized: bool = False


def one_line(text: str) -> str:
    """Return text on one line, without control characters, at most 500 characters long."""
    printable = "".join(char if char.isprintable() else " " for char in text[:MAX_READ])
    line = " ".join(printable.split())
    return line if len(line) <= MAX_MESSAGE else f"{line[: MAX_MESSAGE - 1]}…"


def is_true(value: Any) -> bool:
    """Whether a flag of the service's envelope is set, as a boolean or as text."""
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def is_false(value: Any) -> bool:
    """Whether a flag of the service's envelope is there and not set, as a boolean or as text."""
    return value is False or (isinstance(value, str) and value.strip().lower() == "false")


def read_complaint(body: Any) -> Complaint:
    """Understand an error body: decoded JSON of any shape, or the text when it was no JSON.

    Forms: the service's envelope, ``{"error": text | null}``, problem+json, a bare list, plain text, HTML, nothing
    (field notes, Answers).
    """
    if isinstance(body, str):
        return _read_text(body)
    if isinstance(body, list):
        words = "; ".join(filter(None, (_first_text(item) for item in body[:5])))
        return Complaint(words, headline=words)
    if not isinstance(body, dict):
        return Complaint()
    error = body.get("error")
    inner = error if isinstance(error, dict) else body
    headline = error if isinstance(error, str) else _first_text(inner)
    message = "; ".join(dict.fromkeys(filter(None, (headline, _details(inner), _validation(inner)))))
    return Complaint(message, headline, _code(inner.get("code")), is_true(body.get("unAuthorizedRequest")))


def kind_of(status: int, complaint: Complaint) -> ErrorKind:
    """Judge an answer that is an error: (status, code, words) to its kind. Total; for 2xx the service's code decides.

    401, 403 and 429 mean what they say whatever the words; elsewhere the words "not found" outrank the status, since
    the service reports a missing VM by its text and business errors as 500 (field notes, Answers).
    """
    decided = {401: ErrorKind.UNAUTHORIZED, 403: ErrorKind.FORBIDDEN, 429: ErrorKind.THROTTLED}.get(status)
    if decided is not None:
        return decided
    if complaint.unauthorized:
        speaks_of_permission = _PERMISSION.search(complaint.message)
        return ErrorKind.FORBIDDEN if speaks_of_permission else ErrorKind.UNAUTHORIZED
    if not 300 <= status < 400 and _NOT_FOUND.search(complaint.headline):
        return ErrorKind.NOT_FOUND
    if status < 300 and isinstance(complaint.code, int) and 400 <= complaint.code < 600:
        return _by_status(complaint.code)
    return _by_status(status)


def is_ambiguous(kind: ErrorKind, status: int | None, code: int | str | None = None, *, safe: bool) -> bool:
    """Whether a call may have been carried out although it failed. Reading is never ambiguous.

    The words "not found" prove nothing at 5xx or 2xx: the call may have been carried out before something else was missing.
    """
    if safe:
        return False
    if kind is ErrorKind.NOT_FOUND and status is not None and status < 300:
        return not (isinstance(code, int) and 400 <= code < 500)
    doubtful = kind in {
        ErrorKind.OUTCOME_UNKNOWN,
        ErrorKind.SERVER,
        ErrorKind.UNAVAILABLE,
        ErrorKind.MALFORMED,
        ErrorKind.TOO_LARGE,
        ErrorKind.REDIRECTED,
    }
    return doubtful or (status is not None and status >= 500)


def _by_status(status: int) -> ErrorKind:
    exact = {
        401: ErrorKind.UNAUTHORIZED,
        403: ErrorKind.FORBIDDEN,
        404: ErrorKind.NOT_FOUND,
        408: ErrorKind.OUTCOME_UNKNOWN,
        409: ErrorKind.CONFLICT,
        429: ErrorKind.THROTTLED,
        503: ErrorKind.UNAVAILABLE,
    }
    if status in exact:
        return exact[status]
    if 300 <= status < 400:
        return ErrorKind.REDIRECTED
    return ErrorKind.INVALID if 400 <= status < 500 else ErrorKind.SERVER


def _read_text(text: str) -> Complaint:
    if not text.lstrip().startswith("<"):
        return Complaint(text, headline=text[:MAX_READ])
    return Complaint(html.unescape(_MARKUP.sub(" ", text[:MAX_READ])))


def _first_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return ""
    found = (value.get(key) for key in ("message", "detail", "title", "error_description"))
    return next((text for text in found if isinstance(text, str) and text.strip()), "")


def _details(error: dict[Any, Any]) -> str:
    details = error.get("details")
    return details if isinstance(details, str) else ""


def _validation(error: dict[Any, Any]) -> str:
    found = error.get("validationErrors")
    if not isinstance(found, list):
        return ""
    return "; ".join(filter(None, (_first_text(item) for item in found[:5])))


def _code(value: Any) -> int | str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 2**63 else None
    if isinstance(value, str) and len(value) <= 64:
        return one_line(value) or None
    return None
