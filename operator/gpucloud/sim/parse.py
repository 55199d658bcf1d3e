"""From a request's bytes to an operation's parameters, or to complaints about them. It must not know the world."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

if TYPE_CHECKING:
    from gpucloud.sim.messages import Request
    from gpucloud.sim.payloads import Payload
    from gpucloud.sim.route import Route

SECRET_MEMBERS = frozenset({"password", "refreshToken", "cloudInitBase64", "ssh_keys", "twoFactorVerificationCode"})
REDACTED = "[redacted]"


class Invalid(Exception):  # noqa: N818 - an answer, not an error of the program
    """A request that does not fit its operation: the status and the validation errors of the answer."""

    def __init__(self, errors: list[dict[str, Any]], status: int = 400) -> None:
        super().__init__("the request is not valid")
        self.errors = errors
        self.status = status


def parse(route: Route, request: Request) -> Payload:
    """Return the parameters of an operation; raise Invalid with every complaint at once."""
    try:
        if route.body is None:
            return route.query.model_validate_strings(_first_values(request))
        return route.body.model_validate(_object(request))
    except ValidationError as error:
        raise Invalid([_complaint(item) for item in error.errors(include_url=False, include_input=False)]) from None


def raw_parameters(request: Request) -> dict[str, Any]:
    """Return what the request carries, unchecked: query parameters and the top members of a JSON body."""
    try:
        body = loads(request.body) if request.body else {}
    except ValueError:
        body = {}
    return _first_values(request) | (body if isinstance(body, dict) else {})


def redacted(route: Route, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters fit to be shown: secrets and members that the operation does not have lose their value."""
    shown = _members(route.query if route.body is None else route.body)
    return {name: value if name in shown else REDACTED for name, value in parameters.items()}


@cache
def _members(model: type[Payload]) -> frozenset[str]:
    """The members of an operation that may be shown."""
    return frozenset(field.alias or name for name, field in model.model_fields.items()) - SECRET_MEMBERS


def _first_values(request: Request) -> dict[str, Any]:
    return dict(reversed(request.query))


def loads(text: bytes) -> Any:
    """Read JSON; raise ValueError for anything else, NaN and absurd nesting included."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _object(request: Request) -> dict[str, Any]:
    if "json" not in request.header("content-type").lower():
        raise Invalid([{"message": "The body must be application/json.", "members": []}], status=415)
    try:
        body = loads(request.body)
    except ValueError:
        raise Invalid([{"message": "The body is not JSON.", "members": []}]) from None
    if not isinstance(body, dict):
        raise Invalid([{"message": "The body must be an object.", "members": []}])
    return body


def _complaint(item: Any) -> dict[str, Any]:
    member = ".".join(str(part) for part in item["loc"])
    text = f"The {member} field is required." if item["type"] == "missing" else f"The field {member}: {item['msg']}."
    return {"message": text, "members": [member]}
