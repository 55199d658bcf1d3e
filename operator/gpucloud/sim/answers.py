"""Bodies of answers: plain or wrapped, and errors in every form that has been met (field notes: Answers).

Also the one place that says which status a refusal gets. It must not know operations.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gpucloud.sim.messages import Pairs, Response
from gpucloud.sim.world.refusals import Reason

if TYPE_CHECKING:
    from gpucloud.sim.knobs import Knobs
    from gpucloud.sim.world.refusals import Refused

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"
TEXTS = {
    400: "Your request is not valid!",
    401: "Current user did not login to the application!",
    403: "Required permissions are not granted. At least one of these permissions must be granted: ",
    500: "An internal error occurred during your request!",
}
MISSING_TIME = "0001-01-01T00:00:00"
_AUTH = frozenset({Reason.UNAUTHORIZED, Reason.FORBIDDEN, Reason.LOGIN_FAILED, Reason.REFRESH_FAILED})
_FIXED = {
    Reason.INVALID: 400,
    Reason.HOST_STATE: 422,
    Reason.NO_CAPACITY: 503,
    Reason.UNAVAILABLE: 503,
    Reason.IN_USE: 400,
    Reason.UNAUTHORIZED: 401,
    Reason.FORBIDDEN: 403,
    Reason.KEY_LIMIT: 400,
}


def success(data: Any, status: int, knobs: Knobs, *, wrapped: bool = False, media_type: str = JSON) -> Response:
    """Answer with data, in the wrapper if the knob or the operation says so."""
    if wrapped or knobs.answers == "wrapped":
        data = _wrapper(result=data, error=None, unauthorized=False)
    return Response(status, as_json(data), media_type)


def refusal(refused: Refused, knobs: Knobs) -> Response:
    """Answer with the world's no."""
    status = status_of(refused.reason, knobs)
    members = [{"message": refused.message, "members": list(refused.members)}] if refused.members else None
    if refused.reason not in _AUTH:
        if knobs.refusals == "all_500":
            status = 500
        elif knobs.refusals == "success_false_at_200":
            return Response(200, as_json(_abp(refused.message, "", members, unauthorized=False)))
    return error(status, refused.message, knobs, members=members)


def invalid(errors: list[dict[str, Any]], knobs: Knobs) -> Response:
    """Answer 400 with what is wrong with which member."""
    listed = "".join(f"\n - {item['message']}" for item in errors)
    details = f"The following errors were detected during validation.{listed}"
    return error(400, TEXTS[400], knobs, details=details, members=errors)


def error(
    status: int, message: str, knobs: Knobs, *, details: str = "", members: list[dict[str, Any]] | None = None
) -> Response:
    """Answer with an error in the form that the knobs ask for."""
    form = knobs.unauthorized_form if status == 401 else knobs.error_form
    headers: Pairs = (("www-authenticate", "Bearer"),) if status == 401 else ()
    unauthorized = status in {401, 403} and knobs.unauthorized_flag
    whole = as_json(_abp(message, details, members, unauthorized=unauthorized))
    problem = {"type": "about:blank", "title": message, "status": status, "detail": details or message}
    body, media_type = {
        "abp": (whole, JSON),
        "empty": (b"", JSON),
        "html": (f"<html><body><h1>{status}</h1><p>The server says no.</p></body></html>".encode(), HTML),
        "problem": (as_json(problem), "application/problem+json"),
        "null_error": (as_json({"error": None}), JSON),
        "text_error": (as_json({"error": message}), JSON),
        "list": (as_json([message]), JSON),
        "truncated": (whole[: len(whole) // 2], JSON),
    }[form]
    return Response(status, body, media_type, headers)


def status_of(reason: Reason, knobs: Knobs) -> int:
    """Return the status of a refusal under the knobs."""
    if reason in _FIXED:
        return _FIXED[reason]
    return {
        Reason.MISSING_VM: knobs.missing_vm_status,
        Reason.MISSING_OTHER: knobs.missing_other_status,
        Reason.UNKNOWN_REFERENCE: knobs.unknown_reference_status,
        Reason.DUPLICATE_VM: _status_in(knobs.duplicate_vm),
        Reason.DUPLICATE_SNAPSHOT: _status_in(knobs.duplicate_snapshot),
        Reason.DUPLICATE_VPC: knobs.duplicate_vpc,
        Reason.POWER_STATE: _status_in(knobs.wrong_power_state),
        Reason.LOGIN_FAILED: knobs.login_failure_status,
        Reason.REFRESH_FAILED: knobs.refresh_failure_status,
    }[reason]


def date_time(seconds: float, knobs: Knobs) -> str:
    """Return a time as records show it; 0 stands for a missing one."""
    if not seconds:
        return MISSING_TIME
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
    return text if knobs.time_form == "no_zone" else f"{text}Z"


def as_json(data: Any) -> bytes:
    """Return compact JSON."""
    return json.dumps(data, separators=(",", ":")).encode()


def _status_in(choice: str) -> int:
    word, _, digits = choice.rpartition("_")  # "refuse_409"
    return int(digits) if word else 409  # of what is not refused, no status is ever sent


def _abp(message: str, details: str, members: list[dict[str, Any]] | None, *, unauthorized: bool) -> dict[str, Any]:
    problem = {"code": 0, "message": message, "details": details or None, "validationErrors": members}
    return _wrapper(result=None, error=problem, unauthorized=unauthorized)


def _wrapper(*, result: Any, error: dict[str, Any] | None, unauthorized: bool) -> dict[str, Any]:
    return {
        "result": result,
        "targetUrl": None,
        "success": error is None,
        "error": error,
        "unAuthorizedRequest": unauthorized,
        "__abp": True,
    }
